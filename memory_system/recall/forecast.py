"""The forgetting forecast: when each memory falls out of an answer, if nothing is added and nothing is accessed.

The time at which a score crosses the threshold is known in closed form. Whether another memory overtakes it, or an
earlier tier leaves it no seat, is found by asking at later times, first close together and then further and further
apart, and by halving the first interval in which it leaves. Every forecast was run: a minute before it the memory is
recalled, at it and a minute later it is not. A memory that leaves and comes back between two of those times is
assumed to have stayed.

Asking: one state of the memory, queried again and again with other words, weights and times.

How one score changes as time passes and nothing is accessed: the closed form behind forecasts and why-nots.

With h the hours since the last access and c the curve of the decay, if relevancy is constant and nothing is scaled,

    score(h) = w_recency * (1 if h <= 1 else c(h)) + w_importance * importance + w_relevancy * relevancy

so that with rest = w_importance * importance + w_relevancy * relevancy the score is above a threshold up to

    h = max(1, c^-1((threshold - rest) / w_recency))

and for ever if the rest alone reaches the threshold; a memory without importance or time does not age.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from ..core.decay import Curve
from ..core.entry import MemoryEntry, Tier
from ..core.memory import Vectors
from ..core.scoring import FRESH_SECONDS, Measure, Score, Seats, recency
from ..errors import InvalidParameter
from .expansion import Measured
from .query import Query
from .rank import Explanation, Recall, answer
from .table import Table
from .verdicts import Candidate, Verdict
from .what_if import WhatIf


def _by_similarity(_query: Query, _cue: Vectors, _tables: Mapping[Tier, Table]) -> None:
    """No further measure: similarity needs only the vectors."""


@dataclass(frozen=True, eq=False)
class Asker:
    """Queries tables that are held still, and changes nothing.

    Args:
        tables: one table per tier.
        vectors: the vector of every cue that will be asked, shape (d,).
        agent: the name used in the context text.
        measure: how relevancy is measured for a query of tables, if not by similarity.
        at: returns the tables for a query, if they depend on its time.
    """

    tables: Mapping[Tier, Table]
    vectors: Mapping[str, Vectors]
    agent: str
    measure: Callable[[Query, Vectors, Mapping[Tier, Table]], Measured | None] = _by_similarity
    at: Callable[[Query], Mapping[Tier, Table]] | None = None

    def _asked(self, query: Query) -> Mapping[Tier, Table]:
        return self.tables if self.at is None else self.at(query)

    def answer(self, query: Query, what_if: WhatIf | None = None) -> Recall:
        """What a query recalls, or would recall if a memory had another rating."""
        cue, tables = self.vectors[query.cue], self._asked(query)
        measured = self.measure(query, cue, tables)
        return answer(query, cue, tables, self.agent, explain=False, measured=measured, what_if=what_if)

    def explain(self, query: Query) -> Explanation:
        """Every memory with its verdict."""
        cue, tables = self.vectors[query.cue], self._asked(query)
        return answer(query, cue, tables, self.agent, explain=True, measured=self.measure(query, cue, tables))


def has_closed_form(query: Query) -> bool:
    """Whether time changes the scores of a query only through recency, each independently."""
    return query.scoring.measure is not Measure.HYBRID and not query.scoring.normalise


def counts_from(entry: MemoryEntry) -> float | None:
    """When recency begins to count, in Unix seconds: the last access, or the event itself; ``None`` = never."""
    if entry.timestamp is None:
        return None
    happened = entry.timestamp.timestamp()
    return happened if entry.last_access is None else max(happened, entry.last_access.timestamp())


def learnt(entry: MemoryEntry) -> float:
    """The seconds between an event and its last recall; 0 if there was none."""
    from_ = counts_from(entry)
    return 0.0 if from_ is None or entry.timestamp is None else from_ - entry.timestamp.timestamp()


def hours_above(score: Score, threshold: float, curve: Curve, learnt: float = 0.0) -> float:
    """The age in hours up to which a score is above a threshold; infinite = for ever, 0 = never.

    Args:
        score: the score at any age, with its parts.
        threshold: what it must exceed.
        curve: the decay and its form.
        learnt: the seconds between the event and its last recall.
    """
    if score.recency is None:
        return math.inf if score.total > threshold else 0.0
    rest = score.parts["importance"] + score.parts["relevancy"]
    if rest > threshold or (rest == threshold and score.weights.recency > 0):
        return math.inf
    if rest + score.weights.recency <= threshold:
        return 0.0
    share = (threshold - rest) / score.weights.recency
    hours = curve.hours_until(share, learnt) if share else math.inf  # so small that it was rounded to 0
    return max(FRESH_SECONDS / 3600, hours) if hours < _BEYOND else math.inf


def score_at(score: Score, entry: MemoryEntry, seconds: float, curve: Curve) -> float:
    """The score at another time.

    Args:
        score: the score at any age, with its parts.
        entry: the memory that has it.
        seconds: the time, in Unix seconds.
        curve: the decay and its form.
    """
    from_ = counts_from(entry)
    if from_ is None or score.recency is None:
        return score.total
    recent = float(recency(np.array([from_]), np.array([from_ - learnt(entry)]), seconds, curve)[0])
    return dataclasses.replace(score, recency=recent).total


YEAR = timedelta(days=365)
_MINUTE = timedelta(minutes=1)
_LONGEST = timedelta(days=36_525)
_TIMES = 40
"""At how many times it is asked at first."""
_QUOTED = 60
_BEYOND = 1e12
"""More hours than any calendar has."""


@dataclass(frozen=True)
class Forecast:
    """When one memory falls out of an answer.

    Args:
        entry_id: which memory.
        leaves: the time from which it is not recalled, to the minute; ``None`` = not within the horizon.
        because: why, in a sentence.
        curve: its score, or its confidence if that has to pass, at times from the question to the horizon, the
            earliest first.
        threshold: what the score or the confidence has to exceed.
    """

    entry_id: str
    leaves: datetime | None
    because: str
    curve: tuple[tuple[datetime, float], ...]
    threshold: float


def forecasts(
    asker: Asker, query: Query, horizon: timedelta = YEAR, *, only: Collection[str] | None = None
) -> tuple[Forecast, ...]:
    """When each recalled memory falls out of the answer, in the order of the answer.

    Args:
        asker: queries the memory in its present state.
        query: what is asked; the forecast starts at its time.
        horizon: how far to look ahead, a minute to 36,525 days.
        only: the ids of the memories to forecast; all if ``None``.

    Raises:
        InvalidParameter: the horizon is not in this range, or ends after the year 9999.
    """
    ahead = _Ahead(asker, query, horizon)
    found = ahead.hits(0)
    return tuple(ahead.forecast(candidate) for name, candidate in found.items() if only is None or name in only)


class _Ahead:
    """The answers to a query at later times, in whole minutes from now; each is asked for once."""

    def __init__(self, asker: Asker, query: Query, horizon: timedelta) -> None:
        self._asker = asker
        self._query = query
        self._start = query.now.astimezone(UTC)
        self._last = _minutes(self._start, horizon)
        self._closed = has_closed_form(query)
        self._hits: dict[int, dict[str, Candidate]] = {}
        self._explained: dict[int, Explanation] = {}
        steps = (math.pow(self._last, step / _TIMES) for step in range(_TIMES + 1))
        self._times = sorted({max(1, round(minutes)) for minutes in steps})

    def at(self, minutes: int) -> datetime:
        """The time, in the zone of the question."""
        return (self._start + minutes * _MINUTE).astimezone(self._query.now.tzinfo)

    def hits(self, minutes: int) -> dict[str, Candidate]:
        """What is recalled at that time, by id, in the order of the answer."""
        if minutes not in self._hits:
            explained = self._explained.get(minutes)
            recall = self._asker.answer(self._query_at(minutes)) if explained is None else explained
            self._hits[minutes] = {hit.entry.id: hit for hit in recall.hits}
        return self._hits[minutes]

    def explained(self, entry_id: str, minutes: int) -> Candidate | None:
        """The verdict on a memory at that time."""
        if minutes not in self._explained:
            self._explained[minutes] = self._asker.explain(self._query_at(minutes))
        return self._explained[minutes].candidates.of(entry_id)

    def _query_at(self, minutes: int) -> Query:
        return replace(self._query, now=self.at(minutes))

    def gone(self, entry_id: str, minutes: int) -> bool:
        """Whether it is recalled neither then nor a minute later: two that lose freshness in turn may swap briefly."""
        return entry_id not in self.hits(minutes) and entry_id not in self.hits(minutes + 1)

    def forecast(self, hit: Candidate) -> Forecast:
        """When a memory that is recalled now leaves the answer."""
        curve = self._curve(hit)
        crossing = self._crossing(hit)
        leaves = self._leaves(hit.entry.id, crossing)
        if leaves is None:
            words = self._stays(crossing)
        elif leaves == crossing and not hit.via:
            words = self._below(hit)
        else:
            words = self._goes(hit, leaves)
        threshold = self._query.threshold_of(hit.entry.tier)
        return Forecast(hit.entry.id, None if leaves is None else self.at(leaves), words, curve, threshold)

    def _curve(self, hit: Candidate) -> tuple[tuple[datetime, float], ...]:
        times = [(minutes, self.at(minutes)) for minutes in (0, *self._times)]
        if self._closed:
            curve = self._query.scoring.curve
            return tuple((when, score_at(hit.score, hit.entry, when.timestamp(), curve)) for _, when in times)
        points = [(when, self.explained(hit.entry.id, minutes)) for minutes, when in times]
        return tuple((when, candidate.score.passing) for when, candidate in points if candidate is not None)

    def _crossing(self, hit: Candidate) -> float | None:
        """The minute at which it is no longer above the threshold, infinite = never, ``None`` = no closed form."""
        if not self._closed:
            return None
        from_ = counts_from(hit.entry)
        threshold, curve = self._query.threshold_of(hit.entry.tier), self._query.scoring.curve
        hours = hours_above(hit.score, threshold, curve, learnt(hit.entry))
        if from_ is None or math.isinf(hours):
            return math.inf
        return max(1, math.ceil((from_ + hours * 3600 - self._start.timestamp()) / 60))

    def _leaves(self, entry_id: str, crossing: float | None) -> int | None:
        known = int(crossing) if crossing is not None and crossing <= self._last else 1
        times = [0, *sorted({*self._times, known})]
        place = next((place for place, minutes in enumerate(times) if self.gone(entry_id, minutes)), None)
        if place is None:
            return None
        stays, goes = times[place - 1], times[place]
        if stays < known <= goes and entry_id in self.hits(known - 1) and self.gone(entry_id, known):
            return known
        while goes - stays > 1:
            between = (stays + goes) // 2
            if self.gone(entry_id, between):
                goes = between
            else:
                stays = between
        return goes

    def _goes(self, hit: Candidate, leaves: int) -> str:
        before = self.hits(leaves - 1)
        via = before[hit.entry.id].via
        if via:
            return f"“{_quoted(before[via]) if via in before else via}” no longer leads to it."
        then = self.explained(hit.entry.id, leaves)
        if then is None:
            return "It is not known any more then."
        if then.verdict is Verdict.BELOW_THRESHOLD:
            return self._below(hit)
        if then.verdict is Verdict.BEHIND_TURNS:
            return "A turn of its conversation passes too, and the two do not compete for seats."
        if then.verdict is Verdict.BEHIND_TWIN:
            return "Another memory in the same words scores higher, and the two do not compete for seats."
        entered = [candidate for name, candidate in self.hits(leaves).items() if name not in before]
        ranking = self._query.scoring.seats is Seats.RANKING
        rivals = [candidate for candidate in entered if ranking or candidate.entry.tier is hit.entry.tier]
        if rivals:
            return f"It is overtaken by “{_quoted(rivals[0])}”."
        return f"“{_quoted(entered[0])}” takes its seat." if entered else "There is no seat left for it."

    def _below(self, hit: Candidate) -> str:
        static = "static " if hit.entry.tier is Tier.STATIC else ""
        return f"It falls below the {static}threshold of {self._query.threshold_of(hit.entry.tier):.2f}."

    def _stays(self, crossing: float | None) -> str:
        span = _span(self._last)
        if crossing == math.inf:
            return f"It never falls below the threshold, and nothing takes its seat within {span}."
        return f"It stays for at least {span}."


def _minutes(start: datetime, horizon: timedelta) -> int:
    if not isinstance(horizon, timedelta) or not _MINUTE <= horizon <= _LONGEST:
        raise InvalidParameter(f"The horizon must be a span of time from one minute to {_LONGEST.days:,} days.")
    try:
        (start + horizon + timedelta(days=2)).astimezone(UTC)
    except OverflowError as error:
        raise InvalidParameter("The horizon ends after the year 9999; choose a shorter one.") from error
    return horizon // _MINUTE


def _quoted(candidate: Candidate) -> str:
    text = " ".join(candidate.entry.document.split())
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"


def _span(minutes: int) -> str:
    for unit, name in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= unit:
            count = minutes // unit
            return f"{count:,} {name}{'s' if count != 1 else ''}"
    return "a moment"
