"""LedgerTables: what is known of an agent's memory in this process, kept in step with its journal.

TableLock: what holds an agent's tables still, and can be let go of while something slow is written.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from ..core.change_set import ChangeSet
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.memory import Vectors
from ..embedding.embedder import Embedder
from ..recall.table import Table
from .journal.journal import Journal, content_hash


class TableLock:
    """A lock that its holder may take again, and may let go of for a while, however often it was taken."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder: int | None = None
        self._taken = 0

    @property
    def mine(self) -> bool:
        """Whether the thread that asks holds it."""
        return self._holder == threading.get_ident()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._holder = threading.get_ident()
        self._taken += 1

    def __exit__(self, *_: object) -> None:
        self._taken -= 1
        if not self._taken:
            self._holder = None
        self._lock.release()

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Others may take it within; then it is held as before. For its holder alone."""
        taken, self._taken, self._holder = self._taken, 0, None
        for _ in range(taken):
            self._lock.release()
        try:
            yield
        finally:
            for _ in range(taken):
                self._lock.acquire()
            self._taken, self._holder = taken, threading.get_ident()


REEMBED = "reembed"
"""The operation under which the history tells that memories were given new vectors; it changes no entry."""


class LedgerTables:
    """The tables of one agent and the journal that they show; nothing here writes.

    Args:
        folder: the agent's folder.
        personality: the path of its personality file.
        embedder: what turns texts into vectors.
    """

    journal: Journal

    def __init__(self, folder: Path, personality: Path, embedder: Embedder) -> None:
        self.folder = folder
        self.personality_path = personality
        self.embedder = embedder
        self.messages: list[str] = []
        """What was found and repaired when the agent was opened, in sentences for people."""
        self.read_only: str | None = None
        """Why nothing can be written, in a sentence; ``None`` where it can."""
        self.tables: dict[Tier, Table] = {tier: Table() for tier in Tier}
        self._texts: dict[str, str | None] = {}
        self._revision, self._access, self._touches = 0, 0, 0
        self._seen: int | None = None
        self._lock = TableLock()
        self._still = 0  # how many readings hold the tables, one within the other
        self._turn = threading.RLock()
        """Held by the thread that writes; never waited for while holding the tables, so that nobody waits for ever."""

    @property
    def revision(self) -> int:
        """The revision that the tables show."""
        return self._revision

    @property
    def lived(self) -> dict[Tier, Table]:
        """The tables of what recall ranges over: those of ``LIVED``."""
        return {tier: self.tables[tier] for tier in LIVED}

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
        held = (table.get(entry_id) for table in self.tables.values())
        return next((entry for entry in held if entry is not None), None)

    def vectors(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vector of each text by content hash, from the journal where it was embedded before."""
        by_hash = {content_hash(text): text for text in texts}
        known = self.journal.vectors(by_hash, self.embedder.identity)
        missing = [key for key in by_hash if key not in known]
        if missing:
            known |= zip(missing, self.embedder.embed([by_hash[key] for key in missing]), strict=True)
        return known

    def without_vector(self) -> list[MemoryEntry]:
        """The memories that have no vector of this embedder, and are not found by meaning."""
        return [table.entries[row] for table in self.tables.values() for row in table.rows_without_vector()]

    def _vectors_of(self, change_set: ChangeSet) -> dict[str, Vectors]:
        """The vectors that a change set needs: a text that stays as it is and has none is left without."""
        with self._lock:
            waiting = {entry.id for entry in self.without_vector()}
        texts: list[str] = []
        left: list[str] = []
        for before, after in ((change.before, change.after) for change in change_set.changes):
            if after is not None:
                stays = after.id in waiting and before is not None and before.document == after.document
                (left if stays else texts).append(after.document)
        return self.vectors(texts) | self.journal.vectors(map(content_hash, left), self.embedder.identity)

    def _show(self, applied: ChangeSet, vectors: Mapping[str, Vectors]) -> None:
        """Bring the tables up to an applied change set."""
        back = [change.entry_id for change in applied.changes if change.before is None]
        accesses = self.journal.last_access_of(back)  # one that comes back keeps the last access it had
        for change in applied.changes:
            held = self.find(change.entry_id)
            if change.before is not None:
                self.tables[change.before.tier].drop(change.entry_id)
            if change.after is not None:
                last = held.last_access if held else accesses.get(change.entry_id)
                entry = change.after.evolve(last_access=last)
                self.tables[entry.tier].put(entry, vectors.get(content_hash(entry.document)))
        if applied.operation == REEMBED:
            self._take_in_vectors()
        self._texts |= {text.name: text.after for text in applied.texts}
        assert applied.revision is not None, "only applied change sets are shown"
        self._revision = applied.revision

    def _take_in_vectors(self) -> None:
        """Show the vectors that the journal has by now."""
        waiting = self.without_vector()
        known = self.journal.vectors([content_hash(entry.document) for entry in waiting], self.embedder.identity)
        for entry in waiting:
            if (vector := known.get(content_hash(entry.document))) is not None:
                self.tables[entry.tier].put(entry, vector)

    def _catch_up(self) -> None:
        """Take in what other processes wrote since; costs next to nothing when there is nothing."""
        seen = self.journal.seen()
        if seen is not None and seen == self._seen:
            return
        revision, access = self.journal.position()
        if revision != self._revision:
            for applied in self.journal.since(self._revision):
                self._show(applied, self._vectors_of(applied))
        if access != self._access:
            self._take_in_accesses()
        self._seen = seen

    def _take_in_accesses(self) -> None:
        accesses, self._access = self.journal.last_accesses(self._access)
        for entry_id, at in accesses.items():
            self._touched([entry_id], at)

    def _touched(self, entry_ids: Sequence[str], at: datetime) -> None:
        self._touches += sum(table.touch(entry_ids, at) for table in self.tables.values())
