"""Migration: what overflows STM goes to LTM if it is worth keeping, and is forgotten if not."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.change_set import Change, ChangeSet, Kept
from ..core.entry import Kind, MemoryEntry, Tier
from ..errors import EntryNotFound
from ..store.staleness import TAKING_BACK
from .context import Ground
from .retention import BESIDE, Rule, Verdict

MIGRATE = "migrate"


def plan(ground: Ground, rule: Rule, chosen: Sequence[str] | None = None) -> ChangeSet:
    """Plan a migration.

    STM's overflow is the number of entries beyond ``stm_size``; what was said in talks has as much room of its own, so
    that a long talk drives out no event. It consists of the first entries, in the order of the rule, that may leave.
    Pinned and protected entries may not leave; unrated ones wait for their rating; and what is marked "by a person" is
    moved, but never forgotten automatically.

    Args:
        ground: what to plan on.
        rule: which are kept, and in which order they leave.
        chosen: ids in STM to move whatever their importance, instead of the overflow.

    Raises:
        EntryNotFound: a chosen id is not in STM.
    """
    if chosen is not None:
        return _plan_chosen(ground, chosen)
    size, entries = ground.settings.stm_size, list(ground.stm)
    rooms = lived, _ = in_rooms(entries)
    overflow = sum(max(0, len(some) - size) for some in rooms)
    if not overflow:
        note = f"Short-term memory holds {len(lived)} of {size}: nothing overflows ({size - len(lived)} free)."
        return ground.plan(MIGRATE, "Nothing to migrate", [], notes=(note,))
    changes: list[Change] = []
    kept: list[Kept] = []
    verdicts = rule.judge([entry for entry in entries if entry.importance is not None], ground.newest(BESIDE))
    for some in rooms:
        left = len(some) - size
        for entry in rule.order(some, verdicts, size) if left > 0 else ():
            if not left:
                break
            verdict = verdicts.get(entry.id)
            if (why := _stays(entry, verdict)) is not None or verdict is None:
                kept.append(Kept(entry.id, why or ""))
            else:
                changes.append(_change(entry, verdict, rule))
                left -= 1
    moved = sum(1 for change in changes if change.after is not None)
    doing = [f"move {moved:,} to long-term memory"] if moved else []
    doing += [f"forget {len(changes) - moved:,}"] if moved < len(changes) else []
    title = f"Migrate: {', '.join(doing) or 'nothing may leave'}"
    notes = () if len(changes) == overflow else (f"{overflow - len(changes)} more than fit must stay.",)
    return ground.plan(MIGRATE, title, changes, kept=tuple(kept), notes=notes)


def _stays(entry: MemoryEntry, verdict: Verdict | None) -> str | None:
    if (why := _fixed(entry)) is not None:
        return why
    if verdict is None:
        return "It is unrated; rate it first."
    if entry.authored and not verdict.kept:
        return "It is marked “by a person”, so it is not forgotten by itself."
    return None


def fills(done: ChangeSet) -> bool:
    """Whether a change set brings something new into STM; undoing and restoring, which a person wants, do not count."""
    if done.undoes is not None or done.operation in TAKING_BACK:
        return False
    return any(
        change.after is not None and change.after.tier is Tier.STM and change.before is None for change in done.changes
    )


def in_rooms(held: Sequence[MemoryEntry]) -> tuple[list[MemoryEntry], list[MemoryEntry]]:
    """Experiences and what was said in talks, each with room for ``stm_size`` in STM; in the order given."""
    return [entry for entry in held if not was_said(entry)], [entry for entry in held if was_said(entry)]


def was_said(entry: MemoryEntry) -> bool:
    """Whether it is a turn of a conversation, or the note of one."""
    return entry.kind is Kind.CONVERSATION and "conversation" in entry.extras


def _fixed(entry: MemoryEntry) -> str | None:
    if entry.protected:
        return "It is protected."
    return "It is pinned." if entry.pinned else None


def _change(entry: MemoryEntry, verdict: Verdict, rule: Rule) -> Change:
    after = entry.evolve(tier=Tier.LTM) if verdict.kept else None
    return Change(entry, after, f"Short-term memory is full{rule.leaving}; {verdict.why}.")


def _plan_chosen(ground: Ground, chosen: Sequence[str]) -> ChangeSet:
    entries = {entry.id: entry for entry in ground.stm}
    changes: list[Change] = []
    kept: list[Kept] = []
    for entry_id in dict.fromkeys(chosen):
        if entry_id not in entries:
            raise EntryNotFound(f"There is no memory {entry_id!r} in short-term memory.")
        entry = entries[entry_id]
        if (why := _fixed(entry)) is not None:
            kept.append(Kept(entry_id, why))
        else:
            changes.append(Change(entry, entry.evolve(tier=Tier.LTM), "Chosen by hand."))
    return ground.plan(MIGRATE, f"Migrate {len(changes):,} chosen to long-term memory", changes, kept=tuple(kept))
