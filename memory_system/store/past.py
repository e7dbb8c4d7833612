"""An agent's past: the tables at a moment, and the history as of then.

The tables are the present ones with later changes taken back, or filled from the beginning, whichever is shorter.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from ..core.change_set import TEXTS, load_entry
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.memory import Vectors
from ..errors import ChangeSetNotFound
from ..recall.table import Table
from .journal.as_of import Bodies, Moment
from .journal.evidence import Evidence
from .journal.history import ALL, Applied, HistoryKinds, Sought
from .journal.journal import Journal, content_hash
from .journal.trash import Forgotten
from .protocols import Present

_MOST = 4
_MOST_ROWS = 100_000
"""Rows of all cached states; the last one is kept whatever its size."""

KeptOf = Callable[[Iterable[str]], Mapping[str, Vectors]]
"""Returns the stored vectors, by content hash."""


@dataclass(frozen=True, eq=False)
class State:
    """What an agent held at a moment: one table per tier, and the texts by name."""

    tables: Mapping[Tier, Table]
    texts: Mapping[str, str | None]
    lock: AbstractContextManager[bool] = field(default_factory=threading.RLock)
    """Held while querying the tables, which cache their answers."""


def rebuilt(ledger: Present, moment: Moment) -> State:
    """The state of an agent at a moment; the agent itself is only read, and nothing is embedded.

    A text that the embedder in use never saw, since it was forgotten before re-embedding, stays without a vector.

    Raises:
        StoreDamaged: the journal cannot be read.
    """
    past = ledger.journal.past
    with ledger.reading():
        ledger.flush()  # the state of the tables must have a number of its own
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
    """Make the tables hold these entries in the given form, and remove those given as ``None``."""
    entries: list[tuple[MemoryEntry, Vectors | None]] = []
    for entry_id, body in bodies.items():
        table = next((table for table in tables.values() if entry_id in table), None)
        entry = load_entry(body)
        if entry is not None:
            row = table.row(entry_id) if table is not None else None
            same = table is not None and row is not None and table.entries.document(row) == entry.document
            entries.append((entry, table.vector(entry_id).copy() if table is not None and same else None))
        if table is not None and (entry is None or table is not tables[entry.tier]):
            table.drop(entry_id)
    kept = kept_of([content_hash(entry.document) for entry, vector in entries if vector is None])
    for entry, vector in entries:
        tables[entry.tier].put(entry, kept.get(content_hash(entry.document)) if vector is None else vector)


_Key = tuple[int, int, datetime | None, int]


class Pasts:
    """The states of the last few moments that were inspected; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: OrderedDict[_Key, State] = OrderedDict()

    def get(self, ledger: Present, moment: Moment) -> State:
        """The state of an agent at a moment, rebuilt if it is not cached.

        Raises:
            StoreDamaged: it cannot be rebuilt.
        """
        key = (*moment.key, ledger.journal.bin.last_purge())  # what is purged must not be visible from then on
        with self._lock:
            state = self._states.get(key)
            if state is not None:
                self._states.move_to_end(key)
                return state
        state = rebuilt(ledger, moment)
        with self._lock:
            self._states[key] = state
            while len(self._states) > _MOST or (len(self._states) > 1 and self._rows() > _MOST_ROWS):
                self._states.popitem(last=False)
        return state

    def _rows(self) -> int:
        return sum(len(table) for state in self._states.values() for table in state.tables.values())


