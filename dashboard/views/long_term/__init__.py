"""The page Long-term."""
