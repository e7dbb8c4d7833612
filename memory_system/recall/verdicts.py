"""Verdicts: the outcome for each candidate, with the reason in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.scoring import Floats, Score, Seats
from .query import Query
from .seats import Behind, Seated

NAMES: Mapping[Tier, str] = {
    Tier.STATIC: "static",
    Tier.STM: "short-term",
    Tier.LTM: "long-term",
    Tier.RECALL: "recall",
    Tier.ARCHIVE: "archival",
}
"""The name of each tier's memory."""


class Verdict(StrEnum):
    """The outcome for a candidate."""

    RECALLED = "recalled"
    BELOW_THRESHOLD = "below threshold"
    BEYOND_TOP_K = "beyond top-k"
    BEYOND_SEATS = "beyond static seats"
    BEHIND_TURNS = "behind its turns"
    BEHIND_TWIN = "behind the same words"
    NOT_REACHED = "not reached"
    FILTERED_OUT = "filtered out"
    NO_VECTOR = "no vector"


@dataclass(frozen=True)
class Candidate:
    """One memory with its score, its rank within its tier (1 = highest), its verdict, and the verdict in words.

    ``via`` is the id of the hit that led to it, if a second round found it; ``instance`` the instance of the
    cue that met it better than the cue itself.
    """

    entry: MemoryEntry
    score: Score
    rank: int
    verdict: Verdict
    because: str
    via: str = ""
    instance: str = ""

    @property
    def recalled(self) -> bool:
        """Whether it is part of the answer."""
        return self.verdict is Verdict.RECALLED


VERDICTS = tuple(Verdict)
"""The meaning of the numbers of ``verdicts_of``."""


def verdicts_of(
    tier: Tier,
    totals: Floats,
    ranks: NDArray[np.intp],
    admitted: NDArray[np.bool_],
    passing: NDArray[np.bool_],
    behind: Behind,
    given: Seated,
    query: Query,
) -> NDArray[np.uint8]:
    """The verdict on each row of a tier, shape (n,), as a number of ``VERDICTS``.

    Args:
        tier: where they are.
        totals: scores, shape (n,); NaN = no vector.
        ranks: 1 = the highest of those that the facets admit, shape (n,).
        admitted: whether the facets admit it, shape (n,).
        passing: whether it exceeds its threshold, shape (n,).
        behind: the rows without a seat because the same content may have one.
        given: the seats.
        query: what was asked.
    """
    taken = sum(given.of[earlier] for earlier in LIVED[: LIVED.index(tier)])
    static, cascade = tier is Tier.STATIC, query.scoring.seats is Seats.CASCADE
    above = ranks <= query.top_k if cascade else (ranks > given.static) & (totals >= given.lowest)
    rules: list[tuple[NDArray[np.bool_] | bool, Verdict]] = [
        (~admitted, Verdict.FILTERED_OUT),
        (np.isnan(totals), Verdict.NO_VECTOR),
        (~passing, Verdict.BELOW_THRESHOLD),
        (behind.turns[tier], Verdict.BEHIND_TURNS),
        (behind.twins[tier], Verdict.BEHIND_TWIN),
        (ranks <= given.of[tier], Verdict.RECALLED),
        (above & static, Verdict.BEYOND_SEATS),
        (np.full(len(totals), cascade and not static and taken >= query.top_k > 0), Verdict.NOT_REACHED),
    ]
    numbers = [np.uint8(VERDICTS.index(verdict)) for _, verdict in rules]
    return np.select([np.asarray(rows) for rows, _ in rules], numbers, np.uint8(VERDICTS.index(Verdict.BEYOND_TOP_K)))


_ALWAYS = {
    Verdict.NO_VECTOR: "It has no vector, so nothing can be said of its relevancy.",
    Verdict.BEHIND_TURNS: "It is a synopsis, and a turn of its talk passes too: the two do not compete for seats.",
    Verdict.BEHIND_TWIN: "Another memory in the same words scores higher: the two do not compete for seats.",
}
_FILTERED = {
    True: "The chosen facets exclude it.",
    False: "It is a plan of a day that is over; ask for plans, by the facet of kinds, to find it.",
}


