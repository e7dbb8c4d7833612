"""Half-made files that killed programs left in and near a world: found, measured, and removed if not in use."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.files import is_left, left_parts, remove_left, size_of, within
from .swap import Spot, half_left

HALF = ".backup-"
"""How the names of folders begin in which backups are made."""
HALF_WORLD = ".world-making-"
"""How the names of folders begin in which worlds are made."""


@dataclass(frozen=True)
class CutOff:
    """A file or folder whose making was cut off.

    Args:
        path: its path.
        size: its size in bytes.
    """

    path: Path
    size: int


def found(spot: Spot, backups: Path) -> list[CutOff]:
    """Leftovers that nobody uses; nothing is changed.

    Args:
        spot: the world.
        backups: the folder of its backups.
    """
    left = [path for path in _candidates(spot, backups) if is_left(path)]
    with half_left(spot) as half:
        return [_sized(path) for path in (*left, *filter(None, [half]))]


def remove(spot: Spot, backups: Path) -> tuple[CutOff, ...]:
    """Remove what ``found`` finds; returns what is gone. What cannot be removed is left for the doctor to report."""
    gone = [cut_off for cut_off in map(_sized, _candidates(spot, backups)) if remove_left(cut_off.path)]
    with half_left(spot) as half, suppress(OSError):
        if half is not None:
            cut_off = _sized(half)
            shutil.rmtree(half)
            gone.append(cut_off)
    return tuple(gone)


def _sized(path: Path) -> CutOff:
    return CutOff(path, size_of(path))


def _candidates(spot: Spot, backups: Path) -> Iterator[Path]:
    """What may be cut off, as far as the folders can be looked through."""
    with suppress(OSError):
        yield from (path for path in within(backups, f"{HALF}*") if path.is_dir())
        yield from within(backups, ".*.zip.*.part")  # of an earlier version
    with suppress(OSError):
        yield from (path for path in within(spot.folder.parent, f"{HALF_WORLD}*") if path.is_dir())
    for folder in dict.fromkeys((spot.folder, spot.folder.parent, spot.personalities)):
        with suppress(OSError):
            yield from left_parts(folder)
