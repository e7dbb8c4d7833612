"""The stores of one agent, a collection a tier: told what the journal says, and seen to agree with it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from .changes import Change
from .chroma import ChromaStore
from .chroma_foreign import OUR_DISTANCE
from .entry import MemoryEntry, Tier
from .errors import JournalDamaged, StoreDamaged
from .journal import content_hash
from .ledger_checks import Differences, differences
from .memory import Memory, Vectors

_WIDTH = 384
"""How many zeros stand for no vector in a store that has none yet: as all-MiniLM-L6-v2 makes."""


class Stores:
    """Chroma, as the ledger uses it. Every step can be repeated without harm.

    Args:
        folder: the folder of Chroma's files; made if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._store = ChromaStore.open(folder)
        self.embedder = self._store.made_with or ""
        """The identity of what made the vectors that are stored."""
        self.memories: Mapping[Tier, Memory] = {tier: self._store.memory(tier) for tier in Tier}

    def close(self) -> None:
        """Let go of all files."""
        self._store.close()

    @property
    def folder(self) -> Path:
        """The folder of Chroma's files."""
        return self._store.folder

    @property
    def claimed(self) -> int:
        """The newest revision that a write was claimed for."""
        return self._store.claimed

    @property
    def made_with(self) -> str | None:
        """The identity of what made the vectors that are stored, where it was noted."""
        return self._store.made_with

    def claim(self, revision: int) -> None:
        """Say before a write for this revision that it is this process's; the caller holds the agent's file lock."""
        self._store.claim(revision)

    def begin_again(self, revision: int) -> None:
        """Take the journal at this revision for whole, whatever was claimed before."""
        self._store.begin_again(revision)

    def distances(self) -> dict[str, str]:
        """The tiers whose stores rank by another distance than ours, with its name."""
        found = {tier.value: self._store.shape(tier.value)[1] for tier in self.memories}
        return {tier: distance for tier, distance in found.items() if distance != OUR_DISTANCE}

    def counts(self) -> dict[str, int]:
        """How many entries each tier's store holds."""
        return {tier.value: memory.count() for tier, memory in self.memories.items()}

    def carry_out(self, changes: Sequence[Change], vectors: Mapping[str, Vectors], revision: int) -> None:
        """Write what the changes add, and then delete what they take away.

        Args:
            changes: what was committed.
            vectors: the vector, shape (d,), of each new text, by content hash; one without is stored with zeros.
            revision: the one of these changes.
        """
        self.claim(revision)
        self.upsert([change.after for change in changes if change.after], vectors)
        self.delete(changes)

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Mapping[str, Vectors]) -> None:
        """Write entries, each into its tier's store."""
        for tier, memory in self.memories.items():
            of_tier = [entry for entry in entries if entry.tier is tier]
            if of_tier:
                found = [vectors.get(content_hash(entry.document)) for entry in of_tier]
                if any(one is None for one in found):
                    zeros = np.zeros(self._width(tier, found), np.float32)
                    found = [zeros if one is None else one for one in found]
                memory.upsert(of_tier, np.stack(cast("list[Vectors]", found)))

    def _width(self, tier: Tier, found: Sequence[Vectors | None]) -> int:
        stored = self._store.shape(tier.value)[0]
        return stored or next((len(one) for one in found if one is not None), _WIDTH)

    def delete(self, changes: Sequence[Change]) -> None:
        """Delete what changes take away, or to another tier."""
        for tier, memory in self.memories.items():
            gone = [
                change.before.id
                for change in changes
                if change.before is not None
                and change.before.tier is tier
                and (change.after is None or change.after.tier is not tier)
            ]
            if gone:
                memory.delete(gone)

    def reconcile(
        self,
        entries: Iterable[MemoryEntry],
        vectors: Mapping[str, Vectors],
        *,
        revision: int,
        finished: int,
        problem: str | None = None,
    ) -> list[str]:
        """Make the stores hold these entries and no others; says in sentences what was amiss.

        Args:
            entries: what the journal says.
            vectors: the vectors of their texts, by content hash; one without is stored with zeros.
            revision: the journal's; 0 = it has nothing to rebuild from.
            finished: how many interrupted changes are finished by this.
            problem: what is known to be wrong with the files, so that they are not opened.

        Raises:
            JournalDamaged: the stores hold something and the journal nothing.
            StoreDamaged: the stores are damaged and the journal has nothing to rebuild them from.
        """
        wanted, messages = list(entries), []
        try:
            found = self._differences(wanted, vectors, problem)
        except StoreDamaged as error:
            if not revision:
                raise  # there is nothing to rebuild it from
            messages.append(f"{error} The damaged files were set aside and rebuilt from the journal.")
            self.set_aside("damaged", self.embedder)
            found = differences(self.memories, wanted, vectors)
        if found.surplus and not revision:
            agent = self.folder.parent
            raise JournalDamaged(
                f"The journal of {agent.name!r} is missing or empty, but its store holds "
                f"{sum(map(len, found.surplus.values()))} memories. Put journal.sqlite3 back into {agent}."
            )
        self._store.note_embedder(self.embedder)
        if not found:
            return messages
        self.upsert(found.missing, vectors)
        for tier, ids in found.surplus.items():
            self.memories[tier].delete(ids)
        removed = sum(map(len, found.surplus.values()))
        cut_off = f" ({finished} interrupted change{'s' if finished != 1 else ''} finished)" if finished else ""
        messages.append(f"{len(found.missing)} memories written and {removed} removed to match the journal{cut_off}.")
        return messages

    def _differences(
        self, wanted: Sequence[MemoryEntry], vectors: Mapping[str, Vectors], problem: str | None
    ) -> Differences:
        if problem is not None:
            raise StoreDamaged(f"Chroma's store is damaged: {problem}.")
        found = differences(self.memories, wanted, vectors)
        if found.torn:
            raise StoreDamaged(f"Chroma's store holds other vectors for {len(found.torn)} memories.")
        return found

    def wipe_spare(self) -> None:
        """Leave nothing in the files but what is stored.

        Raises:
            OSError: a file cannot be written.
        """
        self._store.wipe_spare()

    def set_aside(self, why: str, embedder: str) -> Path:
        """Begin with an empty store for vectors of this embedder; answers where the old one lies, if there was one."""
        aside = f"{why}-{time.time_ns()}"
        self._store.set_aside(aside)
        self.embedder = embedder
        self._store.note_embedder(embedder)
        return self.folder.with_name(f"{self.folder.name}-{aside}")
