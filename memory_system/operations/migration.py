"""Migration: what STM has no room for goes to LTM if it is worth keeping, and is forgotten if not."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.change_set import Change, ChangeSet, Kept
from ..core.entry import MemoryEntry, Tier
from ..errors import EntryNotFound
from .context import Ground
from .retention import BESIDE, Rule, Verdict

MIGRATE = "migrate"


def plan(ground: Ground, rule: Rule, chosen: Sequence[str] | None = None) -> ChangeSet:
    """Plan a migration.

    STM's overflow is as many entries as it holds beyond ``stm_size``. The first that may leave, in the order of
    the rule, make it up. Pinned and protected entries may not leave; unrated ones wait for their rating; and
    what is marked "by a person" is moved, but never forgotten by itself.

    Args:
        ground: what to plan on.
        rule: which are kept, and in which order they leave.
        chosen: ids in STM to move whatever their importance, instead of the overflow.

    Raises:
        EntryNotFound: a chosen id is not in STM.
    """
    if chosen is not None:
        return _plan_chosen(ground, chosen)
    overflow = len(ground.stm) - ground.settings.stm_size
    if overflow <= 0:
        room = -overflow
        note = (
            f"Short-term memory holds {len(ground.stm)} of {ground.settings.stm_size}: nothing overflows ({room} free)."
        )
        return ground.plan(MIGRATE, "Nothing to migrate", [], notes=(note,))
    changes: list[Change] = []
    kept: list[Kept] = []
    held = list(ground.stm)
    verdicts = rule.judge([entry for entry in held if entry.importance is not None], ground.newest(BESIDE))
    for entry in rule.order(held, verdicts, ground.settings.stm_size):
        if len(changes) == overflow:
            break
        verdict = verdicts.get(entry.id)
        if (why := _stays(entry, verdict)) is not None or verdict is None:
            kept.append(Kept(entry.id, why or ""))
        else:
            changes.append(_change(entry, verdict, rule))
    moved = sum(1 for change in changes if change.after is not None)
    doing = [f"move {moved} to long-term memory"] if moved else []
    doing += [f"forget {len(changes) - moved}"] if moved < len(changes) else []
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


def _fixed(entry: MemoryEntry) -> str | None:
    if entry.protected:
        return "It is protected."
    return "It is pinned." if entry.pinned else None


def _change(entry: MemoryEntry, verdict: Verdict, rule: Rule) -> Change:
    after = entry.evolve(tier=Tier.LTM) if verdict.kept else None
    return Change(entry, after, f"Short-term memory is full{rule.leaving}; {verdict.why}.")


def _plan_chosen(ground: Ground, chosen: Sequence[str]) -> ChangeSet:
    held = {entry.id: entry for entry in ground.stm}
    changes: list[Change] = []
    kept: list[Kept] = []
    for entry_id in dict.fromkeys(chosen):
        if entry_id not in held:
            raise EntryNotFound(f"There is no memory {entry_id!r} in short-term memory.")
        entry = held[entry_id]
        if (why := _fixed(entry)) is not None:
            kept.append(Kept(entry_id, why))
        else:
            changes.append(Change(entry, entry.evolve(tier=Tier.LTM), "Chosen by hand."))
    return ground.plan(MIGRATE, f"Migrate {len(changes)} chosen to long-term memory", changes, kept=tuple(kept))
