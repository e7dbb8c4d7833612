"""The exact top-k of a tier without computing every score exactly.

Each score is first estimated, in float32 or from int8 codes, with a proven bound on the error; only rows whose
upper bound reaches the best k lower bounds are computed exactly. The answer is that of a full computation. In a very
large table, most rows are excluded before that, using the few directions in which vectors differ most.

Bounds. A float32 dot product of d numbers errs by at most d u / (1 - d u) |x| |q|, u = 2^-24 (Higham 2002, Accuracy
and Stability of Numerical Algorithms, section 3.1). With codes, x = s c + r and q = t e + p: x·q differs from
s t (c·e), which is computed without error, by at most (|x| + |r|) |p| + |r| |q|. Relevancy, 1 / (1 + distance),
changes by no more than the distance does.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import scoring as formulas
from ..core.memory import Vectors
from ..core.scoring import Floats, Parts, Scoring
from .sieve import SIEVED_FROM, coded, coded_dots
from .table import Table

Estimates = NDArray[np.float32]
RowNumbers = NDArray[np.intp]

CODES_FROM = 4096
"""From this many rows on the int8 codes are scanned first: below, float32 is as fast (benchmarks/recall.py)."""
_BLOCK = 256
_SIEVED_AT_ONCE = 65_536
"""Rows whose bounds are computed at a time, so that they stay in the processor's cache."""
_TRIED = 64
"""Rows that are computed exactly to find out what the others have to reach."""
_FEW_LEFT = 0.25
"""The share of the rows up to which it is worth computing each remaining one by itself."""
_UNIT = 2.0**-24


@dataclass(frozen=True)
class Sought:
    """The specification of a top-k search.

    Args:
        cue: the cue's vector, shape (d,).
        now: the world's time, timezone-aware.
        scoring: weights and decay; by similarity, not normalised.
        threshold: a score must exceed it.
        top_k: most rows, 0 or more.
        admitted: which rows may be found, shape (n,); all if ``None``.
    """

    cue: Vectors
    now: datetime
    scoring: Scoring
    threshold: float
    top_k: int
    admitted: NDArray[np.bool_] | None = None


def top_rows(table: Table, sought: Sought, *, codes: bool | None = None) -> tuple[list[int], Parts]:
    """The ``top_k`` rows with the highest scores above the threshold, best first, equal ones in the order of their ids.

    Args:
        table: the tier.
        sought: see there.
        codes: whether to scan the int8 codes; decided by the number of rows if ``None``.

    Returns:
        the rows, and the parts of their scores, row by row in the same order.
    """
    if not len(table) or not sought.top_k or not table.columns.width:
        return [], parts_of(table, np.zeros(0, np.intp), sought)
    codes = len(table) >= CODES_FROM if codes is None else codes
    left = _sieved(table, sought) if codes and len(table) >= SIEVED_FROM else None
    if left is not None and not len(left):
        return [], parts_of(table, left, sought)
    estimated, relevancies, error = _estimate(table, sought, left, codes=codes)
    steepest = max(1.0, sought.scoring.weights.relevancy)
    rounding = _rounding(sought)
    lowest = sought.threshold
    likely = _likely(estimated, sought.top_k)
    if len(likely) == sought.top_k:  # so many memories score at least that, whatever the estimates' error
        near = relevancies[likely].astype(np.float64)
        lower = estimated[likely] - steepest * (near - 1.0 / (1.0 / near + error + rounding))
        lowest = max(lowest, float(lower.min()) - rounding)
    close = (estimated >= lowest - steepest * error - rounding).nonzero()[0]
    # the error of the distance moves a far memory's relevancy less than a near one's
    far = relevancies[close].astype(np.float64)
    upper = estimated[close] + steepest * (1.0 / np.maximum(1.0 / far - error - rounding, 1.0) - far)
    rows = close[upper >= lowest - rounding]
    rows = rows if left is None else left[rows]
    return _chosen(table, sought, rows, parts_of(table, rows, sought))


def parts_of(table: Table, rows: RowNumbers, sought: Sought) -> Parts:
    """The parts of these rows, identical to those of a computation over all rows."""
    columns = table.columns
    vectors = columns["vectors"][rows]
    relevancies = formulas.relevancy(vectors, sought.cue, columns["squares"][rows])
    return formulas.score(
        relevancies,
        columns["importance"][rows],
        columns["last_access"][rows],
        columns["timestamp"][rows],
        sought.now,
        sought.scoring,
    )


