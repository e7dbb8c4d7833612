"""The exact top-k of a tier without computing every score exactly.

Each score is first estimated, in float32 or from int8 codes, with a proven bound on the error; only rows whose
upper bound reaches the best k lower bounds are computed exactly. The answer is that of a full computation.

Bounds. A float32 dot product of d numbers errs by at most d u / (1 - d u) |x| |q|, u = 2^-24 (Higham 2002, Accuracy
and Stability of Numerical Algorithms, section 3.1). With codes, x = s c + r and q = t e + p: x·q differs from
s t (c·e), which is computed without error, by at most (|x| + |r|) |p| + |r| |q|. Relevancy, 1 / (1 + distance),
changes by no more than the distance does.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import simsimd
from numpy.typing import NDArray

from . import scoring as formulas
from .memory import Vectors
from .scoring import Parts, Scoring
from .table import Table

Estimates = NDArray[np.float32]
RowNumbers = NDArray[np.intp]

CODES_FROM = 4096
"""From this many rows on the int8 codes are scanned first: below, float32 is as fast (benchmarks/recall.py)."""
_BLOCK = 256
_UNIT = 2.0**-24


@dataclass(frozen=True)
class Sought:
    """What the top-k is to be found for.

    Args:
        cue: the cue's vector, shape (d,).
        now: the world's time, aware of its zone.
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
    """The ``top_k`` rows of the highest scores above the threshold, best first, equal ones in the order of their ids.

    Args:
        table: the tier.
        sought: see there.
        codes: whether the int8 codes are scanned; by the number of rows if ``None``.

    Returns:
        the rows, and the parts of their scores, row by row in the same order.
    """
    if not len(table) or not sought.top_k or not table.columns.width:
        return [], parts_of(table, np.zeros(0, np.intp), sought)
    estimated, relevancies, error = _estimate(table, sought, codes=len(table) >= CODES_FROM if codes is None else codes)
    likely = _highest(estimated, sought.top_k)
    lowest = sought.threshold
    if len(likely) == sought.top_k:
        lowest = max(lowest, float(parts_of(table, likely, sought).totals.min()))
    steepest = max(1.0, sought.scoring.weights.relevancy)
    rounding = 64 * _UNIT * (sum(vars(sought.scoring.weights).values()) + 1.0)
    close = np.flatnonzero(estimated >= lowest - steepest * error - rounding)
    # the error of the distance moves a far memory's relevancy less than a near one's
    near = np.maximum(1.0 / relevancies[close].astype(np.float64) - error - rounding, 1.0)
    upper = estimated[close] + steepest * (1.0 / near - relevancies[close])
    rows = close[upper >= lowest - rounding]
    parts = parts_of(table, rows, sought)
    totals = parts.totals
    above = np.flatnonzero(totals > sought.threshold)
    order = sorted(above.tolist(), key=lambda one: (-totals[one], table.ids[rows[one]]))[: sought.top_k]
    return rows[order].tolist(), parts.taken(np.array(order, np.intp))


def parts_of(table: Table, rows: RowNumbers, sought: Sought) -> Parts:
    """The parts of these rows, computed as if all rows were."""
    columns = table.columns
    vectors = columns["vectors"][rows]
    relevancies = formulas.relevancy(vectors, sought.cue, columns["squares"][rows])
    return formulas.score(
        relevancies, columns["importance"][rows], columns["last_access"][rows], sought.now, sought.scoring
    )


def _estimate(table: Table, sought: Sought, *, codes: bool) -> tuple[Estimates, Estimates, float]:
    """Scores and relevancies of shape (n,), a score of minus infinity for what cannot be found; a distance's error."""
    dots, error = _coded_dots(table, sought.cue) if codes else _plain_dots(table, sought.cue)
    length = float(np.square(sought.cue, dtype=np.float64).sum())
    relevancies = np.subtract(table.columns["squares32"][: len(table)], dots, out=dots)
    relevancies += np.float32(1 + length)
    np.maximum(relevancies, 1, out=relevancies)
    np.reciprocal(relevancies, out=relevancies)
    weights = sought.scoring.weights
    scores = table.weighed(sought.now.timestamp(), sought.scoring.decay, weights)
    plain = () if table.complete else np.flatnonzero(np.isnan(scores))
    scores = scores + (relevancies if weights.relevancy == 1 else np.float32(weights.relevancy) * relevancies)
    if len(plain):  # scored by relevancy alone, if by anything
        scores[plain] = relevancies[plain]
    if not table.complete:
        lost = np.flatnonzero(np.isnan(scores))
        scores[lost] = -np.inf
        relevancies[lost] = 1
    if sought.admitted is not None:
        scores[~sought.admitted] = -np.inf
    return scores, relevancies, error


def _plain_dots(table: Table, cue: Vectors) -> tuple[Estimates, float]:
    """Twice the dot product of every row, shape (n,), and by how much it may be wrong."""
    dots = table.vectors @ (cue * np.float32(2))
    drift = len(cue) * _UNIT / (1 - len(cue) * _UNIT)
    return dots, 2 * drift * table.longest * float(np.linalg.norm(cue))


def _coded_dots(table: Table, cue: Vectors) -> tuple[Estimates, float]:
    """As ``_plain_dots``, by the codes."""
    table.columns.code(len(table))
    step = float(np.abs(cue).max()) / 127 or 1.0
    codes = np.rint(cue / np.float32(step)).astype(np.int8)
    left = float(np.linalg.norm(cue.astype(np.float64) - codes * step))
    used = table.columns.used(len(table))
    dots: Estimates = np.asarray(simsimd.cdist(codes[None], used["codes"], "dot", out_dtype="f32"))[0]
    dots *= used["scales"] * np.float32(2 * step)
    residual = float(used["residuals"].max())
    return dots, 2 * ((table.longest + residual) * left + residual * float(np.linalg.norm(cue)))


def _highest(estimated: Estimates, top_k: int) -> RowNumbers:
    """The rows of the ``top_k`` highest estimates, in no order; fewer if fewer can be found."""
    rows = np.arange(len(estimated)) if len(estimated) <= 32 * _BLOCK else _from_blocks(estimated, top_k)
    if len(rows) > top_k:
        rows = rows[np.argpartition(-estimated[rows], top_k - 1)[:top_k]]
    return rows[np.isfinite(estimated[rows])]


def _from_blocks(estimated: Estimates, top_k: int) -> RowNumbers:
    """Rows among which the highest are: the k-th best maximum of a block is no higher than the k-th best row."""
    whole = len(estimated) // _BLOCK * _BLOCK
    maxima = estimated[:whole].reshape(-1, _BLOCK).max(axis=1)
    if top_k > len(maxima):
        return np.arange(len(estimated))
    lowest = np.partition(maxima, len(maxima) - top_k)[len(maxima) - top_k]
    blocks = np.flatnonzero(maxima >= lowest)
    rows = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
    return np.concatenate([rows, np.arange(whole, len(estimated))])
