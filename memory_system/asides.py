"""Worlds that were set aside when a backup was restored in their place: nothing is thrown away by restoring."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .times import parse_time

NOTE = "set-aside.json"
_SECONDS = "%Y%m%d %H%M%S"
_MOST = 45
"""Characters of the world's name that begin an aside's, so that it can be a world's name itself."""


@dataclass(frozen=True)
class Aside:
    """A former world.

    Args:
        folder: where it lies, with its personalities inside its agents' folders.
        world: the name of the world that it was.
        at: when it was set aside (real time).
        why: what took its place, such as ``the backup x.zip was restored``.
    """

    folder: Path
    world: str
    at: datetime
    why: str

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.stat().st_size for file in self.folder.glob("**/*") if file.is_file())


def of_world(world: Path) -> list[Aside]:
    """What was set aside of the world in this folder, the last first."""
    found = []
    for note in world.parent.glob(f"*/{NOTE}"):
        try:
            told = json.loads(note.read_text(encoding="utf-8"))
            aside = Aside(note.parent, str(told["world"]), parse_time(told["at"]), str(told["why"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # not ours
        if aside.world == world.name and note.parent != world:
            found.append(aside)
    return sorted(found, key=lambda one: one.at, reverse=True)


def free_name(world: Path, now: datetime) -> Path:
    """Where the world can be set aside: a name of digits after its own, which another world does not have."""
    wanted = world.with_name(f"{world.name[:_MOST].rstrip()} {now:{_SECONDS}}")
    number = 2
    found = wanted
    while found.exists():
        found, number = wanted.with_name(f"{wanted.name} {number}"), number + 1
    return found


def note(folder: Path, world: str, now: datetime, why: str) -> None:
    """Write into a world's folder that it is being set aside.

    Raises:
        OSError: it cannot be written.
    """
    told = {"world": world, "at": now.isoformat(), "why": why}
    (folder / NOTE).write_text(json.dumps(told, ensure_ascii=False) + "\n", encoding="utf-8")
