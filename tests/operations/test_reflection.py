"""Reflection: insights that cite the memories they rest on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from memory_system import AgentMemory, Kind, MemoryEntry, Tier
from memory_system.errors import ModelError, ModelNonsense
from memory_system.llm.openai.errors import KEY_REFUSED
from tests.fake_server import FakeServer, error, says

Remember = Callable[..., str]
STORY = (
    "Lent Tobias the brass key of the tide mill.",
    "Tobias came without the key and looked at the floor.",
    "Ines saw Tobias enter the tide mill at night.",
    "Aldous Brandreth would buy the tide mill.",
)


@pytest.fixture
def story(remember: Remember) -> list[str]:
    return [remember(text, rating=8, hours_ago=9 - n) for n, text in enumerate(STORY)]


@pytest.fixture
def scripted(agent: AgentMemory, server: FakeServer, story: list[str]) -> FakeServer:
    """The agent asks this server, which has one question and rates everything 6."""
    agent.model = server.model()
    server.on("questions", says({"questions": ["Where is the key?"]}))
    server.on("rate", says({"explanation": "It matters.", "rating": 6}))
    return server


def _reflections(agent: AgentMemory) -> list[MemoryEntry]:
    return [entry for entry in agent.entries(Tier.LTM) if entry.kind is Kind.REFLECTION]


def _insight(text: str, *because_of: int) -> dict[str, object]:
    return {"insight": text, "because_of": list(because_of)}


def test_insights_go_to_ltm_and_cite_memories_that_exist(agent: AgentMemory, story: list[str]) -> None:
    done = agent.reflect_from_recent_memory()
    found = _reflections(agent)
    assert [change.verb for change in done.changes] == ["add"] * len(found)
    assert 1 <= len(found) <= 6
    for reflection in found:
        assert reflection.evidence
        assert all(agent.find(entry_id) is not None for entry_id in reflection.evidence)
        assert reflection.timestamp == agent.now
        assert reflection.rating is not None
        assert reflection.extras["question"]
    assert {entry.id for entry in agent.entries(Tier.STM)} == set(story)


def test_an_insight_without_evidence_is_dropped_and_counted(agent: AgentMemory, scripted: FakeServer) -> None:
    insights = [_insight("Invented."), _insight("Tobias hides something.", 2, 2, 99, 0, -1)]
    scripted.on("insights", says({"insights": insights}))
    done = agent.reflect_from_recent_memory()
    (kept,) = _reflections(agent)
    assert kept.document == "Tobias hides something."
    assert len(kept.evidence) == 1
    assert done.notes == ("1 insights cited no evidence and were dropped.",)


def test_evidence_is_what_the_numbers_meant_when_asked(agent: AgentMemory, scripted: FakeServer) -> None:
    scripted.on("insights", says({"insights": [_insight("It is gone.", 1, 3)]}))
    agent.reflect_from_recent_memory()
    asked = next(r for r in scripted.requests if '"question"' in r["messages"][1]["content"])["messages"][1]["content"]
    (kept,) = _reflections(agent)
    cited = [agent.last_version(entry_id).document for entry_id in kept.evidence]
    assert len(cited) == 2
    assert all(document in asked for document in cited)


def test_an_insight_is_one_deeper_than_its_evidence(agent: AgentMemory, scripted: FakeServer) -> None:
    agent.configure(static_share=0)
    scripted.on("insights", says({"insights": [_insight("Tobias lost the key.", *range(1, 13))]}))
    agent.reflect_from_recent_memory()
    agent.reflect_from_recent_memory()
    assert sorted(entry.depth for entry in _reflections(agent)) == [1, 2]


def test_it_takes_three_memories(agent: AgentMemory, remember: Remember) -> None:
    remember("one")
    remember("two")
    done = agent.reflect_from_recent_memory()
    assert not done
    assert "at least three" in done.notes[0]
    assert _reflections(agent) == []


@pytest.mark.parametrize(("ratings", "due"), [([10] * 14 + [9], False), ([10] * 15, True)])
def test_it_is_due_when_ratings_add_up_to_150(
    agent: AgentMemory, remember: Remember, ratings: list[int], due: bool
) -> None:
    for number, rating in enumerate(ratings):
        remember(f"{STORY[number % 4]} ({number})", rating=rating, hours_ago=1)
    remember("not rated, so it weighs nothing", rating=None)
    assert agent.get_stats()["reflection_weight"] == sum(ratings)
    done = agent.reflect_from_recent_memory(only_if_due=True)
    assert bool(done) is due
    if not due:
        assert done.notes == ("The ratings since the last reflection add up to 149 of 150.",)


def test_after_a_reflection_the_sum_begins_again(agent: AgentMemory, remember: Remember) -> None:
    agent.configure(reflection_trigger=20)
    for number, text in enumerate(STORY):
        remember(text, rating=10, hours_ago=number)  # the last at the very moment of the reflection
    assert agent.reflect_from_recent_memory(only_if_due=True)
    assert agent.get_stats()["reflection_weight"] == 0
    assert not agent.reflect_from_recent_memory(only_if_due=True)
    agent.add_short_term(
        [{"document": f"Later: {text}", "rating": 5, "timestamp": agent.now + timedelta(hours=1)} for text in STORY]
    )
    assert agent.get_stats()["reflection_weight"] == 20
    assert agent.reflect_from_recent_memory(only_if_due=True, now=agent.now + timedelta(hours=2))


def test_what_migrated_meanwhile_still_counts(agent: AgentMemory, story: list[str]) -> None:
    agent.migrate_stm2ltm(ids=story[:2])
    assert agent.get_stats()["reflection_weight"] == 32


def test_reflecting_is_no_looking_at_memories(agent: AgentMemory, story: list[str]) -> None:
    agent.reflect_from_recent_memory()
    assert [entry.last_access for entry in agent.entries(Tier.STM)] == [None] * 4


def test_a_preview_changes_nothing_and_applies_without_asking_again(agent: AgentMemory, scripted: FakeServer) -> None:
    scripted.on("insights", says({"insights": [_insight("It is gone.", 1)]}))
    plan = agent.reflect_from_recent_memory(preview=True)
    assert _reflections(agent) == []
    asked = len(scripted.requests)
    done = agent.apply(plan)
    assert len(scripted.requests) == asked
    assert [entry.document for entry in _reflections(agent)] == ["It is gone."]
    assert done.revision is not None
    agent.undo(done.revision)
    assert _reflections(agent) == []


@pytest.mark.parametrize("task", ["questions", "insights"])
def test_a_model_that_fails_anywhere_changes_nothing(agent: AgentMemory, scripted: FakeServer, task: str) -> None:
    scripted.on("insights", says({"insights": [_insight("It is gone.", 1)]}))
    scripted.on(task, error(401))
    revision = agent.get_stats()["revision"]
    with pytest.raises(ModelError):
        agent.reflect_from_recent_memory()
    assert _reflections(agent) == []
    assert agent.get_stats()["revision"] == revision


def test_an_insight_that_cannot_be_stored_is_nonsense(agent: AgentMemory, scripted: FakeServer) -> None:
    scripted.on("insights", says('{"insights": [{"insight": "a\\u0000b", "because_of": [1]}]}'))
    with pytest.raises(ModelNonsense, match="control character"):
        agent.reflect_from_recent_memory()
    assert _reflections(agent) == []


def test_an_insight_that_could_not_be_rated_is_kept_unrated(agent: AgentMemory, scripted: FakeServer) -> None:
    scripted.on("insights", says({"insights": [_insight("It is gone.", 1)]}))
    scripted.on("rate", error(401))
    done = agent.reflect_from_recent_memory()
    (kept,) = _reflections(agent)
    assert kept.rating is None
    assert [call.error for call in done.calls if call.task == "rate"] == [KEY_REFUSED]
