"""Replay: a logged query asked again, as it was answered then and as it would be now, and why the two differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ..core.change_set import in_quotes, so_many
from ..core.entry import MemoryEntry
from ..core.scoring import Score, whole
from ..core.settings import AgentSettings
from ..core.times import stamp
from ..errors import InvalidParameter, QueryNotFound
from ..recall.query import OF_SETTINGS, Query
from ..recall.rank import Explanation
from ..recall.verdicts import NAMES, Candidate, Verdict
from ..store.journal.as_of import Event
from ..store.query_log import LoggedQuery
from .context import Part
from .history import as_of
from .retrieval import Retrieval

_MOST = 2**62
FORGOTTEN = "It was forgotten on"
_TELLING = 0.005
"""A part that changed the score by less is not mentioned."""
_QUOTED = 60


class Shift(StrEnum):
    """What became of a memory between two answers."""

    ENTERED = "entered"
    LEFT = "left"
    MOVED = "moved"


@dataclass(frozen=True)
class Difference:
    """One memory in which the two answers differ.

    Args:
        entry_id: which memory.
        document: its text, as it is now, or as it was if it is gone.
        shift: whether it entered, left or moved.
        then: its score and verdict then; ``None`` = it did not exist.
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
    """The memories in which two answers differ, each with the reason: those that left, entered, and moved.

    Args:
        then: the earlier answer.
        now: the later one.
        events: what happened to each memory of either answer in between, by id, the oldest first.
    """
    return _Compared(then, now, events).differences()