def top_measured(
    table: Table,
    sought: Sought,
    relevancies: Floats,
    made_of: Mapping[str, Floats],
    passing: tuple[RowNumbers, Floats] | None = None,
) -> tuple[list[int], Parts]:
    """As ``top_rows``, for known relevancies: recency, 0 to 1, is computed only where it may decide.

    Args:
        table: the tier.
        sought: see there; the cue is not used.
        relevancies: shape (n,), 0 to 1; NaN for an entry without a vector.
        made_of: their components, by name, shape (n,) each.
        passing: if confidences have to exceed the threshold instead of scores: the rows whose confidences do,
            in order, and these confidences.
    """
    columns, weights = table.columns, sought.scoring.weights
    sure: Floats | None = None
    rounding = 64 * 2.0**-53 * (sum(vars(weights).values()) + 1.0)
    if passing is None:
        least = weights.relevancy * relevancies + weights.importance * table.importance
        if not table.complete:
            least[np.isnan(table.last_access)] = np.nan
        # a row scored by relevancy alone is NaN here, and stays
        likely = ~(least + (weights.recency + rounding) <= sought.threshold)
        if sought.admitted is not None:
            likely &= sought.admitted
        rows = np.flatnonzero(likely)
        least = least[rows]
    else:
        rows, sure = passing
        if sought.admitted is not None:
            rows, sure = rows[sought.admitted[rows]], sure[sought.admitted[rows]]
        sought = dataclasses.replace(sought, threshold=-np.inf)
        least = weights.relevancy * relevancies[rows] + weights.importance * columns["importance"][rows]
        least[np.isnan(columns["last_access"][rows])] = np.nan
    known = least[~np.isnan(least)]
    if 0 < sought.top_k < len(known):
        kth = np.partition(known, len(known) - sought.top_k)[len(known) - sought.top_k]
        stay = ~(least + (weights.recency + rounding) < kth - rounding)
        rows = rows[stay]
        sure = None if sure is None else sure[stay]
    parts = formulas.score(
        relevancies[rows],
        columns["importance"][rows],
        columns["last_access"][rows],
        columns["timestamp"][rows],
        sought.now,
        sought.scoring,
        {name: values[rows] for name, values in made_of.items()},
        sure,
    )
    return _chosen(table, sought, rows, parts)


def _chosen(table: Table, sought: Sought, rows: RowNumbers, parts: Parts) -> tuple[list[int], Parts]:
    """The best of some rows whose parts are known."""
    totals = parts.totals
    ids = [table.ids[row] for row in rows.tolist()]
    best = np.array(best_of((totals > sought.threshold).nonzero()[0], totals, ids, sought.top_k), np.intp)
    return rows[best].tolist(), parts.taken(best)


def best_of(rows: RowNumbers, totals: Floats, ids: Sequence[str], top_k: int) -> list[int]:
    """The ``top_k`` rows with the highest totals; equal totals are in the order of their ids."""
    if top_k == 0:
        return []
    if len(rows) > top_k:
        kth = np.partition(totals[rows], len(rows) - top_k)[len(rows) - top_k]
        rows = rows[totals[rows] >= kth]  # all that tie for the last seat, so that their ids decide
    competing = [(-total, ids[row], row) for row, total in zip(rows.tolist(), totals[rows].tolist(), strict=True)]
    return [row for _, _, row in sorted(competing, key=itemgetter(0, 1))[:top_k]]


def _sieved(table: Table, sought: Sought) -> RowNumbers | None:
    """The rows, ascending, that may be among the best; ``None`` if the directions exclude too few."""
    sieve = table.columns.sieve(len(table))
    if sieve is None:
        return None
    count, asked = len(table), sieve.asked(sought.cue * np.float32(2))
    nearest = np.empty(count, np.float32)
    for first in range(0, count, _SIEVED_AT_ONCE):
        some = slice(first, min(first + _SIEVED_AT_ONCE, count))
        nearest[some] = _relevancies(table, some, sieve.bounds(asked, some), sought.cue, asked.error)
    scores = _scores(table, sought, slice(count), nearest)
    lowest = sought.threshold
    tried = parts_of(table, _likely(scores, max(_TRIED, sought.top_k)), sought).totals
    if len(tried) >= sought.top_k:
        lowest = max(lowest, float(np.partition(tried, len(tried) - sought.top_k)[len(tried) - sought.top_k]))
    left = (scores >= lowest - _rounding(sought)).nonzero()[0]
    return left if len(left) <= _FEW_LEFT * count else None


