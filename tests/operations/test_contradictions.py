"""What speaks for a contradiction, seen by rules; and the pairs of vectors that are near, all of them."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memory_system.operations.duplicates.contradictions import OPPOSITES, against, statement
from memory_system.operations.duplicates.pairs import near_pairs
from tests.conftest import NOW
from tests.waiting import counted_calls


def reasons(one: str, other: str, *, days: float = 0) -> list[str]:
    return against(statement(one, NOW), statement(other, NOW - timedelta(days=days)))


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("The mill is open on Sundays", "The mill is closed on Sundays", ("open", "closed")),
        ("Tobias returned the brass key", "Tobias has not returned the brass key", ("not",)),
        ("I trust Tobias with the key", "I don't trust Tobias with the key", ("don't",)),
        ("I trust Tobias with the key", "I don’t trust Tobias with the key", ("don’t",)),
        ("Nobody saw the smoke over the field", "Everybody saw the smoke over the field", ("Nobody", "Everybody")),
        ("I lent Tobias three silver coins", "I lent Tobias 5 silver coins", ("three", "5")),
        ("The lighthouse has 112 steps", "The lighthouse has 121 steps", ("112 steps", "121 steps")),
        ("The roof cost a hundred and eighteen pounds", "The roof cost 163 pounds", ("eighteen pounds", "163 pounds")),
        ("Edda has sixty-three hens in the yard", "Edda has sixty-two hens in the yard", ("sixty-three", "sixty-two")),
        ("Juno lives on the third floor", "Juno lives on the fourth floor", ("third", "fourth")),
        ("The ferry leaves at 18:00 from the pier", "The ferry leaves at 19:30 from the pier", ("18:00", "19:30")),
        ("The bell rang at noon", "The bell rang at midnight", ("noon", "midnight")),
        ("The feast begins at 6 pm", "The feast begins at 7 pm", ("6 pm", "7 pm")),
        ("Edda will come to supper on Tuesday", "Edda will come to supper on Thursday", ("Tuesday", "Thursday")),
        ("The harvest feast is on 12 October", "The harvest feast is on 19 October", ("12 October", "19 October")),
        ("The ferry left on Monday evening", "The ferry left on Monday morning", ("evening", "morning")),
        ("The ferry sank last night", "The ferry sank today", ("last night", "today")),
        ("Ines was born in 1996", "Ines was born in 1989", ("1996", "1989")),
        ("We drank tea. Tobias likes rye bread.", "He was tired; Tobias hates rye bread!", ("likes", "hates")),
    ],
)
def test_two_texts_that_cannot_both_be_true_are_told_apart_by_what_differs(
    one: str, other: str, words: tuple[str, ...]
) -> None:
    found = reasons(one, other)
    assert len(found) == 1, found
    assert all(word in found[0] for word in words), found
    assert reasons(other, one), "it is seen from either side"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lent Tobias the key of the tide mill", "I lent the key of the tide mill to Tobias"),
        ("The mill is not open on Sundays", "The mill is closed on Sundays"),
        ("Bought two sacks of flour from Edda", "Bought 2 sacks of flour from Edda"),
        ("The roof cost a hundred and eighteen pounds", "The roof cost 118 pounds"),
        ("Tobias arrived at noon", "Tobias arrived at 12:00"),
        ("The feast begins at 6 o'clock", "The feast begins at 18:00"),
        ("Juno never came to the inn", "Juno did not come to the inn"),
        ("Juno sang at the inn", "Edda did not sing at the harbour"),
        ("Edda gave me three herrings", "Edda gave me four oysters"),
        ("Saw one of the gulls on the pier", "Saw the gulls on the pier"),
        ("", "..."),
    ],
)
def test_what_says_the_same_or_something_else_is_no_contradiction(one: str, other: str) -> None:
    assert reasons(one, other) == []


def test_yesterday_is_the_day_before_it_was_told() -> None:
    text = "Tobias brought the key back yesterday"
    assert reasons(text, text) == []
    assert reasons(text, text, days=2) == [
        "One says “yesterday (26 March 2026)”, the other “yesterday (24 March 2026)”."
    ]
    assert reasons(text, "Tobias brought the key back on 26 March", days=2) == []


def test_days_are_not_compared_where_nobody_knows_when_it_was_told() -> None:
    one, other = "Edda will come to supper on Tuesday", "Edda will come to supper on Thursday"
    assert against(statement(one, None), statement(other, NOW)) == []


def test_opposites_are_mutual() -> None:
    assert all(word in OPPOSITES[against_it] for word, others in OPPOSITES.items() for against_it in others)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_read(one: str, other: str) -> None:
    assert against(statement(one, NOW), statement(one, NOW)) == []
    assert bool(reasons(one, other)) == bool(reasons(other, one))


def test_a_text_twice_as_long_takes_twice_the_work() -> None:
    def work(times: int) -> int:
        long = "Tobias counted 7 gulls, not 8, on Tuesday at 18:00. " * times
        with counted_calls() as calls:
            assert reasons(long, long.replace("7", "9"))
        return len(calls)

    assert work(600) < 2.2 * work(300)


# -- near pairs ----------------------------------------------------------------------------------------


def plainly(vectors: np.ndarray, least: float) -> dict[tuple[int, int], float]:
    """Every pair, one by one."""
    unit = [
        row / np.linalg.norm(row) if np.isfinite(row).all() and row.any() else None for row in vectors.astype(float)
    ]
    return {
        (one, other): float(unit[one] @ unit[other])
        for one in range(len(unit))
        for other in range(one + 1, len(unit))
        if unit[one] is not None and unit[other] is not None and unit[one] @ unit[other] >= least
    }


@given(
    arrays.arrays(
        np.float32, st.tuples(st.integers(0, 12), st.just(3)), elements=st.sampled_from([-1, -0.5, 0, 0.5, 1])
    ),
    st.sampled_from([-0.25, 0.3, 0.61, 0.93]),
)
def test_no_near_pair_is_missed(vectors: np.ndarray, least: float) -> None:
    found = near_pairs(vectors, least, 1000, lambda _done: None)
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert dict(zip(pairs, found.cosines, strict=True)) == pytest.approx(plainly(vectors, least), abs=1e-6)
    assert not found.cut
    assert list(found.cosines) == sorted(found.cosines, reverse=True)


def test_pairs_that_lie_in_different_blocks_are_found_and_rows_without_a_vector_are_not() -> None:
    vectors = np.random.default_rng(1).standard_normal((5000, 16)).astype(np.float32)
    vectors[4990] = vectors[3] * 7
    vectors[2500] = vectors[1500]
    vectors[7] = np.nan
    vectors[8] = 0
    found = near_pairs(vectors, 0.9999, 10, lambda _done: None)
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == {(3, 4990), (1500, 2500)}


def test_of_too_many_pairs_the_most_alike_are_kept() -> None:
    turn = np.linspace(0, np.pi / 2, 300)
    vectors = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    every = near_pairs(vectors, 0.5, 10**6, lambda _done: None)
    some = near_pairs(vectors, 0.5, 50, lambda _done: None)
    assert some.cut
    assert not every.cut
    assert np.allclose(some.cosines, every.cosines[:50], atol=1e-9)


def test_once_as_many_equal_pairs_are_found_as_are_wanted_no_other_is_looked_at() -> None:
    def work(rows: int) -> int:
        with counted_calls() as calls:
            found = near_pairs(np.ones((rows, 8), np.float32), 0.7, 100, lambda _done: None)
        assert len(found.first) == 100
        assert found.cut
        return len(calls)

    assert work(6000) < 1.5 * work(3000)


def test_a_look_that_is_cancelled_ends_at_the_next_block() -> None:
    class Cancelled(Exception):
        pass

    told_of: list[float] = []

    def cancel(done: float) -> None:
        told_of.append(done)
        if done > 0:
            raise Cancelled

    with pytest.raises(Cancelled):
        near_pairs(np.ones((5000, 4), np.float32), 0.9, 10, cancel)
    assert len(told_of) == 2