class _Compared:
    """Two answers to one query."""

    def __init__(self, then: Explanation, now: Explanation, events: Mapping[str, Sequence[Event]]) -> None:
        self._then, self._now, self._events = then, now, events
        self._before = {hit.entry.id: (place, hit) for place, hit in enumerate(then.hits, start=1)}
        self._after = {hit.entry.id: (place, hit) for place, hit in enumerate(now.hits, start=1)}
        self._common = [entry_id for entry_id in self._after if entry_id in self._before]

    def differences(self) -> tuple[Difference, ...]:
        """Those that left, entered and moved."""
        stayed = [entry_id for entry_id in self._before if entry_id in self._after]
        moved = [
            entry_id
            for entry_id in self._common
            if stayed.index(entry_id) != self._common.index(entry_id) or self._tier_change(entry_id) is not None
        ]
        return (
            *(self._difference(entry_id, Shift.LEFT) for entry_id in self._before if entry_id not in self._after),
            *(self._difference(entry_id, Shift.ENTERED) for entry_id in self._after if entry_id not in self._before),
            *(self._difference(entry_id, Shift.MOVED) for entry_id in moved),
        )

    def _difference(self, entry_id: str, shift: Shift) -> Difference:
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
            gone = next((event for event in reversed(self._events.get(entry_id, ())) if event.after is None), None)
            return ("It is gone" if gone is None else f"{FORGOTTEN} {_when(gone)}"), []
        assert then is not None, "it was in the answer"
        causes = self._causes(entry_id, then, now)
        match now.verdict:
            case Verdict.BELOW_THRESHOLD:
                head = f"It is now below the threshold of {self._now.query.threshold_of(now.entry.tier):.2f}"
                return head, [*self._raised(then, now), *causes]
            case Verdict.FILTERED_OUT:
                return "The facets now exclude it", causes
            case Verdict.NO_VECTOR:
                return "It has no vector any more", causes
            case Verdict.BEHIND_TURNS:
                return "A turn of its conversation now passes too", causes
            case Verdict.BEHIND_TWIN:
                return "Another memory in the same words now scores higher", causes
            case _ if then.via:
                return "What led to it no longer does", causes
        return self._overtaken(now, self._after, self._before, "It was overtaken by"), causes

    def _entered(self, entry_id: str, then: Candidate | None, now: Candidate | None) -> tuple[str, list[str]]:
        if then is None:
            come = next((event for event in self._events.get(entry_id, ()) if event.before is None), None)
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
                return "The facets excluded it then", causes
            case Verdict.NO_VECTOR:
                return "It had no vector then", causes
            case Verdict.BEHIND_TURNS:
                return "A turn of its conversation passed too then", causes
            case Verdict.BEHIND_TWIN:
                return "Another memory in the same words scored higher then", causes
        return self._overtaken(now, self._before, self._after, "It took the seat of"), causes

    def _moved(self, entry_id: str, then: Candidate | None, now: Candidate | None) -> tuple[str, list[str]]:
        assert then is not None, "it is in both answers"
        assert now is not None, "it is in both answers"
        causes = self._causes(entry_id, then, now)
        place, earlier = self._after[entry_id][0], self._before[entry_id][0]
        head = f"It stands at {place} instead of {earlier}" if place != earlier else "It stands among others"
        if not causes:
            passed = [other for other in self._common if self._swapped(other, entry_id)]
            causes = [f"“{quoted(self._after[passed[0]][1].entry)}” {self._way(passed[0], entry_id)}"] if passed else []
        return head, causes

    def _swapped(self, entry_id: str, other: str) -> bool:
        return (self._before[entry_id][0] < self._before[other][0]) != (
            self._after[entry_id][0] < self._after[other][0]
        )

    def _way(self, entry_id: str, other: str) -> str:
        return "overtook it" if self._after[entry_id][0] < self._after[other][0] else "fell behind it"

    def _overtaken(
        self,
        now: Candidate,
        those: Mapping[str, tuple[int, Candidate]],
        others: Mapping[str, tuple[int, Candidate]],
        words: str,
    ) -> str:
        """The memory that has, or had, the seat: one that is only in the other answer, of the same tier if possible."""
        seats, before = self._now.query.top_k, self._then.query.top_k
        if seats != before:
            return f"There are {seats} seats instead of {before}"
        rivals = [hit for name, (_, hit) in those.items() if name not in others]
        mine = [hit for hit in rivals if hit.entry.tier is now.entry.tier] or rivals
        return f"{words} “{quoted(mine[0].entry)}”" if mine else "The seats are shared out differently"

    def _causes(self, entry_id: str, then: Candidate, now: Candidate) -> list[str]:
        causes = []
        if (move := self._tier_change(entry_id)) is not None:
            causes.append(move)
        edits = [event for event in self._events.get(entry_id, ()) if _edited(event)]
        if edits:
            causes.append(f"it was edited on {_when(edits[-1])}")
        return [*causes, *_parts(then.score, now.score)]

    def _tier_change(self, entry_id: str) -> str | None:
        then, now = self._then.candidates.of(entry_id), self._now.candidates.of(entry_id)
        if then is None or now is None or then.entry.tier is now.entry.tier:
            return None
        moves = [
            event
            for event in self._events.get(entry_id, ())
            if event.before is not None and event.after is not None and event.before.tier is not event.after.tier
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
    parts: list[tuple[float, str]] = []
    for name in ("recency", "importance", "relevancy"):
        before, after = getattr(then, name), getattr(now, name)
        if before is None or after is None:
            if before != after:
                parts.append((1.0, f"{name} {'counts' if before is None else 'does not count any more'}"))
            continue
        weight = abs(now.parts[name] - then.parts[name])
        if weight >= _TELLING and before != after:
            parts.append((weight, f"{name} {'fell' if after < before else 'rose'} from {before:.2f} to {after:.2f}"))
        elif weight >= _TELLING:
            parts.append((weight, f"the weight of {name} changed"))
    return [words for _, words in sorted(parts, key=lambda part: -part[0])[:2]]


def _sentence(head: str, causes: Sequence[str]) -> str:
    return f"{head}: {', '.join(causes)}." if causes else f"{head}."


def _when(event: Event) -> str:
    return f"{stamp(event.at)} ({in_quotes(event.title)})"


def quoted(entry: MemoryEntry) -> str:
    """The text of a memory on one line, at most 60 characters of it."""
    text = " ".join(entry.document.split())
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"


_SAME = 1e-6
"""Scores that differ by less are the same: the last bits may depend on how many were computed at once."""


@dataclass(frozen=True)
class Relived:
    """A logged query, asked again.

    Args:
        logged: what was asked and answered.
        then: every memory from that time with its verdict, rebuilt.
        now: the same asked now.
        doubts: where ``then`` is not what was logged, in sentences; empty if it is the same answer.
        parameters: which parameters differ now because the settings have changed, in sentences.
        differences: the memories in which the answers differ: those that left, entered and moved.
    """

    logged: LoggedQuery
    then: Explanation
    now: Explanation
    doubts: tuple[str, ...]
    parameters: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def faithful(self) -> bool:
        """Whether the rebuilt answer is the logged one: the same memories in the same order, with the same scores."""
        return not self.doubts


def doubts(logged: LoggedQuery, then: Explanation, embedder: str) -> tuple[str, ...]:
    """Where the rebuilt answer is not the logged one, in sentences.

    Args:
        logged: what was answered.
        then: the same rebuilt.
        embedder: the identity of what makes the vectors now.
    """
    found: list[str] = []
    if logged.embedder != embedder:
        found.append(
            f"It was asked with the vectors of {logged.embedder!r}, and is rebuilt with those of {embedder!r}."
        )
    rebuilt = then.hits
    if len(rebuilt) != logged.recalled:
        found.append(f"{so_many(logged.recalled)} recalled then, and {len(rebuilt)} when it is rebuilt.")
    elif any(
        hit.entry_id != again.entry.id and abs(hit.score.total - again.score.total) > _SAME
        for hit, again in zip(logged.hits, rebuilt, strict=False)
    ):
        found.append("The memories recalled then, or their order, differ from those of the rebuilt answer.")
    by_id = {hit.entry.id: hit for hit in rebuilt}
    for hit in logged.hits:
        again = by_id.get(hit.entry_id)
        if again is not None and abs(again.score.total - hit.score.total) > _SAME:
            found.append(
                f"“{quoted(again.entry)}” had a score of {hit.score.total:.4f}, "
                f"and has {again.score.total:.4f} when it is rebuilt."
            )
    return tuple(found)


def parameters(then: Query, now: Query) -> tuple[str, ...]:
    """Which parameters differ now, apart from the time, in sentences."""
    sentences = [
        f"The {words} was {before:g} and is {after:g}."
        for words, before, after in (
            ("number of seats", then.top_k, now.top_k),
            ("threshold", then.threshold, now.threshold),
            ("static threshold", then.static_threshold, now.static_threshold),
            ("static share", then.static_share, now.static_share),
            ("decay", then.scoring.decay, now.scoring.decay),
            ("weight of recency", then.scoring.weights.recency, now.scoring.weights.recency),
            ("weight of importance", then.scoring.weights.importance, now.scoring.weights.importance),
            ("weight of relevancy", then.scoring.weights.relevancy, now.scoring.weights.relevancy),
        )
        if before != after
    ]
    if then.scoring.measure != now.scoring.measure:
        sentences.append(f"Relevancy was measured by {then.scoring.measure} and is by {now.scoring.measure}.")
    if then.scoring.normalise != now.scoring.normalise:
        sentences.append(f"The parts were {_scaled(then)} and are {_scaled(now)}.")
    if then.scoring.decay_form != now.scoring.decay_form:
        sentences.append(f"The form of decay was {then.scoring.decay_form} and is {now.scoring.decay_form}.")
    if then.scoring.passing != now.scoring.passing:
        sentences.append(
            f"The threshold was one of the {then.scoring.passing} and is one of the {now.scoring.passing}."
        )
    if then.scoring.seats != now.scoring.seats:
        sentences.append(f"The seats went by {then.scoring.seats} and go by {now.scoring.seats}.")
    return tuple(sentences)


def _scaled(query: Query) -> str:
    return "scaled by their minimum and maximum" if query.scoring.normalise else "taken as they are"


class Replay(Part):
    """The logged queries of an agent, and asking them again."""

    def queries(self, limit: int = 100, before: int | None = None, *, contains: str = "") -> list[LoggedQuery]:
        """What was asked through ``query_memory``, the newest first; calls of ``explain`` are not included.

        Args:
            limit: how many at most, 1 to 100,000.
            before: only those with a lower number.
            contains: only those whose cue contains this, whatever the case.

        Raises:
            InvalidParameter: one is not as described.
        """
        if not isinstance(contains, str):
            raise InvalidParameter("'contains' must be a text.")
        most = whole("limit", limit, 1, 100_000)
        earlier = None if before is None else whole("before", before, 0, _MOST)
        room, present = self.context.settings.query_log, self.context.present()
        with present.reading():
            present.flush()
            return present.journal.queries.newest(min(most, room), earlier, contains) if room else []

    def relive(self, number: int) -> Relived:
        """A logged query as it was answered then and as it would be answered now, and why they differ.

        Now it is asked at the world's present time, with the present settings for the parameters that the caller had
        not given. Nothing is touched or logged.

        Raises:
            QueryNotFound: there is no query with this number, or it has been dropped since.
        """
        log_number, present = whole("The number", number, 0, _MOST), self.context.present()
        with present.reading():
            present.flush()
            logged = present.journal.queries.get(log_number)
        if logged is None:
            raise QueryNotFound(
                f"The log has no query {number}; it keeps the last {self.context.settings.query_log:,}."
            )
        then = Retrieval(
            as_of(self.context, revision=logged.revision, access=logged.access, really=logged.asked_at)
        ).explanation(logged.query)
        now = Retrieval(self.context).explanation(_asked_now(logged, self.context.settings, self.context.clock()))
        ids = list(dict.fromkeys(candidate.entry.id for candidate in (*then.hits, *now.hits)))
        with present.reading():
            events = present.journal.past.events(ids, logged.revision)
        return Relived(
            logged,
            then,
            now,
            doubts(logged, then, self.context.embedder.identity),
            parameters(then.query, now.query),
            differences(then, now, events),
        )


def _asked_now(logged: LoggedQuery, settings: AgentSettings, now: datetime) -> Query:
    unnamed = {name: getattr(settings, name) for name in OF_SETTINGS if name not in logged.given}
    return dataclasses.replace(logged.query, now=now, **unnamed)
