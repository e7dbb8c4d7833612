"""The rows of Chroma's collections, read from its database, without its index and without Chroma.

An index that is damaged, empty or incomplete makes Chroma leave rows out; its database still has them whole, except
for the vectors, of which it keeps only those that were written last.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...core.change_set import entry_from_json
from ...core.entry import MemoryEntry, Tier
from ...core.memory import Vectors
from ...errors import MemorySystemError, StoreDamaged
from .files import DATABASE, opened
from .store import ENTRY

_DOCUMENT = "chroma:document"
_SEGMENT = """SELECT segments.id FROM segments JOIN collections ON segments.collection = collections.id
              WHERE collections.name = ? AND segments.scope = 'METADATA'"""
_ROWS = f"""SELECT held.embedding_id, told.string_value, said.string_value FROM embeddings AS held
            LEFT JOIN embedding_metadata AS told ON told.id = held.id AND told.key = '{ENTRY}'
            LEFT JOIN embedding_metadata AS said ON said.id = held.id AND said.key = '{_DOCUMENT}'
            WHERE held.segment_id IN ({_SEGMENT}) ORDER BY held.embedding_id"""  # noqa: S608 - our own names
_COUNT = f"SELECT count(*) FROM embeddings WHERE segment_id IN ({_SEGMENT})"  # noqa: S608 - our own names
_WRITTEN_LAST = """SELECT queue.id, queue.vector FROM embeddings_queue AS queue JOIN collections
                   ON queue.topic LIKE '%/' || collections.id WHERE collections.name = ? AND queue.vector IS NOT NULL
                   ORDER BY queue.seq_id"""


@dataclass(frozen=True)
class Rows:
    """The contents of a Chroma database.

    Args:
        entries: the memories that can be read, those of a later tier last.
        vectors: the vectors, shape (d,), that it still has, by the id of the memory.
        unreadable: the ids of the rows that cannot be read.
    """

    entries: tuple[MemoryEntry, ...]
    vectors: dict[str, Vectors]
    unreadable: tuple[str, ...]


def counts(folder: Path) -> dict[Tier, int]:
    """How many rows each tier's collection has in its database, if any; empty where that cannot be read."""
    try:
        with opened(folder) as db:
            found = {tier: int(db.execute(_COUNT, (tier.value,)).fetchone()[0]) for tier in Tier}
    except sqlite3.Error:
        return {}
    return {tier: count for tier, count in found.items() if count}


def read(folder: Path) -> Rows:
    """All rows of all tiers; nothing in the folder is changed.

    Raises:
        StoreDamaged: the database is missing, or cannot be read in full.
    """
    entries: dict[str, MemoryEntry] = {}
    vectors: dict[str, Vectors] = {}
    unreadable: list[str] = []
    try:
        with opened(folder) as db:
            problems = [str(row[0]) for row in db.execute("PRAGMA quick_check(1)")]
            if problems != ["ok"]:
                raise StoreDamaged(f"{DATABASE} is damaged: {problems[0][:200]}.")
            for tier in Tier:
                for entry_id, json_text, said in db.execute(_ROWS, (tier.value,)):
                    entry = _entry(json_text, said)
                    if entry is None:
                        unreadable.append(str(entry_id))
                    else:
                        entries[entry.id] = entry
                vectors |= _written_last(db, tier)
    except sqlite3.Error as error:
        raise StoreDamaged(f"{DATABASE} cannot be read: {error}.") from error
    return Rows(tuple(entries.values()), vectors, tuple(unreadable))


def _entry(json_text: object, said: object) -> MemoryEntry | None:
    with suppress(MemorySystemError, ValueError, KeyError, TypeError, RecursionError):
        body = json.loads(str(json_text))
        return entry_from_json({**body, "document": said})
    return None


def _written_last(db: sqlite3.Connection, tier: Tier) -> dict[str, Vectors]:
    found: dict[str, Vectors] = {}
    for entry_id, vector in db.execute(_WRITTEN_LAST, (tier.value,)):
        if len(vector) % 4 == 0:
            found[str(entry_id)] = np.frombuffer(vector, np.float32)
    return found
