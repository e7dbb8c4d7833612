"""The stores of one agent, a collection a tier: told what the journal says, and seen to agree with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from .changes import Change
from .chroma import ChromaStore
from .entry import MemoryEntry, Tier
from .errors import StoreDamaged
from .journal import content_hash
from .ledger_checks import differences
from .memory import Memory, Vectors


class Stores:
    """Chroma, as the ledger uses it. Every step can be repeated without harm.

    Args:
        folder: the folder of Chroma's files; made if it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._store = ChromaStore.open(folder)
        self.memories: Mapping[Tier, Memory] = {tier: self._store.memory(tier) for tier in Tier}

    def close(self) -> None:
        """Let go of all files."""
        self._store.close()

    def claim(self) -> None:
        """Say before a write that it is this process's; the caller holds the agent's file lock."""
        self._store.claim()

    def counts(self) -> dict[str, int]:
        """How many entries each tier's store holds."""
        return {tier.value: memory.count() for tier, memory in self.memories.items()}

    def carry_out(self, changes: Sequence[Change], vectors: Mapping[str, Vectors]) -> None:
        """Write what the changes add, and then delete what they take away.

        Args:
            changes: what was committed.
            vectors: the vector, shape (d,), of each new text, by content hash.
        """
        self.claim()
        self.upsert([change.after for change in changes if change.after], vectors)
        self.delete(changes)

    def upsert(self, entries: Sequence[MemoryEntry], vectors: Mapping[str, Vectors]) -> None:
        """Write entries, each into its tier's store."""
        for tier, memory in self.memories.items():
            of_tier = [entry for entry in entries if entry.tier is tier]
            if of_tier:
                memory.upsert(of_tier, np.stack([vectors[content_hash(entry.document)] for entry in of_tier]))

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
        vectors_of: Callable[[Sequence[str]], Mapping[str, Vectors]],
        *,
        revision: int,
        finished: int,
    ) -> list[str]:
        """Make the stores hold these entries and no others; says in sentences what was amiss.

        Args:
            entries: what the journal says.
            vectors_of: the vectors of texts, by content hash.
            revision: the journal's; 0 = it has nothing to rebuild from.
            finished: how many interrupted changes are finished by this.

        Raises:
            StoreDamaged: the stores hold something and the journal nothing.
        """
        wanted, messages = list(entries), []
        try:
            missing, surplus = differences(self.memories, wanted)
        except StoreDamaged as error:
            if not revision:
                raise  # there is nothing to rebuild it from
            messages.append(f"{error} The damaged files were set aside and rebuilt from the journal.")
            self._store.set_aside(f"damaged-{time.time_ns()}")
            missing, surplus = differences(self.memories, wanted)
        if surplus and not revision:
            agent = self._store.folder.parent
            raise StoreDamaged(
                f"The journal of {agent.name!r} is missing or empty, but its store holds "
                f"{sum(map(len, surplus.values()))} memories. Put journal.sqlite3 back into {agent}."
            )
        if not missing and not surplus:
            return messages
        self.upsert(missing, vectors_of([entry.document for entry in missing]))
        for tier, ids in surplus.items():
            self.memories[tier].delete(ids)
        messages.append(
            f"{len(missing)} memories written and {sum(map(len, surplus.values()))} removed to match the journal"
            + (f" ({finished} interrupted change{'s' if finished != 1 else ''} finished)." if finished else ".")
        )
        return messages
