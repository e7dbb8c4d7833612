"""Rows: the entries of a table, each read from its saved form only when somebody asks for it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from .changes import entry_from_json, entry_to_json
from .entry import MemoryEntry
from .scoring import Floats


class Saved:
    """Entries as lines of JSON in one run of bytes, as a kept table holds them.

    Args:
        text: the lines, shape (bytes,), uint8.
        ends: where each line ends, shape (n,).
    """

    def __init__(self, text: NDArray[np.uint8], ends: NDArray[np.uint64]) -> None:
        self._text = text
        self._ends = ends

    def line(self, number: int) -> bytes:
        """One line."""
        start = int(self._ends[number - 1]) if number else 0
        return bytes(self._text[start : int(self._ends[number])].data)

    def document(self, number: int) -> str:
        """The document of one entry, without making the entry."""
        return str(json.loads(self.line(number))["document"])

    def body(self, number: int) -> Mapping[str, Any]:
        """One entry as ``entry_to_json`` tells it, without making the entry."""
        told: dict[str, Any] = json.loads(self.line(number))
        return told

    def entry(self, number: int) -> MemoryEntry:
        """One entry."""
        return entry_from_json(self.body(number))


NOTHING_SAVED = Saved(np.zeros(0, np.uint8), np.zeros(0, np.uint64))


class Rows(Sequence[MemoryEntry]):
    """Entries by row: those at hand as they are, the others as the number of their saved line.

    Args:
        held: an entry, or the number of its line in ``saved``.
        accessed: when each was last recalled, shape (n or more,), Unix seconds, NaN = never.
        saved: where the lines are.
    """

    def __init__(self, held: list[MemoryEntry | int], accessed: Floats, saved: Saved) -> None:
        self.held = held
        self.accessed = accessed
        self.saved = saved

    def __len__(self) -> int:
        return len(self.held)

    @overload
    def __getitem__(self, row: int) -> MemoryEntry: ...
    @overload
    def __getitem__(self, row: slice) -> list[MemoryEntry]: ...
    def __getitem__(self, row: int | slice) -> MemoryEntry | list[MemoryEntry]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        held = self.held[row]
        entry = self.saved.entry(held) if isinstance(held, int) else held
        seconds = self.accessed[row if row >= 0 else len(self) + row]
        if math.isnan(seconds):
            if entry.last_access is not None:  # as it was before it was ever recalled
                entry = entry.accessed(None)
        elif entry.last_access is None or entry.last_access.timestamp() != seconds:
            entry = entry.accessed(datetime.fromtimestamp(float(seconds), UTC))
        self.held[row] = entry
        return entry

    def document(self, row: int) -> str:
        """The document of a row, without making an entry of it."""
        held = self.held[row]
        return self.saved.document(held) if isinstance(held, int) else held.document

    def body(self, row: int) -> Mapping[str, Any]:
        """A row as ``entry_to_json`` tells it, without making an entry of it."""
        held = self.held[row]
        return self.saved.body(held) if isinstance(held, int) else entry_to_json(held)

    def copied(self) -> Rows:
        """The rows as they stand now, whatever becomes of the table."""
        return Rows(list(self.held), self.accessed[: len(self)].copy(), self.saved)
