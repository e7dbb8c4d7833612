"""The tables of a moment: those of now with what has changed since taken back, or filled anew, whichever is shorter."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime

from ..core.change_set import load_entry
from ..core.entry import MemoryEntry, Tier
from ..core.memory import Vectors
from ..recall.table import Table
from .journal.as_of import Bodies, Moment
from .journal.journal import content_hash
from .ledger import Ledger

_MOST = 4
_MOST_ROWS = 100_000
"""Rows of all that is kept; the last one is kept whatever its size."""

KeptOf = Callable[[Iterable[str]], Mapping[str, Vectors]]
"""The vectors that are kept, by content hash."""


@dataclass(frozen=True, eq=False)
class State:
    """What an agent held at a moment: one table a tier, and the texts by name."""

    tables: Mapping[Tier, Table]
    texts: Mapping[str, str | None]
    lock: AbstractContextManager[bool] = field(default_factory=threading.RLock)
    """Held by whoever asks the tables, which remember what they were asked."""


def rebuilt(ledger: Ledger, moment: Moment) -> State:
    """The state of an agent at a moment; the agent itself is only read, and nothing is embedded.

    A text of then that the embedder in use never saw, since it was forgotten before the vectors were made anew, stays
    without a vector.

    Raises:
        StoreDamaged: the journal cannot be read.
    """
    past = ledger.journal.past
    with ledger.reading():
        ledger.flush()  # what the tables show has to be told apart by its number
        newest = ledger.revision
        near = past.is_nearer_to_now(moment.revision, newest)
        tables = {tier: table.copied() if near else Table() for tier, table in ledger.tables.items()}
        now = ledger.texts()
    bodies = past.back(moment.revision, newest) if near else past.forth(moment.revision)
    _take_in(tables, bodies, lambda hashes: ledger.journal.vectors(hashes, ledger.embedder.identity))
    since = past.accessed_since(moment) if near else None
    among = None if since is None else since | bodies.keys()
    accesses = past.last_accesses(moment, among)
    for table in tables.values():
        table.recall_only(accesses, among)
    return State(tables, past.texts(moment.revision, newest, now))


def _take_in(tables: Mapping[Tier, Table], bodies: Bodies, kept_of: KeptOf) -> None:
    """Let the tables hold these entries as they are said to be, and not those of which there is none."""
    entries: list[tuple[MemoryEntry, Vectors | None]] = []
    for entry_id, body in bodies.items():
        held = next((table for table in tables.values() if entry_id in table), None)
        entry = load_entry(body)
        if entry is not None:
            row = held.row(entry_id) if held is not None else None
            same = held is not None and row is not None and held.entries.document(row) == entry.document
            entries.append((entry, held.vector(entry_id).copy() if held is not None and same else None))
        if held is not None and (entry is None or held is not tables[entry.tier]):
            held.drop(entry_id)
    kept = kept_of([content_hash(entry.document) for entry, vector in entries if vector is None])
    for entry, vector in entries:
        tables[entry.tier].put(entry, kept.get(content_hash(entry.document)) if vector is None else vector)


_Key = tuple[int, int, datetime | None, int]


class Pasts:
    """The states of the last few moments that were looked at; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[_Key, State] = OrderedDict()

    def get(self, ledger: Ledger, moment: Moment) -> State:
        """The state of an agent at a moment, rebuilt if it is not at hand.

        Raises:
            StoreDamaged: it cannot be rebuilt.
        """
        key = (*moment.key, ledger.journal.bin.last_purge())  # what is purged is not to be seen from then on
        with self._lock:
            state = self._held.get(key)
            if state is not None:
                self._held.move_to_end(key)
                return state
        state = rebuilt(ledger, moment)
        with self._lock:
            self._held[key] = state
            while len(self._held) > _MOST or (len(self._held) > 1 and self._rows() > _MOST_ROWS):
                self._held.popitem(last=False)
        return state

    def _rows(self) -> int:
        return sum(len(table) for state in self._held.values() for table in state.tables.values())
