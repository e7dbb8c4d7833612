"""The page Memory."""
