"""Consolidation: what an agent does with its memories. Each module plans a change set and writes nothing."""
