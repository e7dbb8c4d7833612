"""The score against numbers worked by hand, and its printed parts against its total."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import PRESETS, DecayForm, Score, Scoring, Seats, Weights
from memory_system.core.decay import MOST_LEARNT, Curve
from memory_system.core.scoring import Parts, in_range, recency, relevancy, score, whole
from memory_system.errors import InvalidParameter

NOW = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
NAN = math.nan


def one(
    *,
    relevancy: float = 0.5,
    importance: float = 0.7,
    minutes_ago: float = 0,
    scoring: Scoring = PRESETS["classic"].scoring,
) -> Score:
    accessed = NOW.timestamp() - 60 * minutes_ago
    return score(
        np.array([relevancy]), np.array([importance]), np.array([accessed]), np.array([accessed]), NOW, scoring
    ).score_of(0)


def test_the_classic_weights_are_a_quarter_a_quarter_and_one() -> None:
    assert PRESETS["classic"].scoring == Scoring(Weights(recency=0.25, importance=0.25, relevancy=1.0), decay=0.99)


@pytest.mark.parametrize(
    ("minutes_ago", "total"),
    [
        (0, 0.925),  # 0.25 * 1 + 0.25 * 0.7 + 1 * 0.5 = 0.25 + 0.175 + 0.5
        (59, 0.925),  # still fresh
        (60, 0.925),  # the 60th minute is fresh
        (61, 0.9224585458),  # 0.99 ** (61 / 60) = 0.9898341834; 0.25 * that = 0.2474585458; + 0.175 + 0.5
        (120, 0.920025),  # 0.99 ** 2 = 0.9801; 0.25 * 0.9801 = 0.245025; + 0.175 + 0.5
        (600, 0.9010955188),  # 0.99 ** 10 = 0.9043820750; 0.25 * that = 0.2260955188; + 0.175 + 0.5
        (-30, 0.925),  # half an hour in the future is fresh
        (-60 * 24 * 365, 0.925),  # and so is a year
    ],
)
def test_the_classic_score_is_as_worked_by_hand(minutes_ago: float, total: float) -> None:
    assert one(minutes_ago=minutes_ago).total == pytest.approx(total, abs=1e-10)


def test_recency_counts_from_the_last_access_and_not_from_the_end_of_the_fresh_hour() -> None:
    ages = np.array([0.0, 3600.0, 3600.5, 7200.0])
    curve = recency(NOW.timestamp() - ages, NOW.timestamp() - ages, NOW.timestamp(), Curve(0.5))
    assert curve.tolist() == pytest.approx([1, 1, 0.5, 0.25], abs=1e-4)  # 0.5 ** 1.00014, 0.5 ** 2


def left(hours: float, form: DecayForm, *, learnt: float = 0) -> float:
    """Of recency, so many hours after the last access, with a half-life of one hour."""
    accessed = np.array([NOW.timestamp() - 3600 * hours])
    return float(recency(accessed, accessed - 3600 * learnt, NOW.timestamp(), Curve(0.5, form))[0])


@pytest.mark.parametrize(
    ("form", "hours", "learnt", "recent"),
    [
        (DecayForm.POWER, 0.5, 0, 1),  # fresh
        (DecayForm.POWER, 1.0001, 0, 0.5),  # (1 + 3) ** -0.5
        (DecayForm.POWER, 5, 0, 0.25),  # (1 + 15) ** -0.5
        (DecayForm.POWER, 33, 100, 0.1),  # (1 + 99) ** -0.5, whatever was learnt
        (DecayForm.SPACED, 4, 0, 0.0625),  # 2 ** -4
        (DecayForm.SPACED, 4, 1, 0.25),  # recalled an hour after it happened: 2 ** (-4 / 2)
        (DecayForm.SPACED, 4, 3, 0.5),  # 2 ** (-4 / 4)
        (DecayForm.SPACED, 100, 10_000, 0.5),  # at most 99 half-lives are added
        (DecayForm.EXPONENTIAL, 4, 3, 0.0625),
    ],
)
def test_each_form_of_decay_is_as_worked_by_hand(form: DecayForm, hours: float, learnt: float, recent: float) -> None:
    assert left(hours, form, learnt=learnt) == pytest.approx(recent, abs=1e-4)


@settings(deadline=None)
@given(
    st.sampled_from(DecayForm),
    st.floats(1e-6, 0.999999),
    st.floats(0, 1e6),
    st.floats(1.1, 1e5),
    st.floats(1, 10),
)
def test_no_form_ever_rises_with_age_and_recalls_never_weaken(
    form: DecayForm, decay: float, learnt: float, hours: float, older: float
) -> None:
    def at(hours: float, learnt: float) -> float:
        return float(Curve(decay, form).left(np.array([3600 * hours]), np.array([3600 * learnt]))[0])

    assert 0 <= at(hours * older, learnt) <= at(hours, learnt) <= 1
    assert at(hours, 0) <= at(hours, learnt)
    assert at(Curve(decay).half_life, 0) == pytest.approx(0.5)
    if (share := at(hours, learnt)) > 1e-9:
        assert Curve(decay, form).hours_until(share, 3600 * learnt) == pytest.approx(hours, rel=1e-5, abs=1e-5)
    assert at(100 * Curve(decay).half_life, MOST_LEARNT * Curve(decay).half_life) >= (
        0.5 - 1e-9 if form is DecayForm.SPACED else 0
    )


def test_a_form_of_decay_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="there are exponential, power, spaced"):
        Scoring(decay_form="linear")  # type: ignore[arg-type]


def test_a_rule_of_seats_may_be_given_by_its_name() -> None:
    assert Scoring(seats="ranking").seats is Seats.RANKING  # type: ignore[arg-type]


def test_a_very_old_memory_keeps_a_finite_score() -> None:
    assert one(minutes_ago=60 * 24 * 365 * 2000).total == pytest.approx(0.675)  # 0.175 + 0.5, no recency left


def test_other_weights_and_decay_count() -> None:
    scoring = Scoring(Weights(recency=2, importance=0.5, relevancy=3), decay=0.5)
    # 2 * 0.5 ** 3 + 0.5 * 0.4 + 3 * 0.6 = 0.25 + 0.2 + 1.8
    assert one(relevancy=0.6, importance=0.4, minutes_ago=180, scoring=scoring).total == pytest.approx(2.25)


def test_parts_are_scaled_by_their_least_and_greatest_and_what_is_unrated_plays_no_part() -> None:
    relevancies = np.array([0.3, 0.4, 0.7, 0.99])
    importance = np.array([0.2, 0.5, 0.8, NAN])
    fresh = np.full(4, NOW.timestamp())
    parts = score(relevancies, importance, fresh, fresh, NOW, Scoring(Weights(1, 2, 4), normalise=True))
    assert parts.recency.tolist() == [0.5, 0.5, 0.5, 1]  # the same for all three that are scaled
    assert parts.importance[:3].tolist() == pytest.approx([0, 0.5, 1])  # (0.5 - 0.2) / (0.8 - 0.2)
    assert parts.relevancy.tolist() == pytest.approx([0, 0.25, 1, 0.99])  # (0.4 - 0.3) / (0.7 - 0.3)
    assert parts.totals.tolist() == pytest.approx([0.5, 2.5, 6.5, 0.99])  # 0.5 + 2 * 0.5 + 4 * 0.25 = 2.5


def test_where_nothing_is_rated_nothing_is_scaled() -> None:
    parts = score(np.array([0.3, 0.7]), np.full(2, NAN), np.full(2, NAN), np.full(2, NAN), NOW, Scoring(normalise=True))
    assert parts.totals.tolist() == [0.3, 0.7]


def test_without_importance_or_time_relevancy_alone_counts_unweighted() -> None:
    heavy = Scoring(Weights(1, 1, 3))
    unrated = one(relevancy=0.6, importance=NAN, scoring=heavy)
    timeless = one(relevancy=0.6, minutes_ago=NAN, scoring=heavy)
    assert unrated.total == timeless.total == 0.6
    assert unrated.recency is unrated.importance is timeless.recency is None
    assert unrated.parts == {"recency": 0.0, "importance": 0.0, "relevancy": 0.6}


def test_a_weight_of_zero_silences_its_part_but_does_not_unrate() -> None:
    scoring = Scoring(Weights(0, 0, 1))
    assert one(relevancy=0.6, scoring=scoring).total == 0.6
    assert one(relevancy=0.6, scoring=scoring).importance == 0.7


def test_relevancy_is_one_over_one_plus_the_squared_distance() -> None:
    cue = np.array([1, 0], np.float32)
    rows = np.array([[1, 0], [0, 1], [-1, 0], [0.6, 0.8]], np.float32)
    # squared distances 0, 2, 4 and 0.16 + 0.64 = 0.8
    assert relevancy(rows, cue).tolist() == pytest.approx([1, 1 / 3, 1 / 5, 1 / 1.8])


def test_relevancy_of_many_rows_is_that_of_each_alone() -> None:
    drawn = np.random.default_rng(1).standard_normal((2500, 3)).astype(np.float32)
    cue = np.array([1, 2, 3], np.float32)
    wanted = [1 / (1 + sum((float(a) - float(b)) ** 2 for a, b in zip(row, cue, strict=True))) for row in drawn]
    assert relevancy(drawn, cue).tolist() == pytest.approx(wanted, rel=1e-12)


def test_relevancy_of_no_rows_and_of_rows_without_vectors() -> None:
    cue = np.ones(4, np.float32)
    assert relevancy(np.zeros((0, 4), np.float32), cue).shape == (0,)
    assert relevancy(np.zeros((0, 0), np.float32), cue).shape == (0,)
    assert np.isnan(relevancy(np.zeros((2, 0), np.float32), cue)).tolist() == [True, True]


_shares = st.floats(0, 1)
_weights = st.builds(Weights, *[st.floats(0, 10)] * 3)


@settings(deadline=None)  # a busy machine is no failure
@given(_shares, st.none() | _shares, st.none() | st.floats(0.1, 1), _weights)
def test_the_parts_add_up_to_the_total_exactly(
    relevant: float, recent: float | None, important: float | None, weights: Weights
) -> None:
    made = Score(relevant, recent, important, weights)
    assert list(made.parts) == ["recency", "importance", "relevancy"]
    assert reduce(add, made.parts.values()) == made.total


@settings(deadline=None)  # a busy machine is no failure
@given(
    st.lists(st.tuples(_shares, st.just(NAN) | _shares, st.just(NAN) | st.floats(0.1, 1)), min_size=1, max_size=20),
    _weights,
)
def test_many_scores_at_once_equal_each_score_alone(rows: list[tuple[float, float, float]], weights: Weights) -> None:
    relevant, recent, important = (np.array(column) for column in zip(*rows, strict=True))
    parts = Parts(recent, important, relevant, weights)
    assert parts.totals.tolist() == [parts.score_of(row).total for row in range(len(rows))]


@pytest.mark.parametrize("part", ["recency", "importance", "relevancy"])
@pytest.mark.parametrize("value", [-0.01, 10.01, NAN, math.inf, 10**400, True, "1", None])
def test_a_weight_out_of_range_is_refused_with_the_range(part: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match=rf"The {part} weight .* from 0 to 10"):
        Weights(**{part: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, 1, -1, 1.5, NAN, math.inf, False, "0.5"])
def test_a_decay_that_is_not_between_0_and_1_is_refused_with_the_range(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"The decay .* between 0 and 1"):
        Scoring(decay=value)  # type: ignore[arg-type]


def test_weights_that_are_no_weights_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="must be Weights"):
        Scoring((0.25, 0.25, 1))  # type: ignore[arg-type]


def test_a_number_that_no_float_can_hold_is_refused_in_a_short_sentence() -> None:
    with pytest.raises(InvalidParameter, match="The recency weight is a number of over 300 digits; it must be from 0"):
        Weights(recency=10**400)


def test_the_ends_of_a_range_are_taken_and_become_floats() -> None:
    assert Weights(0, 10, np.float32(1)) == Weights(0.0, 10.0, 1.0)
    assert isinstance(in_range("It", 3, 0, 10), float)
    assert whole("k", np.int64(500), 2, 500) == 500


@pytest.mark.parametrize("value", [1, 501, 2.0, True, "3", None])
def test_what_is_no_whole_number_in_range_is_refused_with_the_range(value: object) -> None:
    with pytest.raises(InvalidParameter, match="k must be a whole number from 2 to 500"):
        whole("k", value, 2, 500)
