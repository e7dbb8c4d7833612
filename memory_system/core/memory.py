"""Memory: what any store of one tier must do; and InMemory, the smallest store that does it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import EntryNotFound, InvalidParameter
from .change_set import entry_from_json, entry_to_json
from .entry import MemoryEntry

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Snapshot:
    """All entries of a store and their vectors: ``vectors`` has shape (n, d), row i belongs to entry i."""

    entries: tuple[MemoryEntry, ...]
    vectors: Vectors


@dataclass(frozen=True)
class Page:
    """Some rows of a store as they are written there, not yet turned into entries.

    Args:
        bodies: n entries in the form of ``entry_to_json``.
        vectors: shape (n, d), row i belongs to body i.
    """

    bodies: Sequence[Mapping[str, Any]]
    vectors: Vectors


class Memory(ABC):
    """A store of memories of one tier, each with its vector.

    A store only keeps what it is given; it rates nothing, embeds nothing and forgets nothing by itself. It has to
    write, delete, list its rows and clear itself; everything else is derived from its rows, unless it has a faster
    way. Every write can be repeated without harm, since an interrupted write is done again when the agent is opened.
    Vectors are float32 of one dimension d per store (384 for all-MiniLM-L6-v2); distances are squared Euclidean. An
    entry's last access is not stored here: the journal keeps it.
    """

    lasts: ClassVar[bool] = True
    """Whether the contents survive closing and opening the store."""

    @abstractmethod
    def upsert(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> None:
        """Add entries, and replace whole (metadata included) those whose id exists.

        Args:
            entries: n entries with distinct ids.
            vectors: shape (n, d), finite.

        Raises: InvalidParameter: the shapes do not agree, an id appears twice, or a vector is not finite.
            StoreError: the store could not be written.
        """

    @abstractmethod
    def delete(self, ids: Sequence[str]) -> None:
        """Remove entries; unknown ids are ignored.

        Raises:
            StoreError: the store could not be written.
        """

    def get(self, ids: Sequence[str]) -> list[MemoryEntry]:
        """The entries of these ids, in the order asked.

        Raises:
            EntryNotFound: an id does not exist; the message names it.
        """
        entries = {entry.id: entry for entry in self.snapshot().entries} if ids else {}
        try:
            return [entries[entry_id] for entry_id in ids]
        except KeyError as error:
            raise EntryNotFound(f"There is no memory {error.args[0]!r} here.") from error

    def ids(self) -> frozenset[str]:
        """The ids of all entries."""
        return frozenset(body["id"] for page in self.pages() for body in page.bodies)

    def count(self) -> int:
        """How many entries there are."""
        return len(self.ids())

    @abstractmethod
    def pages(self) -> Iterator[Page]:
        """All rows, some at a time, in no particular order; nothing is written meanwhile.

        Raises:
            ForeignStore: a row was not written by this system.
        """

    def snapshot(self) -> Snapshot:
        """All entries with their vectors, ordered by id.

        Raises:
            ForeignStore: a row was not written by this system.
        """
        rows = [
            (entry_from_json(body), vector)
            for page in self.pages()
            for body, vector in zip(page.bodies, page.vectors, strict=True)
        ]
        rows.sort(key=lambda row: row[0].id)
        vectors = np.array([vector for _, vector in rows], np.float32) if rows else np.zeros((0, 0), np.float32)
        return Snapshot(tuple(entry for entry, _ in rows), vectors)

    def nearest(self, vector: Vectors, top_k: int) -> list[tuple[str, float]]:
        """The ids nearest to ``vector`` (shape (d,)) with their squared distance, nearest first.

        May be approximate: recall does not rest on it. At most ``top_k`` (1 or more), fewer if there are fewer.

        Raises:
            InvalidParameter: ``top_k`` below 1, or another dimension than the store's.
        """
        if top_k < 1:
            raise InvalidParameter(f"top_k must be 1 or more, not {top_k}.")
        snapshot = self.snapshot()
        if not snapshot.entries:
            return []
        if vector.shape != (snapshot.vectors.shape[1],):
            raise InvalidParameter(
                f"This store holds vectors of {snapshot.vectors.shape[1]} numbers, not {vector.shape}."
            )
        distances = ((snapshot.vectors - vector) ** 2).sum(axis=1)
        nearest = np.argsort(distances, kind="stable")[:top_k]
        return [(snapshot.entries[row].id, float(distances[row])) for row in nearest]

    @abstractmethod
    def clear(self) -> None:
        """Remove all entries. A store chosen by ``MEMORY_STORE`` accepts another dimension afterwards."""

    def close(self) -> None:  # noqa: B027 - a store that keeps nothing open has nothing to close
        """Release files and connections. The store is not used afterwards."""

    def check(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> Vectors:
        """The vectors as float32 (n, d), if they match the entries; every ``upsert`` begins with this.

        Raises:
            InvalidParameter: they do not match.
        """
        array = np.ascontiguousarray(vectors, dtype=np.float32)
        if array.ndim != 2 or len(array) != len(entries):
            raise InvalidParameter(
                f"{len(entries)} entries need vectors of shape ({len(entries)}, d), not {array.shape}."
            )
        if len({entry.id for entry in entries}) != len(entries):
            raise InvalidParameter("An id is used twice in one write.")
        if not np.isfinite(array).all():
            raise InvalidParameter("A vector contains a value that is not finite.")
        return array


class InMemory(Memory):
    """A store in a dictionary: for tests and for throw-away worlds. Nothing survives the process."""

    lasts = False

    def __init__(self) -> None:
        self._pairs: dict[str, tuple[MemoryEntry, Vectors]] = {}

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> None:  # noqa: D102
        array = self.check(entries, vectors)
        first = next((vector for _, vector in self._pairs.values()), None)
        if first is not None and len(array) and array.shape[1] != len(first):
            raise InvalidParameter(f"This store holds vectors of {len(first)} numbers, not {array.shape[1]}.")
        for entry, vector in zip(entries, array, strict=True):
            self._pairs[entry.id] = (entry, vector.copy())

    def delete(self, ids: Sequence[str]) -> None:  # noqa: D102
        for entry_id in ids:
            self._pairs.pop(entry_id, None)

    def get(self, ids: Sequence[str]) -> list[MemoryEntry]:  # noqa: D102
        try:
            return [self._pairs[entry_id][0] for entry_id in ids]
        except KeyError as error:
            raise EntryNotFound(f"There is no memory {error.args[0]!r} here.") from error

    def ids(self) -> frozenset[str]:  # noqa: D102
        return frozenset(self._pairs)

    def count(self) -> int:  # noqa: D102
        return len(self._pairs)

    def pages(self) -> Iterator[Page]:  # noqa: D102
        if pairs := list(self._pairs.values()):
            yield Page([entry_to_json(entry) for entry, _ in pairs], np.stack([vector for _, vector in pairs]))

    def clear(self) -> None:  # noqa: D102
        self._pairs.clear()
