"""Trash: memories that were forgotten: listed, brought back, or purged for good."""

from __future__ import annotations

from datetime import datetime

from ..core.change_set import ChangeSet
from ..core.entry import MemoryIds
from ..core.scoring import whole
from ..errors import EntryNotFound
from ..operations import edit, purging
from ..operations.edit import ids_of
from ..store.journal.history import Sought
from ..store.journal.trash import Forgotten
from .context import Part
from .retrieval import ground


class Trash(Part):
    """What was forgotten."""

    def forgotten(self, limit: int = 100, contains: str = "", *, offset: int = 0) -> list[Forgotten]:
        """The bin: memories that are gone and can be restored, the last forgotten first.

        Args:
            limit: how many at most, 1 to 10,000.
            contains: words in their text, in any case; all if not given.
            offset: how many to skip, for the next pages.

        Raises:
            InvalidParameter: a value is out of its range.
        """
        words = Sought(contains).contains
        most, start = whole("limit", limit, 1, 10_000), whole("offset", offset, 0, 2**62)
        with self.context.ledger.reading():
            return self.context.ledger.journal.forgotten(most, start, words)

    def count_forgotten(self, contains: str = "") -> int:
        """How many memories are in the bin, of those with these words."""
        words = Sought(contains).contains
        with self.context.ledger.reading():
            return self.context.ledger.journal.count_forgotten(words)

    def restore(self, ids: MemoryIds, *, preview: bool = False) -> ChangeSet:
        """Bring forgotten memories back as they last were, such as the sources of a summary.

        Raises:
            EntryNotFound: there was never such a memory, or it has been purged.
            Immutable: it was a fact of the personality.
        """
        entry_ids = ids_of(ids)
        journal = self.context.present().journal

        def planned() -> ChangeSet:
            if journal.bin.lost(entry_ids):
                raise EntryNotFound("This memory was purged for good; nothing is left to bring back.")
            return edit.restore(ground(self.context), self.context.find, journal.last_version, entry_ids)

        return self.context.planned_and_done(planned, preview)

    def purge(self, ids: MemoryIds, *, preview: bool = False) -> ChangeSet:
        """Take what forgotten memories said out of the history and every file of the agent. This cannot be undone.

        Their ids, kinds and times stay, so that the history stays consistent. What was derived from them is left, and
        may still repeat what they said; so may earlier copies, such as backups and copied characters.

        Raises:
            EntryNotFound: there was never such a memory, or it has been purged before.
            Immutable: it is, or was, a fact of the personality.
            Conflict: one is still remembered: forget it first.
            StoreError: files cannot be written; what is left to erase is erased at the next change or opening.
        """
        entry_ids = ids_of(ids)
        return self.context.planned_and_done(
            lambda: purging.plan(self.context.plan, self.context.present(), entry_ids), preview
        )

    def empty_bin(self, *, now: datetime | None = None, preview: bool = False) -> ChangeSet:
        """Purge what was forgotten longer ago than the setting ``bin_days``; nothing if that is 0.

        Every migration does this afterwards. It cannot be undone.

        Args:
            now: the world's time, from which the age is counted.
            preview: whether to plan only.

        Raises:
            InvalidParameter: ``now`` is not a time with a zone.
            StoreError: files cannot be written; what is left to erase is erased at the next change or opening.
        """
        moment = self.context.time(now)

        def planned() -> ChangeSet:
            return purging.emptying(self.context.plan, self.context.present(), self.context.settings.bin_days, moment)

        return self.context.planned_and_done(planned, preview)
