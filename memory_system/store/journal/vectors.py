"""The vectors of a journal, by content hash and by the identity of what made them: a rebuild needs no model."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from ...core.memory import Vectors
from .history import Ask, Connect, slices
from .statements import Question, insert_new, upsert
from .tables import ENTRIES, VECTORS

_HALF = b"h"
"""Before a vector in half precision, so that its length in bytes is odd."""
_UNIT_WITHIN = 1e-3
_FEW = 9
"""Fewer vectors than these do not show which of them are cut short, so that others are looked at, too."""


def content_hash(text: str) -> str:
    """The key under which a text's vector is kept."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def rounded(vectors: Vectors) -> Vectors:
    """Vectors, shape (n, d), as memories get them: of half precision, so that a journal needs half the room for each.

    They are scaled to unit length again, as float32. The cosine of a vector and its rounded one is above .999999.
    Vectors that are not of unit length are left as they are.
    """
    with np.errstate(all="ignore"):  # of what is left as it is
        near = _scaled(vectors.astype("<f2"))
        unit = np.abs(np.linalg.norm(vectors, axis=1) - 1) < _UNIT_WITHIN
    return np.where(unit[:, np.newaxis], near, vectors)


def _scaled(halves: NDArray[np.float16]) -> Vectors:
    """Vectors of half precision, shape (n, d), scaled to unit length.

    The sum of their squares is exact, in whatever order a processor adds them up: each is a multiple of 2 ** -48.
    """
    wide = halves.astype(np.float64)
    scaled: Vectors = (wide / np.sqrt((wide * wide).sum(axis=1, keepdims=True))).astype(np.float32)
    return scaled


def keep(db: sa.Connection, vectors: Mapping[str, Vectors], embedder: str, *, overwrite: bool = False) -> None:
    """Write vectors, shape (d,), by content hash; with ``overwrite`` also those that exist already."""
    if not vectors:
        return
    write = upsert if overwrite else insert_new
    packed = zip(vectors, _packed(np.stack(list(vectors.values()))), strict=True)
    write(db, VECTORS, [{"hash": key, "embedder": embedder, "data": data} for key, data in packed])


def _packed(vectors: Vectors) -> list[bytes]:
    """Vectors, shape (n, d), as bytes of which ``unpacked`` makes the very same; rounded ones take half the room."""
    with np.errstate(all="ignore"):  # of what is not written so
        halves = vectors.astype("<f2")
        exact = np.count_nonzero(_scaled(halves) != vectors, axis=1) == 0
    return [
        _HALF + half.tobytes() if same else vector.astype("<f4").tobytes()
        for same, half, vector in zip(exact, halves, vectors, strict=True)
    ]


def unpacked(rows: Iterable[tuple[str, Any]]) -> dict[str, Vectors]:
    """Vectors, shape (d,), by content hash; damaged ones are left out."""
    by_size: dict[int, dict[str, bytes]] = defaultdict(dict)
    for key, data in rows:
        if isinstance(data, bytes | memoryview):
            by_size[len(data)][key] = bytes(data)
    found: dict[str, Vectors] = {}
    for size, packed in by_size.items():
        raw = np.frombuffer(b"".join(packed.values()), np.uint8).reshape(len(packed), size)
        with np.errstate(all="ignore"):  # of the damaged ones
            if size and size % 4 == 0:
                vectors = raw.view("<f4").astype(np.float32)
            elif size % 2 and size > len(_HALF):
                vectors = _scaled(np.ascontiguousarray(raw[:, len(_HALF) :]).view("<f2"))
            else:
                continue
            whole = np.isfinite(vectors.sum(axis=1))
        found |= {key: vector for key, vector, is_whole in zip(packed, vectors, whole, strict=True) if is_whole}
    return found


_KEPT = Question(
    sa.select(VECTORS.c.hash, VECTORS.c.data).where(
        VECTORS.c.embedder == sa.bindparam("embedder"), VECTORS.c.hash.in_(sa.bindparam("some", expanding=True))
    )
)


_OTHERS = Question(sa.select(VECTORS.c.data).where(VECTORS.c.embedder == sa.bindparam("embedder")).limit(_FEW))


_EMBEDDERS = Question(
    sa.select(VECTORS.c.embedder, sa.func.count().label("texts"))
    .select_from(sa.join(ENTRIES, VECTORS, VECTORS.c.hash == ENTRIES.c.hash))
    .group_by(VECTORS.c.embedder)
    .order_by(sa.desc("texts"))
)


class KeptVectors:
    """The kept vectors of one journal.

    Args:
        ask: answers a single question.
        write: a connection whose transaction is committed at the end.
    """

    def __init__(self, ask: Ask, write: Connect) -> None:
        self._ask = ask
        self._write = write

    def of(self, hashes: Iterable[str], embedder: str) -> dict[str, Vectors]:
        """The vectors, shape (d,), of these content hashes; those never embedded, or damaged, are left out.

        So a damaged one is embedded again from its text and replaced.
        """
        found = unpacked(
            (row.hash, row.data)
            for some in slices(list(dict.fromkeys(hashes)))
            for row in self._ask(_KEPT, {"embedder": embedder, "some": some})
        )
        seen = found
        if 0 < len(found) < _FEW:
            others = enumerate(self._ask(_OTHERS, {"embedder": embedder}))
            seen = unpacked((str(number), row.data) for number, row in others) or found
        widths = Counter(map(len, seen.values())).most_common(1)
        return {key: vector for key, vector in found.items() if len(vector) == widths[0][0]}

    def keep(self, vectors: Mapping[str, Vectors], embedder: str) -> None:
        """Store vectors that ``embedder`` made of stored texts."""
        with self._write() as db:
            keep(db, vectors, embedder, overwrite=True)

    def embedders(self) -> dict[str, int]:
        """How many stored texts each embedder has made vectors of, the largest number first."""
        return {row.embedder: row.texts for row in self._ask(_EMBEDDERS)}
