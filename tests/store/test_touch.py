"""Touching: memories that count as recalled because whoever looked at them says so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from memory_system import AgentMemory, Tier
from memory_system.errors import InvalidParameter, ReadOnlyPast
from tests.conftest import NOW

Remember = Callable[..., str]


def test_what_is_touched_counts_as_recalled_now_and_changes_nothing_else(
    agent: AgentMemory, remember: Remember
) -> None:
    remember("Lent Tobias the key.", id="key", hours_ago=50)
    remember("Baked bread.", id="bread", hours_ago=50)
    before, revision = agent.find("bread"), agent.history(1)[0].revision
    score = {hit.entry.id: hit.score.recency for hit in agent.explain("x").candidates}
    agent.touch("key")
    held = agent.find("key")
    assert held is not None
    assert held.last_access == NOW
    assert agent.find("bread") == before
    after = {hit.entry.id: hit.score.recency for hit in agent.explain("x").candidates}
    assert after["key"] == 1.0 > (score["key"] or 0)
    assert after["bread"] == score["bread"]
    assert agent.history(1)[0].revision == revision


def test_what_is_not_there_or_never_decays_is_passed_over(agent: AgentMemory) -> None:
    before = agent.stamp
    agent.touch(["nowhere", agent.entries(Tier.STATIC)[0].id])
    assert agent.stamp == before


def test_wrong_ids_and_times_are_refused(agent: AgentMemory, remember: Remember) -> None:
    remember("Baked bread.", id="bread")
    with pytest.raises(InvalidParameter, match="a list of texts"):
        agent.touch([5])  # type: ignore[list-item]
    with pytest.raises(InvalidParameter, match="zone"):
        agent.touch("bread", now=datetime(2026, 3, 27, 18, 0))
    with pytest.raises(InvalidParameter, match="zone"):
        agent.touch([], now=datetime(2026, 3, 27, 18, 0))
    with pytest.raises(ReadOnlyPast):
        agent.as_of(revision=1).touch("bread")
