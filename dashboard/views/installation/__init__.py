"""The page Installation."""
