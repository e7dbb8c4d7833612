"""What keeps a world usable: backup, restore, doctor, samples, and memories moved in and out."""

from . import backup, backup_reading, doctor, restore
from .backup_manifest import Manifest
from .samples import fill_world, prepare_recall

__all__ = ["Manifest", "backup", "backup_reading", "doctor", "fill_world", "prepare_recall", "restore"]
