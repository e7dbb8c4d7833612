"""Replacing one world by another, so that a kill between two steps loses nothing.

A world is a folder and the personality files of its agents. Its replacement is made ready beforehand: a folder in which
each personality is next to its agent's journal. During the swap a small file next to them says so; if it was cut off,
the next program that opens the world and finds that file finishes it.

A world that is replaced by a restored backup is set aside: restoring throws nothing away.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ..core.files import as_store_errors, replace_text, size_of, within
from ..core.times import parse_time
from ..errors import StoreBusy, StoreError
from ..store import slot
from .folders import KEPT, Place, pack, unpack

NOTE = "set-aside.json"
_SECONDS = "%Y%m%d %H%M%S"
_MOST = 45
"""How many characters of the world's name begin the name of an aside, which must be a valid world name itself."""


@dataclass(frozen=True)
class Aside:
    """A former world.

    Args:
        folder: where it is, with its personalities inside its agents' folders.
        world: the name of the world that it was.
        at: when it was set aside (real time).
        why: what replaced it, such as ``the backup x.zip was restored``.
    """

    folder: Path
    world: str
    at: datetime
    why: str

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return size_of(self.folder)


def of_world(world: Path) -> list[Aside]:
    """The worlds set aside for the one in this folder, the last first.

    Raises:
        StoreError: the folder of all worlds cannot be read.
    """
    found = []
    with as_store_errors("The worlds set aside"):
        folders = within(world.parent)
    for note in (folder / NOTE for folder in folders):
        try:
            fields = json.loads(note.read_text(encoding="utf-8"))
            aside = Aside(note.parent, str(fields["world"]), parse_time(fields["at"]), str(fields["why"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # not ours
        if aside.world == world.name and note.parent != world:
            found.append(aside)
    return sorted(found, key=lambda aside: aside.at, reverse=True)


def free_name(world: Path, now: datetime) -> Path:
    """Where the world can be set aside: its name followed by digits, which no other world has."""
    path = world.with_name(f"{world.name[:_MOST].rstrip()} {now:{_SECONDS}}")
    number = 2
    found = path
    while found.exists():
        found, number = path.with_name(f"{path.name} {number}"), number + 1
    return found


def note(folder: Path, world: str, now: datetime, why: str) -> None:
    """Write into a world's folder that it is being set aside.

    Raises:
        OSError: it cannot be written.
    """
    fields = {"world": world, "at": now.isoformat(), "why": why}
    (folder / NOTE).write_text(json.dumps(fields, ensure_ascii=False) + "\n", encoding="utf-8")


_LOCK_SECONDS = 30.0


@dataclass(frozen=True)
class Spot:
    """Where a world is: its folder, and the folder of the personality files."""

    folder: Path
    personalities: Path

    @property
    def half(self) -> Path:
        """Where another world is made ready to replace it."""
        return self.folder.with_name(f".{self.folder.name}-restoring")

    def agent(self, name: str) -> Place:
        """Where one of its agents is."""
        return Place(self.folder / name, self.personalities / f"{name}.json")


def work_lock(world: Path) -> FileLock:
    """Locked while another world is made ready for this place, so that nobody takes that for a leftover."""
    return FileLock(world.with_name(f".{world.name}-restoring.work.lock"), timeout=0)


@contextmanager
def half_left(spot: Spot) -> Iterator[Path | None]:
    """The world made ready for this place, if nobody is making it; nobody can begin while the block lasts."""
    with ExitStack() as stack:
        left = False
        if spot.half.is_dir():
            with suppress(Timeout, OSError):
                stack.enter_context(work_lock(spot.folder))
                left = spot.half.is_dir() and not _pointer(spot).exists()  # otherwise it is about to replace the world
        yield spot.half if left else None


def swap(spot: Spot, ready: Path, names: Sequence[str], why: str, now: datetime) -> Path | None:
    """Replace the present world by the one in ``ready``, and set it aside whole; nobody may be writing either.

    Args:
        spot: where the world is.
        ready: the folder of the replacement, next to it.
        names: the present agents, whose personalities are set aside with them.
        why: what replaces it, for people.
        now: the real time.

    Returns:
        Where the former world is; ``None`` if there was none.

    Raises:
        StoreError: the files cannot be moved. Everything is as it was.
    """
    with _alone(spot), as_store_errors(f"The world {spot.folder.name!r}"):
        _keep_alike(spot.folder, ready)
        _write_pointer(spot, ready)
        aside = None
        try:
            aside = _set_aside(spot, names, why, now)
            ready.rename(spot.folder)
        except BaseException:
            _take_back(spot, aside)
            raise
        _settle(spot)
    return aside


def finish(spot: Spot) -> None:
    """Finish a swap that was cut off, if one was.

    Raises:
        StoreError: the files cannot be moved, or another program takes too long with it.
    """
    with as_store_errors(f"The world {spot.folder.name!r}"):
        cut_off = _pointer(spot).exists()
    if not cut_off:
        return
    with _alone(spot), as_store_errors(f"The world {spot.folder.name!r}"):
        ready = _pointed_at(spot)
        if ready is not None and ready.is_dir() and not spot.folder.exists():
            ready.rename(spot.folder)
        _settle(Spot(spot.folder, slot.personalities_of(spot.folder, spot.personalities)))


def _keep_alike(former: Path, ready: Path) -> None:
    """Keep the replacement's personalities where the world's were: in its folder, or with those of others."""
    (ready / slot.FILE).unlink(missing_ok=True)
    if slot.is_own(former):
        shutil.copyfile(former / slot.FILE, ready / slot.FILE)


def _set_aside(spot: Spot, names: Sequence[str], why: str, now: datetime) -> Path | None:
    with suppress(OSError):  # only an empty one can be removed like that
        spot.folder.rmdir()
    if not spot.folder.exists() and not names:
        return None
    spot.folder.mkdir(parents=True, exist_ok=True)
    note(spot.folder, spot.folder.name, now, why)
    for name in names:
        place = spot.agent(name)
        if place.personality.exists():
            place.folder.mkdir(exist_ok=True)
            pack(place)
    aside = free_name(spot.folder, now)
    spot.folder.rename(aside)
    return aside


def _take_back(spot: Spot, aside: Path | None) -> None:
    """Restore the former world after a failed step."""
    with suppress(OSError, StoreError):
        if aside is not None and not spot.folder.exists():
            aside.rename(spot.folder)
        _settle(spot)


def _settle(spot: Spot) -> None:
    """Move personalities to their place, and remove the file that says a swap is under way."""
    if spot.folder.is_dir():
        for kept in [path for folder in within(spot.folder) if (path := folder / KEPT).exists()]:
            unpack(spot.agent(kept.parent.name))
            with suppress(OSError):  # it holds more than a personality
                kept.parent.rmdir()
        (spot.folder / NOTE).unlink(missing_ok=True)
    _pointer(spot).unlink(missing_ok=True)


def _pointer(spot: Spot) -> Path:
    return spot.folder.with_name(f".{spot.folder.name}-restoring.json")


def _write_pointer(spot: Spot, ready: Path) -> None:
    replace_text(_pointer(spot), json.dumps({"ready": ready.name}), durable=True)


def _pointed_at(spot: Spot) -> Path | None:
    try:
        name = json.loads(_pointer(spot).read_text(encoding="utf-8"))["ready"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return spot.folder.with_name(Path(str(name)).name)


@contextmanager
def _alone(spot: Spot) -> Iterator[None]:
    lock = spot.folder.with_name(f".{spot.folder.name}-restoring.lock")
    with as_store_errors(f"The world {spot.folder.name!r}"):
        lock.parent.mkdir(parents=True, exist_ok=True)
        file_lock = FileLock(lock, timeout=_LOCK_SECONDS)
        try:
            file_lock.acquire()
        except Timeout as error:
            raise StoreBusy(f"Another program is restoring the world {spot.folder.name!r}. Try again.") from error
    try:
        yield
    finally:
        file_lock.release()
