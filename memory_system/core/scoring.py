"""The score of a memory, as pure functions: recency, importance and relevancy, and their weighted sum.

    score = a_recency * recency + a_importance * importance + a_relevancy * relevancy

After Park et al. 2023 (arXiv 2304.03442, section 4.1), with three differences that make the preset
``classic``: the parts are not min-max scaled, recency stays 1 for the first 60 minutes, and relevancy is
1 / (1 + distance) with the squared Euclidean distance that Chroma uses by default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidParameter, did_you_mean, shown, there_is_no
from .decay import Curve, DecayForm

Floats = NDArray[np.float64]

FRESH_SECONDS = 3600.0
"""A memory counts as fresh (recency 1) up to and including 60 minutes after its last access."""

_NUMBERS = (int, float, np.number)
_WHOLE = (int, np.integer)
_BLOCK = 1024
"""Rows of float32 to widen at a time, so that the copy stays in the processor's cache."""


def in_range(name: str, value: object, low: float, high: float, *, open_ends: bool = False) -> float:
    """``value`` as a float, if it is a finite number within the range.

    Raises:
        InvalidParameter: it is not; the message names the parameter and its range.
    """
    number = value if isinstance(value, _NUMBERS) and not isinstance(value, bool) else None
    # before float(): 10**400 has no float
    if number is not None and (low < number < high if open_ends else low <= number <= high):
        return float(number)
    ends = [f"{end:,}" if isinstance(end, int) else f"{end:,g}" for end in (low, high)]
    between = "between {} and {}".format(*ends) if open_ends else "from {} to {}".format(*ends)
    if number is None:
        raise InvalidParameter(f"{name} must be a number {between}, not {shown(value)}.")
    raise InvalidParameter(f"{name} is {_short(number)}; it must be {between}.")


def _short(value: object) -> str:
    try:
        return f"{value:g}"
    except OverflowError:
        return "a number of over 300 digits"


