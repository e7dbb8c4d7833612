"""What killed programs left half made in and beside a world: found, measured, and removed where nobody is at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import Timeout

from ..core.files import is_left, left_parts, remove_left, size_of
from .swap import Spot, remove_half

HALF = ".backup-"
"""How the names of folders begin in which backups are made."""


@dataclass(frozen=True)
class CutOff:
    """A file or folder that somebody was making when that was cut off.

    Args:
        path: it.
        size: the bytes that it takes, or took.
    """

    path: Path
    size: int


def found(spot: Spot, backups: Path) -> list[CutOff]:
    """What lies about and is used by nobody; nothing is changed.

    Args:
        spot: the world.
        backups: the folder of its backups.
    """
    left = [path for path in _candidates(spot, backups) if is_left(path)]
    if spot.half_is_left():
        left.append(spot.half)
    return [CutOff(path, size_of(path)) for path in left]


def remove(spot: Spot, backups: Path) -> tuple[CutOff, ...]:
    """Remove what ``found`` finds; answers what is gone. What cannot be removed is left, for the doctor to tell."""
    gone: list[CutOff] = []
    for path in _candidates(spot, backups):
        one = CutOff(path, size_of(path))
        gone += [one] if remove_left(path) else []
    one = CutOff(spot.half, size_of(spot.half))
    with suppress(OSError, Timeout):
        gone += [one] if remove_half(spot) else []
    return tuple(gone)


def _candidates(spot: Spot, backups: Path) -> Iterator[Path]:
    yield from sorted(path for path in backups.glob(f"{HALF}*") if path.is_dir())
    yield from sorted(backups.glob(".*.zip.*.part"))  # of an earlier version
    for folder in dict.fromkeys((spot.folder, spot.folder.parent, spot.personalities)):
        yield from left_parts(folder)
