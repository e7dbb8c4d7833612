"""The page Re-live."""