def whole(name: str, value: object, low: int, high: int) -> int:
    """``value`` as an int, if it is a whole number within the range.

    Raises:
        InvalidParameter: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, _WHOLE) or not low <= value <= high:
        raise InvalidParameter(f"{name} must be a whole number from {low} to {high:,}, not {shown(value)}.")
    return int(value)


@dataclass(frozen=True)
class Weights:
    """How much each part counts; each 0 to 10."""

    recency: float = 0.25
    importance: float = 0.25
    relevancy: float = 1.0

    def __post_init__(self) -> None:
        for name in ("recency", "importance", "relevancy"):
            object.__setattr__(self, name, in_range(f"The {name} weight", getattr(self, name), 0, 10))


class Measure(StrEnum):
    """How relevancy is measured: by vectors alone, or also by words, names, dates and neighbours.

    By vectors it is 1 / (1 + distance): the squared Euclidean one, Chroma's default, or the cosine distance.
    """

    SIMILARITY = "similarity"
    COSINE = "cosine"
    HYBRID = "hybrid"


class Seats(StrEnum):
    """How the seats of an answer are filled: tier by tier while it is short, or with the best of all tiers together."""

    CASCADE = "cascade"
    RANKING = "ranking"


class Passing(StrEnum):
    """What has to exceed the threshold: the score, or the confidence that memory holds an answer."""

    SCORE = "score"
    CONFIDENCE = "confidence"


@dataclass(frozen=True)
class Scoring:
    """Weights, decay k of recency per hour (0 < k < 1) and its form, measure of relevancy, seats, and what passes.

    With ``normalise`` each part is scaled to 0..1 by min and max over the tier before it is weighed, as in Park
    et al. 2023 (arXiv 2304.03442, section 4.1); a part that is the same everywhere counts 0.5. With the ranking, the
    scaling is over STM and LTM together.
    """

    weights: Weights = Weights()
    decay: float = 0.99
    measure: Measure = Measure.SIMILARITY
    normalise: bool = False
    seats: Seats = Seats.CASCADE
    """The cascade is the only rule that older settings and queries knew."""
    decay_form: DecayForm = DecayForm.EXPONENTIAL
    passing: Passing = Passing.SCORE
    """The score is what was compared before confidence existed, and still is by similarity, which has no fitted one."""

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Weights):
            raise InvalidParameter("'weights' must be Weights(recency, importance, relevancy).")
        object.__setattr__(self, "decay", in_range("The decay", self.decay, 0, 1, open_ends=True))
        try:
            object.__setattr__(self, "measure", Measure(self.measure))
        except ValueError as error:
            raise InvalidParameter(there_is_no("measure of relevancy", self.measure, Measure)) from error
        try:
            object.__setattr__(self, "seats", Seats(self.seats))
        except ValueError as error:
            raise InvalidParameter(there_is_no("rule of seats", self.seats, Seats)) from error
        try:
            object.__setattr__(self, "decay_form", DecayForm(self.decay_form))
        except ValueError as error:
            raise InvalidParameter(there_is_no("form of decay", self.decay_form, DecayForm)) from error
        try:
            object.__setattr__(self, "passing", Passing(self.passing))
        except ValueError as error:
            raise InvalidParameter(
                f"There is no kind of threshold {shown(self.passing)}; there are "
                f"{', '.join(Passing)}.{did_you_mean(self.passing, Passing)}"
            ) from error
        if not isinstance(self.normalise, bool):
            raise InvalidParameter(f"'normalise' must be true or false, not {shown(self.normalise)}.")

    @property
    def curve(self) -> Curve:
        """How recency falls with time."""
        return Curve(self.decay, self.decay_form)

    @property
    def confident(self) -> bool:
        """Whether a confidence, 0 to 1, is compared with the threshold."""
        return self.passing is Passing.CONFIDENCE and self.measure is Measure.HYBRID


@dataclass(frozen=True)
class Score:
    """One memory's score with its parts.

    ``recency`` and ``importance`` are ``None`` when the memory has no importance or no time: it is then
    scored by relevancy alone, unweighted. The weighted parts, added in the order of ``parts``, are exactly
    ``total``. ``sub_parts`` are the components of relevancy, by name, where it is measured in more than one way.
    ``confidence``, 0 to 1, is what is compared with the threshold; ``None`` where that is ``total``.
    """

    relevancy: float
    recency: float | None = None
    importance: float | None = None
    weights: Weights = Weights()
    sub_parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    confidence: float | None = None

    @property
    def parts(self) -> dict[str, float]:
        """The weighted parts by name, in the order in which they are added."""
        if self.recency is None or self.importance is None:
            return {"recency": 0.0, "importance": 0.0, "relevancy": self.relevancy}
        return {
            "recency": self.weights.recency * self.recency,
            "importance": self.weights.importance * self.importance,
            "relevancy": self.weights.relevancy * self.relevancy,
        }

    @property
    def total(self) -> float:
        """The score: ``parts``, added one after another; from Python 3.12 on, ``sum`` may differ in the last digit."""
        if self.recency is None or self.importance is None:
            return self.relevancy
        of = self.weights
        return of.recency * self.recency + of.importance * self.importance + of.relevancy * self.relevancy

    @property
    def passing(self) -> float:
        """What has to exceed the threshold."""
        return self.total if self.confidence is None else self.confidence


def recency(last_access: Floats, happened: Floats, now: float, curve: Curve) -> Floats:
    """1 up to 60 minutes after the last access (and for a time in the future), then what the curve leaves.

    Args:
        last_access: shape (n,), Unix seconds; NaN if there is none, which stays NaN.
        happened: when each memory happened, not after its last access, shape (n,), Unix seconds.
        now: Unix seconds.
        curve: the decay and its form.

    Returns:
        shape (n,), 0 to 1. It drops at the 60th minute from 1 to the value for a full hour: the age counts from the
        last access, not from the end of the fresh hour.
    """
    age = now - last_access
    return np.where(age <= FRESH_SECONDS, 1.0, curve.left(np.maximum(age, 0.0), last_access - happened))


def squares(vectors: NDArray[np.float32]) -> Floats:
    """The squared length of each vector of shape (n, d), shape (n,); a row's value does not depend on its position."""
    lengths: Floats = np.square(vectors, dtype=np.float64).sum(axis=1)
    return lengths


def relevancy(vectors: NDArray[np.float32], cue: NDArray[np.float32], lengths: Floats | None = None) -> Floats:
    """1 / (1 + distance), with the squared Euclidean distance, in float64.

    Computed row by row (``vecdot``) and not as a matrix product, whose last bits depend on a row's position:
    equal vectors have equal relevancies, in a part of the rows as in all.

    Args:
        vectors: shape (n, d).
        cue: shape (d,).
        lengths: the result of ``squares`` for the vectors, if it is known.

    Returns:
        shape (n,), above 0 to 1. For unit vectors the distance is 2 - 2 cos, so that an unrelated text
        (cos 0) has 1/3, an equal one 1.
    """
    if not vectors.size:
        return np.full(len(vectors), math.nan)  # rows without vectors have no width either
    wide = cue.astype(np.float64)
    of_cue = float(np.square(wide).sum())
    answer = np.empty(len(vectors))
    room = np.empty((min(_BLOCK, len(vectors)), vectors.shape[1]))
    for start in range(0, len(vectors), _BLOCK):
        rows = slice(start, start + _BLOCK)
        block = vectors[rows]
        exact = room[: len(block)]
        exact[...] = block  # a product of two float32 has no error in float64
        distance = (squares(block) if lengths is None else lengths[rows]) - 2.0 * np.vecdot(exact, wide) + of_cue
        answer[rows] = 1.0 / (1.0 + np.maximum(distance, 0.0))  # rounding may bring a distance below 0
    return answer


