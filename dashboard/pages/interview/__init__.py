"""The page Interview."""