def because(
    verdict: Verdict, tier: Tier, score: Score, rank: int, given: Seated, query: Query, seat: int | None = None
) -> str:
    """A verdict in a sentence for people, which names the rule by which a seat was given or not.

    Args:
        verdict: the outcome.
        tier: where the memory is.
        score: its own.
        rank: its position in its tier, 1 = the highest.
        given: the seats.
        query: what was asked.
        seat: its seat, counted from 1.
    """
    name = NAMES[tier]
    ranking = query.scoring.seats is Seats.RANKING
    match verdict:
        case Verdict.NO_VECTOR | Verdict.BEHIND_TURNS | Verdict.BEHIND_TWIN:
            return _ALWAYS[verdict]
        case Verdict.FILTERED_OUT:
            return _FILTERED[bool(query.facets)]
        case Verdict.BELOW_THRESHOLD:
            return below(tier, score, query.threshold_of(tier))
        case Verdict.RECALLED:
            above = gap(score.passing - query.threshold_of(tier))
            if score.confidence is not None:
                above = f"confidence {score.confidence:.2f}, {above}"
            if ranking:
                own = "its own threshold; static memory has at most " if tier is Tier.STATIC else "the threshold"
                share = f"{given.static} of {query.top_k} seats" if tier is Tier.STATIC else ""
                return f"Number {seat} of all tiers in one ranking, {above} above {own}{share}."
            return f"Number {rank} of {name} memory, {above} above the threshold."
        case Verdict.BEYOND_SEATS:
            return (
                f"Number {rank} of static memory, which takes {given.static if ranking else given.of[tier]} of "
                f"{query.top_k} seats while short-term and long-term memories wait."
            )
        case Verdict.NOT_REACHED:
            return f"Earlier tiers filled all {query.top_k} seats before {name} memory was asked."
        case Verdict.BEYOND_TOP_K:
            if ranking and query.top_k:
                seats, lacking = f"All {query.top_k} seats of the one ranking went to", given.lowest - score.total
                if lacking == 0:
                    return f"{seats} higher scores, or to equal ones whose ids come first."
                return f"{seats} higher scores; the last is {gap(lacking)} higher."
            return f"Number {rank} of {name} memory, and {given.of[tier]} had a seat."


def met_by(words: str, instance: str) -> str:
    """A verdict in words, and the instance of the cue that met the memory, if one did better than the cue itself."""
    return f"{words} “{instance}” met it better than the cue." if instance else words


def gap(size: float) -> str:
    """A difference of scores for people; one that would display as 0.00 is "less than 0.01"."""
    return f"{size:.2f}" if size >= 0.005 else "less than 0.01"


def below(tier: Tier, score: Score, threshold: float) -> str:
    """By how much a score, or a confidence, misses a threshold, and what it lacks, in a sentence."""
    lacking = threshold - score.passing
    kind = "static threshold" if tier is Tier.STATIC else "threshold"
    if lacking == 0:
        compared = "score" if score.confidence is None else "confidence"
        return f"Its {compared} is the {kind} of {threshold:.2f} exactly; it has to be above."
    amount = gap(lacking)
    if score.confidence is not None:
        return f"Its confidence of {score.confidence:.2f} is {amount} below the {kind} of {threshold:.2f}."
    if score.recency is None:
        return f"{amount} below the {kind} of {threshold:.2f}; it is scored by relevancy alone."
    limits = {
        "recency": score.weights.recency,
        "importance": score.weights.importance,
        "relevancy": score.weights.relevancy,
    }
    weakest = min(limits, key=lambda part: score.parts[part] - limits[part])
    return f"{amount} below the {kind} of {threshold:.2f}; weakest part: {weakest}."
