"""Agents as files: copied, renamed, sent to the bin and brought back, so that a kill between two steps loses nothing.

An agent is a folder and a personality file. Moving both takes two renames; between them the personality is inside
the folder, where opening the agent, or the bin, finds it.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..core.files import as_exhausted, as_store_errors, within
from ..core.known import WORLD_AGENT
from ..core.names import checked_name
from ..core.settings import Settings
from ..errors import AgentNotFound, AlreadyExists, InvalidAgentName, StoreError, did_you_mean
from ..store.copying_child import tree
from ..store.journal.location import JOURNAL, POINTER
from ..store.journal.moving import Journals
from ..store.slot import personalities_of

BIN = ".bin"
KEPT = "personality.json"
"""The file name of a personality inside its agent's folder."""
_NOT_AGENTS = frozenset({"schema", WORLD_AGENT})
_STORED = (JOURNAL, POINTER, "chroma/chroma.sqlite3")
"""An agent whose journal is lost still counts as an agent."""
_SECONDS = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True)
class Place:
    """Where an agent is stored: its folder in the world, and its personality file."""

    folder: Path
    personality: Path

    def refuse_taken(self) -> None:
        """Raise if something is stored here.

        Raises:
            AlreadyExists: something is.
        """
        if self.folder.exists() or self.personality.exists():
            raise AlreadyExists(f"There is an agent {self.folder.name!r} already.")


@dataclass(frozen=True)
class Binned:
    """An agent in the bin: its name, when it was deleted (real time, UTC), and the folder that holds it."""

    name: str
    deleted_at: datetime
    folder: Path


_LISTED = 20
_NONE = "There are none in this world yet: create one, or let “memory-system fill” add those of the sample story."


def not_there(name: str, there: Sequence[str]) -> AgentNotFound:
    """The error for a name that no agent has; it lists the existing names, or the first of many."""
    more = f" and {len(there) - _LISTED:,} more" if len(there) > _LISTED else ""
    listed = f"There are {', '.join(there[:_LISTED])}{more}." if there else _NONE
    return AgentNotFound(f"There is no agent {name!r}. {listed}{did_you_mean(name, there)}")


def duplicate(source: Place, target: Place, journals: Journals, beside: Mapping[str, str] | None = None) -> None:
    """Copy an agent that is closed. The copy appears whole or not at all.

    Args:
        source: where it is.
        target: where the copy is to be.
        journals: where the agent's journal is.
        beside: texts that the copy has from the start, by the name of their file.

    Raises:
        AlreadyExists: the target is taken.
        StoreError: the files cannot be copied.
    """
    target.refuse_taken()
    half = target.folder.with_name(f".{target.folder.name}-copying")
    shutil.rmtree(half, ignore_errors=True)
    try:
        _copy(source.folder, half, journals)
        if source.personality.exists():
            shutil.copyfile(source.personality, half / KEPT)
        for name, text in (beside or {}).items():
            (half / name).write_text(text, encoding="utf-8")
        half.rename(target.folder)
        unpack(target)
    except (OSError, sqlite3.Error) as error:
        shutil.rmtree(half, ignore_errors=True)
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"{source.folder.name!r} cannot be copied: {why}.") from error


def _copy(folder: Path, target: Path, journals: Journals) -> None:
    """Copy an agent's folder, with its journal as a file even if that is on a server.

    A journal that another program has open is copied by SQLite, which gets a consistent state. That program cannot
    change a memory now, since we have the lock, but it logs recalls without it.
    """
    journal = folder / JOURNAL
    open_elsewhere = journal.with_name(f"{JOURNAL}-wal").exists()  # the last to close it removes that
    tree(folder, target, ["lock", POINTER, *([f"{JOURNAL}*"] if open_elsewhere else [])])
    journals.of(folder).copy_into(target / JOURNAL)
    if open_elsewhere:
        with (
            closing(sqlite3.connect(journal, timeout=10)) as source,
            closing(sqlite3.connect(target / JOURNAL)) as copy,
        ):
            source.backup(copy)


def rename(source: Place, target: Place) -> None:
    """Move an agent that is closed to another name.

    Raises:
        AlreadyExists: the target is taken.
        StoreError: the files cannot be moved.
    """
    target.refuse_taken()
    try:
        pack(source)
        source.folder.rename(target.folder)
        unpack(target)
    except OSError as error:
        unpack(source)
        raise StoreError(f"{source.folder.name!r} cannot be renamed: {error.strerror or error}.") from error


