"""Branches of an agent: made, compared with it, merged into it and dropped."""

from .diff import Apart, MemoryApart, TextApart
from .merge import Fit
from .meta import MAX_PURPOSE, Rehearsal

__all__ = ["MAX_PURPOSE", "Apart", "Fit", "MemoryApart", "Rehearsal", "TextApart"]
