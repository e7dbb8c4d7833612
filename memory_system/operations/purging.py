"""Purging: erasing what forgotten memories said from every file, chosen one by one or once they are old enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from ..core.change_set import CORE, PERSON, ChangeSet, excerpt
from ..core.entry import DECAYING, Tier
from ..core.files import within
from ..errors import Conflict, EntryNotFound, Immutable, shown
from ..store.copying import SET_ASIDE
from ..store.journal.trash import Scrubber, cleaned_text
from ..store.protocols import Present
from .undo import PURGE

Planned = Callable[..., ChangeSet]
"""Makes a change set of its operation, title and parts."""
_AT_ONCE = 1_000


def plan(planned: Planned, present: Present, wanted: Sequence[str]) -> ChangeSet:
    """Plan to purge memories that were forgotten.

    Raises:
        EntryNotFound: there was never such a memory, or it has been purged before.
        Immutable: it is, or was, a fact of the personality.
        Conflict: one is still remembered.
    """
    with present.reading():
        lost = present.journal.bin.lost(wanted)
        for entry_id in wanted:
            entry = present.find(entry_id)
            if entry is not None and entry.tier is Tier.STATIC:
                raise Immutable("This is a fact of the personality, whose earlier texts stay in the history.")
            if entry is not None:
                raise Conflict(f"{excerpt(entry.document)} is still remembered. Forget it first, then purge it.")
            if entry_id in lost:
                raise EntryNotFound("This memory has been purged already; nothing is left of it.")
            last = present.journal.last_version(entry_id) if entry_id.isprintable() else None
            if last is None:
                raise EntryNotFound(f"There never was a memory {shown(entry_id)}.")
            if last.tier is Tier.STATIC:
                raise Immutable("This was a fact of the personality, whose earlier texts stay in the history.")
    return _plan(planned, present, wanted, "Nothing to purge", "")


def emptying(planned: Planned, present: Present, days: int, now: datetime) -> ChangeSet:
    """Plan to purge what has been in the bin for more than this many days of the world's time; 0 = nothing.

    It is purged with the first migration once it is old enough, or when somebody asks for it.
    """
    if not days:
        return _plan(planned, present, (), "Forgotten memories are kept for ever", "")
    old: list[str] = []
    with present.reading():
        for start in range(0, present.journal.bin.count(), _AT_ONCE):
            page = present.journal.forgotten(_AT_ONCE, start, "")
            old += [row.entry.id for row in page if now - row.at > timedelta(days=days)]
    reason = f"Forgotten more than {days:,} {'day' if days == 1 else 'days'} ago, as long as the settings keep the bin."
    return _plan(planned, present, old, "Nothing in the bin is old enough", reason)


def _plan(planned: Planned, present: Present, entry_ids: Sequence[str], nothing: str, reason: str) -> ChangeSet:
    if not entry_ids:
        return planned(PURGE, nothing)
    gone = set(entry_ids)
    with present.reading():
        tables = (present.tables[tier] for tier in DECAYING)
        resting = sum(not gone.isdisjoint(entry.evidence) for table in tables for entry in table.entries)
    notes = [
        "Their texts leave the history, the search tables and the store. That they were, and when, stays.",
        "Copies that were made before, such as backups and copied characters, still hold them.",
    ]
    if resting:
        notes.insert(1, f"Derived memories that rest on them are left, and may tell what they said: {resting}.")
    core, people = _quoting(present, entry_ids)
    if core or people:
        quoting = f"core memory of talks ({core}), records of people and of itself ({people})"
        notes.insert(1, f"What quotes them is rid of it, as it is now and as it was: {quoting}.")
    aside = sorted(path.name for pattern in SET_ASIDE[:2] for path in within(present.folder, pattern))
    if aside:
        notes.append(f"So do files of the agent that were set aside, until you delete them: {', '.join(aside)}.")
    title = "Purge a memory for good" if len(entry_ids) == 1 else f"Purge {len(entry_ids):,} memories for good"
    return planned(PURGE, title, notes=notes, purges=tuple(entry_ids), reason=reason)


def _quoting(present: Present, entry_ids: Sequence[str]) -> tuple[int, int]:
    """In how many talks the core memory, and in how many people's records the text, quotes one of these memories."""
    scrubber = Scrubber(present.journal.bin.texts(entry_ids))
    quoting = [name for name, text in present.texts().items() if cleaned_text(name, text, scrubber) != text]
    core, people = (sum(name.startswith(kind) for name in quoting) for kind in (CORE, PERSON))
    return core, people
