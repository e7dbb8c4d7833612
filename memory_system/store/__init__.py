"""Where memories are kept: the journal, which is the truth, and the Chroma collections that follow it."""
