"""The page Short-term."""
