"""How good a ranking is, as pure functions of ids; and how certain a mean is.

All functions take the ranking as distinct ids, best first, and the ids of the right memories, and return 0 to 1. A
right memory counts 1 and any other 0: there are no grades. If no right memory is known they are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SEED = 20_260_327
RESAMPLES = 1000
CONFIDENCE = 0.95

DEPTH = 100
"""How many places of a ranking are considered."""

NAMES = ("recall@5", "recall@10", "recall@20", "MRR", "nDCG@10", "wrong@10")
"""The results of ``measures``, in this order."""


def recall_at(k: int, ranking: Sequence[str], right: Collection[str]) -> float:
    """The share of the right memories that are in the first k places.

        recall@k = |first k ∩ right| / |right|

    After Manning, Raghavan, Schütze 2008, "Introduction to Information Retrieval", section 8.4.
    """
    return _share_found(ranking[:k], right)


def reciprocal_rank(ranking: Sequence[str], right: Collection[str]) -> float:
    """One over the place of the first right memory, 0 if none is in the ranking; its mean is the MRR.

        RR = 1 / min{place of m : m right}

    After Voorhees 1999, "The TREC-8 Question Answering Track Report". The rankings here end at ``DEPTH``, so that a
    first right memory beyond it counts 0 instead of less than 0.01.
    """
    if not right:
        return math.nan
    return next((1 / place for place, entry_id in enumerate(ranking, start=1) if entry_id in right), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], right: Collection[str]) -> float:
    """Discounted cumulative gain of the first k places, over that of the best ranking there could be.

        DCG@k = sum over places i = 1..k of gain(i) / log2(i + 1),  nDCG@k = DCG@k / DCG@k of the ideal ranking

    After Järvelin & Kekäläinen 2002, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), with the
    discount log2(i + 1) of Burges et al. 2005 that is customary now, and gain 1 for right, 0 for others.
    """
    if not right:
        return math.nan
    gained = sum(1 / math.log2(place + 1) for place, entry_id in enumerate(ranking[:k], start=1) if entry_id in right)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(right)) + 1))
    return gained / ideal


def wrong_at(k: int, ranking: Sequence[str], wrong: Collection[str]) -> float:
    """The share of the memories known to be wrong that are in the first k places nevertheless; lower is better."""
    return _share_found(ranking[:k], wrong)


def _share_found(places: Sequence[str], right: Collection[str]) -> float:
    return len(set(places) & set(right)) / len(right) if right else math.nan


def measures(ranking: Sequence[str], right: Collection[str], wrong: Collection[str] = ()) -> tuple[float, ...]:
    """All measures of one ranking, in the order of ``NAMES``; NaN where they do not apply."""
    return (
        *(recall_at(k, ranking, right) for k in (5, 10, 20)),
        reciprocal_rank(ranking, right),
        ndcg_at(10, ranking, right),
        wrong_at(10, ranking, wrong),
    )


@dataclass(frozen=True)
class Estimate:
    """A mean over questions with its confidence interval; NaN if no question has a value."""

    value: float
    low: float
    high: float


def estimates(values: Floats) -> list[Estimate]:
    """The mean of each column with its 95 % bootstrap interval.

    The rows are resampled with replacement 1,000 times; the interval is between the 2.5th and the 97.5th
    percentile of the means of the draws (the percentile method: Efron & Tibshirani 1993, "An Introduction to the
    Bootstrap", chapter 13). The seed is fixed: equal numbers of rows always get the same draws, so that presets asked
    the same questions are compared on the same draws.

    Args:
        values: shape (n, m), one row per question; NaN if a question has no value, which then counts in no mean.

    Returns:
        m estimates.
    """
    if not len(values):
        return [Estimate(math.nan, math.nan, math.nan)] * values.shape[1]
    present = ~np.isnan(values)
    filled = np.where(present, values, 0.0)
    random = np.random.default_rng(SEED)
    means = np.empty((RESAMPLES, values.shape[1]))
    rows = len(values)
    with np.errstate(invalid="ignore"):  # a draw may have no row with a value
        for draw in range(RESAMPLES):
            times = np.bincount(random.integers(rows, size=rows), minlength=rows).astype(np.float64)
            means[draw] = (times @ filled) / (times @ present)
        value = filled.sum(axis=0) / present.sum(axis=0)
    return [_estimate(float(value[column]), means[:, column]) for column in range(values.shape[1])]


def _estimate(value: float, means: Floats) -> Estimate:
    known = means[~np.isnan(means)]
    if math.isnan(value) or not len(known):
        return Estimate(math.nan, math.nan, math.nan)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(known, [tail, 100 - tail])
    return Estimate(value, float(low), float(high))


def shown(figure: Estimate) -> str:
    """In per cent, with the interval: "45.4 (41.9 to 48.8)"."""
    if math.isnan(figure.value):
        return "–"
    return f"{100 * figure.value:.1f} ({100 * figure.low:.1f} to {100 * figure.high:.1f})"
