"""The process that may crash, started by ``probe`` with a copy of Chroma's folder."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

from ...core.entry import MemoryEntry, Tier
from ...errors import ForeignStore, MemorySystemError, StoreDamaged
from .store import ChromaStore

_ROWS = 120
"""More than Chroma keeps in its log before it writes the index to disk."""


_WORDS = "embedding_fulltext_search"
"""Chroma's full-text index, whose pages SQLite's own check treats like any table's."""
_CHECK_WORDS = "INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES ('integrity-check')"


def check(database: Path) -> None:
    """Do nothing if SQLite finds every page in order, and the full-text index correct.

    Raises:
        StoreDamaged: it does not.
    """
    try:
        with closing(sqlite3.connect(database, isolation_level=None)) as db:
            found = [str(row[0]) for row in db.execute("PRAGMA integrity_check(1)")]
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (_WORDS,)).fetchone():
                db.execute(_CHECK_WORDS)
    except sqlite3.Error as error:
        raise StoreDamaged(f"{database.name} is damaged: {error}") from error
    if found != ["ok"]:
        raise StoreDamaged(f"{database.name} is damaged: {found[0][:200]}")


def look(folder: Path) -> None:
    """Check the database, then read everything, query, write and delete, in every tier.

    Raises:
        MemorySystemError: something is wrong.
    """
    check(folder / "chroma.sqlite3")
    store = ChromaStore.open(folder)
    for tier in Tier:
        memory = store.memory(tier)
        snapshot = memory.snapshot()
        width = store.shape(tier.value)[0]
        if not width:
            continue
        probes = [MemoryEntry(f"probe {row}", id=f"memory-system-probe-{row}", tier=tier) for row in range(_ROWS)]
        vectors = np.random.default_rng(0).standard_normal((_ROWS, width)).astype(np.float32)
        cue = snapshot.vectors[0] if len(snapshot.vectors) else vectors[0]
        memory.nearest(cue, 10)
        memory.upsert(probes, vectors)
        memory.nearest(cue, 10)
        memory.delete([entry.id for entry in probes])
    store.close()


def main(folder: str) -> None:
    """Print what was found as one line of JSON."""
    report: dict[str, str] = {}
    try:
        look(Path(folder))
    except ForeignStore as error:
        report["foreign"] = error.sentence
    except MemorySystemError as error:
        report["problem"] = error.sentence.replace(folder, "its folder")
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
