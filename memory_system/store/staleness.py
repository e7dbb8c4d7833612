"""Staleness: whether a memory's evidence is still as it was when the memory was derived. Pure.

A memory that was derived from others (a reflection, summary, synopsis or plan) is stale when one of them has since
changed its text or its time, or has been deleted; since means since the memory was derived, derived again, or checked
and kept. Evidence that moved between tiers, faded by migration, was forgotten by the summary that replaces it, or was
replaced by a new plan of its day does not count as changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.entry import MemoryEntry

REDERIVE = "rederive"
KEEP = "keep"
"""The operation that confirms a memory in view of its present evidence."""
FADING = ("migrate", "summarise", "plan", "synopsis")
"""Operations whose forgetting does not affect earlier conclusions."""

TAKING_BACK = ("undo", "restore", "go back")
"""Operations that bring back an earlier state, possibly across many changes at once."""


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
    """What became of a memory that another rests on.

    Args:
        before: as it was.
        after: as it is; ``None`` = it was deleted.
        last: its last change.
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
        since: the revision that derived it, or last confirmed it.
        alterations: what changed, in the order in which it cites its evidence.
    """

    entry: MemoryEntry
    since: int
    alterations: tuple[Alteration, ...]


def stale(entry: MemoryEntry, traces: Mapping[str, Sequence[Trace]]) -> Stale | None:
    """What has changed in a memory's evidence; ``None`` if nothing has.

    Args:
        entry: the memory as it is.
        traces: all changes of it, and of those of its evidence that may have changed, each oldest first.
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
    """Whether a memory is gone because it was deleted, not because it faded."""
    if not traces or traces[-1].after is not None:
        return False
    left = standing(traces)
    return not left or left[0].after is not None or left[0].operation not in FADING


def standing(traces: Sequence[Trace]) -> list[Trace]:
    """The changes that made a memory what it is, newest first, without what was undone and what undid it."""
    left: list[Trace] = []
    revisions = {trace.revision for trace in traces}
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


def _brought_back(trace: Trace, traces: Sequence[Trace]) -> int | None:
    """The revision of the state that a change brought back, if it did."""
    if trace.operation not in TAKING_BACK:
        return None
    earlier = [other for other in traces if other.revision < trace.revision and other.after == trace.after]
    return earlier[-1].revision if earlier else None


def _bases(own: Sequence[Trace]) -> list[int]:
    """The revisions whose evidence a memory may rest on: those that confirmed it, and last the one that derived it."""
    bases = []
    for trace in own:
        made = trace.operation == REDERIVE or trace.before is None
        if made or trace.operation == KEEP:
            bases.append(trace.revision)
        if made:
            return bases
    return [*bases, own[-1].revision] if own else []


def _entered(own: Sequence[Trace], source: str) -> int:
    """The revision at which a memory came to rest on another."""
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
    """A memory right after a revision; inferred from the next change if the history keeps nothing from before."""
    earlier = [trace for trace in history if trace.revision <= revision]
    if not earlier and history and history[0].before is not None:
        return history[0].before, False
    return _state(earlier)


def _state(history: Sequence[Trace]) -> tuple[MemoryEntry, bool] | None:
    """A memory as it last was, and whether it was deleted on purpose; ``None`` before it existed."""
    if not history:
        return None
    version = history[-1].after or history[-1].before
    return None if version is None else (version, deleted(history))


def _key(state: tuple[MemoryEntry, bool]) -> tuple[str, datetime | None, bool]:
    return state[0].document, state[0].timestamp, state[1]
