"""Why not: every way that is offered recalls the memory, and a grain less of it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import (
    AgentMemory,
    DecayForm,
    Facets,
    Measure,
    MemoryEntry,
    Query,
    Scoring,
    Seats,
    Tier,
    Verdict,
    Weights,
)
from memory_system.core.entry import LIVED
from memory_system.core.times import stamp
from memory_system.errors import EntryNotFound, InvalidParameter
from memory_system.recall.forecast import Asker
from memory_system.recall.rank import Recall
from memory_system.recall.table import Table
from memory_system.recall.what_if import WhatIf
from memory_system.recall.why import MOST_SEATS, RUNS, WITHOUT_THE_WORDS, Lever, Way, ways
from tests.conftest import NOW

CUE = np.array([1, 0, 0], np.float32)
FULL, HALF, THIRD = [1, 0, 0], [0, 0, 0], [0, 1, 0]
"""Vectors whose relevancy for the cue is 1, 1/2 and 1/3."""

Row = tuple[MemoryEntry, list[int] | None]


class Counting(Asker):
    """Counts how often it is asked."""

    runs = 0

    def answer(self, query: Query, what_if: WhatIf | None = None) -> Recall:
        type(self).runs += 1
        return super().answer(query, what_if)


def asker_of(rows: list[Row]) -> Asker:
    tables = {tier: Table() for tier in Tier}
    for entry, vector in rows:
        tables[entry.tier].put(entry, None if vector is None else np.array(vector, np.float32))
    return Asker(tables, {"cue": CUE}, "Mira")


def memory(name: str, vector: list[int] | None = HALF, hours: float | None = None, **fields: object) -> Row:
    when = None if hours is None else NOW - timedelta(hours=hours)
    return MemoryEntry(f"Memory {name}", id=name, timestamp=when, **fields), vector  # type: ignore[arg-type]


def recalled(asker: Asker, query: Query, what_if: WhatIf | None = None) -> set[str]:
    return {hit.entry.id for hit in asker.answer(query, what_if)}


def told(asker: Asker, query: Query, name: str) -> dict[Lever, str]:
    return {way.lever: way.words for way in ways(asker, query, name)}


# -- each lever, by hand ---------------------------------------------------------------------------------


def test_a_memory_just_below_the_threshold_needs_a_lower_one() -> None:
    asker = asker_of([memory("a", HALF)])
    assert told(asker, Query("cue", NOW, threshold=0.62), "a") == {Lever.THRESHOLD: "Lower the threshold to 0.49."}
    assert told(asker, Query("cue", NOW, threshold=0.5), "a") == {Lever.THRESHOLD: "Lower the threshold to 0.49."}


def test_a_fact_needs_a_lower_static_threshold() -> None:
    asker = asker_of([memory("a", THIRD, tier=Tier.STATIC)])
    assert told(asker, Query("cue", NOW), "a") == {Lever.STATIC_THRESHOLD: "Lower the static threshold to 0.33."}


def test_a_memory_beyond_top_k_needs_more_seats() -> None:
    asker = asker_of([memory(name) for name in "abcdefgh"])
    assert told(asker, Query("cue", NOW, top_k=5), "h") == {Lever.TOP_K: "Ask for 8 memories instead of 5."}
    assert told(asker, Query("cue", NOW, top_k=0), "a") == {Lever.TOP_K: "Ask for 1 memory instead of 0."}


def test_more_seats_than_the_page_can_show_are_not_offered() -> None:
    asker = asker_of([memory(f"{number:03}") for number in range(MOST_SEATS + 1)])
    assert told(asker, Query("cue", NOW), "099") == {Lever.TOP_K: "Ask for 100 memories instead of 5."}
    assert told(asker, Query("cue", NOW), "100") == {}


def test_a_fact_beyond_its_seats_needs_a_larger_share_or_fewer_rivals() -> None:
    facts = [memory(f"s{number}", FULL, tier=Tier.STATIC) for number in range(3)]
    asker = asker_of([*facts, *(memory(name) for name in "abcde")])
    assert told(asker, Query("cue", NOW), "s2") == {
        Lever.STATIC_SHARE: "Give static memory 50 % of the seats instead of 40 %.",
        Lever.TOP_K: "Ask for 6 memories instead of 5.",
        Lever.THRESHOLD: "Raise the threshold to 0.50.",
    }


def test_a_memory_that_was_not_reached_needs_stricter_earlier_tiers() -> None:
    asker = asker_of([memory("a", HALF), memory("b", HALF), memory("n", FULL, tier=Tier.LTM)])
    assert told(asker, Query("cue", NOW, top_k=2), "n") == {
        Lever.TOP_K: "Ask for 3 memories instead of 2.",
        Lever.THRESHOLD: "Raise the threshold to 0.50.",
    }


def test_a_memory_of_little_importance_needs_a_higher_rating_or_weight() -> None:
    # 1/3 and nothing of recency; 0.25 * 0.3 of importance: 0.408, and half of 0.7 lacks less than 0.1
    asker = asker_of([memory("a", THIRD, hours=100_000, rating=3)])
    found = told(asker, Query("cue", NOW, threshold=0.5), "a")
    assert found[Lever.RATING] == "Rate it 7 instead of 3."
    assert found[Lever.IMPORTANCE] == "Raise the weight of importance to 0.60."
    assert found[Lever.RELEVANCY] == "Raise the weight of relevancy to 1.30."
    assert found[Lever.THRESHOLD] == "Lower the threshold to 0.40."


def test_an_unrated_memory_needs_the_lowest_rating_that_is_enough() -> None:
    asker = asker_of([memory("a", HALF, hours=0)])
    (way,) = (way for way in ways(asker, Query("cue", NOW, threshold=0.8), "a") if way.lever is Lever.RATING)
    assert (way.value, way.words, way.what_if) == (3, "Rate it 3; it is unrated.", WhatIf("a", 0.3))


def test_a_faded_memory_would_have_been_recalled_earlier() -> None:
    # 1/2 + 0.25 * 0.5 + 0.25 * 0.99^h > 0.7 up to h = log(0.3) / log(0.99) = 119.79 hours
    asker = asker_of([memory("a", HALF, hours=240, rating=5)])
    (way,) = (way for way in ways(asker, Query("cue", NOW, threshold=0.7), "a") if way.lever is Lever.TIME)
    happened = NOW - timedelta(hours=240)
    assert way.value == happened + timedelta(hours=119, minutes=47)
    assert way.words == f"Asked as late as {stamp(way.value)}, it would have been recalled."
    assert way.words.startswith("Asked as late as Sun 22 Mar 2026, 17:47 UTC")


def test_a_memory_is_not_offered_a_time_before_it_happened() -> None:
    asker = asker_of([memory("a", HALF, hours=0.5, rating=5), memory("b", FULL, hours=2, rating=9)])
    assert Lever.TIME not in told(asker, Query("cue", NOW, top_k=1), "a")
    assert told(asker, Query("cue", NOW - timedelta(hours=1), top_k=0), "a") == {
        Lever.TOP_K: "Ask for 2 memories instead of 0."
    }


def test_a_memory_that_was_filtered_out_needs_the_facet_dropped_that_keeps_it_out() -> None:
    asker = asker_of([memory("a", FULL, hours=1, tags=("mill",), rating=3)])
    asked = Facets(tags=("mill",), contains="bread")
    (way,) = ways(asker, Query("cue", NOW, facets=asked), "a")
    assert (way.value, way.words) == (
        Facets(tags=("mill",)),
        WITHOUT_THE_WORDS,
    )
    (way,) = ways(asker, Query("cue", NOW, facets=replace(asked, tags=("inn",))), "a")
    assert (way.value, way.words, way.size) == (Facets(), "Ask without any facets.", 1)
    found = told(asker, Query("cue", NOW, facets=Facets(min_importance=0.6)), "a")
    assert found == {
        Lever.FACETS: "Ask without the range of importance.",
        Lever.RATING: "Rate it 6 instead of 3.",
    }


def test_what_is_recalled_or_has_no_vector_needs_nothing_or_cannot_be_helped() -> None:
    asker = asker_of([memory("a"), memory("b", None)])
    assert ways(asker, Query("cue", NOW), "a") == ways(asker, Query("cue", NOW), "b") == ()
    with pytest.raises(EntryNotFound, match="There is no memory 'c'"):
        ways(asker, Query("cue", NOW), "c")


def test_the_smallest_change_comes_first() -> None:
    asker = asker_of([memory("a", THIRD, hours=100_000, rating=3)])
    found = ways(asker, Query("cue", NOW, threshold=0.5), "a")
    assert found[0].lever is Lever.THRESHOLD
    assert [way.size for way in found] == sorted(way.size for way in found)
    assert all(0 < way.size <= 1 for way in found)


# -- a rating that is only supposed ------------------------------------------------------------------------


def test_a_supposed_rating_is_that_of_the_full_computation_and_changes_nothing() -> None:
    rows = [memory(f"{number:04}", HALF, hours=number % 97, rating=1 + number % 10) for number in range(700)]
    asker = asker_of(rows)
    table = asker.tables[Tier.STM]
    before = {name: column.tobytes() for name, column in table.columns.used(len(table)).items()}
    query = Query("cue", NOW, threshold=0)
    supposed = asker.answer(query, WhatIf("0096", 1.0))
    rated = [(entry.evolve(rating=10) if entry.id == "0096" else entry, vector) for entry, vector in rows]
    assert [(hit.entry.id, hit.score) for hit in supposed] == [
        (hit.entry.id, hit.score) for hit in asker_of(rated).answer(query)
    ]
    assert {name: column.tobytes() for name, column in table.columns.used(len(table)).items()} == before
    assert asker.answer(query, WhatIf("nobody", 1.0)).candidates == asker.answer(query).candidates
    with pytest.raises(InvalidParameter, match="importance"):
        WhatIf("0096", 1.1)


# -- any tables, any query -----------------------------------------------------------------------------------

_rows = st.lists(
    st.tuples(
        st.sampled_from(LIVED),
        st.none() | st.lists(st.integers(-2, 2), min_size=3, max_size=3),
        st.none() | st.sampled_from([1, 3.5, 5, 10]),
        st.none() | st.sampled_from([-1, 0.5, 1, 2, 30, 3000]) | st.integers(0, 30_000).map(lambda n: n / 60),
    ),
    min_size=1,
    max_size=14,
)
_weight = st.sampled_from([0, 0.25, 0.333, 1, 3])
_facets = st.sampled_from([Facets(), Facets(), Facets(min_importance=0.5), Facets(contains="x", tags=("a",))])


@st.composite
def queries(draw: st.DrawFn) -> Query:
    return Query(
        "cue",
        NOW + timedelta(seconds=draw(st.sampled_from([0, 17]))),
        top_k=draw(st.integers(0, 5)),
        threshold=draw(st.sampled_from([0, 1 / 3, 0.35, 0.5, 0.9, 1.5])),
        static_threshold=draw(st.sampled_from([0, 1 / 3, 0.4, 1])),
        static_share=draw(st.sampled_from([0, 0.25, 0.4, 0.5, 1])),
        scoring=Scoring(
            Weights(draw(_weight), draw(_weight), draw(_weight)),
            draw(st.sampled_from([0.5, 0.99])),
            normalise=draw(st.booleans()),
            seats=draw(st.sampled_from(Seats)),
            decay_form=draw(st.sampled_from(DecayForm)),
        ),
        facets=draw(_facets),
        requery=draw(st.sampled_from([0, 0, 2])),
    )


def entries(drawn: list[tuple]) -> list[Row]:
    rows = []
    for number, (tier, vector, rating, hours) in enumerate(drawn):
        when = None if hours is None else NOW - timedelta(hours=hours)
        name = f"{number * 5 % 14:02}"
        told: dict = {}
        if number % 4 == 3:  # a synopsis of the three before it
            told = {"tags": ("synopsis",), "evidence": [f"{one * 5 % 14:02}" for one in range(number - 3, number)]}
        rows.append((MemoryEntry("y", id=name, tier=tier, rating=rating, timestamp=when, **told), vector))
    return rows


def a_grain_less(way: Way, query: Query, entry: MemoryEntry) -> tuple[Query, WhatIf | None] | None:
    """The same lever a grain nearer to where it stands; ``None`` where that is where it stands."""
    grain = {Lever.TOP_K: 1, Lever.STATIC_SHARE: 10, Lever.THRESHOLD: 100, Lever.STATIC_THRESHOLD: 100}
    if way.lever is Lever.RATING:
        assert isinstance(way.value, int)
        towards = 1 if way.value < (entry.rating or 0) else -1
        nearer = way.value + towards
        if nearer == 0 or (entry.rating is not None and (nearer - entry.rating) * towards >= 0):
            return None
        return query, WhatIf(entry.id, nearer / 10)
    if way.lever is Lever.TIME:
        assert isinstance(way.value, datetime)
        nearer_time = way.value + timedelta(minutes=1)
        return (replace(query, now=nearer_time), None) if nearer_time < query.now else None
    if way.lever is Lever.FACETS:
        return None
    assert isinstance(way.value, int | float)
    weight = way.lever.removeprefix("weight of ")
    stands = getattr(query.scoring.weights, weight, None)
    if stands is None:
        stands = getattr(query, way.lever.replace(" ", "_").replace("-", "_"))
    parts = grain.get(way.lever, 20)
    towards = 1 if way.value < stands else -1
    nearer = (round(way.value * parts) + towards) / parts if parts > 1 else way.value + towards
    if (nearer - stands) * towards >= 0:
        return None
    if way.lever.startswith("weight"):
        weights = replace(query.scoring.weights, **{weight: nearer})
        return replace(query, scoring=replace(query.scoring, weights=weights)), None
    return replace(query, **{way.lever.replace(" ", "_").replace("-", "_"): nearer}), None


@settings(deadline=None, max_examples=150)
@given(_rows, queries(), st.integers(0, 13))
def test_every_way_recalls_it_and_a_grain_less_does_not(drawn: list, query: Query, which: int) -> None:
    rows = entries(drawn)
    entry = rows[which % len(rows)][0]
    asker = asker_of(rows)
    Counting.runs = 0
    found = ways(Counting(asker.tables, asker.vectors, asker.agent), query, entry.id)
    assert Counting.runs < RUNS
    if entry.id in recalled(asker, query):
        assert found == ()
    assert len({way.lever for way in found}) == len(found)
    for way in found:
        assert entry.id in recalled(asker, way.query, way.what_if), way
        less = a_grain_less(way, query, entry)
        assert less is None or entry.id not in recalled(asker, *less), way
        if isinstance(way.value, datetime):
            assert entry.timestamp is not None
            assert entry.timestamp <= way.value < query.now
            assert way.value.second == way.value.microsecond == 0


@settings(deadline=None, max_examples=100)
@given(_rows, queries(), st.integers(0, 13))
def test_the_nearest_threshold_share_and_weight_are_found(drawn: list, query: Query, which: int) -> None:
    query = replace(query, requery=0)
    rows = entries(drawn)
    name = rows[which % len(rows)][0].id
    asker = asker_of(rows)
    candidate = asker.explain(query).candidates.of(name)
    assert candidate is not None
    if candidate.verdict in (Verdict.RECALLED, Verdict.NO_VECTOR, Verdict.FILTERED_OUT):
        return
    found = {way.lever: way.value for way in ways(asker, query, name)}
    weights = query.scoring.weights
    tried: dict[Lever, tuple[float, dict[float, Query]]] = {
        Lever.STATIC_SHARE: (
            query.static_share,
            {step / 10: replace(query, static_share=step / 10) for step in range(11)},
        ),
        Lever.STATIC_THRESHOLD: (
            query.static_threshold,
            {step / 100: replace(query, static_threshold=step / 100) for step in range(101)},
        ),
        Lever.RECENCY: (
            weights.recency,
            {
                step / 20: replace(query, scoring=replace(query.scoring, weights=replace(weights, recency=step / 20)))
                for step in range(61)
            },
        ),
    }
    for lever, (stands, asked) in tried.items():
        able = [value for value, one in asked.items() if value != stands and name in recalled(asker, one)]
        nearest = min((abs(value - stands) for value in able), default=None)
        assert (None if lever not in found else abs(found[lever] - stands)) == nearest  # type: ignore[operator]


# -- through a real agent ------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", list(Measure))
def test_an_agent_says_what_would_recall_a_memory_and_touches_nothing(
    agent: AgentMemory, remember: Callable[..., str], measure: Measure
) -> None:
    for number in range(6):
        remember(f"The mill wheel turned {number} times.", hours_ago=number + 2)
    remember("A brass key hangs in the mill.", id="key", rating=2, hours_ago=300)
    before = agent.stamp, [entry.last_access for entry in agent.entries(Tier.STM)], agent.history()
    scoring = Scoring(Weights(0.25, 0.25, 1), measure=measure)
    explained = agent.explain("The mill wheel", 7, 0.1, static_threshold=1, scoring=scoring)
    needed = replace(explained.query, threshold=explained.candidates.of("key").score.total + 0.005)  # type: ignore[union-attr]
    found = agent.ways(needed, "key")
    assert {Lever.THRESHOLD, Lever.RATING, Lever.TIME, Lever.RELEVANCY} <= {way.lever for way in found}
    assert all("key" in {hit.entry.id for hit in agent.answer(way.query)} for way in found if way.what_if is None)
    assert "key" not in {hit.entry.id for hit in agent.answer(needed)}
    assert agent.ways(explained, "key") == ()
    assert agent.ways("The mill wheel", agent.answer(explained.query).hits[0].entry.id) == ()
    assert (agent.stamp, [entry.last_access for entry in agent.entries(Tier.STM)], agent.history()) == before
    with pytest.raises(EntryNotFound):
        agent.ways("The mill wheel", "nobody")
