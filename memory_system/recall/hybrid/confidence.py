"""Confidence: the chance that a memory answers a cue, separate from how memories rank.

A logistic regression (Berkson 1944). The relation of the cue to everything that is remembered, and how much of the
best memory met it, decide whether there is an answer at all: a cue about none of it is about equally far from all, and
nothing stands out. If a cue names somebody, everything remembered about them stands out, whatever the question; so
the best memory also has to meet the cue better than the best of so many would by chance, without counting the name.
Other memories lose confidence by how far they are behind the best. Within one answer confidence grows with relevancy
and with nothing else, so that a less relevant memory never passes where a more relevant one does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Signs:
    """The weight of each sign of an answer, in log odds.

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
    """What distinguishes the best memory from the best of so many by chance, in log odds.

    Args:
        start: for one memory that met nothing.
        met: for each unit that met the cue, without the name of the person it is about.
        among: for each factor of e in the number of memories; it counts against it.
        behind: how much less of a memory met the cue than of the best; it counts against it.
        most: memories that count: nothing was measured with more.
    """

    start: float
    met: float
    among: float
    behind: float
    most: int


BY_CHANCE = Chance(start=0.4, met=5.5, among=0.55, behind=0.5, most=2_000)
"""For an embedder with token states; chosen by what the best memory has for questions of LoCoMo among 20 to 2,000
turns, and for questions of another conversation with the names of this one, see ``benchmarks/relevancy.md``."""

FITTED = Signs(start=-9.17, met=2.76, stands_out=5.19, spread=102.1)
"""Fitted by ``python -m memory_system evaluate tests/data/confidence.json --fit-confidence`` on 120 memories with a cue
each and 120 cues that none of them answers, among 1 to 120 memories. ``start`` is set so that at a confidence of .5 as
many cues with an answer are answered as cues without one are not. ``behind`` is what the same command finds on LoCoMo
conversations (7.9 to 11.0, depending on which of ten memories is evidence), rounded down, since it costs evidence."""

FITTED_WITHOUT_STATES = Signs(start=-5.9, met=1.16, stands_out=8.80, spread=65.0)
"""The same command on the same file, with the embedder ``multilingual``: for all embedders without token states.
``start`` is set for one that also embeds a cue's words, with higher cosines; others answer a little less."""

SUREST = 5.0
"""The maximum of the log odds from the signs, a chance of 99.3 %: standing out more helps no other memory.
It costs .1 point of recall@10 on LoCoMo at the default threshold; small memories give fewer wrong answers."""

_ROUNDING = 1e-9
"""More than the last bits of a confidence between .001 and .999 can mean in a relevancy."""

_FINE = 2.0**32
"""Fractions of 1 for exact sums: finer than a float32 distinguishes, and coarse enough for sums to be exact."""

_USUAL_MEAN, _USUAL_SPREAD, _COUNTED = 0.06, 0.07, 5
"""Cosines of unrelated sentences, and for how many memories they count: a few show little of what is usual."""


def standing(cosines: Floats) -> tuple[float, float]:
    """The relation of a cue to everything remembered: how far the closest memory stands out, and the spread of all.

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
    """The sum of up to 2 million numbers from 0 to 1, identical to the last bit in any order: integers are added."""
    whole = values * _FINE
    return float(np.rint(whole, out=whole).sum()) / _FINE


@dataclass(frozen=True)
class Line:
    """Log odds that there is an answer, as a function of how much met the cue.

    Args:
        start: at 0.
        met: the increase per unit of the best memory.
        behind: the decrease per unit that a memory has less than the best.
        lacking: why the best memory is not an answer if this line decides so, and what helps, in a sentence.
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
        """How much less than the best, which met the cue so much, a memory with these log odds has."""
        return min((line.of_best(best) - told) / line.behind for line in self.lines)

    def lacking(self, best: float) -> str:
        """Why even the best memory, of this relevancy, is probably not an answer; empty if it probably is."""
        met = _met_of_one(best)
        lowest = min(self.lines, key=lambda line: line.of_best(met))
        return lowest.lacking if lowest.of_best(met) < 0.0 else ""

    def log_odds(self, best: float, met: Floats) -> Floats:
        """The log odds of memories that met the cue so much, shape (n,), of which the best is one."""
        each = [line.of_best(best) + line.behind * (met - best) for line in self.lines]
        lowest: Floats = np.minimum.reduce(each)
        return lowest


_LIKE_OTHERS = "It hardly stands out from the other memories: name more of what happened, or lower the threshold."
_BY_CHANCE = "Among so many memories, one meets such a cue as well by chance: ask more exactly, or lower the threshold."

UNKNOWN = Odds((Line(0.0, FITTED.met),))
"""For anything that was not measured."""


def stands_out(stands: tuple[float, float], signs: Signs = FITTED, apart: float = 0.0) -> Line:
    """Whether there is an answer, by the relation of the cue to everything remembered.

    Args:
        stands: see ``standing``.
        signs: those of the embedder.
        apart: how much of what meets the cue in the best memory is not a sign of an answer.
    """
    highest, spread = stands
    start = signs.start + signs.stands_out * highest + signs.spread * spread - signs.met * apart
    return Line(start, signs.met, signs.behind, _LIKE_OTHERS)


def beyond_chance(count: int, apart: float = 0.0, signs: Chance = BY_CHANCE) -> Line:
    """Whether the best of so many memories meets the cue better than by chance.

    The best of n draws is higher by about the logarithm of n (Gumbel 1958, for exponential tails).

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
    """As ``met_of``, to the last bit, for the best memory of a cue, which each step of an answer needs."""
    return float(met_of(np.array(relevancy)))


def lowest(odds: Odds, best: float, threshold: float) -> float:
    """A relevancy below that of any memory whose confidence exceeds a threshold; a little low, to allow for rounding.

    The inverse of ``confidences``.

    Args:
        odds: that there is an answer.
        best: the highest relevancy among those that may be found.
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
        best: the highest relevancy among those that may be found.
    """
    if not len(relevancies):
        return relevancies
    best_met, met = _met_of_one(best), met_of(relevancies)
    chance: Floats = 1 / (1 + np.exp(-odds.log_odds(best_met, met)))
    return chance
