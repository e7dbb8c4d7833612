"""Many memories changed in one change set, which one undo takes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory_system import AgentMemory, Tier
from memory_system.errors import EntryNotFound, InvalidEntry, InvalidInput, InvalidParameter

Remember = Callable[..., str]


@pytest.fixture
def three(remember: Remember) -> list[str]:
    return [
        remember("Baked forty loaves", tags=["bread"], rating=3),
        remember("Lent Tobias the key", tags=["key", "old"], rating=6),
        remember("Saw smoke at dawn", pinned=True, rating=8),
    ]


def fields(agent: AgentMemory, ids: list[str], name: str) -> list[Any]:
    return [getattr(agent.find(one), name) for one in ids]


def test_all_is_done_in_one_change_set_and_undone_at_once(agent: AgentMemory, three: list[str]) -> None:
    before, revision = agent.entries(Tier.STM), agent.stamp[0]
    done = agent.edit_many(three, add_tags="spring", remove_tags=["old"], rating=9, pinned=True)
    assert agent.stamp[0] == revision + 1
    assert len(done.changes) == 3
    assert fields(agent, three, "tags") == [("bread", "spring"), ("key", "spring"), ("spring",)]
    assert fields(agent, three, "rating") == [9, 9, 9]
    assert fields(agent, three, "pinned") == [True, True, True]
    assert set(fields(agent, three, "explanation")) == {"Rated by hand."}
    assert done.title == "Change 3 memories: add tag “spring”, remove tag “old”, importance 9 of 10, pin"
    agent.undo(done)
    assert agent.entries(Tier.STM) == before


def test_those_that_are_so_already_are_left_alone(agent: AgentMemory, three: list[str]) -> None:
    done = agent.edit_many(three, pinned=True)
    assert [change.entry_id for change in done.changes] == three[:2]
    assert [(kept.entry_id, kept.reason) for kept in done.kept] == [(three[2], "It is so already.")]
    nothing = agent.edit_many(three, pinned=True)
    assert nothing.revision is None
    assert not agent.edit_many([], pinned=True)


def test_a_preview_changes_nothing_and_is_applied_as_it_was_shown(agent: AgentMemory, three: list[str]) -> None:
    before = agent.stamp
    preview = agent.edit_many(three, rating=None, preview=True)
    assert agent.stamp == before
    agent.apply(preview)
    assert fields(agent, three, "rating") == [None] * 3
    assert fields(agent, three, "explanation") == [""] * 3


def test_both_tiers_are_changed_together(agent: AgentMemory, three: list[str]) -> None:
    agent.migrate_stm2ltm(ids=three[:2])
    agent.edit_many(three, kind="fact")
    assert set(fields(agent, three, "kind")) == {"fact"}


def test_facts_of_the_personality_are_left_alone(agent: AgentMemory, three: list[str]) -> None:
    fact = agent.entries(Tier.STATIC)[0]
    done = agent.edit_many([fact.id, three[0]], add_tags=["x"])
    assert [change.entry_id for change in done.changes] == [three[0]]
    assert "personality" in done.kept[0].reason
    assert agent.find(fact.id) == fact


def test_setting_all_tags_and_adding_one_go_together(agent: AgentMemory, three: list[str]) -> None:
    agent.edit_many(three[:1], tags=["a", "b"], add_tags=["c"], remove_tags=["a"])
    assert fields(agent, three[:1], "tags") == [("b", "c")]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"ids": ["nobody"], "pinned": True}, EntryNotFound),
        ({"ids": 7, "pinned": True}, InvalidParameter),
        ({"ids": [None], "pinned": True}, InvalidParameter),
        ({"document": "x"}, InvalidParameter),
        ({"tier": "ltm"}, InvalidParameter),
        ({"evidence": []}, InvalidParameter),
        ({"add_tags": ["a"], "remove_tags": [" a "]}, InvalidParameter),
        ({"add_tags": [" "]}, InvalidParameter),
        ({"add_tags": 3}, InvalidParameter),
        ({"remove_tags": [None]}, InvalidParameter),
        ({"add_tags": [f"t{number}" for number in range(51)]}, InvalidEntry),
        ({"add_tags": ["x" * 201]}, InvalidEntry),
        ({"add_tags": ["half \ud800"]}, InvalidEntry),
        ({"tags": "bread"}, InvalidEntry),
        ({"tags": 3, "add_tags": ["a"]}, InvalidEntry),
        ({"rating": 11}, InvalidEntry),
        ({"rating": float("nan")}, InvalidEntry),
        ({"rating": [7]}, InvalidEntry),
        ({"pinned": "yes"}, InvalidEntry),
        ({"pinned": [True]}, InvalidEntry),
        ({"kind": "rumour"}, InvalidEntry),
    ],
)
def test_what_cannot_be_taken_changes_none_of_them(
    agent: AgentMemory, three: list[str], given: dict[str, Any], error: type[InvalidInput]
) -> None:
    before = agent.entries(Tier.STM), agent.stamp
    with pytest.raises(error):
        agent.edit_many(**{"ids": three, **given})
    assert (agent.entries(Tier.STM), agent.stamp) == before


def test_the_memory_that_could_not_be_changed_is_named(
    agent: AgentMemory, remember: Remember, three: list[str]
) -> None:
    full = remember("Counted every gull on the pier", tags=[f"t{number}" for number in range(50)])
    with pytest.raises(InvalidEntry, match="Counted every gull"):
        agent.edit_many([*three, full], add_tags=["one more"])
    assert fields(agent, three, "tags") == [("bread",), ("key", "old"), ()]


def test_many_are_forgotten_and_restored_in_one_change_each(agent: AgentMemory, three: list[str]) -> None:
    revision = agent.stamp[0]
    gone = agent.forget(three)
    assert [kept.entry_id for kept in gone.kept] == [three[2]]
    agent.restore(three[:2])
    assert agent.stamp[0] == revision + 2
    assert len(agent.entries(Tier.STM)) == 3


def test_a_thousand_are_changed_in_a_moment(agent: AgentMemory) -> None:
    added = agent.add_short_term([{"document": f"Gull {n}", "rating": 1} for n in range(1000)], rate=False)
    ids = [one.id for one in added.outcomes]
    done = agent.edit_many(ids, add_tags="gull")
    assert len(done.changes) == 1000
    agent.undo(done)
    assert not any(entry.tags for entry in agent.entries(Tier.STM))


def test_a_title_says_thousands_with_a_comma(agent: AgentMemory) -> None:
    ids = [f"m{number}" for number in range(1200)]
    agent.add_short_term([{"document": "She swept the yard.", "rating": 2, "id": one} for one in ids], rate=False)
    assert agent.forget(ids, preview=True).title == "Forget 1,200 memories"
