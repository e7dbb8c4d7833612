"""Why not, and what would change it: the smallest single changes to a query that recall a memory it did not recall.

Each lever is moved like the page's controls, to the value nearest to its present one that recalls the memory.
Where scores can be predicted from one explanation, that value is found without a query, and then verified; ratings and
times are found by querying. Every offered change was run: the memory is recalled with that one change, but not with
one step less of it.

Field: a memory's competitors, to predict whether another query recalls it without running it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.entry import LIVED, Tier
from ..core.kinds import Kind
from ..core.scoring import FRESH_SECONDS, Floats, Seats, Weights
from ..core.times import in_zone, stamp
from ..errors import EntryNotFound, shown
from .candidates import Candidates, Judged
from .forecast import Asker, counts_from, has_closed_form, hours_above, learnt
from .query import Facets, Query, static_seats
from .seats import Twins, behind, seats_of, static_most
from .verdicts import VERDICTS, Candidate, Verdict
from .what_if import WhatIf

Rows = NDArray[np.bool_]
_FILTERED = VERDICTS.index(Verdict.FILTERED_OUT)


class Stand(NamedTuple):
    """The values of the numeric levers; ``Query`` explains each."""

    threshold: float
    static_threshold: float
    top_k: int
    static_share: float
    recency: float
    importance: float
    relevancy: float

    @classmethod
    def of(cls, query: Query) -> Stand:
        """Their values in a query."""
        weights = query.scoring.weights
        return cls(
            query.threshold,
            query.static_threshold,
            query.top_k,
            query.static_share,
            weights.recency,
            weights.importance,
            weights.relevancy,
        )

    def threshold_of(self, tier: Tier) -> float:
        """As ``Query.threshold_of``, with these values."""
        return self.static_threshold if tier is Tier.STATIC else self.threshold

    def asked(self, query: Query) -> Query:
        """The query with these values."""
        return replace(
            query,
            threshold=self.threshold,
            static_threshold=self.static_threshold,
            top_k=self.top_k,
            static_share=self.static_share,
            scoring=replace(query.scoring, weights=Weights(*self[4:])),
        )


class _Tier:
    """What is known of the rows of one tier before they are weighted."""

    def __init__(self, judged: Judged) -> None:
        self.ids, self._parts = judged.ids, judged.parts
        self._out = np.flatnonzero(judged.verdicts == _FILTERED)
        self.sure: Floats | None = None
        """The confidence of each, shape (n,), NaN if it cannot be found; ``None`` if scores have to pass."""
        if self._parts.confidence is not None:
            self.sure = self._parts.confidence.copy()
            self.sure[self._out] = np.nan

    def totals(self, recency: float, importance: float, relevancy: float) -> Floats:
        """The scores with these weights, shape (n,), NaN for rows that cannot be found."""
        found = self._parts.totals_by(recency, importance, relevancy)
        found[self._out] = np.nan
        return found


class Field:
    """One memory among all candidates of an explanation.

    It predicts the first round of queries that have the same cue, time, facets, decay, measure and rule of seats.

    Args:
        candidates: every candidate.
        entry_id: the memory, which is one of them.
        query: what was explained.
    """

    def __init__(self, candidates: Candidates, entry_id: str, query: Query) -> None:
        self._tiers = {judged.tier: _Tier(judged) for judged in candidates.tiers}
        self._tier = next(tier for tier, memories in self._tiers.items() if entry_id in memories.ids)
        self._own = self._tiers[self._tier]
        self._row = self._own.ids.index(entry_id)
        self._name = entry_id
        self._seats, self._synopses = query.scoring.seats, candidates.synopses
        self._weighed: tuple[tuple[float, ...], dict[Tier, Floats], dict[Tier, Rows]] | None = None
        self._passed: tuple[tuple[float, ...], dict[Tier, Rows]] | None = None
        words = {judged.tier: judged.words for judged in candidates.tiers}
        ids = {tier: memories.ids for tier, memories in self._tiers.items()}
        self._twins = Twins.among(words, ids, {tier: range(len(texts)) for tier, texts in words.items()})

    def recalls(self, stand: Stand) -> bool:
        """Whether the first round of a query with these values recalls the memory."""
        if self._own.sure is not None and not self._own.sure[self._row] > stand.threshold_of(self._tier):
            return False  # no weight changes that
        totals, before = self._weighed_by(*stand[4:])
        passing = self._passing(stand, totals)
        if not passing[self._tier][self._row]:
            return False
        above = {tier: int(np.count_nonzero(rows)) for tier, rows in passing.items()}
        ahead = {tier: int(np.count_nonzero(before[tier] & rows)) for tier, rows in passing.items()}
        seats = static_seats(stand.top_k, stand.static_share)
        if self._seats is Seats.CASCADE:
            counts = seats_of(stand.top_k, seats, *(min(above[tier], stand.top_k) for tier in LIVED))
            return ahead[self._tier] < counts[self._tier]
        most = static_most(stand.top_k, seats, above[Tier.STM], above[Tier.LTM])
        if self._tier is Tier.STATIC and ahead[self._tier] >= most:
            return False
        return min(ahead[Tier.STATIC], most) + ahead[Tier.STM] + ahead[Tier.LTM] < stand.top_k

    def _passing(self, stand: Stand, totals: Mapping[Tier, Floats]) -> dict[Tier, Rows]:
        """Which rows of each tier may be found and exceed their threshold, shape (n,)."""
        confident = self._own.sure is not None
        key = stand[:2] if confident and not len(self._twins.places) else (*stand[:2], *stand[4:])
        if self._passed is None or self._passed[0] != key:  # by confidence, which no weight changes
            passing = {
                tier: (totals[tier] if memories.sure is None else memories.sure) > stand.threshold_of(tier)
                for tier, memories in self._tiers.items()
            }
            left_out = behind(self._seats, self._synopses, self._twins, passing, totals)
            passing = {tier: rows & ~left_out.of(tier) for tier, rows in passing.items()}
            self._passed = key, passing
        return self._passed[1]

    def _weighed_by(self, *weights: float) -> tuple[dict[Tier, Floats], dict[Tier, Rows]]:
        """The scores of every tier, and which rows precede the memory: a higher score, or the same and a lower id."""
        if self._weighed is None or self._weighed[0] != weights:
            totals = {tier: memories.totals(*weights) for tier, memories in self._tiers.items()}
            own, before = totals[self._tier][self._row], {}
            for tier, scores in totals.items():
                before[tier] = scores > own
                ids = self._tiers[tier].ids
                for row in np.flatnonzero(scores == own).tolist():
                    before[tier][row] = ids[row] < self._name
            self._weighed = weights, totals, before
        return self._weighed[1:]


RUNS = 150
"""The maximum number of queries."""
MOST = 3.0
"""The limit for thresholds and weights."""
MOST_SEATS = 100
"""The limit for top-k."""
_TIMES = 24
"""How many earlier times are tried at first, close together near the question and then further and further apart."""
_PROBED = (0, 4, 16)
"""Steps of a lever to try where a second round may find what cannot be predicted."""
_MINUTE = timedelta(minutes=1)


class Lever(StrEnum):
    """What may be changed."""

    THRESHOLD = "threshold"
    STATIC_THRESHOLD = "static threshold"
    TOP_K = "top-k"
    STATIC_SHARE = "static share"
    RATING = "rating"
    RECENCY = "weight of recency"
    IMPORTANCE = "weight of importance"
    RELEVANCY = "weight of relevancy"
    TIME = "time"
    FACETS = "facets"


Value = float | datetime | Facets


@dataclass(frozen=True)
class Way:
    """One change that would recall a memory, verified by running it.

    Args:
        lever: what is changed.
        value: the new value; a rating, a number of seats, a threshold, share or weight, a time, or the remaining
            facets.
        words: a sentence for designers.
        size: the size of the change, as a share of the lever's range, 0 to 1.
        query: the query with this change.
        what_if: the assumed rating, if that is the change.
    """

    lever: Lever
    value: Value
    words: str
    size: float
    query: Query
    what_if: WhatIf | None = None


def ways(asker: Asker, query: Query, entry_id: str) -> tuple[Way, ...]:
    """The smallest single changes that would recall a memory, the smallest first; none if it is recalled as it is.

    Args:
        asker: queries the memory in its present state; it is asked at most ``RUNS`` times.
        query: what was asked.
        entry_id: the memory to be recalled.

    Raises:
        EntryNotFound: there is no such memory.
    """
    candidates = asker.explain(query).candidates
    candidate = candidates.of(entry_id) if isinstance(entry_id, str) else None
    if candidate is None:
        raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
    if candidate.recalled or candidate.verdict is Verdict.NO_VECTOR:
        return ()
    search = _Search(asker, query, candidate)
    found = [*search.rating(), *search.facets()]
    if candidate.verdict is not Verdict.FILTERED_OUT:
        found += search.earlier()
        field = Field(candidates, entry_id, query)
        found += [way for dial in _dials(query) for way in search.dial(dial, field)]
    return tuple(sorted(found, key=lambda way: (way.size, list(Lever).index(way.lever))))


@dataclass(frozen=True)
class _Dial:
    """A numeric lever: the values of all levers, which of them it is, and its possible values."""

    lever: Lever
    all: Stand
    name: str
    values: Sequence[float]
    width: float
    words: Callable[[float], str]

    @property
    def stands(self) -> float:
        """Its value."""
        return float(getattr(self.all, self.name))

    def turned(self, value: float) -> Stand:
        """All values after it is moved."""
        return self.all._replace(**{self.name: value})  # type: ignore[arg-type]

    def sides(self) -> tuple[list[float], list[float]]:
        """The values below and above, the nearest first."""
        return (
            sorted((value for value in self.values if value < self.stands), reverse=True),
            sorted(value for value in self.values if value > self.stands),
        )


def _dials(query: Query) -> Iterator[_Dial]:
    stand = Stand.of(query)
    hundredths = [step / 100 for step in range(round(MOST * 100) + 1)]
    twentieths = [step / 20 for step in range(round(MOST * 20) + 1)]

    def move(lever: Lever, stands: float) -> Callable[[float], str]:
        return lambda value: f"{'Lower' if value < stands else 'Raise'} the {lever} to {value:.2f}."

    def seats(value: float) -> str:
        return f"Ask for {value:.0f} {'memory' if value == 1 else 'memories'} instead of {stand.top_k}."

    def share(value: float) -> str:
        return f"Give static memory {value * 100:.0f} % of the seats instead of {stand.static_share * 100:g} %."

    thresholds = move(Lever.THRESHOLD, stand.threshold), move(Lever.STATIC_THRESHOLD, stand.static_threshold)
    yield _Dial(Lever.THRESHOLD, stand, "threshold", hundredths, MOST, thresholds[0])
    yield _Dial(Lever.STATIC_THRESHOLD, stand, "static_threshold", hundredths[:101], 1, thresholds[1])
    yield _Dial(Lever.TOP_K, stand, "top_k", range(MOST_SEATS + 1), MOST_SEATS, seats)
    yield _Dial(Lever.STATIC_SHARE, stand, "static_share", [step / 10 for step in range(11)], 1, share)
    for lever in (Lever.RECENCY, Lever.IMPORTANCE, Lever.RELEVANCY):
        name = lever.removeprefix("weight of ")
        yield _Dial(lever, stand, name, twentieths, MOST, move(lever, getattr(stand, name)))


class _Search:
    """Searches for ways to recall one candidate; once the runs are used up it finds no more."""

    def __init__(self, asker: Asker, query: Query, candidate: Candidate) -> None:
        self._asker = asker
        self._query = query
        self._candidate = candidate
        self._runs = 1  # the explanation

    def recalls(self, query: Query, what_if: WhatIf | None = None) -> bool:
        """Whether the memory is recalled; false once the runs are used up, so that every offered change was run."""
        if self._runs >= RUNS:
            return False
        self._runs += 1
        return any(hit.entry.id == self._candidate.entry.id for hit in self._asker.answer(query, what_if))

    def dial(self, dial: _Dial, field: Field) -> list[Way]:
        """The nearest value of a lever that recalls it, if there is any."""

        def asked(value: float) -> Query:
            return dial.turned(value).asked(self._query)

        found: list[float] = []
        for values in dial.sides():
            likely = next((place for place, value in enumerate(values) if field.recalls(dial.turned(value))), None)
            if self._query.requery:
                places = [place for place in _PROBED if place < (len(values) if likely is None else likely)]
                likely = next((place for place in places if self.recalls(asked(values[place]))), likely)
            if likely is None:
                continue
            while likely and self.recalls(asked(values[likely - 1])):
                likely -= 1
            if self.recalls(asked(values[likely])):
                found.append(values[likely])
        nearest = sorted(found, key=lambda value: abs(value - dial.stands))[:1]
        return [
            Way(dial.lever, value, dial.words(value), abs(value - dial.stands) / dial.width, asked(value))
            for value in nearest
        ]

    def rating(self) -> list[Way]:
        """The rating nearest to its own, or the lowest for an unrated memory, that recalls it."""
        entry = self._candidate.entry
        if entry.tier is Tier.STATIC:
            return []
        own = entry.rating
        for rating in sorted((r for r in range(1, 11) if r != own), key=lambda r: (abs(r - (own or 0)), r)):
            what_if = WhatIf(entry.id, rating / 10)
            if self.recalls(self._query, what_if):
                words = f"Rate it {rating}; it is unrated." if own is None else f"Rate it {rating} instead of {own:g}."
                return [Way(Lever.RATING, rating, words, abs(rating - (own or 0)) / 10, self._query, what_if)]
        return []

    def facets(self) -> list[Way]:
        """The facet without which it is recalled, or all of them if one is not enough."""
        if self._candidate.verdict is not Verdict.FILTERED_OUT:
            return []
        asked, none = self._query.facets, Facets()
        if not asked:
            plans = replace(asked, kinds=(Kind.PLAN,))
            query = replace(self._query, facets=plans)
            return [Way(Lever.FACETS, plans, "Ask for plans.", 1 / len(_FACETS), query)] if self.recalls(query) else []
        for names, words in _FACETS:
            left = replace(asked, **{name: getattr(none, name) for name in names})
            if left != asked and self.recalls(query := replace(self._query, facets=left)):
                return [Way(Lever.FACETS, left, words, 1 / len(_FACETS), query)]
        query = replace(self._query, facets=none)
        return [Way(Lever.FACETS, none, "Ask without any facets.", 1, query)] if self.recalls(query) else []

    def earlier(self) -> list[Way]:
        """The latest earlier minute, not before it happened, at which it would have been recalled."""
        entry, start = self._candidate.entry, self._query.now.astimezone(UTC)
        if entry.tier is Tier.STATIC or entry.timestamp is None:
            return []
        newest = start.replace(second=0, microsecond=0)
        first = 1 if newest == start else 0  # minutes before the newest one
        last = math.floor((newest - entry.timestamp) / _MINUTE)
        if last < first:
            return []

        def at(minutes: int) -> Query:
            moment = newest - minutes * _MINUTE
            return replace(self._query, now=in_zone(moment, self._query.now.tzinfo))

        fails, works = first - 1, None
        for minutes in self._times_before(newest, first, last):
            if self.recalls(at(minutes)):
                works = minutes
                break
            fails = minutes
        if works is None:
            return []
        while works - fails > 1:
            between = (works + fails) // 2
            if self.recalls(at(between)):
                works = between
            else:
                fails = between
        if self._runs >= RUNS:  # the last bisections may not have run, so that it need not be the latest
            return []
        query = at(works)
        words = f"Asked as late as {stamp(query.now)}, it would have been recalled."
        return [Way(Lever.TIME, query.now, words, works / max(last, 1), query)]

    def _times_before(self, newest: datetime, first: int, last: int) -> list[int]:
        """Minutes before the newest: wider and wider steps, and where recency or the threshold makes the score jump."""
        span = last - first
        times = {first, last, *(first + round(math.pow(span, step / _TIMES)) for step in range(_TIMES + 1) if span)}
        from_ = counts_from(self._candidate.entry)
        if from_ is not None:
            query, fresh = self._query, FRESH_SECONDS
            jumps = [from_, from_ + fresh]
            if has_closed_form(query):
                entry, threshold = self._candidate.entry, query.threshold_of(self._candidate.entry.tier)
                above = hours_above(self._candidate.score, threshold, query.scoring.curve, learnt(entry))
                jumps += [from_ + above * 3600] if math.isfinite(above) else []
            times |= {math.ceil((newest.timestamp() - jump) / 60) for jump in jumps}
        return sorted(minutes for minutes in times if first <= minutes <= last)


WITHOUT_THE_WORDS = "Ask without the words that its text must contain."
_FACETS = (
    (("kinds",), "Ask for memories of every kind."),
    (("tags",), "Ask without the tags."),
    (("sources",), "Ask regardless of how it became known."),
    (("people",), "Ask without the people."),
    (("places",), "Ask without the places."),
    (("since", "until"), "Ask without the range of time."),
    (("min_importance", "max_importance"), "Ask without the range of importance."),
    (("contains",), WITHOUT_THE_WORDS),
)
"""Facets that the page shows as one control, and the words for dropping each."""
