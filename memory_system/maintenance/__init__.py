"""What keeps a world usable: backup, restore, doctor, samples, and memories moved in and out."""

from . import backup, backup_reading, doctor, restore
from .backup_manifest import Manifest
from .in_use import InUse
from .samples import fill_world, prepare_recall
from .worlds import Saved, Worlds
from .worlds_compared import WorldsCompared

__all__ = [
    "InUse",
    "Manifest",
    "Saved",
    "Worlds",
    "WorldsCompared",
    "backup",
    "backup_reading",
    "doctor",
    "fill_world",
    "prepare_recall",
    "restore",
]
