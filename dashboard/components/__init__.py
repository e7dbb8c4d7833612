"""What several pages are made of: the card of a memory, change sets, forms, tables with checkboxes, the news."""
