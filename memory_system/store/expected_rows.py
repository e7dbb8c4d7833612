"""ExpectedRows: what a store of one tier should hold, row by row, without making an entry of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.change_set import entry_to_json
from ..core.entry import MemoryEntry
from ..core.memory import Vectors
from ..recall.table import Table
from .journal.journal import content_hash


@dataclass(frozen=True)
class ExpectedRows:
    """What a store should hold.

    Args:
        ids: the id of each row.
        body: a row in the form of ``entry_to_json``.
        entry: the entry of a row, which takes ten times as long to make.
        vectors: the vectors of k rows, shape (k, d); a row of NaN where the text has none yet.
    """

    ids: Sequence[str]
    body: Callable[[int], Mapping[str, Any]]
    entry: Callable[[int], MemoryEntry]
    vectors: Callable[[Sequence[int]], Vectors]


def of_table(table: Table) -> ExpectedRows:
    """The rows of a table."""
    return ExpectedRows(
        table.ids, table.entries.body, table.entries.__getitem__, lambda rows: table.vectors[np.asarray(rows, np.intp)]
    )


def of_entries(entries: Sequence[MemoryEntry], vectors: Mapping[str, Vectors]) -> ExpectedRows:
    """These entries, with the vectors of their texts by content hash."""
    width = len(next(iter(vectors.values()), ()))
    none = np.full(width, np.nan, np.float32)

    def of_rows(rows: Sequence[int]) -> Vectors:
        found = [vectors.get(content_hash(entries[row].document), none) for row in rows]
        return np.array(found, np.float32).reshape(len(rows), width)

    return ExpectedRows(
        [entry.id for entry in entries], lambda row: entry_to_json(entries[row]), entries.__getitem__, of_rows
    )
