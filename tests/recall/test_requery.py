"""The second round: what the best hits lead to fills the seats left free, and never takes one."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import MemoryEntry, Query, Scoring, Seats, Tier, Weights
from memory_system.recall.rank import answer
from memory_system.recall.table import Table
from tests.conftest import NOW

CUE = np.array([1, 0, 0], np.float32)
RELEVANCY = Scoring(Weights(0, 0, 1))


def near(angle: float) -> np.ndarray:
    """A unit vector at this angle from the cue, in degrees."""
    return np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle)), 0], np.float32)


def tables(**angles: float) -> dict[Tier, Table]:
    """Long-term memories by the angle of their vectors."""
    held = {tier: Table() for tier in Tier}
    for name, angle in angles.items():
        entry = MemoryEntry(f"Memory {name}", id=name, tier=Tier.LTM, rating=5, timestamp=NOW - timedelta(days=1))
        held[Tier.LTM].put(entry, near(angle))
    return held


def test_what_a_hit_leads_to_takes_the_free_seats_and_says_by_which_path() -> None:
    held = tables(first=10, second=40, far=170)
    query = Query("cue", NOW, top_k=3, threshold=0.7, scoring=RELEVANCY)
    assert [hit.entry.id for hit in answer(query, CUE, held, "Mira", explain=False)] == ["first"]
    again = Query("cue", NOW, top_k=3, threshold=0.7, scoring=RELEVANCY, requery=1)
    hits = answer(again, CUE, held, "Mira", explain=False).hits
    assert [(hit.entry.id, hit.rank, hit.via) for hit in hits] == [("first", 1, ""), ("second", 1, "first")]
    # the path is no stronger than its first step: the relevancy of the hit times the cosine between the two
    assert np.isclose(hits[1].score.relevancy, hits[0].score.relevancy * float(near(10) @ near(40)), atol=1e-6)
    assert "Found by way of “Memory first”" in hits[1].because
    assert answer(again, CUE, held, "Mira", explain=True).hits == hits
    just = Query("cue", NOW, top_k=3, threshold=hits[1].score.total, scoring=RELEVANCY, requery=1)
    assert [hit.entry.id for hit in answer(just, CUE, held, "Mira", explain=False)] == ["first"], "it has to exceed it"


@settings(max_examples=60, deadline=None)
@given(
    angles=st.lists(st.floats(0, 180), min_size=1, max_size=25),
    top_k=st.integers(0, 8),
    requery=st.integers(0, 5),
    threshold=st.sampled_from([0.0, 0.4, 0.7, 0.95]),
)
def test_the_first_round_keeps_its_answer_and_explain_agrees(
    angles: list[float], top_k: int, requery: int, threshold: float
) -> None:
    held = tables(**{f"m{number:02d}": angle for number, angle in enumerate(angles)})
    plain = Query("cue", NOW, top_k=top_k, threshold=threshold, scoring=RELEVANCY)
    asked = Query("cue", NOW, top_k=top_k, threshold=threshold, scoring=RELEVANCY, requery=requery)
    first = answer(plain, CUE, held, "Mira", explain=False).hits
    both = answer(asked, CUE, held, "Mira", explain=False).hits
    explained = answer(asked, CUE, held, "Mira", explain=True)
    assert both[: len(first)] == first
    assert explained.hits == both
    assert len(both) <= top_k
    assert len({one.entry.id for one in explained.candidates}) == len(explained.candidates) == len(angles)
    assert all(hit.via in {one.entry.id for one in first} for hit in both[len(first) :])
    assert [one.recalled for one in explained.candidates] == [True] * len(both) + [False] * (len(angles) - len(both))
    for one in explained.candidates:
        assert explained.candidates.of(one.entry.id) == one


def test_under_the_ranking_a_second_round_scales_its_parts_over_both_tiers_as_the_first_does() -> None:
    held = tables(first=10, second=40, far=170)
    for number, rating in enumerate([6, 9]):
        name = f"recent{number}"
        entry = MemoryEntry(f"Memory {name}", id=name, tier=Tier.STM, rating=rating, timestamp=NOW)
        held[Tier.STM].put(entry, near(170))
    scoring = Scoring(Weights(0, 0.5, 1), normalise=True, seats=Seats.RANKING)
    query = Query("cue", NOW, top_k=3, threshold=0.7, scoring=scoring, requery=1)
    plain = answer(dataclasses.replace(query, requery=0), CUE, held, "Mira", explain=True).candidates
    hits = answer(query, CUE, held, "Mira", explain=False).hits
    assert [(hit.entry.id, hit.via) for hit in hits] == [("first", ""), ("second", "first")]
    assert [hit.score.importance for hit in hits] == [0, 0], (
        "of all that was lived through they are the least important"
    )
    assert [hit.score.importance for hit in hits] == [
        one.score.importance for hit in hits if (one := plain.of(hit.entry.id)) is not None
    ]
