"""Trash: memories that were forgotten: listed, brought back, or purged for good."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.change_set import ChangeSet, short
from ..core.entry import Tier
from ..core.scoring import whole
from ..errors import Conflict, EntryNotFound, Immutable, shown
from ..operations import edit
from ..operations.edit import listed
from ..operations.undo import PURGE
from ..store.copying import SET_ASIDE
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
            contains: words in their text, in any case; all if none are given.
            offset: how many to pass over, to turn a page.

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

    def restore(self, ids: str | Sequence[str], *, preview: bool = False) -> ChangeSet:
        """Bring forgotten memories back as they last were, such as the sources of a summary.

        Raises:
            EntryNotFound: there never was such a memory, or it has been purged.
            Immutable: it was a fact of the personality.
        """
        wanted = listed(ids)
        journal = self.context.present().journal
        if journal.bin.lost(wanted):
            raise EntryNotFound("This memory was purged for good; nothing is left to bring back.")
        plan = edit.restore(ground(self.context), self.context.find, journal.last_version, wanted)
        return self.context.done(plan, preview)

    def purge(self, ids: str | Sequence[str], *, preview: bool = False) -> ChangeSet:
        """Take what forgotten memories said out of the history and every file of the agent. This cannot be undone.

        Their ids, kinds and times stay, so that the history hangs together. What was derived from them is left, and
        may still tell what they said; so do copies that were made before, such as backups and copied characters.

        Raises:
            EntryNotFound: there never was such a memory, or it has been purged before.
            Immutable: it is, or was, a fact of the personality.
            Conflict: one is still remembered: forget it first.
            StoreError: files cannot be written; what is left to erase is erased at the next change or opening.
        """
        wanted, present = listed(ids), self.context.present()
        with present.reading():
            gone, lost = set(wanted), present.journal.bin.lost(wanted)
            for entry_id in wanted:
                held = present.find(entry_id)
                if held is not None and held.tier is Tier.STATIC:
                    raise Immutable("This is a fact of the personality, whose earlier texts stay in the history.")
                if held is not None:
                    raise Conflict(f"“{short(held.document)}” is still remembered. Forget it first, then purge it.")
                if entry_id in lost:
                    raise EntryNotFound("This memory has been purged already; nothing is left of it.")
                last = present.journal.last_version(entry_id) if entry_id.isprintable() else None
                if last is None:
                    raise EntryNotFound(f"There never was a memory {shown(entry_id)}.")
                if last.tier is Tier.STATIC:
                    raise Immutable("This was a fact of the personality, whose earlier texts stay in the history.")
            tables = (present.tables[tier] for tier in (Tier.STM, Tier.LTM))
            resting = sum(not gone.isdisjoint(entry.evidence) for table in tables for entry in table.entries)
        notes = [
            "Their texts leave the history, the search tables and the store. That they were, and when, stays.",
            "Copies that were made before, such as backups and copied characters, still hold them.",
        ]
        if resting:
            notes.insert(1, f"Derived memories that rest on them are left, and may tell what they said: {resting}.")
        aside = sorted(path.name for pattern in SET_ASIDE[:2] for path in present.folder.glob(pattern))
        if aside:
            notes.append(f"So do files of the agent that were set aside, until you delete them: {', '.join(aside)}.")
        title = "Purge a memory for good" if len(wanted) == 1 else f"Purge {len(wanted)} memories for good"
        plan = self.context.plan(PURGE, title if wanted else "Nothing to purge", notes=notes, purges=tuple(wanted))
        return self.context.done(plan, preview)
