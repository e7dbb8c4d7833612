"""The page World."""
