"""The page Tidy."""
