"""The vectors that a journal keeps, by content hash and by what made them: a rebuild needs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager

import numpy as np
import sqlalchemy as sa

from .journal_rows import slices
from .journal_tables import ENTRIES, VECTORS, upsert
from .memory import Vectors

Connect = Callable[[], AbstractContextManager[sa.Connection]]


def content_hash(text: str) -> str:
    """The key under which a text's vector is kept."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def keep(db: sa.Connection, vectors: Mapping[str, Vectors], embedder: str) -> None:
    """Write vectors, shape (d,), by content hash."""
    rows = [
        {"hash": key, "embedder": embedder, "data": np.asarray(vector, "<f4").tobytes()}
        for key, vector in vectors.items()
    ]
    upsert(db, VECTORS, rows)


class KeptVectors:
    """The kept vectors of one journal.

    Args:
        read: a connection to read with.
        write: a connection whose transaction is committed at the end.
    """

    def __init__(self, read: Connect, write: Connect) -> None:
        self._read = read
        self._write = write

    def of(self, hashes: Iterable[str], embedder: str) -> dict[str, Vectors]:
        """The vectors, shape (d,), of these content hashes; those never embedded are left out."""
        found: dict[str, Vectors] = {}
        wanted = list(dict.fromkeys(hashes))
        if not wanted:
            return found
        with self._read() as db:
            for some in slices(wanted):
                rows = db.execute(
                    sa.select(VECTORS.c.hash, VECTORS.c.data).where(
                        VECTORS.c.embedder == embedder, VECTORS.c.hash.in_(some)
                    )
                )
                for row in rows:
                    found[row.hash] = np.frombuffer(row.data, "<f4").astype(np.float32)
        return found

    def keep(self, vectors: Mapping[str, Vectors], embedder: str) -> None:
        """Keep vectors that ``embedder`` made of texts that are held."""
        with self._write() as db:
            keep(db, vectors, embedder)

    def embedders(self) -> dict[str, int]:
        """Of how many texts that are held each embedder has made vectors, the one of the most first."""
        joined = sa.join(ENTRIES, VECTORS, VECTORS.c.hash == ENTRIES.c.hash)
        query = sa.select(VECTORS.c.embedder, sa.func.count().label("texts")).select_from(joined)
        with self._read() as db:
            rows = db.execute(query.group_by(VECTORS.c.embedder).order_by(sa.desc("texts"))).all()
        return {row.embedder: row.texts for row in rows}
