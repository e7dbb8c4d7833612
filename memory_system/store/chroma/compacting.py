"""Compacting a small collection whose index is mostly made of what was deleted.

Chroma's index keeps every element that was ever added, and each new one is compared with those that are gone; so the
index of short-term memory, which holds fifty memories and lets thousands pass, grows and slows down for ever. What is
left is copied into a new collection, which takes the old one's name. It is copied a few rows at a time, between which
others write to the old one: what they write is copied once more.

A kill leaves the old collection, the copy that has not its name yet, or both: whoever writes next, and holds the
agent's lock, finishes it (``settle``), and a copy without its original is taken for that (``InFolder.find``). Each step
is one transaction of Chroma's, and the copy is whole before the old one goes.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ...errors import StoreDamaged
from .files import BESIDE, DATABASE, elements, opened
from .location import replacing

if TYPE_CHECKING:
    from .location import Collection, InFolder

TIMES = 4
"""How many times as much must have been deleted as is held."""
LEAST = 500
"""Deleted elements below which nothing is gained."""
MOST_HELD = 500
"""Rows of a collection above which it is left as it is: whoever closes the agent waits until all are copied."""
AT_ONCE = 50
"""Rows that are copied while a writer of the same agent waits: some 10 ms."""
_SEGMENTS = """SELECT segments.id, segments.scope FROM segments JOIN collections
               ON segments.collection = collections.id WHERE collections.name = ?"""
_ROWS = "SELECT count(*) FROM embeddings WHERE segment_id = ?"


def is_worth_it(folder: Path, name: str) -> bool:
    """Whether the index of a collection holds so much that was deleted that a new one should be made; 1 ms."""
    try:
        with opened(folder) as db:
            segments = {str(scope): str(segment) for segment, scope in db.execute(_SEGMENTS, (name,))}
            held = elements(folder / segments.get("VECTOR", "none"))
            if held < LEAST:
                return False
            (rows,) = db.execute(_ROWS, (segments.get("METADATA", ""),)).fetchone()
    except (sqlite3.Error, OSError):
        return False
    return int(rows) <= MOST_HELD and held - int(rows) >= max(LEAST, TIMES * int(rows))


class Copying:
    """A collection that is copied a part at a time. Whoever calls something of it holds the agent's lock.

    Args:
        home: where the collection is.
        name: its name.
    """

    def __init__(self, home: InFolder, name: str) -> None:
        self._home, self._name = home, name
        self._left = dict.fromkeys(home.get(name).get(include=[])["ids"])
        begin(home, name)

    def changed(self, ids: Iterable[str]) -> None:
        """Note what was written to the collection, or deleted from it, meanwhile."""
        self._left |= dict.fromkeys(ids)

    def some(self) -> bool:
        """Copy some rows, and once none is left put the copy in the collection's place; answers whether it is there.

        Raises:
            StoreDamaged: the copy is not what was copied. The collection is as it was.
        """
        old, new = self._home.get(self._name), self._home.get(f"{self._name}{BESIDE}")
        ids = list(islice(self._left, AT_ONCE))
        copy(old, new, ids)
        for one in ids:
            del self._left[one]
        if self._left:
            return False
        if old.count() != new.count():
            raise StoreDamaged(f"The copy of the collection {old.name!r} has other rows than the collection.")
        drop(self._home, self._name)
        take_name(new, self._name)
        self._home.let_go()  # with it goes what Chroma keeps of the old index in memory
        remove_unused(self._home.folder)
        return True


def begin(home: InFolder, name: str) -> None:
    """Make an empty copy of a collection."""
    home.create(f"{name}{BESIDE}")


def copy(old: Collection, new: Collection, ids: list[str]) -> None:
    """Have a copy hold of some ids what the collection holds."""
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
    """Give a copy the name of what it was copied from."""
    new.modify(name=name)


def is_cut_off(folder: Path) -> bool:
    """Whether a compaction was begun here and not ended; asked of the database alone."""
    try:
        return bool(_copies(folder) or _unused(folder))
    except (sqlite3.Error, OSError):
        return False  # what is wrong with it is found by whoever looks for that


def settle(home: InFolder) -> None:
    """Finish what was cut off: a copy without its original takes its name, one beside it goes."""
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
    """Remove the folders of indices that no collection has any more, which Chroma leaves; its client is closed."""
    for path in _unused(folder):
        shutil.rmtree(path, ignore_errors=True)


def _copies(folder: Path) -> list[str]:
    if not (folder / DATABASE).exists():
        return []
    with opened(folder) as db:
        found = db.execute("SELECT name FROM collections WHERE name LIKE ?", (f"%{BESIDE}",))
        return [str(name) for (name,) in found]


def _unused(folder: Path) -> list[Path]:
    paths = [path for path in folder.glob("*-*-*-*-*") if path.is_dir() and _is_of_index(path.name)]
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
