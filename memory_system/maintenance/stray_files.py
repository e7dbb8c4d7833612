"""Leftover files in a world, and whether there is enough space on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from ..core.files import as_store_errors, size_of, within
from ..core.findings import Finding, State
from ..world import cut_off, swap
from ..world.world import World

_LEAST_FREE = 200_000_000
"""Bytes that should be free; plus as many as the world has, so that a store can be rebuilt next to the old one."""


def of_agent(folder: Path) -> Iterator[Finding]:
    """Leftovers in an agent's folder: files that were set aside, or cut off while they were written."""
    aside = [path for path in within(folder, "*-damaged-*") if not path.name.endswith(("-wal", "-shm"))]
    aside += within(folder, "chroma-replaced-*")
    if aside:
        size = sum(map(size_of, aside))
        names = ", ".join(sorted(path.name for path in aside)[:3])
        yield Finding(
            folder.name,
            "leftovers",
            State.NOTE,
            f"{len(aside)} set aside ({names}), {size / 1e6:.1f} MB. Delete them when you need them no longer.",
        )
    if parts := within(folder, "*.part"):
        names, size = ", ".join(path.name for path in parts[:3]), sum(map(size_of, parts))
        more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
        sentence = f"{names}{more} was being written when it was cut off; that takes {_shown(size)}."
        yield Finding(folder.name, "leftovers", State.WRONG, f"{sentence} Opening the agent removes it.")


def half_made(world: World, *, repair: bool) -> Iterator[Finding]:
    """Half-made files of a world or its backups whose making was cut off; removed on repair."""
    backups = world.settings.backup_folder
    if world.cut_off:
        size = sum(leftover.size for leftover in world.cut_off)
        yield Finding(
            "",
            "leftovers",
            State.REPAIRED,
            f"{len(world.cut_off)} left half made by programs that were killed, {_shown(size)}, were removed when the "
            "world was opened.",
        )
    if repair:
        for leftover in cut_off.remove(world.spot, backups):
            yield _finding(leftover, gone=True)
    for leftover in cut_off.found(world.spot, backups):
        yield _finding(leftover, gone=False)
    with as_store_errors("The folder of the worlds"):
        filling = [*within(world.folder, ".*-copying"), *within(world.folder.parent, "*-filling")]
    for path in filling:
        leftover = cut_off.CutOff(path, size_of(path))
        if repair:
            shutil.rmtree(path, ignore_errors=True)
        yield _finding(leftover, gone=not path.exists())


def _finding(leftover: cut_off.CutOff, *, gone: bool) -> Finding:
    sentence = f"{leftover.path.name} was being made when it was cut off; it takes {_shown(leftover.size)}."
    return Finding("", "leftovers", State.REPAIRED if gone else State.WRONG, sentence + " Removed." * gone)


def _shown(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} KB"


def set_aside(world: Path) -> Iterator[Finding]:
    """The former worlds that a restored backup has replaced."""
    for aside in swap.of_world(world):
        sentence = (
            f"{aside.folder.name} is what the world was before {aside.why}, {aside.size / 1e6:.1f} MB. "
            "Put it back, or delete it when you need it no longer."
        )
        yield Finding("", "leftovers", State.NOTE, sentence)


def disk(world: Path) -> Finding:
    """Whether there is enough space."""
    there = next(path for path in (world, *world.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    held = size_of(world)
    enough = free >= max(_LEAST_FREE, held)
    sentence = f"{free / 1e9:.1f} GB are free, and the world has {held / 1e9:.2f} GB."
    return Finding("", "disk", State.RIGHT if enough else State.WRONG, sentence, beyond_repair=not enough)
