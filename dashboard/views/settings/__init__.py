"""The page Settings."""
