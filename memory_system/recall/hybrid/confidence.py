"""Confidence: the chance that a memory answers a cue, told apart from how memories rank.

A logistic regression (Berkson 1944). How the cue stands to everything that is remembered, and how much of the best
memory met it, decide whether there is an answer at all: a cue about none of it is about equally far from all, and
nothing stands out. Where a cue names somebody, all that is remembered of them stands out, whatever is asked of them; so
the best memory also has to meet the cue better than the best of so many would by chance, the name left out. The others
lose confidence by how far they lie behind the best. Within one answer confidence grows with relevancy, and with nothing
else, so that what is less relevant never passes where what is more relevant does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Signs:
    """What each sign of an answer counts, in log odds.

    Args:
        start: before any sign.
        met: how much of the best memory met the cue, the weighted sum behind its relevancy, 0 and up.
        stands_out: the cosine of the closest memory, less the mean of all.
        spread: the standard deviation of all cosines.
        behind: how much less of a memory met the cue than of the best; it counts against it.
    """

    start: float
    met: float
    stands_out: float
    spread: float
    behind: float = 7.0


@dataclass(frozen=True)
class Chance:
    """What tells the best memory from the best of so many by chance, in log odds.

    Args:
        start: of one memory that met nothing.
        met: for each unit that met the cue, the name of whom it is about left out.
        among: for each time that there are e times as many memories; it counts against it.
        behind: how much less of a memory met the cue than of the best; it counts against it.
        most: memories that count: nothing was measured of more.
    """

    start: float
    met: float
    among: float
    behind: float
    most: int


BY_CHANCE = Chance(start=0.4, met=5.5, among=0.55, behind=0.5, most=2_000)
"""Of an embedder with token states; chosen on what the best memory has of questions of LoCoMo among 20 to 2,000 turns,
and of questions of another conversation with the names of this one, see ``benchmarks/relevancy.md``."""

FITTED = Signs(start=-9.17, met=2.76, stands_out=5.19, spread=102.1)
"""Fitted by ``python -m memory_system evaluate tests/data/confidence.json --fit-confidence`` on 120 memories with a cue
each and 120 cues that none of them answers, among 1 to 120 memories. ``start`` is set so that at a confidence of .5 as
many cues with an answer are answered as cues without one are not. ``behind`` is what the same command finds on LoCoMo
conversations (7.9 to 11.0, by which of ten memories is evidence), rounded down, since it costs evidence."""

FITTED_WITHOUT_STATES = Signs(start=-5.9, met=1.16, stands_out=8.80, spread=65.0)
"""The same command on the same file, with the embedder ``multilingual``: for all that have no token states.
``start`` is set for one that is asked by a cue's words as well, with higher cosines; others answer a little less."""

SUREST = 5.0
"""The most log odds that the signs add up to, a chance of 99.3 %: standing out more helps no other memory.
LoCoMo loses .1 point of recall@10 by it at the default threshold; small memories answer with fewer that are wrong."""

_ROUNDING = 1e-9
"""More than what the last bits of a confidence can stand for in a relevancy, where it is between .001 and .999."""

_FINE = 2.0**32
"""Parts of 1 that sums are made of: more than a float32 tells apart, and few enough for sums to be exact."""

_USUAL_MEAN, _USUAL_SPREAD, _COUNTED = 0.06, 0.07, 5
"""Cosines of unrelated sentences, and for how many memories they count: a few say little of what is usual."""


def standing(cosines: Floats) -> tuple[float, float]:
    """How a cue stands to everything remembered: how far the closest memory stands out, and the spread of all.

    Args:
        cosines: of the cue with each memory, shape (n,), 0 to 1; NaN for a memory without a vector.
    """
    known = cosines[~np.isnan(cosines)]
    if not len(known):
        return 0.0, _USUAL_SPREAD
    mean = (_added_up(known) + _COUNTED * _USUAL_MEAN) / (len(known) + _COUNTED)
    squares = _added_up((known - mean) ** 2) + _COUNTED * _USUAL_SPREAD**2
    return float(known.max() - mean), float(np.sqrt(squares / (len(known) + _COUNTED)))


def _added_up(values: Floats) -> float:
    """The sum of up to 2 million numbers from 0 to 1, to the last bit the same in any order: whole ones are added."""
    whole = values * _FINE
    return float(np.rint(whole, out=whole).sum()) / _FINE


