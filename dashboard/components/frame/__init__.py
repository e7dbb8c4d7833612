"""What is around every page: its head, the places, the palette, the past, news, presenting, who may do what."""
