"""Measures of a ranking against numbers worked by hand, and their intervals against what is known of means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system.evaluation.metrics import (
    NAMES,
    Estimate,
    estimates,
    measures,
    ndcg_at,
    recall_at,
    reciprocal_rank,
    wrong_at,
)

IDS = [f"m{number}" for number in range(30)]
RANKINGS = st.permutations(IDS)
RIGHT = st.sets(st.sampled_from([*IDS, "never ranked"]), min_size=1, max_size=12)


def test_recall_is_the_share_of_the_right_ones_among_the_first() -> None:
    ranking = ["a", "b", "c", "d", "e", "f"]
    right = {"b", "e", "f", "elsewhere"}
    assert [recall_at(k, ranking, right) for k in (1, 2, 5, 6, 20)] == [0, 0.25, 0.5, 0.75, 0.75]


def test_the_reciprocal_rank_is_of_the_first_right_one() -> None:
    assert reciprocal_rank(["a", "b", "c", "d"], {"c", "d"}) == 1 / 3
    assert reciprocal_rank(["a", "b"], {"z"}) == 0


def test_ndcg_is_as_worked_by_hand() -> None:
    # right in places 2 and 5: 1 / log2(3) + 1 / log2(6) = 0.6309298 + 0.3868528 = 1.0177826
    # three right ones at best: 1 + 0.6309298 + 1 / log2(4) = 2.1309298; 1.0177826 / 2.1309298 = 0.4776237
    assert ndcg_at(10, ["a", "b", "c", "d", "e"], {"b", "e", "x"}) == pytest.approx(0.4776237, abs=1e-6)


def test_ndcg_expects_no_more_right_ones_than_there_are_places() -> None:
    assert ndcg_at(2, ["a", "b", "c"], {"a", "b", "c"}) == 1


def test_what_is_known_to_be_wrong_counts_where_it_stands() -> None:
    assert wrong_at(2, ["a", "b", "c"], {"b", "c"}) == 0.5


def test_a_question_without_a_right_answer_has_no_recall_but_may_go_wrong() -> None:
    assert measures(["a"], (), {"a"})[-1] == 1
    assert all(math.isnan(value) for value in measures(["a"], (), {"a"})[:-1])
    assert math.isnan(measures(["a"], {"a"})[-1])


@given(RANKINGS, RIGHT)
def test_every_measure_lies_between_nothing_and_all(ranking: list[str], right: set[str]) -> None:
    values = dict(zip(NAMES, measures(ranking, right), strict=True))
    assert math.isnan(values.pop("wrong@10"))
    assert all(0 <= value <= 1 for value in values.values())
    assert values["recall@5"] <= values["recall@10"] <= values["recall@20"]


@given(RANKINGS, st.sets(st.sampled_from(IDS), min_size=1, max_size=10))
def test_the_right_ones_first_is_the_best_there_is(ranking: list[str], right: set[str]) -> None:
    best = sorted(ranking, key=lambda one: one not in right)
    values = dict(zip(NAMES, measures(best, right), strict=True))
    assert (values["recall@10"], values["MRR"]) == (1, 1)
    assert values["nDCG@10"] == pytest.approx(1)


@given(RANKINGS, RIGHT, st.integers(1, len(IDS) - 1))
def test_moving_a_right_one_up_never_lowers_a_measure(ranking: list[str], right: set[str], place: int) -> None:
    if ranking[place] not in right:
        return
    better = list(ranking)
    better[place - 1], better[place] = ranking[place], ranking[place - 1]
    for before, after in zip(measures(ranking, right)[:-1], measures(better, right)[:-1], strict=True):
        assert after >= before - 1e-12


@given(RANKINGS, RIGHT, st.randoms())
def test_which_other_ones_stand_between_does_not_matter(ranking: list[str], right: set[str], random: object) -> None:
    others = [one for one in ranking if one not in right]
    random.shuffle(others)  # type: ignore[attr-defined]
    shuffled = [one if one in right else others.pop() for one in ranking]
    assert measures(shuffled, right)[:-1] == measures(ranking, right)[:-1]


def test_the_interval_of_a_coin_is_as_the_normal_approximation_says() -> None:
    tosses = np.array([0.0, 1.0] * 200)[:, None]  # standard error sqrt(.5 * .5 / 400) = .025, so .5 ± 1.96 * .025
    (found,) = estimates(tosses)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.451, abs=0.006)
    assert found.high == pytest.approx(0.549, abs=0.006)


def test_the_interval_is_the_same_every_time() -> None:
    values = np.random.default_rng(1).random((50, 2))
    assert estimates(values) == estimates(values)


def test_a_value_that_is_missing_counts_in_no_mean() -> None:
    found = estimates(np.array([[1.0, math.nan], [0.0, math.nan], [math.nan, math.nan], [1.0, math.nan]]))
    assert found[0].value == pytest.approx(2 / 3)
    assert math.isnan(found[1].value)


def test_no_questions_have_no_mean() -> None:
    (found,) = estimates(np.empty((0, 1)))
    assert math.isnan(found.value)
    assert math.isnan(found.low)


def test_one_question_is_its_own_interval() -> None:
    assert estimates(np.array([[0.25]])) == [Estimate(0.25, 0.25, 0.25)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
@settings(max_examples=30, deadline=None)
def test_the_interval_lies_within_what_was_seen(values: list[float]) -> None:
    (found,) = estimates(np.array(values)[:, None])
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found.value == pytest.approx(sum(values) / len(values))
