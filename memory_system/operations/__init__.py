"""Consolidation: what an agent does with its memories. Each module plans a change set and writes nothing."""

from .context import Progress
from .introduction import Introduction, introduced, read_introduction
from .migration import was_said
from .provenance import Kin, Lineage
from .reembed import Reembedded
from .undo import Clash

__all__ = [
    "Clash",
    "Introduction",
    "Kin",
    "Lineage",
    "Progress",
    "Reembedded",
    "introduced",
    "read_introduction",
    "was_said",
]
