"""The page Memory map."""
