"""The page Worlds."""
