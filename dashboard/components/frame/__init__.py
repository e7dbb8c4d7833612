"""What is around every page: the header, the places, the palette, the past, news, presenting, permissions."""
