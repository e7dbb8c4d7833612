"""What overflows short-term memory migrates by itself, where the settings say so."""

from __future__ import annotations

import pytest

from memory_system import AgentMemory, Kind, Tier
from memory_system.conversation import Conversation, whisper
from memory_system.core.authors import BY_ITSELF
from memory_system.errors import InvalidParameter


def add(agent: AgentMemory, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        agent.add_short_term({"document": f"Met the baker, {number}.", "rating": 9, "id": f"e{number}"})


def test_nine_events_stay_nine_unless_it_is_set(agent: AgentMemory) -> None:
    agent.configure(stm_size=3, retention="importance")
    add(agent, 9)
    assert len(agent.entries(Tier.STM)) == 9
    agent.configure(auto_migrate=True)
    add(agent, 1, 9)
    assert [entry.id for entry in agent.entries(Tier.STM)] == ["e7", "e8", "e9"]


def test_each_migration_is_the_world_s_says_why_and_can_be_undone(agent: AgentMemory) -> None:
    agent.configure(stm_size=3, auto_migrate=True)
    add(agent, 4)
    (done,) = agent.history(10, operation="migrate")
    assert done.change_set.author == BY_ITSELF
    assert str(done.revision - 1) in done.change_set.reason
    agent.undo(done.revision)
    assert len(agent.entries(Tier.STM)) == 4
    agent.forget("e3")
    agent.restore("e3")
    assert len(agent.entries(Tier.STM)) == 4, "what a person brings back stays"
    preview = agent.add_short_term({"document": "Slept."}, preview=True)
    assert preview.change_set.revision is None
    assert len(agent.entries(Tier.STM)) == 4


def test_whatever_comes_into_short_term_memory_counts(agent: AgentMemory) -> None:
    agent.configure(stm_size=2, auto_migrate=True, retention="importance")
    add(agent, 2)
    whisper(agent, "The mill is not safe.")
    assert len(agent.entries(Tier.STM)) == 2
    Conversation.begin(agent, human="Ana").step("I give a party.")
    assert len(agent.entries(Tier.STM)) == 3, "what was said takes no room from events"
    agent.remember_conversation([("Ana", "I have a boat."), ("Mira", "A boat?")], rate=False)
    assert sum(entry.kind is not Kind.CONVERSATION for entry in agent.entries(Tier.STM)) == 2


def test_it_is_a_switch(agent: AgentMemory) -> None:
    with pytest.raises(InvalidParameter, match="true or false"):
        agent.configure(auto_migrate=1)
