"""Migration: what STM has no room for goes to LTM if it is important enough, and is forgotten if not."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.change_set import Change, ChangeSet, Kept
from ..core.entry import MemoryEntry, Tier
from ..errors import EntryNotFound
from .context import Ground, by_age


def plan(ground: Ground, threshold: float, chosen: Sequence[str] | None = None) -> ChangeSet:
    """Plan a migration.

    STM's overflow is as many entries as it holds beyond ``stm_size``. The oldest that may leave make it up,
    the more important first where two are of one age. Pinned and protected entries may not leave; unrated
    ones wait for their rating; and what is marked "by a person" is moved, but never forgotten by itself.

    Args:
        ground: what to plan on.
        threshold: the importance (0 to 1) that an entry has to exceed to be kept.
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
        return ground.plan("migrate", "Nothing to migrate", [], notes=(note,))
    changes: list[Change] = []
    kept: list[Kept] = []
    for entry in sorted(ground.stm, key=lambda one: (by_age(one)[0], -(one.importance or 0), one.id)):
        if len(changes) == overflow:
            break
        if (why := _stays(entry, threshold)) is not None:
            kept.append(Kept(entry.id, why))
        else:
            changes.append(_change(entry, threshold))
    moved = sum(1 for change in changes if change.after is not None)
    doing = [f"move {moved} to long-term memory"] if moved else []
    doing += [f"forget {len(changes) - moved}"] if moved < len(changes) else []
    title = f"Migrate: {', '.join(doing) or 'nothing may leave'}"
    notes = () if len(changes) == overflow else (f"{overflow - len(changes)} more than fit must stay.",)
    return ground.plan("migrate", title, changes, kept=tuple(kept), notes=notes)


def _stays(entry: MemoryEntry, threshold: float) -> str | None:
    if (why := _fixed(entry)) is not None:
        return why
    if entry.importance is None:
        return "It is unrated; rate it first."
    if entry.authored and entry.importance <= threshold:
        return "It is marked “by a person”, so it is not forgotten by itself."
    return None


def _fixed(entry: MemoryEntry) -> str | None:
    if entry.protected:
        return "It is protected."
    return "It is pinned." if entry.pinned else None


def _change(entry: MemoryEntry, threshold: float) -> Change:
    importance = entry.importance or 0
    if importance > threshold:
        why = f"Short-term memory is full; importance {importance:.2f} exceeds {threshold:.2f}."
        return Change(entry, entry.evolve(tier=Tier.LTM), why)
    return Change(
        entry, None, f"Short-term memory is full; importance {importance:.2f} does not exceed {threshold:.2f}."
    )


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
    return ground.plan("migrate", f"Migrate {len(changes)} chosen to long-term memory", changes, kept=tuple(kept))
