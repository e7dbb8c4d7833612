"""The forgetting forecast: a minute before it a memory is recalled, and a minute after it is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import AgentMemory, DecayForm, Measure, MemoryEntry, Query, Scoring, Seats, Tier, Weights
from memory_system.core.decay import Curve
from memory_system.core.entry import LIVED
from memory_system.core.scoring import Score
from memory_system.errors import EntryNotFound, InvalidParameter
from memory_system.recall.forecast import YEAR, Asker, Forecast, forecasts, hours_above
from memory_system.recall.table import Table
from tests.conftest import NOW

CUE = np.array([1, 0, 0], np.float32)
FULL, HALF = [1.0, 0, 0], [0.0, 0, 0]
"""Vectors whose relevancy for the cue is 1 and 1/2."""
MINUTE = timedelta(minutes=1)

Row = tuple[MemoryEntry, list[float] | None]


def asker_of(rows: list[Row]) -> Asker:
    tables = {tier: Table() for tier in Tier}
    for entry, vector in rows:
        tables[entry.tier].put(entry, None if vector is None else np.array(vector, np.float32))
    return Asker(tables, {"cue": CUE}, "Mira")


def memory(name: str, vector: list[float] | None = HALF, hours: float | None = 0, **fields: object) -> Row:
    when = None if hours is None else NOW - timedelta(hours=hours)
    return MemoryEntry(f"Memory {name}", id=name, timestamp=when, **fields), vector  # type: ignore[arg-type]


def recalled(asker: Asker, query: Query, when: datetime) -> set[str]:
    return {hit.entry.id for hit in asker.answer(replace(query, now=when))}


def by_id(found: tuple[Forecast, ...]) -> dict[str, Forecast]:
    return {one.entry_id: one for one in found}


# -- by hand -----------------------------------------------------------------------------------------------


def test_a_memory_leaves_when_its_score_crosses_the_threshold() -> None:
    # 0.25 * 0.99^h + 0.25 * 0.5 + 0.5 > 0.7 up to h = log(0.3) / log(0.99) = 119.796 hours, two of which are over
    (one,) = forecasts(asker_of([memory("a", hours=2, rating=5)]), Query("cue", NOW, threshold=0.7))
    assert one.leaves == NOW + timedelta(hours=117, minutes=48)
    assert (one.because, one.threshold) == ("It falls below the threshold of 0.70.", 0.7)


def test_a_fresh_memory_stays_for_its_fresh_hour() -> None:
    # at the 60th minute recency steps from 1 to 0.5: 0.25 * 0.5 + 0.25 * 0.5 + 0.5 = 0.75
    rows = [memory("a", hours=0.5, rating=5)]
    (one,) = forecasts(asker_of(rows), Query("cue", NOW, threshold=0.8, scoring=Scoring(decay=0.5)))
    assert one.leaves == NOW + timedelta(minutes=31)


def test_what_does_not_age_or_is_relevant_enough_never_leaves() -> None:
    rows = [memory("fact", FULL, tier=Tier.STATIC), memory("a", FULL, rating=5), memory("unrated", FULL, rating=None)]
    found = forecasts(asker_of(rows), Query("cue", NOW, threshold=0.9))
    assert [one.entry_id for one in found] == ["fact", "a", "unrated"]
    assert {(one.leaves, one.because) for one in found} == {
        (None, "It never falls below the threshold, and nothing takes its seat within 365 days.")
    }
    (soon,) = forecasts(
        asker_of([memory("a", hours=2, rating=5)]), Query("cue", NOW, threshold=0.7), timedelta(hours=5)
    )
    assert (soon.leaves, soon.because) == (None, "It stays for at least 5 hours.")


def test_a_fresh_memory_is_overtaken_by_an_important_one_as_it_fades() -> None:
    # 0.25 * 0.99^h + 0.05 falls below 0.25 * 0.99^(h + 100) + 0.175: 0.25 * 0.634 * 0.99^h < 0.125
    rows = [memory("fresh", rating=2), memory("deep", hours=100, rating=7)]
    query = Query("cue", NOW, top_k=1, threshold=0.1)
    (one,) = forecasts(asker_of(rows), query)
    hours = math.log(0.5 / (1 - 0.99**100)) / math.log(0.99)
    assert one.because == "It is overtaken by “Memory deep”."
    assert one.leaves is not None
    assert abs(one.leaves - NOW - timedelta(hours=hours)) <= MINUTE


def test_the_curve_is_the_score_over_time_from_now_to_the_horizon() -> None:
    query = Query("cue", NOW.astimezone(timezone(timedelta(hours=2))), threshold=0.7)
    asker = asker_of([memory("a", hours=2, rating=5)])
    (one,) = forecasts(asker, query, timedelta(days=30))
    times = [when for when, _ in one.curve]
    assert (times[0], times[-1]) == (NOW, NOW + timedelta(days=30))
    assert times == sorted(set(times))
    assert 30 < len(times) <= 42
    assert all(when.tzinfo == query.now.tzinfo for when in times)
    for when, score in one.curve:
        candidate = asker.explain(replace(query, now=when)).candidates.of("a")
        assert candidate is not None
        assert score == candidate.score.total


def test_what_a_second_round_found_leaves_with_what_led_to_it() -> None:
    # by way of the first, 5/7 * 0.8 + 0.25 never falls below 0.75; by itself 0.41 + 0.25 does after 102 hours
    rows = [memory("first", [0.8, 0.6, 0], hours=2, rating=1), memory("led", [0.28, 0.96, 0], hours=2, rating=10)]
    found = by_id(forecasts(asker_of(rows), Query("cue", NOW, threshold=0.75, requery=1)))
    assert found["first"].because == "It falls below the threshold of 0.75."
    assert found["led"].because == "“Memory first” no longer leads to it."
    assert found["led"].leaves == found["first"].leaves
    assert found["first"].leaves is not None
    assert found["first"].leaves - NOW > timedelta(hours=300)


@pytest.mark.parametrize("horizon", [timedelta(seconds=59), timedelta(days=40_000), "a year"])
def test_a_horizon_that_is_none_is_refused(horizon: timedelta) -> None:
    with pytest.raises(InvalidParameter, match="from one minute to 36,525 days"):
        forecasts(asker_of([]), Query("cue", NOW), horizon)


def test_a_horizon_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="year 9999"):
        forecasts(asker_of([]), Query("cue", datetime(9999, 6, 1, tzinfo=UTC)))
    assert forecasts(asker_of([]), Query("cue", NOW), MINUTE) == ()


# -- the closed form ---------------------------------------------------------------------------------------

_part = st.floats(0, 1)
_weights = st.builds(Weights, *[st.sampled_from([0, 0.05, 0.25, 1, 3])] * 3)


@given(_part, _part, _weights, st.floats(0, 3), st.floats(0.5, 0.999), st.sampled_from(DecayForm))
def test_the_closed_form_is_where_the_score_meets_the_threshold(
    importance: float, relevancy: float, weights: Weights, threshold: float, decay: float, form: DecayForm
) -> None:
    curve, learnt = Curve(decay, form), 100.0

    def at(hours: float) -> float:
        recent = 1.0 if hours <= 1 else float(curve.left(np.array([3600 * hours]), np.array([learnt]))[0])
        return Score(relevancy, recent, importance, weights).total

    hours = hours_above(Score(relevancy, 0.5, importance, weights), threshold, curve, learnt)
    if math.isinf(hours):
        assert at(10_000) >= threshold - 1e-12
    elif hours == 0:
        assert at(0) <= threshold + 1e-12
    else:
        assert at(1.0) >= threshold - 1e-12
        assert at(hours * 0.999) >= threshold - 1e-9
        assert at(max(hours, 1) * 1.001) <= threshold + 1e-9


# -- any tables, any query -----------------------------------------------------------------------------------

_rows = st.lists(
    st.tuples(
        st.sampled_from(LIVED),
        st.none() | st.lists(st.integers(-2, 2), min_size=3, max_size=3),
        st.none() | st.sampled_from([1, 5, 10]),
        st.none() | st.sampled_from([-1, 0.5, 1, 2, 30, 3000]) | st.integers(0, 200).map(lambda n: n / 60),
    ),
    min_size=1,
    max_size=12,
)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    weight = st.sampled_from([0, 0.25, 1, 3])
    return Query(
        "cue",
        NOW + timedelta(seconds=draw(st.sampled_from([0, 17, 59]))),
        top_k=draw(st.integers(0, 6)),
        threshold=draw(st.sampled_from([0, 1 / 3, 0.35, 0.5, 0.9, 1.5])),
        static_share=draw(st.sampled_from([0, 0.4, 1])),
        scoring=Scoring(
            Weights(draw(weight), draw(weight), draw(weight)),
            draw(st.sampled_from([0.5, 0.9, 0.99, 0.999])),
            normalise=draw(st.booleans()),
            seats=draw(st.sampled_from(Seats)),
            decay_form=draw(st.sampled_from(DecayForm)),
        ),
        requery=draw(st.sampled_from([0, 0, 2])),
    )


def entries(drawn: list[tuple]) -> list[Row]:
    rows = []
    for number, (tier, vector, rating, hours) in enumerate(drawn):
        when = None if hours is None else NOW - timedelta(hours=hours)
        told: dict = {}
        if number % 4 == 3:  # a synopsis of the three before it
            told = {"tags": ("synopsis",), "evidence": [f"{one * 5 % 12:02}" for one in range(number - 3, number)]}
        entry = MemoryEntry("y", id=f"{number * 5 % 12:02}", tier=tier, rating=rating, timestamp=when, **told)
        if when is not None and number % 3 == 0:  # has been recalled since it happened
            entry = entry.accessed(when + timedelta(hours=min(number, abs(hours))))
        rows.append((entry, vector))
    return rows


@settings(deadline=None, max_examples=150)
@given(_rows, queries(), st.sampled_from([YEAR, timedelta(days=3), timedelta(minutes=7)]))
def test_a_minute_before_it_leaves_it_is_recalled_and_a_minute_after_it_is_not(
    drawn: list, query: Query, horizon: timedelta
) -> None:
    asker = asker_of(entries(drawn))
    found = forecasts(asker, query, horizon)
    assert [one.entry_id for one in found] == [hit.entry.id for hit in asker.answer(query)]
    for one in found:
        if one.leaves is None:
            end = query.now + horizon
            assert one.entry_id in recalled(asker, query, end) | recalled(asker, query, end + MINUTE)
        else:
            assert query.now < one.leaves <= query.now + horizon
            assert one.entry_id in recalled(asker, query, one.leaves - MINUTE)
            assert one.entry_id not in recalled(asker, query, one.leaves)
            assert one.entry_id not in recalled(asker, query, one.leaves + MINUTE)
        assert one.because.endswith((".", ".”"))
        assert all(math.isfinite(score) for _, score in one.curve)


# -- through a real agent ------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", list(Measure))
def test_an_agent_foretells_what_it_forgets_and_touches_nothing(
    agent: AgentMemory, remember: Callable[..., str], measure: Measure
) -> None:
    for number in range(6):
        remember(f"The mill wheel turned {number} times.", id=f"w{number}", hours_ago=number + 2)
    remember("A brass key hangs in the mill.", id="key", rating=2, hours_ago=300)
    before = agent.stamp, [entry.last_access for entry in agent.entries(Tier.STM)], agent.history()
    scoring = Scoring(Weights(0.5, 0.25, 1), measure=measure)
    explained = agent.explain("The mill wheel", 3, 0.1, static_threshold=1, scoring=scoring)
    recall = agent.explain(
        "The mill wheel", 3, explained.hits[0].score.total - 0.1, static_threshold=1, scoring=scoring
    )
    found = agent.forecast(recall)
    assert found
    assert found == agent.forecast(recall.query)
    for one in found:
        assert one.leaves is not None
        for when, held in ((one.leaves - MINUTE, True), (one.leaves + MINUTE, False)):
            answered = {hit.entry.id for hit in agent.answer(replace(recall.query, now=when))}
            assert (one.entry_id in answered) is held
    assert (agent.stamp, [entry.last_access for entry in agent.entries(Tier.STM)], agent.history()) == before


def test_a_memory_is_foretold_for_each_cue_that_recalls_it(agent: AgentMemory, remember: Callable[..., str]) -> None:
    remember("A brass key hangs in the mill.", id="key", rating=2, hours_ago=30)
    remember("It rained on the quay.", id="rain", hours_ago=1)
    agent.configure(scoring=Scoring(), threshold=0.8, static_threshold=1.0)
    stamp = agent.stamp
    cues = ["A brass key in the mill", "Rain on the quay", "Where does the brass key hang?"]
    found = agent.retrieval.forecast_of("key", cues)
    assert [query.cue for query, _ in found] == [cues[0], cues[2]]
    assert all(one.entry_id == "key" and one in agent.forecast(query) for query, one in found)
    assert agent.retrieval.forecast_of("key", []) == ()
    assert agent.stamp == stamp
    with pytest.raises(EntryNotFound):
        agent.retrieval.forecast_of("nobody", cues)
