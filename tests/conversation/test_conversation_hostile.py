"""Conversations under attack: whatever is handed in, the answer is an error of ours and nothing has changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from memory_system import AgentMemory
from memory_system.conversation.comparing import compare
from memory_system.conversation.conversation import Conversation
from memory_system.conversation.duet import Duet
from memory_system.conversation.interview import Interview, drop, keep, sit, whisper
from memory_system.conversation.steps import planned
from memory_system.conversation.talk import Talk, TalkSettings
from memory_system.core.change_set import TextChange
from memory_system.errors import MemorySystemError
from tests.conftest import NOW
from tests.conversing import answers, calls, script, talking
from tests.fake_server import FakeServer

HUGE = 10**5000
ANY: Any = None
"""Wrongly typed on purpose."""
NAIVE = datetime(2026, 3, 27)
Attack = Callable[[Conversation], object]

ATTACKS: dict[str, Attack] = {
    "a message that is none": lambda c: c.step(7),  # type: ignore[arg-type]
    "a time without a zone": lambda c: c.step("Hello.", now=NAIVE),
    "muted numbers": lambda c: c.step("Hello.", muted=[7]),  # type: ignore[list-item]
    "no such block": lambda c: c.step("Hello.", without="dog"),
    "a speaker on two lines": lambda c: c.step("Hello.", speaker="a\nb"),
    "a title of a thousand letters": lambda c: Conversation.begin(c.agent, title="x" * 1000),
    "a title on two lines": lambda c: Conversation.begin(c.agent, title="a\nb"),
    "no name": lambda c: Conversation.begin(c.agent, human=""),
    "a name that is none": lambda c: Conversation.begin(c.agent, human=7),  # type: ignore[arg-type]
    "settings that are none": lambda c: Conversation.begin(c.agent, settings={"budget": 3}),  # type: ignore[arg-type]
    "a persona that is none": lambda c: Conversation.begin(c.agent, persona=7),  # type: ignore[arg-type]
    "a persona without end": lambda c: Conversation.begin(c.agent, persona="x" * 100_000),
    "half a surrogate pair": lambda c: Conversation.begin(c.agent, human_block="\ud800"),
    "an id that is none": lambda c: Conversation.open(c.agent, 7),  # type: ignore[arg-type]
    "an id that leads elsewhere": lambda c: Conversation.open(c.agent, "../personality"),
    "an id that is no text": lambda c: Conversation.open(c.agent, "\ud800"),
    "a start without digits": lambda c: c.messages(HUGE),
    "a count below one": lambda c: c.messages(0, 0),
    "a revision without digits": lambda c: c.replay(HUGE),
    "a revision that is not there": lambda c: c.replay(999),
    "core memory that is none": lambda c: c.edit_core("human", ANY),
    "other settings that are none": lambda c: c.change(ANY),
    "an interview about nothing": lambda c: Interview(c.agent).step(""),
    "an interview with wrong settings": lambda c: Interview(c.agent, {}),  # type: ignore[arg-type]
    "an interview with a wrong talk": lambda c: Interview(c.agent, talk={}),  # type: ignore[arg-type]
    "a whisper that is none": lambda c: whisper(c.agent, ANY),
    "a whisper without end": lambda c: whisper(c.agent, "x" * 40_000),
    "a question that is empty": lambda c: sit(c.agent, [("memory", "")]),
    "a number in the place of questions": lambda c: sit(c.agent, 5),  # type: ignore[arg-type]
    "an interview's title without end": lambda c: sit(c.agent, [("memory", "Why?")], title="x" * 201),
    "a duet with a name": lambda c: Duet.begin(c.agent, "tobias"),  # type: ignore[arg-type]
    "questions that are none": lambda c: sit(c.agent, [("memory",)]),  # type: ignore[list-item]
    "a title of interviews that is none": lambda c: keep(c.agent, sit(c.agent, [("m", "Why?")], title="x" * 300)),
    "an interview that is not kept": lambda c: drop(c.agent, "x"),
    "a comparison of nothing": lambda c: compare(c.agent, [], [TalkSettings()]),
    "turns without end": lambda c: Duet(c, c).talk(HUGE),
    "a synopsis of nothing": lambda c: c.synopsis(),
}


@pytest.fixture
def talk(agent: AgentMemory) -> Conversation:
    """A conversation in which nothing was said."""
    return Conversation.begin(agent)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))
def test_what_cannot_be_taken_is_refused_in_words_and_changes_nothing(talk: Conversation, attack: Attack) -> None:
    before = talk.agent.stamp, talk.agent.texts()
    with pytest.raises(MemorySystemError) as caught:
        attack(talk)
    assert caught.value.sentence.endswith((".", "”", "?"))
    assert (talk.agent.stamp, talk.agent.texts()) == before


def test_a_state_that_was_tampered_with_is_told_of(talk: Conversation) -> None:
    agent = talk.agent
    for text in ('{"next_number": -1}', '{"colour": 1}', "{}x"):
        name = f"conversation:{talk.id}"
        change = TextChange(name, agent.text(name), text)
        try:
            agent.apply(planned(agent, "Tamper", NOW, texts=(change,)))
        except MemorySystemError:
            continue
        with pytest.raises(MemorySystemError):
            talk.step("Hello.")


def test_a_model_that_writes_what_cannot_be_stored_breaks_nothing(agent: AgentMemory, server: FakeServer) -> None:
    talk = Conversation.begin(talking(agent, server), settings=TalkSettings(budget=4000))
    script(
        server,
        calls(
            ("core_memory_append", '{"name": "human", "content": "\\u0000"}'),
            ("archival_memory_insert", '{"content": "\\ud800"}'),
            ("archival_memory_insert", '{"content": "A lamp\\u0000 burns."}'),
            ("x" * 10_000, "{}"),
            ("conversation_search", '{"query": "' + "y" * 90_000 + '"}'),
            ("archival_memory_insert", '{"content": "' + "z" * 40_000 + '"}'),
        ),
        answers("\x00Yes\ud83d\ude00.\x00"),
    )
    step = talk.step("Hello.")
    assert "Yes" in step.answer
    assert not step.problem
    assert sum(run.failed for run in step.functions) >= 5
    again = Conversation.open(agent, talk.id)
    assert [m.text for m in again.messages()] == [m.text for m in step.messages]
    assert step.change_set is not None
    assert talk.replay(step.change_set).same
    agent.undo(step.change_set)
    assert again.messages() == ()


def test_settings_are_as_the_talk_keeps_them(agent: AgentMemory) -> None:
    settings = TalkSettings(budget=3000, warn_at=0.5, template="Short: {transcript}", most_calls=5)
    talk = Conversation.begin(agent, settings=settings, title="A talk")
    assert talk.head.settings == settings
    assert dataclasses.replace(talk.head, queue=()) == Talk(talk.id, "A talk", "You", settings, talk.head.blocks)
