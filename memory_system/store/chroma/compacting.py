"""Compacting a small collection whose index is mostly made of what was deleted.

Chroma's index keeps every element that was ever added, and each new one is compared with those that are gone; so the
index of short-term memory, which holds fifty memories and lets thousands pass, grows and slows down for ever. What is
left is copied into a new collection, which takes the old one's name.

A kill leaves the old collection, the copy that has not its name yet, or both: whoever writes next, and holds the
agent's lock, finishes it (``settle``), and a copy without its original is taken for that (``InFolder.find``). Each step
is one transaction of Chroma's, and the copy is whole before the old one goes.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ...errors import StoreDamaged
from .files import BESIDE, DATABASE, OUR_DISTANCE, distance, elements, opened

if TYPE_CHECKING:
    from .location import Collection, InFolder

TIMES = 4
"""How many times as much must have been deleted as is held."""
LEAST = 500
"""Deleted elements below which nothing is gained."""
MOST_HELD = 500
"""Rows of a collection above which it is left as it is: copying more would keep a writer of the same agent waiting."""
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


def compact(home: InFolder, name: str) -> None:
    """Put a copy of what a collection holds in its place. The caller holds the agent's lock.

    Raises:
        StoreDamaged: the copy is not what was copied. The collection is as it was.
    """
    old = home.get(name)
    if distance(old.configuration_json) != OUR_DISTANCE:
        return
    new = copy(home, old)
    drop(home, name)
    take_name(new, name)
    home.let_go()  # with it goes what Chroma keeps of the old index in memory
    remove_unused(home.folder)


def copy(home: InFolder, old: Collection) -> Collection:
    """A new collection beside an old one, with the same rows.

    Raises:
        StoreDamaged: it has not.
    """
    rows = old.get(include=["documents", "metadatas", "embeddings"])
    new = home.create(f"{old.name}{BESIDE}")
    if rows["ids"]:
        new.upsert(
            ids=rows["ids"],
            documents=rows["documents"],
            metadatas=rows["metadatas"],
            embeddings=cast("Any", rows["embeddings"]),
        )
    if not new.count() == len(rows["ids"]) == old.count():
        raise StoreDamaged(f"The copy of the collection {old.name!r} has other rows than the collection.")
    return new


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
    names = {one.name for one in home.client().list_collections()}
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
