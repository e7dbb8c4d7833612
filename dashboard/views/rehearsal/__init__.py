"""The page Rehearsal."""
