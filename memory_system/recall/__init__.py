"""Recall: from a cue to the memories that answer it, and for every other one why it does not."""
