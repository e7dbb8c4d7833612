"""Memories that may say the same or contradict each other, and what is done about them."""
