"""The best of all tiers by hybrid relevancy and confidence: the quick answer, the explanation, and plainly computed."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_system import MemoryEntry, Query, Scoring, Seats, Tier, Weights
from memory_system.core.entry import LIVED
from memory_system.core.scoring import Measure, Passing, recency
from memory_system.recall.expansion import Relevancy
from memory_system.recall.hybrid import Odds, confidences
from memory_system.recall.hybrid.confidence import Line
from memory_system.recall.rank import answer
from memory_system.recall.table import Table
from tests.conftest import NOW

_memories = st.lists(
    st.tuples(
        st.sampled_from(LIVED),
        st.sampled_from([math.nan, 0.0, 0.2, 0.25, 0.4, 0.55, 0.8]),
        st.none() | st.sampled_from([1, 5, 10]),
        st.none() | st.sampled_from([0.5, 2, 30, 3000]),
        st.integers(0, 20),
    ),
    max_size=25,
)
_weight = st.sampled_from([0, 0.25, 1])
_queries = st.builds(
    Query,
    st.just("cue"),
    st.just(NOW),
    top_k=st.integers(0, 8),
    threshold=st.sampled_from([0, 0.3, 0.5, 0.9]),
    static_threshold=st.sampled_from([0, 0.4, 1]),
    static_share=st.sampled_from([0, 0.4, 1]),
    scoring=st.builds(
        Scoring,
        st.builds(Weights, _weight, _weight, st.just(1.0)),
        st.sampled_from([0.5, 0.99]),
        st.just(Measure.HYBRID),
        seats=st.just(Seats.RANKING),
        passing=st.sampled_from(Passing),
    ),
)
_lines = st.builds(Line, st.sampled_from([-4.0, 0.0, 3.0]), st.sampled_from([1.0, 2.76]), st.sampled_from([1.0, 7.0]))
_odds = st.builds(Odds, st.lists(_lines, min_size=1, max_size=2).map(tuple))


def plain_answer(held: list[tuple[MemoryEntry, float]], query: Query, odds: Odds) -> list[str]:
    """Everything computed, passed and ordered one by one."""
    best = max((found for _, found in held if not math.isnan(found)), default=0.0)
    passing: list[tuple[float, str, Tier]] = []
    said: set[str] = set()
    for entry, found in held:
        total = found
        if entry.tier is not Tier.STATIC and entry.importance is not None and entry.timestamp is not None:
            at, weights = np.array([entry.timestamp.timestamp()]), query.scoring.weights
            recent = float(recency(at, at, NOW.timestamp(), query.scoring.curve)[0])
            total = weights.recency * recent + weights.importance * entry.importance + weights.relevancy * found
        sure = float(confidences(odds, np.array([found]), best)[0]) if query.scoring.confident else total
        if sure > query.threshold_of(entry.tier):
            passing.append((-total, entry.id, entry.tier))
    words, lived = {entry.id: entry.document for entry, _ in held}, []
    for one in sorted(passing):
        if one[2] is not Tier.STATIC and words[one[1]] not in said:
            said.add(words[one[1]])
            lived.append(one)
    reserved = math.ceil(round(query.top_k * query.static_share, 6))
    static = sorted(one for one in passing if one[2] is Tier.STATIC)[: max(reserved, query.top_k - len(lived))]
    return [name for _, name, _ in sorted((*static, *lived))[: query.top_k]]


@settings(deadline=None)  # a busy machine is no failure
@given(_memories, _queries, _odds, st.sampled_from([0, 3, 512]))
def test_it_is_the_plain_computation(drawn: list[Any], query: Query, odds: Odds, few: int) -> None:
    tables, found = {tier: Table() for tier in Tier}, {tier: list[float]() for tier in Tier}
    held: list[tuple[MemoryEntry, float]] = []
    for number, (tier, relevancy, rating, hours, words) in enumerate(drawn):
        when = None if hours is None else NOW - timedelta(hours=hours)
        entry = MemoryEntry(f"x{words}", id=f"{number * 7 % 25:02}", tier=tier, rating=rating, timestamp=when)
        tables[tier].put(entry, np.array([1, 0, 0], np.float32))
        found[tier].append(relevancy)
        held.append((entry, relevancy))

    def measured(tier: Tier, _table: Table) -> Relevancy:
        return Relevancy(np.array(found[tier]), {}, odds)

    cue = np.array([1, 0, 0], np.float32)
    with patch("memory_system.recall.rank.FEW", few):
        quick, whole = (answer(query, cue, tables, "Mira", explain=one, measured=measured) for one in (False, True))
    assert [hit.entry.id for hit in quick] == plain_answer(held, query, odds)
    assert quick.hits == whole.hits
