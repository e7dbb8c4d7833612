"""How one score changes as time passes and nothing is accessed: the closed form behind forecasts and why-nots.

With h the hours since the last access and k the decay, where relevancy stays as it is and nothing is scaled,

    score(h) = w_recency * (1 if h <= 1 else k^h) + w_importance * importance + w_relevancy * relevancy

so that with rest = w_importance * importance + w_relevancy * relevancy the score is above a threshold up to

    h = max(1, log((threshold - rest) / w_recency) / log k)

and for ever if the rest alone reaches the threshold; a memory without importance or time does not age.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from .entry import MemoryEntry
from .query import Query
from .scoring import FRESH_SECONDS, Measure, Score, recency


def has_closed_form(query: Query) -> bool:
    """Whether time changes the scores of a query by recency alone, each by itself."""
    return query.scoring.measure is Measure.SIMILARITY and not query.scoring.normalise


def counts_from(entry: MemoryEntry) -> float | None:
    """When recency begins to count, in Unix seconds: its last access, and that it happened is one; ``None`` = never."""
    if entry.timestamp is None:
        return None
    happened = entry.timestamp.timestamp()
    return happened if entry.last_access is None else max(happened, entry.last_access.timestamp())


def hours_above(score: Score, threshold: float, decay: float) -> float:
    """Up to which age in hours a score is above a threshold; infinite = for ever, 0 = never.

    Args:
        score: it at any age, its parts as they are.
        threshold: what it must exceed.
        decay: k per hour, 0 < k < 1.
    """
    if score.recency is None:
        return math.inf if score.total > threshold else 0.0
    rest = score.parts["importance"] + score.parts["relevancy"]
    if rest > threshold or (rest == threshold and score.weights.recency > 0):
        return math.inf
    if rest + score.weights.recency <= threshold:
        return 0.0
    return max(FRESH_SECONDS / 3600, math.log((threshold - rest) / score.weights.recency) / math.log(decay))


def score_at(score: Score, from_: float | None, seconds: float, decay: float) -> float:
    """The score at another time.

    Args:
        score: it at any age, its parts as they are.
        from_: what ``counts_from`` says.
        seconds: the time, in Unix seconds.
        decay: k per hour, 0 < k < 1.
    """
    if from_ is None or score.recency is None:
        return score.total
    recent = float(recency(np.array([from_]), seconds, decay)[0])
    return dataclasses.replace(score, recency=recent).total
