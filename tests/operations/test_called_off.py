"""Whoever calls an operation off while the language model answers is heard: what it answered is not stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory_system import AgentMemory, Change, ChangeSet, MemoryEntry, Tier
from memory_system.conversation.people import reflect_on_person
from memory_system.llm.base import StandIn
from tests.conftest import NOW

Operation = Callable[..., object]
OPERATIONS: dict[str, Operation] = {
    "reflect": lambda agent, **how: agent.reflect_from_recent_memory(**how),
    "summarise": lambda agent, **how: agent.summarize_and_forget(2, **how),
    "plan": lambda agent, **how: agent.plan_from_memory(**how),
    "reflect on a person": lambda agent, **how: reflect_on_person(agent, "Tobias Finch", **how),
    "remember a conversation": lambda agent, **how: agent.remember_conversation(
        [
            {"speaker": "Tobias Finch", "text": "I have the brass key of the mill."},
            {"speaker": "Edda", "text": "Good."},
        ],
        rate=False,
        **how,
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_called_off_during_the_last_question_is_not_stored(
    name: str, agent: AgentMemory, remember: Callable[..., str]
) -> None:
    for document in ("Tobias Finch took the brass key.", "Baked forty loaves.", "Tobias Finch came without the key."):
        remember(document)
    kept = [MemoryEntry(text, tier=Tier.LTM, timestamp=NOW, rating=4) for text in ("The lamp is green.", "Edda sang.")]
    told = tuple(Change(None, one, "It is worth keeping.") for one in kept)
    agent.apply(ChangeSet("migrate", "Migrate", told, NOW, agent.revision, agent="mira"))
    asked = 0

    class Counts(StandIn):
        def passed(self, ask: Callable[[], Any], *_sent: Any) -> Any:
            nonlocal asked
            asked += 1
            return ask()

    class CalledOff(Exception):
        pass

    def until(last: int) -> Callable[[float, str], None]:
        def heard(_done: float, _doing: str) -> None:
            if asked >= last:
                raise CalledOff

        return heard

    agent.model = Counts(agent.model)
    OPERATIONS[name](agent, preview=True)
    questions, asked, before = asked, 0, agent.revision
    assert questions
    with pytest.raises(CalledOff):
        OPERATIONS[name](agent, progress=until(questions))
    assert (asked, agent.revision) == (questions, before)
