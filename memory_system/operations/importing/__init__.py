"""What comes in as events: values, lines of text, spreadsheets and conversations."""