@dataclass(frozen=True)
class Line:
    """Log odds that there is an answer, by how much met the cue.

    Args:
        start: before that is known.
        met: what each unit adds of the best memory.
        behind: what each unit takes that a memory has less than the best.
        lacking: why the best memory is no answer where this line says so, and what helps, in a sentence.
    """

    start: float
    met: float
    behind: float = Signs.behind
    lacking: str = ""

    def of_best(self, met: float) -> float:
        """The log odds of the best memory, which met the cue so much; at most ``SUREST``."""
        return min(self.start + self.met * met, SUREST)


@dataclass(frozen=True)
class Odds:
    """The log odds that a memory answers: the lowest of some lines, each at most ``SUREST``."""

    lines: tuple[Line, ...]

    def behind(self, best: float, told: float) -> float:
        """How much less than the best, which met the cue so much, a memory has that has these log odds."""
        return min((line.of_best(best) - told) / line.behind for line in self.lines)

    def lacking(self, best: float) -> str:
        """Why even the best memory, of this relevancy, is more likely no answer; empty where it is likely one."""
        met = _met_of_one(best)
        lowest = min(self.lines, key=lambda line: line.of_best(met))
        return lowest.lacking if lowest.of_best(met) < 0.0 else ""

    def told(self, best: float, met: Floats) -> Floats:
        """The log odds of memories that met the cue so much, shape (n,), of which the best is one."""
        each = [line.of_best(best) + line.behind * (met - best) for line in self.lines]
        lowest: Floats = np.minimum.reduce(each)
        return lowest


_LIKE_OTHERS = "It hardly stands out from the other memories: name more of what happened, or lower the threshold."
_BY_CHANCE = "Among so many memories, one meets such a cue as well by chance: ask more exactly, or lower the threshold."

UNKNOWN = Odds((Line(0.0, FITTED.met),))
"""Of what was not measured."""


def stands_out(stands: tuple[float, float], signs: Signs = FITTED, apart: float = 0.0) -> Line:
    """Whether there is an answer, from how the cue stands to everything remembered.

    Args:
        stands: see ``standing``.
        signs: those of the embedder.
        apart: how much of what meets the cue in the best memory is no sign of an answer.
    """
    highest, spread = stands
    start = signs.start + signs.stands_out * highest + signs.spread * spread - signs.met * apart
    return Line(start, signs.met, signs.behind, _LIKE_OTHERS)


def beyond_chance(count: int, apart: float = 0.0, signs: Chance = BY_CHANCE) -> Line:
    """Whether the best of so many memories meets the cue better than by chance.

    The best of n draws lies higher by about the logarithm of n (Gumbel 1958, of tails that fall exponentially).

    Args:
        count: how many memories there are, 1 and up.
        apart: how much of what meets the cue in the best memory others have by chance.
        signs: those of the embedder.
    """
    start = signs.start - signs.among * float(np.log(min(count, signs.most))) - signs.met * apart
    return Line(start, signs.met, signs.behind, _BY_CHANCE)


def met_of(relevancies: Floats) -> Floats:
    """The weighted sums behind relevancies of any shape, 0 to below 1: how much of each memory met the cue."""
    met: Floats = -np.log1p(-relevancies)
    return met


@lru_cache(maxsize=256)
def _met_of_one(relevancy: float) -> float:
    """As ``met_of``, to the last bit, of the best memory of a cue, which is asked for at each step of an answer."""
    return float(met_of(np.array(relevancy)))


def lowest(odds: Odds, best: float, threshold: float) -> float:
    """A relevancy that all exceed whose confidence exceeds a threshold; a little low, for what rounding may add.

    The inverse of ``confidences``.

    Args:
        odds: that there is an answer.
        best: the highest relevancy of those that may be found.
        threshold: what has to be exceeded, 0 and up.
    """
    if not 0.0 < threshold < 1.0:
        return -np.inf if threshold <= 0.0 else np.inf
    best_met = _met_of_one(best)
    behind = odds.behind(best_met, float(np.log(threshold / (1.0 - threshold))))
    return float(-np.expm1(-(best_met - behind))) - _ROUNDING


def confidences(odds: Odds, relevancies: Floats, best: float) -> Floats:
    """The chance that each memory answers the cue, shape (n,), 0 to 1.

    Args:
        odds: that there is an answer.
        relevancies: of the memories, shape (n,), 0 to below 1; NaN, which stays, without a vector.
        best: the highest relevancy of those that may be found.
    """
    if not len(relevancies):
        return relevancies
    best_met, met = _met_of_one(best), met_of(relevancies)
    chance: Floats = 1 / (1 + np.exp(-odds.told(best_met, met)))
    return chance
