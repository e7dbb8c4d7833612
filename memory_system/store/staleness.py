"""Staleness: whether what a memory rests on is still as it was when the memory was derived. Pure.

A memory that was derived from others (a reflection, summary, synopsis or plan) is stale when one of them says something
else by now, is said to have happened at another time, or has been deleted; since the memory was derived, derived again,
or looked at and kept. What merely moved between tiers, faded by migration, was forgotten by the summary that stands for
it, or was replaced by a new plan of its day has not changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.entry import MemoryEntry

REDERIVE = "rederive"
KEEP = "keep"
"""The operations that say: by the evidence as it is now, this memory is right."""
FADING = ("migrate", "summarise", "plan", "synopsis")
"""Operations whose forgetting takes nothing back of what was concluded before."""

TAKING_BACK = ("undo", "restore", "go back")
"""Operations that bring back what was, if need be across many changes at once."""


@dataclass(frozen=True)
class Trace:
    """One change of one memory, and the change set that made it."""

    revision: int
    operation: str
    undoes: int | None
    title: str
    author: str
    at: datetime
    before: MemoryEntry | None
    after: MemoryEntry | None


@dataclass(frozen=True)
class Alteration:
    """What became of one memory that another rests on.

    Args:
        before: as it was.
        after: as it is; ``None`` = it was deleted.
        last: the last change of it.
    """

    before: MemoryEntry
    after: MemoryEntry | None
    last: Trace

    @property
    def sentence(self) -> str:
        """What happened, for people."""
        if self.after is None:
            what = "was deleted"
        elif self.before.document != self.after.document:
            what = "says something else now"
        else:
            what = "happened at another time now"
        return f"It {what} ({self.last.title}, by {self.last.author})."


@dataclass(frozen=True)
class Stale:
    """A memory that rests on what has changed since.

    Args:
        entry: the memory.
        since: the revision by which it was derived, or last kept.
        alterations: what changed, in the order in which it cites its evidence.
    """

    entry: MemoryEntry
    since: int
    alterations: tuple[Alteration, ...]


def stale(entry: MemoryEntry, traces: Mapping[str, Sequence[Trace]]) -> Stale | None:
    """What has changed of what a memory rests on; ``None`` if nothing has.

    Args:
        entry: the memory as it is.
        traces: all changes of it, and of those of its evidence that may have changed, each the oldest first.
    """
    own = standing(traces.get(entry.id, ()))
    bases = _bases(own)
    if not bases:
        return None
    found = []
    for source in entry.evidence:
        if history := traces.get(source):
            entered = _entered(own, source)
            right = [base for base in bases if base >= entered] if entered > bases[-1] else bases
            altered = _alteration(history, right or [entered])
            found += [altered] if altered is not None else []
    return Stale(entry, bases[0], tuple(found)) if found else None


def deleted(traces: Sequence[Trace]) -> bool:
    """Whether a memory is gone because somebody deleted it, and did not just fade."""
    if not traces or traces[-1].after is not None:
        return False
    left = standing(traces)
    return not left or left[0].after is not None or left[0].operation not in FADING


def standing(traces: Sequence[Trace]) -> list[Trace]:
    """The changes that made a memory what it is, the newest first, without what was undone and what undid it."""
    left: list[Trace] = []
    revisions = {one.revision for one in traces}
    limit: float = float("inf")
    for trace in reversed(traces):
        if trace.revision >= limit:
            continue
        if trace.undoes in revisions and trace.undoes is not None:
            limit = trace.undoes
        elif (same := _brought_back(trace, traces)) is not None:
            limit = same + 1
        else:
            left.append(trace)
    return left


def _brought_back(one: Trace, traces: Sequence[Trace]) -> int | None:
    """The revision of the state that a change brought back, if that is what it did."""
    if one.operation not in TAKING_BACK:
        return None
    earlier = [other for other in traces if other.revision < one.revision and other.after == one.after]
    return earlier[-1].revision if earlier else None


def _bases(own: Sequence[Trace]) -> list[int]:
    """The revisions whose evidence is what a memory may rest on: those that kept it, and last the one it is by."""
    bases = []
    for trace in own:
        made = trace.operation == REDERIVE or trace.before is None
        if made or trace.operation == KEEP:
            bases.append(trace.revision)
        if made:
            return bases
    return [*bases, own[-1].revision] if own else []


def _entered(own: Sequence[Trace], source: str) -> int:
    """The revision by which a memory came to rest on another."""
    for trace in own:
        before = trace.before.evidence if trace.before else ()
        if trace.after is not None and source in trace.after.evidence and source not in before:
            return trace.revision
    return 0


def _alteration(history: Sequence[Trace], bases: Sequence[int]) -> Alteration | None:
    now = _state(history)
    states = [_state_at(history, base) for base in bases]
    was = states[0]
    if now is None or was is None or any(state is not None and _key(state) == _key(now) for state in states):
        return None
    return Alteration(was[0], None if now[1] else now[0], history[-1])


def _state_at(history: Sequence[Trace], revision: int) -> tuple[MemoryEntry, bool] | None:
    """A memory as it was right after a revision; by what came next, where the history keeps nothing from before."""
    earlier = [trace for trace in history if trace.revision <= revision]
    if not earlier and history and history[0].before is not None:
        return history[0].before, False
    return _state(earlier)


def _state(history: Sequence[Trace]) -> tuple[MemoryEntry, bool] | None:
    """A memory as it last was, and whether somebody deleted it; ``None`` before it was."""
    if not history:
        return None
    version = history[-1].after or history[-1].before
    return None if version is None else (version, deleted(history))


def _key(state: tuple[MemoryEntry, bool]) -> tuple[str, datetime | None, bool]:
    return state[0].document, state[0].timestamp, state[1]
