"""Branches of an agent: made, compared with it, merged into it and dropped."""

from ...store.rehearsal import MAX_PURPOSE, Rehearsal
from .diff import Apart, MemoryApart, TextApart
from .merge import Fit

__all__ = ["MAX_PURPOSE", "Apart", "Fit", "MemoryApart", "Rehearsal", "TextApart"]
