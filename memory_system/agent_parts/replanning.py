"""Plans that somebody else's change made stale between planning and applying are made again automatically."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from ..core.change_set import Change, ChangeSet, entry_to_json
from ..core.entry import MemoryEntry
from ..errors import StaleChange
from ..operations.migration import MIGRATE
from ..operations.undo import PURGE, REDO, UNDO

TIMES = 5
"""How often a plan is made again before ``StaleChange`` is raised."""
_MERGE = "merge"
_BY_HAND = ("settings", "edit", "forget", "restore", "reset", "dismiss", "cues", "judgments", "put-off")
_AGAIN = frozenset({MIGRATE, PURGE, UNDO, REDO, _MERGE, *_BY_HAND})


def carried_out(
    plan: ChangeSet,
    planned: Callable[[], ChangeSet],
    apply: Callable[[ChangeSet], ChangeSet],
    alone: Callable[[], AbstractContextManager[None]],
) -> ChangeSet:
    """Apply a plan that nobody was shown; it is made again if somebody else was quicker, at most ``TIMES`` times.

    Stale plans are still refused if they were shown, were made by a language model, replace a whole text (the
    personality, the portrait), or edit or merge what somebody else set at the same time. An undo that settles clashes
    is not passed in here.

    Args:
        plan: made by ``planned``.
        planned: makes the plan again.
        apply: carries a plan out.
        alone: keeps everybody else from writing, for the last try, from planning to applying.

    Raises:
        StaleChange: it is stale, and is not made again or has been too often. Nothing was changed.
    """
    left = TIMES
    while True:
        try:
            return apply(plan)
        except StaleChange:
            left -= 1
            if plan.calls or plan.operation not in _AGAIN:
                raise
            with nullcontext() if left else alone():
                again = planned()
                if again.calls or _overwrites(plan, again):
                    raise
                if not left:
                    return apply(again)
            plan = again


def _overwrites(stale: ChangeSet, again: ChangeSet) -> bool:
    """Whether the new plan would overwrite something in a memory that somebody else set since the stale one."""
    before = {change.entry_id: change for change in stale.changes}
    for change in again.changes:
        first = before.get(change.entry_id)
        if first is None or first.before is None or change.before is None:
            continue
        ours = _set_by(first, stale.operation) | _set_by(change, again.operation)
        if ours & _differing(first.before, change.before):
            return True
    return False


def _set_by(change: Change, operation: str) -> set[str]:
    if change.before is not None and change.after is not None:
        return _differing(change.before, change.after)
    return {"document"} if operation == _MERGE else set()  # its words are taken to be in the memory that stays


def _differing(entry: MemoryEntry, other: MemoryEntry) -> set[str]:
    """The fields in which two versions of a memory differ."""
    left, right = entry_to_json(entry), entry_to_json(other)
    return {name for name in left.keys() | right.keys() if left.get(name) != right.get(name)}
