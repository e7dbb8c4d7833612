"""Provenance: what a memory rests on and what rests on it, and what to do when that has changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ..core.change_set import ChangeSet
from ..core.entry import MemoryEntry, MemoryId, Tier, id_of
from ..core.scoring import whole
from ..errors import Protected
from ..operations import provenance, rederivation
from ..operations.context import Progress, no_progress
from ..operations.edit import PROTECTED, writable
from ..operations.provenance import Lineage
from ..store import staleness
from ..store.staleness import Stale
from .context import Part
from .retrieval import ground


class Provenance(Part):
    """What rests on what. Nothing is rewritten automatically: ``stale`` lists, and a person decides."""

    def lineage(self, entry_id: MemoryId, depth: int = 4) -> Lineage:
        """What a memory rests on and what rests on it, through summaries to forgotten originals.

        Forgotten memories that were built on it are listed only if they lead to something in recall.

        Args:
            entry_id: a memory, or its id; it may be forgotten.
            depth: how many steps to go each way, 1 to 20.

        Raises:
            EntryNotFound: the agent never had it.
            InvalidParameter: the depth is out of its range.
        """
        steps = whole("depth", depth, 1, 20)
        entry = self.context.last_version(id_of(entry_id))
        with self.context.ledger.reading():
            flagged = {memory.entry.id for memory in self.stale()}
            return provenance.trace(
                entry,
                steps,
                self._versions,
                lambda some: self.context.ledger.journal.evidence.built_on([entry.id for entry in some]),
                held=lambda entry_id: self.context.held_or_known(entry_id) is not None,
                stale=flagged,
            )

    def stale(self) -> tuple[Stale, ...]:
        """The memories in recall that rest on what was edited or deleted since, those most lately derived first.

        That is since they were derived, derived again, or reviewed and kept. A memory counts as edited if its text or
        its time changed. One that moved between tiers, or was forgotten by migration, by the summary that replaces it
        or by a new plan of its day, has not changed.
        """
        self.context.refresh()
        with self.context.ledger.reading():
            found = self.context.ledger.journal.evidence.stale()
            pairs = [(memory, self.context.ledger.find(memory.entry.id)) for memory in found]
        return tuple(dataclasses.replace(memory, entry=entry) for memory, entry in pairs if entry is not None)

    def stale_of(self, entry_id: MemoryId) -> Stale | None:
        """What has changed in the evidence of a memory; ``None`` if nothing has."""
        memory_id = id_of(entry_id)
        return next((memory for memory in self.stale() if memory.entry.id == memory_id), None)

    def built_on(self, entry_id: MemoryId) -> list[MemoryEntry]:
        """The reflections, summaries and plans in recall that rest on a memory, the oldest first."""
        entry_id = id_of(entry_id)
        with self.context.ledger.reading():
            known = [entry_id] if isinstance(entry_id, str) else []
            ids = [other for _, other in self.context.ledger.journal.evidence.built_on(known)]
            entries = [entry for other in ids if (entry := self.context.ledger.find(other)) is not None]
        found = [entry for entry in entries if entry_id in entry.evidence and entry.tier is not Tier.STATIC]
        return sorted(found, key=lambda entry: (str(entry.metadata.get("timestamp", "")), entry.id))

    def _versions(self, ids: Collection[str]) -> Mapping[str, MemoryEntry]:
        entries = {entry_id: entry for entry_id in ids if (entry := self.context.held_or_known(entry_id)) is not None}
        return entries | self.context.ledger.journal.evidence.last_versions(
            [entry_id for entry_id in ids if entry_id not in entries]
        )

    def _sources(self, entry: MemoryEntry) -> Sequence[MemoryEntry]:
        """The evidence of a memory as it is or last was, without what was deleted or never existed."""
        with self.context.ledger.reading():
            traces = self.context.ledger.journal.evidence.traces(entry.evidence)
            versions = self._versions(entry.evidence)
        left = (entry_id for entry_id in entry.evidence if not staleness.deleted(traces.get(entry_id, ())))
        return [versions[entry_id] for entry_id in left if entry_id in versions]

    def rederive(
        self,
        entry_id: MemoryId,
        *,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Derive the text of a reflection, summary, synopsis or planned action again from its present evidence.

        It keeps its id, rating, tags and marks, except the mark of a person's authorship if its text changes; deleted
        memories leave its evidence, memories that faded into a summary do not. If no evidence is left or nothing
        follows from it, nothing is changed, and the notes say so.

        Raises:
            EntryNotFound, Immutable: there is no such memory, or it is static.
            Protected: it is protected.
            InvalidParameter: it was not derived from memories.
            ModelError: the language model gave no usable answer. Nothing was changed.
        """
        entry = writable(self.context.find, id_of(entry_id))
        if entry.protected:
            raise Protected(PROTECTED)
        routine = self.context.personality.routine if self.context.personality else []
        on = ground(self.context, now, progress)
        return self.context.done(rederivation.plan(on, entry, self._sources(entry), routine), preview)

    def keep_stale(self, entry_id: MemoryId, *, preview: bool = False) -> ChangeSet:
        """Record that a person reviewed a stale memory and keeps it as it is; it is in the history and can be undone.

        Raises:
            EntryNotFound, Immutable: there is no such memory, or it is static.
        """
        entry = writable(self.context.find, id_of(entry_id))
        return self.context.done(rederivation.keep(ground(self.context), entry, self.stale_of(entry_id)), preview)
