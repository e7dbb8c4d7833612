"""Table: what recall computes on. One tier's entries, vectors, last accesses and importances, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from .entry import MemoryEntry
from .memory import Vectors

_FIRST_ROOM = 64


class Table:
    """Rows in no particular order, kept dense: a row that leaves is filled by the last one.

    Derived from the journal and never written by itself; whoever changes it holds the agent's lock.
    """

    def __init__(self) -> None:
        self.entries: list[MemoryEntry] = []
        self._rows: dict[str, int] = {}
        self._vectors = np.zeros((0, 0), np.float32)
        self._importance = np.zeros(0)
        self._last_access = np.zeros(0)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._rows

    def get(self, entry_id: str) -> MemoryEntry | None:
        """The entry of this id with its last access, or ``None``."""
        row = self._rows.get(entry_id) if isinstance(entry_id, str) else None
        return None if row is None else self.entries[row]

    def vector(self, entry_id: str) -> Vectors:
        """The vector of an entry that is held, shape (d,)."""
        vector: Vectors = self._vectors[self._rows[entry_id]]
        return vector

    @property
    def vectors(self) -> Vectors:
        """Shape (n, d), float32; a row of NaN has no vector."""
        return self._vectors[: len(self)]

    @property
    def importance(self) -> NDArray[np.float64]:
        """Shape (n,), 0.1 to 1; NaN = unrated."""
        return self._importance[: len(self)]

    @property
    def last_access(self) -> NDArray[np.float64]:
        """Shape (n,), Unix seconds; NaN = timeless."""
        return self._last_access[: len(self)]

    def put(self, entry: MemoryEntry, vector: Vectors | None) -> None:
        """Add an entry, or replace the one of its id."""
        row = self._rows.get(entry.id)
        if row is None:
            row = len(self.entries)
            self._make_room(row + 1, 0 if vector is None else len(vector))
            self.entries.append(entry)
            self._rows[entry.id] = row
        self.entries[row] = entry
        if vector is None:
            self._vectors[row] = math.nan
        else:
            self._make_room(len(self), len(vector))
            self._vectors[row] = vector
        self._importance[row] = math.nan if entry.importance is None else entry.importance
        self._last_access[row] = math.nan
        if entry.timestamp is not None:  # that it happened counts as an access, also of an event told anew
            self._last_access[row] = max(entry.timestamp, entry.last_access or entry.timestamp).timestamp()

    def drop(self, entry_id: str) -> None:
        """Remove an entry; an id that is not held is passed over."""
        row = self._rows.pop(entry_id, None)
        if row is None:
            return
        last = len(self.entries) - 1
        if row != last:
            self.entries[row] = self.entries[last]
            self._rows[self.entries[row].id] = row
            for column in (self._vectors, self._importance, self._last_access):
                column[row] = column[last]
        self.entries.pop()

    def touch(self, entry_ids: Iterable[str], at: datetime) -> None:
        """Set the last access of entries; an id that is not held, or has no time, is passed over."""
        for entry_id in entry_ids:
            row = self._rows.get(entry_id)
            if row is not None and self.entries[row].timestamp is not None:
                self.entries[row] = self.entries[row].evolve(last_access=at)
                self._last_access[row] = at.timestamp()

    def _make_room(self, rows: int, width: int) -> None:
        room, held_width = self._vectors.shape
        if width and not held_width:
            self._vectors = np.full((room, width), math.nan, np.float32)
            held_width = width
        if rows <= room:
            return
        more = max(rows, 2 * room, _FIRST_ROOM)
        vectors = np.full((more, held_width), math.nan, np.float32)
        vectors[:room] = self._vectors
        self._vectors = vectors
        for name in ("_importance", "_last_access"):
            column = np.full(more, math.nan)
            column[:room] = getattr(self, name)
            setattr(self, name, column)
