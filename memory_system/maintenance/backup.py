"""Backup: a whole world in one zip file, made while it is in use, and read back before it is said to be made."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from ..core import personality
from ..core.files import as_store_errors, below, making, within
from ..core.times import real_clock
from ..errors import AgentNotFound, AlreadyExists, MemorySystemError
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..store import copying
from ..store.journal.location import JOURNAL, broken_pages
from ..store.write_lock import WriteLock
from ..world.cut_off import HALF
from ..world.folders import KEPT, in_bin
from ..world.swap import NOTE
from ..world.world import TOKENS, World
from . import backup_reading
from .backup_manifest import AGENTS, BIN, NAME, WORLD, BackedUp, Kept, Manifest

_CHUNK = 1 << 20
_LEVEL = 1
"""A low level: vectors hardly get smaller, and a backup should not take long."""
_MAKING = 0.7
"""The share of the work after which it is read back."""


@dataclass(frozen=True)
class Backup:
    """A backup that was made: the file, its size in bytes, and its contents."""

    path: Path
    size: int
    manifest: Manifest


def make(
    world: World,
    target: str | Path | None = None,
    *,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
    now: datetime | None = None,
) -> Backup | None:
    """Copy a world into one file. Each agent is locked only while it is copied, so that work can go on.

    Each agent is as it was at one moment, and so are the world's clock and the agents in its bin. What can be computed
    again is left out, and so are files that were set aside as damaged.

    Args:
        world: the world.
        target: the file to make; one named after the world and the time, in the settings' ``backup_folder``, if not
            given.
        progress: called with the share done, 0 to 1, and what is being done.
        cancelled: called between agents, to ask whether to stop; then no file is made.
        now: the real time.

    Returns:
        The backup, read back and found complete; ``None`` if it was stopped.

    Raises:
        AgentNotFound: the world has no agents.
        AlreadyExists: there is a file of this name.
        StoreBusy: another program has been writing to an agent for 30 seconds.
        StoreError: something cannot be read or written; no file was made.
    """
    refuse_uncallable(progress=progress, cancelled=cancelled)
    now = now or real_clock()
    names = world.stored()
    if not names:
        raise AgentNotFound(f"The world {world.name!r} in {world.folder} has no characters to back up.")
    path = Path(target) if target is not None else world.settings.backup_folder / backup_reading.named(world.name, now)
    with as_store_errors(f"The backup {path.name!r}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise AlreadyExists(f"There is a file {path} already. Name another.")
        with making(path.parent, HALF) as scratch:
            beside = scratch / path.name
            with beside.open("wb") as file:
                manifest = _write(world, names, file, scratch, now, progress, cancelled)
                file.flush()
                os.fsync(file.fileno())
            if manifest is None:
                return None
            backup_reading.check(beside, progress=lambda done, doing: progress(_MAKING + (1 - _MAKING) * done, doing))
            beside.replace(path)
        progress(1.0, "Done")
        return Backup(path, path.stat().st_size, manifest)


def _write(
    world: World,
    names: list[str],
    file: IO[bytes],
    scratch: Path,
    now: datetime,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Manifest | None:
    """Write the zip; returns its contents, ``None`` if it was stopped."""
    agents: list[BackedUp] = []
    kept: dict[str, Kept] = {}
    binned = in_bin(world.folder)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as zipped:
        for number, name in enumerate(names):
            if cancelled():
                return None
            progress(
                _MAKING * number / len(names),
                f"Copying {_called(name, world.spot.agent(name).personality)} ({number + 1} of {len(names)})",
            )
            with _copied(world, name, scratch) as copy:
                added = _add(zipped, copy, f"{AGENTS}/{name}", now)
                if added:
                    agents.append(_described(name, copy))
                kept |= added
        for agent in binned:
            if cancelled():
                return None
            with _scratch(scratch) as folder, suppress(FileNotFoundError):
                _copy(world, agent.folder, folder / "agent")
                kept |= _add(zipped, folder / "agent", f"{BIN}/{agent.folder.name}", now)
        for path in within(world.folder):
            if path.is_file() and not path.name.startswith((".", TOKENS, NOTE)):
                kept[f"{WORLD}/{path.name}"] = _add_file(zipped, path, f"{WORLD}/{path.name}", now)
        manifest = Manifest(
            world.name,
            now,
            title=_title(world),
            embedder=world.embedder.identity,
            agents=tuple(agents),
            deleted=len({name.split("/")[1] for name in kept if name.startswith(f"{BIN}/")}),
            files=kept,
        )
        zipped.writestr(_info(NAME, now), manifest.to_json())
    return manifest


def _title(world: World) -> str:
    try:
        return world.about.title
    except MemorySystemError:  # a broken world.json is backed up as it is
        return ""


@contextmanager
def _copied(world: World, name: str, scratch: Path) -> Iterator[Path]:
    """A copy of an agent's files and personality, as they were at one moment."""
    place = world.spot.agent(name)
    with _scratch(scratch) as folder:
        copy = folder / "agent"
        with WriteLock(place.folder).hold() if os.access(place.folder, os.W_OK) else nullcontext():
            if place.folder.is_dir():
                _copy(world, place.folder, copy)
            copy.mkdir(exist_ok=True)
            if place.personality.is_file():
                (copy / KEPT).write_bytes(place.personality.read_bytes())
        yield copy


