"""The page New character."""