def _relevancies(table: Table, some: slice | RowNumbers, dots: Estimates, cue: Vectors, more: float = 0.0) -> Estimates:
    """The relevancies of some rows, computed in place from twice their dot products.

    ``more`` is added to each product.
    """
    relevancies: Estimates = np.subtract(table.columns["squares32"][some], dots, out=dots)
    relevancies += np.float32(1 + float(np.square(cue, dtype=np.float64).sum()) - more)
    np.maximum(relevancies, 1, out=relevancies)
    np.reciprocal(relevancies, out=relevancies)
    return relevancies


def _estimate(
    table: Table, sought: Sought, left: RowNumbers | None = None, *, codes: bool
) -> tuple[Estimates, Estimates, float]:
    """Scores and relevancies of all rows, or of the remaining ones, shape (n,); and the error of a distance."""
    some = slice(len(table)) if left is None else left
    dots, error = _coded_dots(table, sought.cue, some) if codes else _plain_dots(table, sought.cue)
    relevancies = _relevancies(table, some, dots, sought.cue)
    return _scores(table, sought, some, relevancies), relevancies, error


def _rounding(sought: Sought) -> float:
    """An upper bound on float32's rounding of a score."""
    weights: Mapping[str, float] = vars(sought.scoring.weights)
    return 64 * _UNIT * (sum(weights.values()) + 1.0)


def _scores(table: Table, sought: Sought, some: slice | RowNumbers, relevancies: Estimates) -> Estimates:
    """The scores of some rows, minus infinity for those that cannot be found, whose relevancy then becomes 1."""
    weights = sought.scoring.weights
    scores = table.weighed(sought.now.timestamp(), sought.scoring.curve, weights)[some]
    plain = () if table.complete else np.flatnonzero(np.isnan(scores))
    scores = scores + (relevancies if weights.relevancy == 1 else np.float32(weights.relevancy) * relevancies)
    if len(plain):  # scored by relevancy alone, if by anything
        scores[plain] = relevancies[plain]
    if not table.complete:
        lost = np.flatnonzero(np.isnan(scores))
        scores[lost] = -np.inf
        relevancies[lost] = 1
    if sought.admitted is not None:
        scores[~sought.admitted[some]] = -np.inf
    return scores


def _plain_dots(table: Table, cue: Vectors) -> tuple[Estimates, float]:
    """Twice the dot product of every row, shape (n,), and an error bound."""
    dots = table.vectors @ (cue * np.float32(2))
    drift = len(cue) * _UNIT / (1 - len(cue) * _UNIT)
    return dots, 2 * drift * table.longest * _length(cue)


def _coded_dots(table: Table, cue: Vectors, some: slice | RowNumbers) -> tuple[Estimates, float]:
    """As ``_plain_dots``, for some rows and by the codes."""
    table.columns.code(len(table))
    codes, step, left = coded(cue)
    columns = table.columns
    dots = coded_dots(codes, columns["codes"][some])
    dots *= columns["scales"][some]
    dots *= np.float32(2 * step)
    residual = columns.residual
    return dots, 2 * ((table.longest + residual) * left + residual * _length(cue))


def _length(vector: NDArray[np.floating[Any]]) -> float:
    return math.sqrt(vector.dot(vector))


def _likely(estimated: Estimates, top_k: int) -> RowNumbers:
    """Rows of ``top_k`` high estimates, unordered: the best of each of the best blocks, or of all if there are few.

    Fewer if fewer can be found.
    """
    blocks = len(estimated) // _BLOCK
    if blocks < 2 * top_k:
        rows = np.arange(len(estimated))
        if len(rows) > top_k:
            rows = (-estimated).argpartition(top_k - 1)[:top_k]
    else:
        in_blocks = estimated[: blocks * _BLOCK].reshape(blocks, _BLOCK)
        best = in_blocks.max(axis=1).argpartition(blocks - top_k)[blocks - top_k :]
        rows = best * _BLOCK + in_blocks[best].argmax(axis=1)
    return rows[np.isfinite(estimated[rows])]
