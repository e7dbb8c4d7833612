"""Compacting a small collection whose index consists mostly of deleted elements.

Chroma's index keeps every element that was ever added, and compares each new one with the deleted ones; so the index
of short-term memory, which holds fifty memories while thousands pass through, would grow and slow down for ever. The
remaining rows are copied into a new collection, which then takes the old one's name. They are copied a few at a time;
in between, others write to the old collection, and what they write is copied again.

A killed process leaves the old collection, the unrenamed copy, or both: the next writer, holding the agent's lock,
finishes the job (``settle``), and a copy without its original is used in its place (``InFolder.find``). Each step is
one transaction of Chroma's, and the copy is complete before the old collection is deleted.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ...core.files import within
from ...errors import StoreDamaged
from .files import BESIDE, DATABASE, elements, opened
from .location import replacing

if TYPE_CHECKING:
    from .location import Collection, InFolder

TIMES = 4
"""How many times as many elements must be deleted as remain."""
LEAST = 500
"""Deleted elements below which compacting gains nothing."""
MOST_HELD = 500
"""Rows of a collection above which it is not compacted: closing the agent waits until all are copied."""
AT_ONCE = 50
"""Rows to copy while a writer of the same agent waits: some 10 ms."""
_SEGMENTS = """SELECT segments.id, segments.scope FROM segments JOIN collections
               ON segments.collection = collections.id WHERE collections.name = ?"""
_ROWS = "SELECT count(*) FROM embeddings WHERE segment_id = ?"


def is_worth_it(folder: Path, name: str) -> bool:
    """Whether the index of a collection holds so many deleted elements that it is worth rebuilding; takes 1 ms."""
    try:
        with opened(folder) as db:
            segments = {str(scope): str(segment) for segment, scope in db.execute(_SEGMENTS, (name,))}
            total = elements(folder / segments.get("VECTOR", "none"))
            if total < LEAST:
                return False
            (rows,) = db.execute(_ROWS, (segments.get("METADATA", ""),)).fetchone()
    except (sqlite3.Error, OSError):
        return False
    return int(rows) <= MOST_HELD and total - int(rows) >= max(LEAST, TIMES * int(rows))


class Copying:
    """A collection that is copied a part at a time. All calls need the agent's lock.

    Args:
        home: where the collection is.
        name: its name.
    """

    def __init__(self, home: InFolder, name: str) -> None:
        self._home, self._name = home, name
        self._left = dict.fromkeys(home.get(name).get(include=[])["ids"])
        begin(home, name)

    def changed(self, ids: Iterable[str]) -> None:
        """Note which rows were written or deleted in the collection meanwhile."""
        self._left |= dict.fromkeys(ids)

    def some(self) -> bool:
        """Copy some rows, or replace the collection by the copy if none is left; return whether it has been replaced.

        Raises:
            StoreDamaged: the copy differs from the original, which is unchanged.
        """
        old, new = self._home.get(self._name), self._home.get(f"{self._name}{BESIDE}")
        ids = list(islice(self._left, AT_ONCE))
        copy(old, new, ids)
        for row_id in ids:
            del self._left[row_id]
        if self._left:
            return False
        if old.count() != new.count():
            raise StoreDamaged(f"The copy of the collection {old.name!r} has other rows than the collection.")
        drop(self._home, self._name)
        take_name(new, self._name)
        self._home.let_go()  # this also drops the old index that Chroma keeps in memory
        remove_unused(self._home.folder)
        return True


def begin(home: InFolder, name: str) -> None:
    """Make an empty copy of a collection."""
    home.create(f"{name}{BESIDE}")


def copy(old: Collection, new: Collection, ids: list[str]) -> None:
    """Make a copy hold for the given ids what the collection holds."""
    if not ids:
        return
    rows = old.get(ids=ids, include=["documents", "metadatas", "embeddings"])
    if gone := sorted({*ids}.difference(rows["ids"])):
        new.delete(ids=gone)
    if rows["ids"]:
        new.upsert(
            ids=rows["ids"],
            documents=rows["documents"],
            metadatas=replacing(new, rows["ids"], cast("Any", rows["metadatas"])),
            embeddings=cast("Any", rows["embeddings"]),
        )


def drop(home: InFolder, name: str) -> None:
    """Delete a collection."""
    home.client().delete_collection(name)


def take_name(new: Collection, name: str) -> None:
    """Give a copy the name of its original."""
    new.modify(name=name)


def is_cut_off(folder: Path) -> bool:
    """Whether a compaction was begun here and not completed; reads only the database."""
    try:
        return bool(_copies(folder) or _unused(folder))
    except (sqlite3.Error, OSError):
        return False  # damage to it is found by the checks for that


def settle(home: InFolder) -> None:
    """Finish an interrupted compaction: a copy without its original takes its name, any other copy is deleted."""
    names = {collection.name for collection in home.client().list_collections()}
    for name in sorted(names):
        if name.endswith(BESIDE):
            original = name.removesuffix(BESIDE)
            if original in names:
                drop(home, name)
            else:
                take_name(home.get(name), original)
    home.let_go()
    remove_unused(home.folder)


def remove_unused(folder: Path) -> None:
    """Remove the index folders that no collection uses any more, which Chroma leaves behind; its client is closed."""
    for path in _unused(folder):
        shutil.rmtree(path, ignore_errors=True)


def _copies(folder: Path) -> list[str]:
    if not (folder / DATABASE).exists():
        return []
    with opened(folder) as db:
        found = db.execute("SELECT name FROM collections WHERE name LIKE ?", (f"%{BESIDE}",))
        return [str(name) for (name,) in found]


def _unused(folder: Path) -> list[Path]:
    paths = [path for path in within(folder, "*-*-*-*-*") if path.is_dir() and _is_of_index(path.name)]
    if not paths:
        return []
    with opened(folder) as db:
        used = {str(segment) for (segment,) in db.execute("SELECT id FROM segments")}
    return [path for path in paths if path.name not in used] if used else []


def _is_of_index(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
