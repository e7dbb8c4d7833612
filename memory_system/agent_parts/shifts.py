"""Shifts: by which memories two answers to one query differ, an earlier and a later one, and why, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..core.entry import MemoryEntry
from ..core.scoring import Score
from ..core.times import stamp
from ..recall.rank import Explanation
from ..recall.verdicts import NAMES, Candidate, Verdict
from ..store.journal.as_of import Event

FORGOTTEN = "It was forgotten on"
_TELLING = 0.005
"""A part that changed the score by less is not told."""
_QUOTED = 60


class Shift(StrEnum):
    """What became of a memory between two answers."""

    ENTERED = "entered"
    LEFT = "left"
    MOVED = "moved"


@dataclass(frozen=True)
class Difference:
    """One memory that the two answers differ by.

    Args:
        entry_id: which memory.
        document: its text, as it is now, or as it was if it is gone.
        shift: whether it entered, left or moved.
        then: its score and verdict then; ``None`` = it was not there.
        now: its score and verdict now; ``None`` = it is gone.
        place_then: its place in the answer then, from 1; ``None`` = it was not in it.
        place_now: its place in the answer now.
        because: why, in a sentence.
    """

    entry_id: str
    document: str
    shift: Shift
    then: Candidate | None
    now: Candidate | None
    place_then: int | None
    place_now: int | None
    because: str


def differences(then: Explanation, now: Explanation, events: Mapping[str, Sequence[Event]]) -> tuple[Difference, ...]:
    """The memories by which two answers differ, each with the reason: those that left, entered, and moved.

    Args:
        then: the earlier answer.
        now: the later one.
        events: by id, what has happened to each memory of either answer in between, the oldest first.
    """
    return _Compared(then, now, events).differences()


class _Compared:
    """Two answers to one query."""

    def __init__(self, then: Explanation, now: Explanation, events: Mapping[str, Sequence[Event]]) -> None:
        self._then, self._now, self._events = then, now, events
        self._before = {hit.entry.id: (place, hit) for place, hit in enumerate(then.hits, start=1)}
        self._after = {hit.entry.id: (place, hit) for place, hit in enumerate(now.hits, start=1)}
        self._common = [one for one in self._after if one in self._before]

    def differences(self) -> tuple[Difference, ...]:
        """Those that left, entered and moved."""
        stayed = [one for one in self._before if one in self._after]
        moved = [
            one
            for one in self._common
            if stayed.index(one) != self._common.index(one) or self._tier_change(one) is not None
        ]
        return (
            *(self._told(one, Shift.LEFT) for one in self._before if one not in self._after),
            *(self._told(one, Shift.ENTERED) for one in self._after if one not in self._before),
            *(self._told(one, Shift.MOVED) for one in moved),
        )

    def _told(self, entry_id: str, shift: Shift) -> Difference:
        then, now = self._then.candidates.of(entry_id), self._now.candidates.of(entry_id)
        shown = now or then
        assert shown is not None, "it is in one of the answers"
        why = {Shift.LEFT: self._left, Shift.ENTERED: self._entered, Shift.MOVED: self._moved}[shift]
        return Difference(
            entry_id,
            shown.entry.document,
            shift,
            then,
            now,
            self._before[entry_id][0] if entry_id in self._before else None,
            self._after[entry_id][0] if entry_id in self._after else None,
            _sentence(*why(entry_id, then, now)),
        )

    # -- why -------------------------------------------------------------------------------------------

    def _left(self, entry_id: str, then: Candidate | None, now: Candidate | None) -> tuple[str, list[str]]:
        if now is None:
            gone = next((one for one in reversed(self._events.get(entry_id, ())) if one.after is None), None)
            return ("It is gone" if gone is None else f"{FORGOTTEN} {_when(gone)}"), []
        assert then is not None, "it was in the answer"
        causes = self._causes(entry_id, then, now)
        match now.verdict:
            case Verdict.BELOW_THRESHOLD:
                head = f"It is now below the threshold of {self._now.query.threshold_of(now.entry.tier):.2f}"
                return head, [*self._raised(then, now), *causes]
            case Verdict.FILTERED_OUT:
                return "The facets no longer admit it", causes
            case Verdict.NO_VECTOR:
                return "It has no vector any more", causes
            case _ if then.via:
                return "What led to it no longer does", causes
        return self._overtaken(now, self._after, self._before, "It was overtaken by"), causes

    def _entered(self, entry_id: str, then: Candidate | None, now: Candidate | None) -> tuple[str, list[str]]:
        if then is None:
            come = next((one for one in self._events.get(entry_id, ()) if one.before is None), None)
            return ("It was not there then" if come is None else f"It was added on {_when(come)}"), []
        assert now is not None, "it is in the answer"
        causes = self._causes(entry_id, then, now)
        match then.verdict:
            case Verdict.BELOW_THRESHOLD if now.via:
                return "Another memory leads to it now", causes
            case Verdict.BELOW_THRESHOLD:
                head = f"It was below the threshold of {self._then.query.threshold_of(then.entry.tier):.2f}"
                return head, [*self._raised(then, now), *causes]
            case Verdict.FILTERED_OUT:
                return "The facets did not admit it then", causes
            case Verdict.NO_VECTOR:
                return "It had no vector then", causes
        return self._overtaken(now, self._before, self._after, "It took the seat of"), causes

    def _moved(self, entry_id: str, then: Candidate | None, now: Candidate | None) -> tuple[str, list[str]]:
        assert then is not None, "it is in both answers"
        assert now is not None, "it is in both answers"
        causes = self._causes(entry_id, then, now)
        place, earlier = self._after[entry_id][0], self._before[entry_id][0]
        head = f"It stands at {place} instead of {earlier}" if place != earlier else "It stands among others"
        if not causes:
            passed = [one for one in self._common if self._swapped(one, entry_id)]
            causes = [f"“{quoted(self._after[passed[0]][1].entry)}” {self._way(passed[0], entry_id)}"] if passed else []
        return head, causes

    def _swapped(self, one: str, other: str) -> bool:
        return (self._before[one][0] < self._before[other][0]) != (self._after[one][0] < self._after[other][0])

    def _way(self, one: str, other: str) -> str:
        return "overtook it" if self._after[one][0] < self._after[other][0] else "fell behind it"

    def _overtaken(
        self,
        now: Candidate,
        those: Mapping[str, tuple[int, Candidate]],
        others: Mapping[str, tuple[int, Candidate]],
        words: str,
    ) -> str:
        """Who has, or had, the seat: a memory of the one answer that the other does not hold, of its tier if any is."""
        seats, before = self._now.query.top_k, self._then.query.top_k
        if seats != before:
            return f"There are {seats} seats instead of {before}"
        rivals = [hit for name, (_, hit) in those.items() if name not in others]
        mine = [hit for hit in rivals if hit.entry.tier is now.entry.tier] or rivals
        return f"{words} “{quoted(mine[0].entry)}”" if mine else "The seats are shared out otherwise"

    def _causes(self, entry_id: str, then: Candidate, now: Candidate) -> list[str]:
        causes = []
        if (move := self._tier_change(entry_id)) is not None:
            causes.append(move)
        edits = [one for one in self._events.get(entry_id, ()) if _edited(one)]
        if edits:
            causes.append(f"it was edited on {_when(edits[-1])}")
        return [*causes, *_parts(then.score, now.score)]

    def _tier_change(self, entry_id: str) -> str | None:
        then, now = self._then.candidates.of(entry_id), self._now.candidates.of(entry_id)
        if then is None or now is None or then.entry.tier is now.entry.tier:
            return None
        moves = [
            one
            for one in self._events.get(entry_id, ())
            if one.before is not None and one.after is not None and one.before.tier is not one.after.tier
        ]
        when = f" on {_when(moves[-1])}" if moves else ""
        return f"it moved to {NAMES[now.entry.tier]} memory{when}"

    def _raised(self, then: Candidate, now: Candidate) -> list[str]:
        before = self._then.query.threshold_of(then.entry.tier)
        after = self._now.query.threshold_of(now.entry.tier)
        return [] if before == after else [f"the threshold was {before:.2f} and is {after:.2f}"]


def _edited(event: Event) -> bool:
    if event.before is None or event.after is None:
        return False
    return event.before.evolve(tier=event.after.tier) != event.after


def _parts(then: Score, now: Score) -> list[str]:
    """The parts that changed the score most, at most two, in words."""
    told: list[tuple[float, str]] = []
    for name in ("recency", "importance", "relevancy"):
        before, after = getattr(then, name), getattr(now, name)
        if before is None or after is None:
            if before != after:
                told.append((1.0, f"{name} {'counts' if before is None else 'does not count any more'}"))
            continue
        weight = abs(now.parts[name] - then.parts[name])
        if weight >= _TELLING and before != after:
            told.append((weight, f"{name} {'fell' if after < before else 'rose'} from {before:.2f} to {after:.2f}"))
        elif weight >= _TELLING:
            told.append((weight, f"the weight of {name} changed"))
    return [words for _, words in sorted(told, key=lambda one: -one[0])[:2]]


def _sentence(head: str, causes: Sequence[str]) -> str:
    return f"{head}: {', '.join(causes)}." if causes else f"{head}."


def _when(event: Event) -> str:
    return f"{stamp(event.at)} (“{event.title}”)"


def quoted(entry: MemoryEntry) -> str:
    """The text of a memory on one line, at most 60 characters of it."""
    text = " ".join(entry.document.split())
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"
