"""Branches of an agent: made, compared with it, merged into it and dropped."""
