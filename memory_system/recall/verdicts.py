"""Verdicts: what became of each candidate, and why, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.scoring import Floats, Score
from .query import Query

NAMES: Mapping[Tier, str] = {
    Tier.STATIC: "static",
    Tier.STM: "short-term",
    Tier.LTM: "long-term",
    Tier.RECALL: "recall",
    Tier.ARCHIVE: "archival",
}
"""What each tier's memory is called."""


class Verdict(StrEnum):
    """What became of a candidate."""

    RECALLED = "recalled"
    BELOW_THRESHOLD = "below threshold"
    BEYOND_TOP_K = "beyond top-k"
    BEYOND_SEATS = "beyond static seats"
    NOT_REACHED = "not reached"
    FILTERED_OUT = "filtered out"
    NO_VECTOR = "no vector"


@dataclass(frozen=True)
class Candidate:
    """One memory beside its score, its rank within its tier (1 = highest), its verdict, and the verdict in words.

    ``via`` is the id of the hit that led to it, where it was found by a second round.
    """

    entry: MemoryEntry
    score: Score
    rank: int
    verdict: Verdict
    because: str
    via: str = ""

    @property
    def recalled(self) -> bool:
        """Whether it is part of the answer."""
        return self.verdict is Verdict.RECALLED


VERDICTS = tuple(Verdict)
"""What the numbers of ``verdicts_of`` stand for."""


def verdicts_of(
    tier: Tier,
    totals: Floats,
    ranks: NDArray[np.intp],
    admitted: NDArray[np.bool_],
    seats: Mapping[Tier, int],
    query: Query,
) -> NDArray[np.uint8]:
    """The verdict of each row of a tier, shape (n,), as a number of ``VERDICTS``.

    Args:
        tier: where they are.
        totals: scores, shape (n,); NaN = no vector.
        ranks: 1 = the highest of those that the facets admit, shape (n,).
        admitted: whether the facets admit it, shape (n,).
        seats: how many of each tier are recalled.
        query: what was asked.
    """
    taken = sum(seats[earlier] for earlier in LIVED[: LIVED.index(tier)])
    static = tier is Tier.STATIC
    told: list[tuple[NDArray[np.bool_] | bool, Verdict]] = [
        (~admitted, Verdict.FILTERED_OUT),
        (np.isnan(totals), Verdict.NO_VECTOR),
        (~(totals > query.threshold_of(tier)), Verdict.BELOW_THRESHOLD),
        (ranks <= seats[tier], Verdict.RECALLED),
        ((ranks <= query.top_k) & static, Verdict.BEYOND_SEATS),
        (np.full(len(totals), not static and taken >= query.top_k > 0), Verdict.NOT_REACHED),
    ]
    numbers = [np.uint8(VERDICTS.index(verdict)) for _, verdict in told]
    return np.select([np.asarray(rows) for rows, _ in told], numbers, np.uint8(VERDICTS.index(Verdict.BEYOND_TOP_K)))


def because(verdict: Verdict, tier: Tier, score: Score, rank: int, seats: Mapping[Tier, int], query: Query) -> str:
    """A verdict in a sentence for people."""
    name = NAMES[tier]
    match verdict:
        case Verdict.NO_VECTOR:
            return "It has no vector, so nothing can be said of its relevancy."
        case Verdict.FILTERED_OUT:
            return "The facets that were asked for do not admit it."
        case Verdict.BELOW_THRESHOLD:
            return _below(tier, score, query.threshold_of(tier))
        case Verdict.RECALLED:
            above = gap(score.total - query.threshold_of(tier))
            return f"Number {rank} of {name} memory, {above} above the threshold."
        case Verdict.BEYOND_SEATS:
            return (
                f"Number {rank} of static memory, which takes {seats[tier]} of {query.top_k} seats "
                "while short-term and long-term memories wait."
            )
        case Verdict.NOT_REACHED:
            return f"Earlier tiers filled all {query.top_k} seats before {name} memory was asked."
        case Verdict.BEYOND_TOP_K:
            return f"Number {rank} of {name} memory, and {seats[tier]} had a seat."


def gap(size: float) -> str:
    """A difference of scores for people; one that would read as 0.00 is "less than 0.01"."""
    return f"{size:.2f}" if size >= 0.005 else "less than 0.01"


def _below(tier: Tier, score: Score, threshold: float) -> str:
    lacking = threshold - score.total
    kind = "static threshold" if tier is Tier.STATIC else "threshold"
    if lacking == 0:
        return f"Its score is the {kind} of {threshold:.2f} exactly; it has to be above."
    amount = gap(lacking)
    if score.recency is None:
        return f"{amount} below the {kind} of {threshold:.2f}; it is scored by relevancy alone."
    limits = {
        "recency": score.weights.recency,
        "importance": score.weights.importance,
        "relevancy": score.weights.relevancy,
    }
    weakest = min(limits, key=lambda part: score.parts[part] - limits[part])
    return f"{amount} below the {kind} of {threshold:.2f}; weakest part: {weakest}."