def _copy(world: World, folder: Path, target: Path) -> None:
    """Copy what cannot be made again on opening, the journal as a file wherever it is stored."""
    copying.copy(folder, target, left_out=(*copying.SET_ASIDE, *copying.DERIVED))
    world.journals.of(folder).copy_into(target / JOURNAL)


@contextmanager
def _scratch(beside: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=beside, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _add(zipped: zipfile.ZipFile, folder: Path, into: str, now: datetime) -> dict[str, Kept]:
    names = {f"{into}/{path.relative_to(folder).as_posix()}": path for path in below(folder)}
    return {name: _add_file(zipped, path, name, now) for name, path in names.items()}


def _add_file(zipped: zipfile.ZipFile, path: Path, name: str, now: datetime) -> Kept:
    checksum, size = hashlib.sha256(), 0
    with path.open("rb") as source, zipped.open(_info(name, now), "w", force_zip64=True) as target:
        while chunk := source.read(_CHUNK):
            checksum.update(chunk)
            size += len(chunk)
            target.write(chunk)
    return Kept(size, checksum.hexdigest())


def _info(name: str, now: datetime) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (max(now.year, 1980), now.month, now.day, now.hour, now.minute, now.second))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o100644 << 16
    return info


def _called(name: str, kept: Path) -> str:
    """What people call an agent, according to the stored personality file; its name if that says nothing."""
    with suppress(MemorySystemError):
        text = personality.read(kept)
        return personality.parse(text).identity.name if text else name
    return name


def _described(name: str, copy: Path) -> BackedUp:
    """Whose files these are, how much they contain, and what is wrong with them, read from the copy."""
    journal, shown = copy / JOURNAL, _called(name, copy / KEPT)
    if not journal.exists():
        lost = (copy / "chroma").exists()
        return BackedUp(name, shown, problem="Its journal is missing." if lost else "")
    try:
        if not journal.stat().st_size:
            return BackedUp(name, shown, problem="Its journal is empty.")
        if (broken := broken_pages(journal)) is not None:
            return BackedUp(name, shown, problem=f"Its journal is damaged: {broken}.")
        with closing(sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True)) as db:
            (revision,) = db.execute("SELECT coalesce(max(revision), 0) FROM change_sets").fetchone()
            counts = {
                str(tier): int(count) for tier, count in db.execute("SELECT tier, count(*) FROM entries GROUP BY 1")
            }
    except (sqlite3.Error, MemorySystemError, TypeError, ValueError) as error:
        return BackedUp(name, shown, problem=f"Its journal cannot be read: {error!s:.200}.")
    return BackedUp(name, shown, int(revision), counts)
