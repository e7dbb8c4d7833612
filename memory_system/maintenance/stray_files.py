"""What lies about in a world without being part of it, and whether there is room on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import Timeout

from ..core.findings import Finding, State
from ..core.times import real_clock
from ..world import swap
from ..world.swap import work_lock

_HOUR = 3600.0
"""Seconds after which a backup that still is not made will not be."""
_LEAST_FREE = 200_000_000
"""Bytes that should be free; and as many as the world has, so that a store can be rebuilt beside the old one."""


def of_agent(folder: Path) -> Iterator[Finding]:
    """What lies in an agent's folder: files that were set aside, or cut off while they were written."""
    aside = [path for path in folder.glob("*-damaged-*") if not path.name.endswith(("-wal", "-shm"))]
    aside += folder.glob("chroma-replaced-*")
    if aside:
        size = sum(file.stat().st_size for path in aside for file in (path, *path.glob("**/*")) if file.is_file())
        names = ", ".join(sorted(path.name for path in aside)[:3])
        yield Finding(
            folder.name,
            "leftovers",
            State.NOTE,
            f"{len(aside)} set aside ({names}), {size / 1e6:.1f} MB. Delete them when you need them no longer.",
        )
    if parts := sorted(path.name for path in folder.glob("*.part")):
        yield Finding(
            folder.name, "leftovers", State.WRONG, f"{', '.join(parts[:3])} was being written when it was cut off."
        )


def half_made(world: Path, backups: Path, *, repair: bool) -> Iterator[Finding]:
    """What was being made of a world, or of its backups, when it was cut off; removed if told to repair."""
    half = world.with_name(f".{world.name}-restoring")
    found = [*world.glob(".*-copying"), *world.parent.glob("*-filling"), *([half] if _cut_off(half, world) else [])]
    found += [path for path in (*backups.glob(".backup-*"), *backups.glob(".*.part")) if _old(path)]
    for path in sorted(found):
        if repair:
            shutil.rmtree(path, ignore_errors=True)
            if path.is_file():
                path.unlink()
        gone = not path.exists()
        state = State.REPAIRED if gone else State.WRONG
        yield Finding("", "leftovers", state, f"{path.name} was being copied when it was cut off." + " Removed." * gone)


def _cut_off(half: Path, world: Path) -> bool:
    """Whether nobody is at it any more."""
    if not half.is_dir():
        return False
    try:
        with work_lock(world):
            return True
    except (Timeout, OSError):
        return False


def _old(path: Path) -> bool:
    try:
        return real_clock().timestamp() - path.stat().st_mtime > _HOUR
    except OSError:
        return False


def set_aside(world: Path) -> Iterator[Finding]:
    """The former worlds that a restored backup has replaced."""
    for aside in swap.of_world(world):
        sentence = (
            f"{aside.folder.name} is what the world was before {aside.why}, {aside.size / 1e6:.1f} MB. "
            "Put it back, or delete it when you need it no longer."
        )
        yield Finding("", "leftovers", State.NOTE, sentence)


def disk(world: Path) -> Finding:
    """Whether there is room."""
    there = next(path for path in (world, *world.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    held = sum(file.stat().st_size for file in world.glob("**/*") if file.is_file())
    enough = free >= max(_LEAST_FREE, held)
    sentence = f"{free / 1e9:.1f} GB are free, and the world has {held / 1e9:.2f} GB."
    return Finding("", "disk", State.RIGHT if enough else State.WRONG, sentence)
