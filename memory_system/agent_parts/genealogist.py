"""AgentGenealogist: where memories come from, what was built on them, and which of that rests on what has changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from ..core.entry import MemoryEntry, Tier
from ..core.scoring import whole
from ..operations import provenance as lineage
from ..operations.provenance import Lineage
from ..store import staleness
from ..store.staleness import Stale
from .foresight import AgentForesight


class AgentGenealogist(AgentForesight):
    """The part of reading that knows descent. Nothing is touched."""

    def lineage(self, entry_id: str, depth: int = 4) -> Lineage:
        """What a memory rests on and what rests on it, through summaries to forgotten originals.

        Of what was built on it and is forgotten only that is told which leads to something in recall.

        Args:
            entry_id: a memory, which may be forgotten.
            depth: how many steps to go each way, 1 to 20.

        Raises:
            EntryNotFound: the agent never had it.
            InvalidParameter: the depth is out of its range.
        """
        steps = whole("depth", depth, 1, 20)
        entry = self.last_version(entry_id)
        with self._ledger.reading():
            flagged = {one.entry.id for one in self.stale()}
            return lineage.trace(
                entry,
                steps,
                self._versions,
                lambda some: self._ledger.journal.evidence.built_on([one.id for one in some]),
                held=lambda one: self._ledger.find(one) is not None,
                stale=flagged,
            )

    def stale(self) -> tuple[Stale, ...]:
        """The memories in recall that rest on what was edited or deleted since, those most lately derived first.

        That is since they were derived, derived again, or looked at and kept. Edited is what says something else or
        happened at another time. What moved between tiers, or was forgotten by migration, by the summary that stands
        for it or by a new plan of its day, has not changed.
        """
        self._refresh()
        with self._ledger.reading():
            found = self._ledger.journal.evidence.stale()
            held = [(one, self._ledger.find(one.entry.id)) for one in found]
        return tuple(dataclasses.replace(one, entry=entry) for one, entry in held if entry is not None)

    def stale_of(self, entry_id: str) -> Stale | None:
        """What has changed of what a memory rests on; ``None`` if nothing has."""
        return next((one for one in self.stale() if one.entry.id == entry_id), None)

    def built_on(self, entry_id: str) -> list[MemoryEntry]:
        """The reflections, summaries and plans in recall that rest on a memory, the oldest first."""
        with self._ledger.reading():
            known = [entry_id] if isinstance(entry_id, str) else []
            ids = [other for _, other in self._ledger.journal.evidence.built_on(known)]
            held = [entry for one in ids if (entry := self._ledger.find(one)) is not None]
        found = [entry for entry in held if entry_id in entry.evidence and entry.tier is not Tier.STATIC]
        return sorted(found, key=lambda entry: (str(entry.metadata.get("timestamp", "")), entry.id))

    def _versions(self, ids: Collection[str]) -> Mapping[str, MemoryEntry]:
        held = {one: entry for one in ids if (entry := self._ledger.find(one)) is not None}
        return held | self._ledger.journal.evidence.last_versions([one for one in ids if one not in held])

    def _sources(self, entry: MemoryEntry) -> Sequence[MemoryEntry]:
        """What a memory rests on as it is or last was, without what was deleted and what never was."""
        with self._ledger.reading():
            traces = self._ledger.journal.evidence.traces(entry.evidence)
            versions = self._versions(entry.evidence)
        left = (one for one in entry.evidence if not staleness.deleted(traces.get(one, ())))
        return [versions[one] for one in left if one in versions]
