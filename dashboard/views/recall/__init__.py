"""The page Recall."""
