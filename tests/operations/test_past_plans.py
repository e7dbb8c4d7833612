"""Plans of days that are over do not stand before today's, and today's is not summarised away."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_system import AgentMemory, Facets, Kind, Tier, World
from memory_system.llm import tasks
from tests.conftest import NOW
from tests.fake_server import FakeServer, says

CUE = "What do I plan to do this afternoon?"
MORNING = NOW.replace(hour=8)
ROUTINE = (
    '{"time": "09:00", "until": "11:00", "activity": "bakes bread"},'
    '{"time": "14:00", "until": "16:00", "activity": "mends nets this afternoon"}'
)


@pytest.fixture
def bo(world: World) -> AgentMemory:
    """Somebody who planned the same day ten times; today is the last of them."""
    agent = world.create_agent("bo", f'{{"identity": {{"name": "Bo Reed"}}, "routine": [{ROUTINE}]}}')
    for days in range(9, -1, -1):
        agent.plan_from_memory(MORNING - timedelta(days=days))
    return agent


def planned(agent: AgentMemory, day: str, hour: str = "") -> set[str]:
    """The plans of a day, or that of an hour of it."""
    plans = [entry for entry in agent.entries(Tier.LTM) if entry.extras.get("plan_day") == day]
    return {entry.id for entry in plans if hour in entry.document}


def test_of_ten_days_with_plans_today_s_is_recalled(bo: AgentMemory) -> None:
    today = planned(bo, MORNING.date().isoformat(), "14:00")
    recalled = [hit.entry for hit in bo.query_memory(CUE, now=MORNING, touch=False)]
    plans = [entry for entry in recalled if entry.kind is Kind.PLAN]
    assert {entry.id for entry in plans} == today
    found = bo.query_memory(CUE, now=MORNING, touch=False, facets=Facets(kinds=(Kind.PLAN,)), top_k=50)
    assert len(found.hits) == 10
    assert bo.query_memory(CUE, now=MORNING - timedelta(days=3), touch=False).hits


def test_why_a_past_plan_is_not_recalled_is_said_with_what_would_recall_it(bo: AgentMemory) -> None:
    (past,) = planned(bo, (MORNING - timedelta(days=4)).date().isoformat(), "14:00")
    explained = bo.explain(CUE, now=MORNING).candidates.of(past)
    assert explained is not None
    assert "day that is over" in explained.because
    ways = bo.ways(bo.query(CUE, 50, now=MORNING), past)
    assert Facets(kinds=(Kind.PLAN,)) in [way.value for way in ways]


def test_what_is_planned_for_today_is_not_summarised(bo: AgentMemory) -> None:
    done = bo.summarize_and_forget(20, now=MORNING)
    gone = {change.entry_id for change in done.changes if change.after is None}
    assert len(gone) == 18
    assert not gone & planned(bo, MORNING.date().isoformat())
    assert planned(bo, MORNING.date().isoformat())


def test_an_empty_plan_says_that_a_routine_lies_ahead(bo: AgentMemory, server: FakeServer) -> None:
    bo.model = server.model()
    server.on("plan", says({"actions": []}))
    (note,) = bo.plan_from_memory(MORNING).notes
    assert "14:00" in note
    (late,) = bo.plan_from_memory(NOW.replace(hour=22)).notes
    assert "14:00" not in late
    assert tasks.plan_day("Bo", MORNING, [], []).name == "plan"
