"""Facets: what they admit, and what cannot be one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_system import AgentMemory, Facets, Kind, Verdict
from memory_system.errors import InvalidParameter
from tests.conftest import NOW


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kinds": ("dream",)}, "there are observation"),
        ({"kinds": 5}, "'kinds' must be a list"),
        ({"tags": [1]}, "'tags' must be a list of at most 100 texts"),
        ({"tags": ["a"] * 101}, "at most 100"),
        ({"since": "yesterday"}, "'since'"),
        ({"since": datetime(2026, 3, 1)}, "'since'"),
        ({"since": NOW, "until": NOW}, "earlier than"),
        ({"min_importance": 2}, "'min_importance'"),
        ({"max_importance": float("nan")}, "'max_importance'"),
        ({"contains": 7}, "'contains' must be a text"),
        ({"contains": "x" * 1001}, "at most 1,000"),
    ],
)
def test_what_cannot_be_a_facet_is_said_so(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        Facets(**fields)


def test_no_facet_is_false_and_one_is_true() -> None:
    assert not Facets()
    assert Facets(contains="key")
    assert Facets(kinds="plan") == Facets(kinds=(Kind.PLAN,))  # type: ignore[arg-type]


def test_a_query_finds_only_what_they_admit_and_explain_says_filtered_out(agent: AgentMemory) -> None:
    agent.add_short_term(
        [
            {"document": "The key hung by the door.", "id": "key", "rating": 8, "tags": ["key"]},
            {"document": "The key was gone.", "id": "gone", "timestamp": NOW - timedelta(days=3)},
        ],
        rate=False,
    )
    facets = Facets(tags=("key",))
    found = agent.query_memory("Where is the key?", threshold=0, static_threshold=0, facets=facets)
    assert [hit.entry.id for hit in found] == ["key"]
    told = {one.entry.id: one.verdict for one in agent.explain("Where is the key?", facets=facets).candidates}
    assert told["gone"] is Verdict.FILTERED_OUT
    unrated = agent.query_memory("Where is the key?", threshold=0, facets=Facets(min_importance=0))
    assert [hit.entry.id for hit in unrated] == ["key"]
    recent = agent.query_memory("Where is the key?", threshold=0, facets=Facets(since=NOW - timedelta(hours=1)))
    assert [hit.entry.id for hit in recent] == ["key"]
    assert len(agent.query_memory("Where is the key?", facets=Facets(contains="nobody wrote this"))) == 0


def test_facets_must_be_facets(agent: AgentMemory) -> None:
    with pytest.raises(InvalidParameter, match="'facets' must be Facets"):
        agent.query_memory("key", facets={"tags": ["key"]})  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="requery"):
        agent.query_memory("key", requery=21)