def send_to_bin(source: Place, now: datetime) -> Binned:
    """Move an agent that is closed to its world's bin.

    Raises:
        StoreError: the files cannot be moved.
    """
    folder = source.folder.parent / BIN / f"{now:{_SECONDS}} {source.folder.name}"
    try:
        folder.parent.mkdir(exist_ok=True)
        pack(source)
        source.folder.rename(folder)
    except OSError as error:
        unpack(source)
        raise StoreError(f"{source.folder.name!r} cannot be deleted: {error.strerror or error}.") from error
    return Binned(source.folder.name, now, folder)


def bring_back(binned: Binned, target: Place) -> None:
    """Move an agent out of the bin.

    Raises:
        AgentNotFound: it is no longer in the bin.
        AlreadyExists: its name has been taken since.
        StoreError: the files cannot be moved.
    """
    if not binned.folder.is_dir():
        raise AgentNotFound(f"{binned.name!r} is no longer in the bin.")
    target.refuse_taken()
    try:
        binned.folder.rename(target.folder)
        unpack(target)
    except OSError as error:
        raise StoreError(f"{binned.name!r} cannot be restored: {error.strerror or error}.") from error


def pack(place: Place) -> None:
    """Put an agent's personality into its folder.

    Raises:
        OSError: it cannot be put there.
    """
    if place.personality.exists():
        _move(place.personality, place.folder / KEPT)


def _move(source: Path, target: Path) -> None:
    """Rename a file, also onto another disk; a kill leaves the source or the whole target."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = target.with_name(f".{target.name}.tmp")
        shutil.copyfile(source, beside)
        beside.replace(target)
        source.unlink()


def unpack(place: Place) -> None:
    """Put a personality from inside the folder back in its place, if a move was cut off between its steps.

    Raises:
        StoreError: it cannot be put there.
    """
    if (place.folder / KEPT).exists() and not place.personality.exists():
        with as_store_errors(f"The personality of {place.folder.name!r}"):
            place.personality.parent.mkdir(parents=True, exist_ok=True)
            _move(place.folder / KEPT, place.personality)


def in_bin(world: Path) -> list[Binned]:
    """The agents in a world's bin, the last deleted first.

    Raises:
        StoreError: the bin cannot be read.
    """
    found = []
    with as_store_errors("The bin"):
        folders = within(world / BIN, "* *")
    for folder in folders:
        stamp, _, name = folder.name.partition(" ")
        try:
            deleted_at = datetime.strptime(f"{stamp}+0000", f"{_SECONDS}%z")
        except ValueError:
            continue  # somebody else's folder
        found.append(Binned(name, deleted_at, folder))
    return sorted(found, key=lambda binned: binned.deleted_at, reverse=True)


def agent_names(settings: Settings, journals: Journals | None = None) -> list[str]:
    """The names of all agents of a world, sorted, without opening it.

    Args:
        settings: the world's.
        journals: where journals are; those on a server whose agents have no folder on this machine get one.

    Raises:
        InvalidAgentName: the world's name cannot be used.
        StoreError: its folders cannot be looked through.
    """
    folder = Path(settings.database) / checked_name(settings.world, "world name")
    if journals is not None:
        with suppress(StoreError):  # if a server cannot be reached, opening an agent reports it
            journals.join(folder)
    with as_store_errors(f"The world {settings.world!r}"):
        files = (path.stem for path in within(personalities_of(folder, Path(settings.personalities)), "*.json"))
        folders = (path.name for path in within(folder) if any((path / name).is_file() for name in _STORED))
        return sorted({name for name in (*files, *folders) if _usable(name)})


def lies_there(place: Place) -> bool:
    """Whether an agent of exactly this name is stored: a disk may ignore upper and lower case.

    Raises:
        Exhausted: this program may not open another file.
    """
    for path in (place.folder, place.personality):
        looking = as_exhausted(f"The world {place.folder.parent.name!r}")
        with suppress(OSError, ValueError), looking:  # a path can be invalid
            if _lies_there(path):
                return True
    return False


def _lies_there(path: Path) -> bool:
    if not path.exists():
        return False
    other = path.with_name(path.name.swapcase())
    if path.name.isascii() and (other == path or not other.exists() or not other.samefile(path)):
        return True  # the disk is case-sensitive; listing a folder of thousands takes longer than opening one
    with os.scandir(path.parent) as lying:
        return any(child.name == path.name for child in lying)


def _usable(name: str) -> bool:
    try:
        return checked_name(name) == name and name not in _NOT_AGENTS
    except InvalidAgentName:
        return False