class _PastJournal:
    """The history as it was at a moment."""

    def __init__(self, ledger: Present, moment: Moment) -> None:
        self._ledger = ledger
        self._moment = moment
        self._revision = moment.revision
        self.evidence: Evidence = ledger.journal.evidence.as_of(moment.revision)

    def history(self, limit: int = 100, before: int | None = None, sought: Sought = ALL) -> list[Applied]:
        """The newest change sets first, at most ``limit`` of those that match, and only those older than ``before``."""
        first = self._revision + 1
        with self._reading() as journal:
            return self._then(journal.history(limit, first if before is None else min(before, first), sought))

    def get(self, revision: int) -> Applied:
        """One change set.

        Raises:
            ChangeSetNotFound: there was no such revision.
        """
        if revision > self._revision:
            raise ChangeSetNotFound(f"The history had no revision {revision} then.")
        with self._reading() as journal:
            return self._then([journal.get(revision)])[0]

    @contextmanager
    def _reading(self) -> Iterator[Journal]:
        """The journal, as long as it still covers this moment."""
        with self._ledger.reading():
            self._ledger.journal.refuse_let_go(self._revision)
            yield self._ledger.journal

    def _then(self, acts: Sequence[Applied]) -> list[Applied]:
        """The same, with what had been undone by the revision."""
        undone = self._ledger.journal.past.undone([act.change_set for act in acts], self._revision)
        return [dataclasses.replace(act, undone_by=undone.get(act.revision)) for act in acts]

    def kinds(self) -> HistoryKinds:
        """The authors and operations in the history."""
        with self._reading() as journal:
            return journal.teller.kinds(journal.horizon.floor, self._revision)

    def forgotten(self, limit: int, offset: int, contains: str, operation: str = "") -> list[Forgotten]:
        """Memories that were gone, the latest forgotten first; those purged since are left out."""
        with self._reading() as journal:
            return journal.bin.forgotten(limit, offset, contains, self._revision, operation)

    def count_forgotten(self, contains: str) -> int:
        """How many of those there were."""
        with self._reading() as journal:
            return journal.bin.count(contains, self._revision)

    def last_version(self, entry_id: str) -> MemoryEntry | None:
        """A memory as it last was, even if forgotten by then; ``None`` if it had never existed."""
        with self._reading() as journal:
            return journal.past.last_version(entry_id, self._revision)

    def last_access_of(self, ids: Sequence[str]) -> dict[str, datetime]:
        """The latest access of each of these memories that had been recalled."""
        with self._reading() as journal:
            return journal.past.last_accesses(self._moment, ids)

    def vectors(self, hashes: Iterable[str], embedder: str) -> dict[str, Vectors]:
        """The kept vectors, shape (d,), of these content hashes."""
        with self._reading() as journal:
            return journal.vectors(hashes, embedder)


class PastLedger:
    """A ledger as it was at a moment.

    Args:
        moment: which one.
        state: what the agent held then.
        ledger: the agent's; of its history only what was known then is shown.
    """

    def __init__(self, moment: Moment, state: State, ledger: Present) -> None:
        self.tables: Mapping[Tier, Table] = state.tables
        self.journal = _PastJournal(ledger, moment)
        self.messages: Sequence[str] = ()
        self.revision = moment.revision
        # below zero, so that it never equals a stamp of the present; the second number distinguishes accesses
        until = 0 if moment.until is None else int(moment.until.timestamp())
        self.stamp = moment.revision, -1 - moment.access - until
        self.refuse_other_embedder = ledger.refuse_other_embedder
        self._ledger = ledger
        self._texts = state.texts
        self._lock = state.lock

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the caches of the tables still, among threads; the rows do not change."""
        with self._lock:
            yield

    @property
    def gone(self) -> bool:
        """Whether the agent was closed since, or its files were moved, deleted or replaced."""
        return self._ledger.gone

    def text(self, name: str) -> str | None:
        """The text of this name as it was then."""
        return self._texts.get(name)

    @property
    def lived(self) -> Mapping[Tier, Table]:
        """The tables that recall ranges over."""
        return {tier: self.tables[tier] for tier in LIVED}

    def texts(self) -> dict[str, str | None]:
        """All texts as they were then, by name."""
        return {name: text for name, text in self._texts.items() if text is not None or name in TEXTS}

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
        entries = (table.get(entry_id) for table in self.tables.values())
        return next((entry for entry in entries if entry is not None), None)
