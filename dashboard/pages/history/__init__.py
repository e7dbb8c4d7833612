"""The page History."""
