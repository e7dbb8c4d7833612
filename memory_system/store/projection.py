"""The stores of one agent, one collection per tier: kept in step with the journal, and checked against it.

OnDemand: a store that is created only when something is first written to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from ..core.change_set import Change, ChangeSet, so_many
from ..core.chroma_address import ChromaAddress, NamedStore, StorePlace
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.memory import Memory, Page, Vectors
from ..errors import EntryNotFound, ForeignStore, InvalidParameter, JournalDamaged, StoreDamaged
from .chroma import rows
from .chroma.files import OUR_DISTANCE, TO_BE_MADE
from .chroma.store import ChromaStore
from .chroma.store import forget as forget_on_server
from .expected_rows import ExpectedRows
from .journal.journal import content_hash
from .ledger_checks import Differences, differences
from .named import NamedStores


class OnDemand(Memory):
    """A store that need not exist yet, in which case it counts as empty.

    Args:
        store: the store; using it creates it.
        is_there: whether it has been created.
    """

    def __init__(self, store: Memory, is_there: Callable[[], bool]) -> None:
        self._store = store
        self._is_there = is_there

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Vectors) -> None:  # noqa: D102
        if entries or self._is_there():
            self._store.upsert(entries, vectors)
        else:
            self.check(entries, vectors)

    def delete(self, ids: Sequence[str]) -> None:  # noqa: D102
        if self._is_there():
            self._store.delete(ids)

    def get(self, ids: Sequence[str]) -> list[MemoryEntry]:  # noqa: D102
        if ids and not self._is_there():
            raise EntryNotFound(f"There is no memory {ids[0]!r} here.")
        return self._store.get(ids) if ids else []

    def ids(self) -> frozenset[str]:  # noqa: D102
        return self._store.ids() if self._is_there() else frozenset()

    def count(self) -> int:  # noqa: D102
        return self._store.count() if self._is_there() else 0

    def pages(self) -> Iterator[Page]:  # noqa: D102
        if self._is_there():
            yield from self._store.pages()

    def nearest(self, vector: Vectors, top_k: int) -> list[tuple[str, float]]:  # noqa: D102
        if top_k < 1:
            raise InvalidParameter(f"top_k must be 1 or more, not {top_k}.")
        return self._store.nearest(vector, top_k) if self._is_there() else []

    def clear(self) -> None:  # noqa: D102
        if self._is_there():
            self._store.clear()

    def close(self) -> None:  # noqa: D102
        self._store.close()


AT_ONCE = 1000
"""Memories that are written to a new store together."""
_WIDTH = 384
"""How many zeros represent a missing vector in a store that has no vectors yet: as for all-MiniLM-L6-v2."""


def forget(folder: Path, place: StorePlace | None, origin: str | None = None) -> None:
    """Delete what a Chroma server holds of the agent whose files would be in this folder; other stores are left alone.

    Raises:
        StoreUnavailable: the server cannot be reached.
    """
    if isinstance(place, ChromaAddress):
        forget_on_server(folder, place, origin)


class Stores:
    """Chroma, or the store that is used instead, in the form the ledger needs. Every step can be repeated without harm.

    Args:
        folder: the folder of Chroma's files, ``.../world/agent/chroma``; created if missing.
        place: the Chroma server that holds them instead, under names of that world and agent; or another store.
    """

    def __init__(self, folder: Path, place: StorePlace | None = None) -> None:
        self._store: NamedStores | ChromaStore
        if isinstance(place, NamedStore):
            self._store = named = NamedStores(folder, place)
            kept = dict(named.memories)
        else:
            self._store = chroma = ChromaStore.open(folder, place)
            kept = {tier: chroma.memory(tier) for tier in Tier}
        self._made_at_once = LIVED if place is None else ()
        self.place = place
        self.server = place if isinstance(place, ChromaAddress) else None
        self._owned = False
        self._shrunk: dict[Tier, None] = {}  # lost memories since the last check
        self.embedder = ""
        """The identity of what made the stored vectors, once the opener of this has found it out."""
        self.memories: Mapping[Tier, Memory] = {tier: self._on_demand(tier, kept[tier]) for tier in kept}
        """The store of each tier; empty if the journal is the only copy."""

    def _on_demand(self, tier: Tier, memory: Memory) -> Memory:
        return memory if tier in self._made_at_once else OnDemand(memory, lambda: self._store.has(tier.value))

    @property
    def in_journal(self) -> bool:
        """Whether the journal is the only copy."""
        return not self.memories

    def close(self) -> None:
        """Close all files."""
        self._store.close()

    @property
    def folder(self) -> Path:
        """The folder of Chroma's files."""
        return self._store.folder

    @property
    def lasts(self) -> bool:
        """Whether the contents survive closing and opening."""
        return not isinstance(self._store, NamedStores) or self._store.lasts

    @property
    def is_crowded_out(self) -> bool:
        """Whether a write would close another agent's files to open its own, which takes longer than the write."""
        return isinstance(self._store, ChromaStore) and self._store.is_crowded_out

    @property
    def claimed(self) -> int:
        """The newest revision that a write was claimed for."""
        return self._store.claimed

    @property
    def made_with(self) -> str | None:
        """The identity of what made the stored vectors, if it was noted."""
        return self._store.made_with

    def claim(self, revision: int, *, as_left: bool = False) -> None:
        """Claim a coming write for this revision and process; the caller holds the agent's file lock.

        Args:
            revision: the newest of the journal.
            as_left: whether the files are as they were last left, with nothing interrupted.
        """
        self._store.claim(revision, as_left=as_left)

    def begin_again(self, revision: int, origin: str) -> None:
        """Accept the journal at this revision as complete despite earlier claims; ``origin`` is its first change."""
        self._store.begin_again(revision)
        if self.server is not None:
            self._store.note_owner(origin)

    @property
    def where(self) -> str:
        """The address of the store's server, or the store's name; empty for Chroma's files in the agent's folder."""
        return self.place.shown if self.place is not None else ""

    def refuse_unreachable(self) -> None:
        """Do nothing if a write can begin.

        Raises:
            StoreUnavailable: the server does not answer.
        """
        self._store.refuse_unreachable()

    def refuse_others(self, origin: Callable[[], str]) -> None:
        """Do nothing if what a server holds under this agent's name is this agent's, or nobody's.

        Args:
            origin: returns the id of the journal's first change set; empty if there is none.

        Raises:
            ForeignStore: another agent of this name wrote it, for example one of another installation.
        """
        owner = self._store.owner if self.server is not None else None
        if owner and owner != (ours := origin()) and (ours or not self.claimed):
            raise ForeignStore(
                f"The Chroma server at {self.where} holds memories of another agent {self.folder.parent.name!r} in the "
                f"world {self.folder.parent.parent.name!r}, which were left as they are. Name another database in "
                "MEMORY_CHROMA_URL, such as http://localhost:8000/mine; or, if those are not needed, let "
                "“python -m memory_system doctor --repair” delete them."
            )

    def left_at(self, state: str) -> bool:
        """Whether a server's collections were released in this state of the journal; files have a note of their own."""
        return self.server is None or self._store.left_at == state

    def leave(self, state: Callable[[], str], revision: int) -> None:
        """Note in which state of the journal a server's collections are released, and how far this machine has read."""
        if self.server is not None:
            self._store.note_left(state())
        if self.in_journal:
            self.claim(revision)

    def own(self, origin: Callable[[], str]) -> None:
        """Note the owner of a server's collections, if that is not noted yet."""
        if self.server is not None and not self._owned and (owner := origin()):
            self._store.note_owner(owner)
            self._owned = True

    def distances(self) -> dict[str, str]:
        """The tiers whose stores rank by another distance than ours, with its name."""
        there = [tier.value for tier in self.memories if tier in self._made_at_once or self._store.has(tier.value)]
        found = {name: self._store.shape(name)[1] for name in there}
        return {tier: distance for tier, distance in found.items() if distance != OUR_DISTANCE}

    def counts(self) -> dict[str, int]:
        """How many entries each tier's store holds; a shelf without entries is left out."""
        counts = {tier: memory.count() for tier, memory in self.memories.items()}
        return {tier.value: count for tier, count in counts.items() if tier in LIVED or count}

    def carry_out(self, changes: Sequence[Change], vectors: Mapping[str, Vectors], revision: int) -> None:
        """Write what the changes leave, and then delete what they remove.

        Args:
            changes: what was committed, in one change set or in several one after the other.
            vectors: the vector, shape (d,), of each new text, by content hash; a missing one is stored as zeros.
            revision: the newest of these changes.
        """
        self.claim(revision)
        left = {change.entry_id: change.after for change in changes}
        self.upsert([entry for entry in left.values() if entry is not None], vectors)
        self._shrunk |= dict.fromkeys(self.delete(changes, left))

    @property
    def is_tidy(self) -> bool:
        """Whether nothing was removed since everything was tidied."""
        return not self._shrunk

    def tidy(self) -> bool:
        """Rebuild the index of collections that lost memories if that is worth it, a part at a time.

        Returns:
            whether nothing is left to do.
        """
        while self._shrunk:
            tier = next(iter(self._shrunk))
            if not self._store.compact(tier.value):
                return False
            del self._shrunk[tier]
        return True

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Mapping[str, Vectors]) -> None:
        """Write entries, each to its tier's store."""
        for tier, memory in self.memories.items():
            of_tier = [entry for entry in entries if entry.tier is tier]
            if of_tier:
                found = [vectors.get(content_hash(entry.document)) for entry in of_tier]
                if any(vector is None for vector in found):
                    zeros = np.zeros(self._width(tier, found), np.float32)
                    found = [zeros if vector is None else vector for vector in found]
                memory.upsert(of_tier, np.stack(cast("list[Vectors]", found)))

    def fill(
        self,
        entries: Sequence[MemoryEntry],
        vectors: Callable[[Sequence[MemoryEntry]], Mapping[str, Vectors]],
        revision: int,
        progress: Callable[[float], None],
    ) -> None:
        """Write entries to stores that are empty, a part at a time.

        Args:
            entries: all of them.
            vectors: returns the vectors of some entries, by content hash.
            revision: the journal's.
            progress: called with the progress, 0 to 1.
        """
        self.claim(revision)
        for start in range(0, len(entries), AT_ONCE):
            some = entries[start : start + AT_ONCE]
            self.upsert(some, vectors(some))
            progress((start + len(some)) / len(entries))

    def _width(self, tier: Tier, found: Sequence[Vectors | None]) -> int:
        stored = self._store.shape(tier.value)[0]
        return stored or next((len(vector) for vector in found if vector is not None), _WIDTH)

    def see_others(self) -> None:
        """Make the next call see what other processes wrote, if anything."""
        self._store.see_others()

    def delete(self, changes: Sequence[Change], left: Mapping[str, MemoryEntry | None]) -> list[Tier]:
        """Delete memories from each tier that they have left; return the tiers that lost some."""
        less: list[Tier] = []
        for tier, memory in self.memories.items():
            were = dict.fromkeys(
                change.entry_id
                for change in changes
                for entry in (change.before, change.after)
                if entry and entry.tier is tier
            )
            gone = [entry_id for entry_id in were if (entry := left[entry_id]) is None or entry.tier is not tier]
            if gone:
                memory.delete(gone)
                less.append(tier)
        return less

    def reconcile(
        self,
        wanted: Mapping[Tier, ExpectedRows],
        vectors: Callable[[Sequence[MemoryEntry]], Mapping[str, Vectors]],
        *,
        revision: int,
        cut_off: Sequence[ChangeSet] = (),
        problem: str | None = None,
    ) -> list[str]:
        """Make the stores hold these entries and no others; report in sentences what was wrong.

        Args:
            wanted: what the journal says.
            vectors: the vectors of texts, by content hash; a missing one is stored as zeros.
            revision: the journal's; 0 = it has nothing to rebuild from.
            cut_off: what was committed and is finished by this, which need not be reported.
            problem: what is known to be wrong with the files, so that they are not opened.

        Raises:
            JournalDamaged: the stores hold something and the journal nothing.
            StoreDamaged: the stores are damaged and the journal has nothing to rebuild them from.
        """
        messages: list[str] = []
        try:
            found = self._differences(wanted, problem)
        except StoreDamaged as error:
            if not revision:
                raise self._without_journal(error) from error
            what = "files were set aside" if self.place is None else "collections were deleted"
            messages.append(f"{error} The damaged {what} and rebuilt from the journal.")
            self.set_aside("damaged", self.embedder)
            found = differences(self.memories, wanted)
        count = sum(map(len, found.surplus.values()))
        if not revision and self.place is None:  # an index may leave out rows that its database has
            count = max(count, sum(rows.counts(self.folder).values()))
        if count and not revision:
            agent = self.folder.parent
            raise JournalDamaged(
                f"The journal of {agent.name!r} is missing or empty, but its store holds {so_many(count)}. "
                f"Put journal.sqlite3 back into {agent}."
            )
        self._store.note_embedder(self.embedder)
        if not found:
            self._is_first()
            return messages
        for start in range(0, len(found.missing), AT_ONCE):
            some = found.missing[start : start + AT_ONCE]
            self.upsert(some, vectors(some))
        for tier, ids in found.surplus.items():
            self.memories[tier].delete(ids)
        removed = sum(map(len, found.surplus.values()))
        if not removed and not messages and (self._is_first() or not self.lasts):
            return messages
        if messages or found.beside(cut_off):
            messages.append(f"{so_many(len(found.missing))} written and {removed} removed to match the journal.")
        return messages

    def _without_journal(self, error: StoreDamaged) -> StoreDamaged:
        """The error for a damaged store without a journal to rebuild it from: its database may still have the rows."""
        count = sum(rows.counts(self.folder).values()) if self.place is None else 0
        agent = self.folder.parent.name
        return JournalDamaged(f"The journal of {agent!r} is missing or empty. {error}") if count else error

    def _is_first(self) -> bool:
        """Whether there was no store before this one, so that nothing was repaired; checked once."""
        note = self.folder.with_name(TO_BE_MADE)
        if first := note.exists():
            note.unlink()
        return first

    def _differences(self, wanted: Mapping[Tier, ExpectedRows], problem: str | None) -> Differences:
        if problem is not None:
            raise StoreDamaged(f"Chroma's store is damaged: {problem}.")
        found = differences(self.memories, wanted)
        if found.torn:
            raise StoreDamaged(f"Chroma's store holds other vectors for {so_many(len(found.torn))}.")
        return found

    def wipe_spare(self) -> None:
        """Leave nothing in the files but what is stored.

        Raises:
            OSError: a file cannot be written.
        """
        self._store.wipe_spare()

    def set_aside(self, why: str, embedder: str) -> Path:
        """Begin with an empty store for vectors of this embedder; return where the old one is, if there was one.

        What a server held is deleted: the journal holds all of it.
        """
        aside = f"{why}-{time.time_ns()}"
        self._store.set_aside(aside)
        self._owned = False
        self.embedder = embedder
        self._store.note_embedder(embedder)
        return self.folder.with_name(f"{self.folder.name}-{aside}")
