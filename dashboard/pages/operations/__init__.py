"""The page Operations."""
