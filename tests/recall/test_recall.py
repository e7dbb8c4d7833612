"""Recall: which memories answer, in which order, and what is said of those that do not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import (
    DecayForm,
    Facets,
    Measure,
    MemoryEntry,
    Query,
    Recall,
    Scoring,
    Seats,
    Tier,
    Verdict,
    Weights,
)
from memory_system.core import DECAYING
from memory_system.core.decay import Curve
from memory_system.core.entry import LIVED
from memory_system.core.scoring import recency
from memory_system.recall.rank import FEW, answer
from memory_system.recall.seats import seats_of
from memory_system.recall.table import Table
from memory_system.recall.top_k import top_rows
from tests.conftest import NOW

CUE = np.array([1, 0, 0], np.float32)
FULL, HALF, THIRD = [1, 0, 0], [0, 0, 0], [0, 1, 0]
"""Vectors whose relevancy for the cue is 1, 1/2 and 1/3, scored alone."""

Rows = list[tuple[str, list[int] | None]]


def tables_of(**tiers: Rows) -> dict[Tier, Table]:
    """Tables of unrated entries, given as (id, vector)."""
    tables = {tier: Table() for tier in Tier}
    for tier, rows in tiers.items():
        for name, vector in rows:
            entry = MemoryEntry(f"Memory {name}", id=name, tier=Tier(tier))
            tables[entry.tier].put(entry, None if vector is None else np.array(vector, np.float32))
    return tables


def ask(tables: Mapping[Tier, Table], *, explain: bool = False, **parameters: object) -> Recall:
    return answer(Query("cue", NOW, **parameters), CUE, tables, "Mira", explain=explain)  # type: ignore[arg-type]


def ids(recall: Recall) -> list[str]:
    return [hit.entry.id for hit in recall]


def verdicts(recall: Recall) -> dict[str, tuple[Verdict, str]]:
    return {one.entry.id: (one.verdict, one.because) for one in recall.candidates}


# -- ranks, thresholds, seats --------------------------------------------------------------------------


RANKING = Scoring(Weights(0, 0, 1), seats=Seats.RANKING)


def test_the_ranking_gives_the_seats_to_the_best_of_all_tiers() -> None:
    tables = tables_of(static=[("s", HALF)], stm=[("m", HALF), ("x", THIRD)], ltm=[("n1", FULL), ("n2", FULL)])
    asked = {"top_k": 3, "threshold": 0.3, "scoring": RANKING}
    for explain in (False, True):
        assert ids(ask(tables, explain=explain, **asked)) == ["n1", "n2", "m"]
    told = verdicts(ask(tables, explain=True, **asked))
    assert told["n1"] == (Verdict.RECALLED, "Number 1 of all tiers in one ranking, 0.70 above the threshold.")
    assert told["m"] == (Verdict.RECALLED, "Number 3 of all tiers in one ranking, 0.20 above the threshold.")
    assert told["x"] == (
        Verdict.BEYOND_TOP_K,
        "All 3 seats of the one ranking went to higher scores; the last is 0.17 higher.",
    )


def test_a_memory_that_ties_for_the_last_seat_is_not_said_to_have_a_lower_score() -> None:
    tables = tables_of(stm=[("b", HALF)], ltm=[("a", HALF)])
    told = verdicts(ask(tables, explain=True, top_k=1, threshold=0.3, scoring=RANKING))
    assert told["b"] == (
        Verdict.BEYOND_TOP_K,
        "All 1 seats of the one ranking went to higher scores, or to equal ones whose ids come first.",
    )


def test_with_no_seats_at_all_a_fact_is_not_said_to_be_beyond_its_share() -> None:
    tables = tables_of(static=[("s", FULL)], ltm=[("n", FULL)])
    for scoring in (Scoring(Weights(0, 0, 1)), RANKING):
        told = verdicts(ask(tables, explain=True, top_k=0, threshold=0.3, scoring=scoring))
        assert told["s"] == (Verdict.BEYOND_TOP_K, "Number 1 of static memory, and 0 had a seat.")


def test_static_memory_has_its_own_threshold_and_its_share_of_the_seats_in_the_ranking_too() -> None:
    tables = tables_of(static=[(f"s{n}", FULL) for n in range(4)], ltm=[("n1", HALF), ("n2", HALF), ("n3", HALF)])
    asked = {"top_k": 3, "threshold": 0.3, "static_threshold": 0.4, "static_share": 0.4, "scoring": RANKING}
    assert ids(ask(tables, **asked)) == ["s0", "s1", "n1"]
    told = verdicts(ask(tables, explain=True, **asked))
    assert told["s1"] == (
        Verdict.RECALLED,
        "Number 2 of all tiers in one ranking, 0.60 above its own threshold; static memory has at most 2 of 3 seats.",
    )
    assert told["s2"] == (
        Verdict.BEYOND_SEATS,
        "Number 3 of static memory, which takes 2 of 3 seats while short-term and long-term memories wait.",
    )
    assert ids(ask(tables, **asked | {"static_threshold": 1})) == ["n1", "n2", "n3"]


@pytest.mark.parametrize("order", ["abcd", "dcba", "cadb"])
def test_equal_scores_stand_in_the_order_of_their_ids(order: str) -> None:
    tables = tables_of(stm=[(name, HALF) for name in order])
    assert ids(ask(tables, top_k=3)) == ["a", "b", "c"]
    explained = ask(tables, top_k=3, explain=True)
    assert [(one.entry.id, one.rank) for one in explained.candidates] == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]


def test_a_score_that_only_meets_the_threshold_is_not_recalled_and_says_so() -> None:
    recall = ask(tables_of(stm=[("a", HALF), ("b", FULL)]), threshold=0.5, explain=True)
    assert ids(recall) == ["b"]
    assert verdicts(recall)["a"] == (
        Verdict.BELOW_THRESHOLD,
        "Its score is the threshold of 0.50 exactly; it has to be above.",
    )


def test_where_nothing_passes_the_answer_says_what_came_nearest_and_by_how_much_it_missed() -> None:
    tables = tables_of(static=[("s", THIRD)], stm=[("m", THIRD)], ltm=[("n", HALF)])
    for scoring in (Scoring(Weights(0, 0, 1)), RANKING):
        for explain in (False, True):
            asked = {"threshold": 0.6, "static_threshold": 0.9, "scoring": scoring, "explain": explain}
            nearest = ask(tables, **asked).nearest
            assert nearest is not None
            assert (nearest.entry.id, nearest.verdict) == ("n", Verdict.BELOW_THRESHOLD)
            assert (
                nearest.because == "It came nearest: 0.10 below the threshold of 0.60; it is scored by relevancy alone."
            )
            assert ask(tables, threshold=0.4, scoring=scoring, explain=explain).nearest is None
    assert ask(tables_of(), threshold=0.4).nearest is None


def test_static_memory_takes_only_its_reserved_seats_while_others_wait() -> None:
    static: Rows = [(f"s{n}", FULL) for n in range(9)]
    tables = tables_of(static=static, stm=[("m1", HALF), ("m2", HALF)], ltm=[("n1", HALF), ("n2", HALF)])
    assert ids(ask(tables, top_k=5)) == ["s0", "s1", "m1", "m2", "n1"]
    assert ids(ask(tables, top_k=5, static_share=0)) == ["s0", "m1", "m2", "n1", "n2"]
    assert ids(ask(tables, top_k=4, static_share=1)) == ["s0", "s1", "s2", "s3"]
    assert ids(ask(tables, top_k=3, static_share=0.4)) == ["s0", "s1", "m1"]  # 1.2 seats are two


def test_static_memory_gets_the_free_seats_when_nothing_else_answers() -> None:
    tables = tables_of(static=[(f"s{n}", FULL) for n in range(9)], stm=[("m1", THIRD)])
    assert ids(ask(tables, top_k=5)) == ["s0", "s1", "s2", "s3", "s4"]
    assert ids(ask(tables, top_k=5, threshold=0.3)) == ["s0", "s1", "s2", "s3", "m1"]


def test_static_memory_has_a_threshold_of_its_own() -> None:
    tables = tables_of(static=[("s", HALF)], stm=[("m", HALF)])
    assert ids(ask(tables, static_threshold=0.5, threshold=0.4)) == ["m"]
    assert ids(ask(tables, static_threshold=0.4, threshold=0.5)) == ["s"]


def test_stm_is_asked_before_ltm_however_well_ltm_would_answer() -> None:
    tables = tables_of(stm=[("m1", HALF), ("m2", HALF)], ltm=[("n1", FULL)])
    assert ids(ask(tables, top_k=2)) == ["m1", "m2"]
    assert ids(ask(tables, top_k=3)) == ["m1", "m2", "n1"]


@pytest.mark.parametrize(("top_k", "found"), [(0, 0), (1, 1), (3, 3), (10_000, 3)])
def test_no_more_are_recalled_than_asked_or_held(top_k: int, found: int) -> None:
    tables = tables_of(static=[("s", FULL)], stm=[("m", FULL)], ltm=[("n", FULL)])
    assert len(ask(tables, top_k=top_k)) == len(ask(tables, top_k=top_k, explain=True)) == found
    assert len(ask(tables, top_k=top_k, explain=True).candidates) == 3


def test_an_empty_memory_answers_nothing() -> None:
    recall = ask(tables_of(), explain=True)
    assert (tuple(recall.candidates), recall.considered, recall.context) == ((), 0, "")


def test_each_reason_is_told_in_a_sentence() -> None:
    tables = tables_of(
        static=[("s1", FULL), ("s2", FULL), ("s3", THIRD), *((f"t{n}", FULL) for n in range(3))],
        stm=[("m1", HALF), ("m2", THIRD), ("m3", None)],
        ltm=[("n1", HALF), ("n2", HALF)],
    )
    told = verdicts(ask(tables, top_k=3, explain=True))
    assert told == {
        "s1": (Verdict.RECALLED, "Number 1 of static memory, 0.60 above the threshold."),
        "s2": (Verdict.RECALLED, "Number 2 of static memory, 0.60 above the threshold."),
        "t0": (
            Verdict.BEYOND_SEATS,
            "Number 3 of static memory, which takes 2 of 3 seats while short-term and long-term memories wait.",
        ),
        "t1": (Verdict.BEYOND_TOP_K, "Number 4 of static memory, and 2 had a seat."),
        "t2": (Verdict.BEYOND_TOP_K, "Number 5 of static memory, and 2 had a seat."),
        "s3": (
            Verdict.BELOW_THRESHOLD,
            "0.07 below the static threshold of 0.40; it is scored by relevancy alone.",
        ),
        "m1": (Verdict.RECALLED, "Number 1 of short-term memory, 0.15 above the threshold."),
        "m2": (Verdict.BELOW_THRESHOLD, "0.02 below the threshold of 0.35; it is scored by relevancy alone."),
        "m3": (Verdict.NO_VECTOR, "It has no vector, so nothing can be said of its relevancy."),
        "n1": (Verdict.NOT_REACHED, "Earlier tiers filled all 3 seats before long-term memory was asked."),
        "n2": (Verdict.NOT_REACHED, "Earlier tiers filled all 3 seats before long-term memory was asked."),
    }


@pytest.mark.parametrize(
    ("vector", "rating", "hours", "weakest"),
    [(FULL, 1, 0, "importance"), (FULL, 10, 5000, "recency"), (THIRD, 10, 0, "relevancy")],
)
def test_a_memory_below_the_threshold_names_its_weakest_part(
    vector: list[int], rating: int, hours: float, weakest: str
) -> None:
    tables = {tier: Table() for tier in Tier}
    entry = MemoryEntry("x", id="a", rating=rating, timestamp=NOW - timedelta(hours=hours))
    tables[Tier.STM].put(entry, np.array(vector, np.float32))
    assert verdicts(ask(tables, threshold=2, explain=True))["a"][1].endswith(f"weakest part: {weakest}.")


def test_recency_counts_from_the_last_access_and_only_where_there_is_a_time() -> None:
    tables = {tier: Table() for tier in Tier}
    for name, hours, accessed in (("old", 100, None), ("renewed", 100, 2), ("timeless", None, 2)):
        entry = MemoryEntry(
            "x",
            id=name,
            rating=5,
            timestamp=None if hours is None else NOW - timedelta(hours=hours),
            last_access=None if accessed is None else NOW - timedelta(hours=accessed),
        )
        tables[Tier.STM].put(entry, np.array(FULL, np.float32))
    scores = {one.entry.id: one.score.recency for one in ask(tables, explain=True).candidates}
    assert scores == {"old": pytest.approx(0.99**100), "renewed": pytest.approx(0.99**2), "timeless": None}


def test_a_store_of_entries_without_vectors_recalls_nothing() -> None:
    assert ids(ask(tables_of(stm=[("a", None), ("b", None)]), threshold=0)) == []


def test_what_only_meets_its_threshold_takes_no_seat_from_others() -> None:
    tables = tables_of(static=[("fact", HALF)], stm=[("a", FULL), ("b", FULL)])
    for explain in (False, True):
        assert ids(ask(tables, top_k=2, static_threshold=0.5, threshold=0.4, explain=explain)) == ["a", "b"]


def test_what_a_facet_leaves_out_is_not_recalled_from_a_small_tier() -> None:
    tables = tables_of(stm=[("plain", FULL)], ltm=[("other", FULL)])
    for tier in DECAYING:
        tables[tier].put(MemoryEntry("x", id=f"odd {tier}", tier=tier, tags=("odd",)), np.array(FULL, np.float32))
    for explain in (False, True):
        assert ids(ask(tables, facets=Facets(tags=("odd",)), explain=explain)) == ["odd stm", "odd ltm"]


def test_only_in_a_large_tier_that_is_not_scaled_scores_are_estimated_first(monkeypatch: pytest.MonkeyPatch) -> None:
    estimated: list[int] = []
    monkeypatch.setattr(
        "memory_system.recall.rank.top_rows",
        lambda table, sought: estimated.append(len(table)) or top_rows(table, sought),
    )
    small = tables_of(
        static=[(f"s{n:03}", THIRD) for n in range(FEW + 1)], stm=[(f"m{n:03}", HALF) for n in range(FEW)]
    )
    large = tables_of(ltm=[(f"m{n:03}", HALF) for n in range(FEW + 1)])
    for scaled in (False, True):
        for tables in (small, large):
            assert ids(ask(tables, top_k=2, scoring=Scoring(normalise=scaled))) == ["m000", "m001"]
    assert estimated == [FEW + 1], "static memory is never so large that it would pay"


@pytest.mark.parametrize(
    ("above", "seats"),
    [
        ((5, 20, 5), (2, 8, 0)),  # a fifth of ten seats is reserved, and STM takes the other eight
        ((5, 3, 9), (2, 3, 5)),
        ((5, 3, 2), (5, 3, 2)),  # STM and LTM leave five seats free
        ((1, 4, 9), (1, 4, 5)),  # a seat that static memory does not fill goes to the others
        ((20, 1, 0), (9, 1, 0)),
        ((0, 0, 3), (0, 0, 3)),
    ],
)
def test_the_seats_of_ten_are_given_out_as_counted_by_hand(above: tuple[int, ...], seats: tuple[int, ...]) -> None:
    query = Query("cue", NOW, top_k=10, static_share=0.2)
    assert tuple(seats_of(query.top_k, query.static_seats, *above).values()) == seats


def test_the_context_of_memories_with_and_without_a_time() -> None:
    tables = tables_of(static=[("fact", FULL)], ltm=[("timeless", FULL)])
    entry = MemoryEntry("Two\nlines", id="dated", tier=Tier.STM, timestamp=NOW - timedelta(hours=2))
    tables[Tier.STM].put(entry, np.array(FULL, np.float32))
    assert ask(tables).context.splitlines() == [
        "What is always true of Mira:",
        "- Memory fact",
        "What Mira remembers (now: Fri 27 Mar 2026, 18:00 UTC):",
        "- [Fri 27 Mar 2026, 16:00 UTC; 2 hours ago] Two lines",
        "- Memory timeless",
    ]


@pytest.mark.parametrize("explain", [True, False])
def test_an_answer_says_how_many_milliseconds_it_took(monkeypatch: pytest.MonkeyPatch, explain: bool) -> None:
    times = [10.0, 10.25]
    monkeypatch.setattr("memory_system.recall.rank.time.perf_counter", lambda: times.pop(0) if times else 11.0)
    assert ask(tables_of(stm=[("a", FULL)]), explain=explain).milliseconds == 250


def test_a_measure_that_takes_more_than_vectors_has_to_be_handed_in() -> None:
    with pytest.raises(ValueError, match="has to be handed in"):
        ask(tables_of(), scoring=Scoring(measure=Measure.HYBRID))


def test_the_cosine_distance_ranks_as_the_squared_one_and_scores_by_its_own_formula() -> None:
    angles = {"same": 0.0, "near": 0.5, "far": math.pi / 2, "against": math.pi}
    rows = [(name, [math.cos(one), math.sin(one)]) for name, one in angles.items()]
    tables = {tier: Table() for tier in Tier}
    for name, vector in rows:
        tables[Tier.STM].put(MemoryEntry(name, id=name, tier=Tier.STM), np.array(vector, np.float32))
    for explain in (False, True):
        query = Query("cue", NOW, threshold=0.0, scoring=Scoring(measure=Measure.COSINE))
        found = answer(query, np.array([1, 0], np.float32), tables, "Mira", explain=explain)
        told = {hit.entry.id: hit.score.relevancy for hit in found}
        assert list(told) == list(angles)
        assert told == pytest.approx({name: 1 / (2 - math.cos(one)) for name, one in angles.items()}, abs=1e-6)


def test_in_a_large_tier_whose_parts_are_scaled_the_best_are_those_of_the_scaled_scores() -> None:
    tables = {tier: Table() for tier in Tier}
    rng = np.random.default_rng(5)
    for number in range(FEW + 100):
        when = NOW - timedelta(hours=float(rng.integers(0, 400)))
        entry = MemoryEntry("x", id=f"{number:03}", tier=Tier.LTM, rating=int(rng.integers(4, 7)), timestamp=when)
        tables[Tier.LTM].put(entry, rng.standard_normal(3).astype(np.float32))
    table, scoring = tables[Tier.LTM], Scoring(Weights(1, 1, 1), 0.995, normalise=True)
    scaled = [
        (part - part.min()) / (part.max() - part.min())
        for part in (
            recency(table.last_access, table.happened, NOW.timestamp(), Curve(0.995)),
            table.importance,
            1 / (1 + np.square(table.vectors.astype(np.float64) - CUE).sum(axis=1)),
        )
    ]
    totals = sum(scaled)
    best = sorted(range(len(table)), key=lambda row: (-totals[row], table.ids[row]))[:5]
    found = ask(tables, top_k=5, threshold=1.5, scoring=scoring)
    assert ids(found) == [table.ids[row] for row in best]
    assert [hit.score.total for hit in found] == pytest.approx([totals[row] for row in best])


# -- against a plain full computation ------------------------------------------------------------------

_vectors = st.none() | st.lists(st.integers(-2, 2), min_size=3, max_size=3)  # small whole numbers: exact in float32
_entries = st.tuples(
    st.sampled_from(LIVED),
    _vectors,
    st.none() | st.sampled_from([1, 5, 10]),
    st.none() | st.sampled_from([-1, 0.5, 1, 2, 30, 3000]),
    st.integers(0, 25),
)
_weight = st.sampled_from([0, 0.25, 1, 3])
_queries = st.builds(
    Query,
    st.just("cue"),
    st.just(NOW),
    top_k=st.integers(0, 12),
    threshold=st.sampled_from([0, 1 / 3, 0.35, 0.5, 1.5]),
    static_threshold=st.sampled_from([0, 1 / 3, 0.4, 1]),
    static_share=st.sampled_from([0, 0.2, 0.4, 0.5, 1]),
    scoring=st.builds(
        Scoring,
        st.builds(Weights, _weight, _weight, _weight),
        st.sampled_from([0.5, 0.99]),
        seats=st.sampled_from(Seats),
        decay_form=st.sampled_from(DecayForm),
    ),
)


def plain_score(entry: MemoryEntry, vector: list[int], scoring: Scoring) -> float:
    relevant = 1 / (1 + sum((a - b) ** 2 for a, b in zip(vector, [1, 0, 0], strict=True)))
    if entry.tier is Tier.STATIC or entry.importance is None or entry.timestamp is None:
        return relevant
    at = np.array([entry.timestamp.timestamp()])
    recent = recency(at, at, NOW.timestamp(), scoring.curve)[0]
    weights = scoring.weights
    return weights.recency * recent + weights.importance * entry.importance + weights.relevancy * relevant


def plain_answer(rows: list[tuple[MemoryEntry, list[int] | None]], query: Query) -> list[str]:
    """Reserved seats for static memory, and what is free; the rest for STM and then LTM, or for the best of both.

    Under the ranking static memory takes no seat that a better memory would have, and of memories of STM and LTM in the
    same words only the best has one.
    """
    ranked: dict[Tier, list[tuple[float, str]]] = {tier: [] for tier in LIVED}
    for entry, vector in rows:
        if vector is not None and (total := plain_score(entry, vector, query.scoring)) > query.threshold_of(entry.tier):
            ranked[entry.tier].append((-total, entry.id))
    reserved = math.ceil(round(query.top_k * query.static_share, 6))
    if query.scoring.seats is Seats.RANKING:
        words = {entry.id: entry.document for entry, _ in rows}
        best: dict[str, tuple[float, str]] = {}
        for one in sorted(ranked[Tier.STM] + ranked[Tier.LTM]):
            best.setdefault(words[one[1]], one)
        lived = list(best.values())
        able = max(reserved, query.top_k - len(lived))
        return [name for _, name in sorted(sorted(ranked[Tier.STATIC])[:able] + lived)[: query.top_k]]
    static, stm, ltm = ([name for _, name in sorted(ranked[tier])] for tier in LIVED)
    others = [*stm, *ltm][: query.top_k - len(static[:reserved])]
    return [*static[: query.top_k - len(others)], *others]


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(_entries, max_size=25), _queries)
def test_query_and_explain_recall_what_a_plain_full_computation_recalls(drawn: list, query: Query) -> None:
    tables = {tier: Table() for tier in Tier}
    rows: list[tuple[MemoryEntry, list[int] | None]] = []
    for number, (tier, vector, rating, hours, words) in enumerate(drawn):
        when = None if hours is None else NOW - timedelta(hours=hours)
        entry = MemoryEntry(f"x{words}", id=f"{number * 7 % 25:02}", tier=tier, rating=rating, timestamp=when)
        rows.append((entry, vector))
        tables[tier].put(entry, None if vector is None else np.array(vector, np.float32))
    found, explained = (answer(query, CUE, tables, "Mira", explain=explain) for explain in (False, True))
    assert ids(found) == plain_answer(rows, query)
    assert found.candidates == found.hits == explained.hits
    assert Counter(one.entry.id for one in explained.candidates) == Counter(entry.id for entry, _ in rows)
    assert found.considered == explained.considered == len(rows)