def by_cosine(relevancies: Floats) -> Floats:
    """1 / (1 + cosine distance), for unit vectors whose 1 / (1 + squared Euclidean distance) is known.

    The squared distance of unit vectors is twice the cosine distance. Both rank alike; an unrelated text (cos 0) has
    1/2 instead of 1/3, so that relevancy weighs less compared with recency and importance.

    Args:
        relevancies: of any shape, above 0 to 1; NaN stays.
    """
    found: Floats = 2.0 * relevancies / (1.0 + relevancies)
    return found


@dataclass(frozen=True)
class Parts:
    """The parts of n scores as arrays of shape (n,); NaN where a memory is scored by relevancy alone.

    ``confidence`` is ``None`` where the scores themselves have to exceed the threshold.
    """

    recency: Floats
    importance: Floats
    relevancy: Floats
    weights: Weights
    sub_parts: Mapping[str, Floats] = field(default_factory=dict)
    confidence: Floats | None = None

    @property
    def passing(self) -> Floats:
        """Shape (n,): what has to exceed the threshold."""
        return self.totals if self.confidence is None else self.confidence

    @cached_property
    def totals(self) -> Floats:
        """Shape (n,): the same sums, in the same order, as ``Score.total``."""
        return self.totals_by(self.weights.recency, self.weights.importance, self.weights.relevancy)

    def totals_by(self, recency: float, importance: float, relevancy: float) -> Floats:
        """Shape (n,): the totals with other weights."""
        weighted = recency * self.recency + importance * self.importance + relevancy * self.relevancy
        return np.where(np.isnan(weighted), self.relevancy, weighted)

    def taken(self, rows: NDArray[np.intp]) -> Parts:
        """The parts of the given rows, in their order."""
        sub_parts = {name: values[rows] for name, values in self.sub_parts.items()}
        confidence = None if self.confidence is None else self.confidence[rows]
        some = Parts(
            self.recency[rows], self.importance[rows], self.relevancy[rows], self.weights, sub_parts, confidence
        )
        if "totals" in vars(self):  # already added up
            vars(some)["totals"] = self.totals[rows]
        return some

    def score_of(self, row: int) -> Score:
        """The score of one row."""
        recency_, importance = float(self.recency[row]), float(self.importance[row])
        sub_parts = {name: float(values[row]) for name, values in self.sub_parts.items()}
        confidence = None if self.confidence is None else float(self.confidence[row])
        if math.isnan(recency_) or math.isnan(importance):
            return Score(float(self.relevancy[row]), None, None, self.weights, sub_parts, confidence)
        return Score(float(self.relevancy[row]), recency_, importance, self.weights, sub_parts, confidence)


def score(
    relevancies: Floats,
    importance: Floats,
    last_access: Floats,
    happened: Floats,
    now: datetime,
    scoring: Scoring,
    sub_parts: Mapping[str, Floats] = MappingProxyType({}),
    confidence: Floats | None = None,
) -> Parts:
    """The parts of n scores.

    Args:
        relevancies: shape (n,), 0 to 1; NaN for an entry without a vector.
        importance: shape (n,), 0.1 to 1; NaN = unrated.
        last_access: shape (n,), Unix seconds; NaN = timeless.
        happened: when each memory happened, in the same form.
        now: the world's time, timezone-aware.
        scoring: weights, decay, and whether the parts are scaled; ``relevancies`` are measured already.
        sub_parts: the components of the relevancies, each of shape (n,).
        confidence: what has to exceed the threshold, shape (n,); ``None`` = the scores.
    """
    recent = recency(last_access, happened, now.timestamp(), scoring.curve)
    if scoring.normalise:
        whole_rows = ~np.isnan(recent + importance + relevancies)
        recent, importance, relevancies = (_scaled(part, whole_rows) for part in (recent, importance, relevancies))
    return Parts(recent, importance, relevancies, scoring.weights, sub_parts, confidence)


def _scaled(part: Floats, rows: NDArray[np.bool_]) -> Floats:
    """These rows of a part scaled to 0..1 by their min and max, 0.5 where all are equal; other rows are unchanged."""
    if not rows.any():
        return part
    low, high = part[rows].min(), part[rows].max()
    scaled = np.full(len(part), 0.5) if low == high else (part - low) / (high - low)
    return np.where(rows, scaled, part)
