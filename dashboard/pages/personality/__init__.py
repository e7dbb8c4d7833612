"""The page Personality."""
