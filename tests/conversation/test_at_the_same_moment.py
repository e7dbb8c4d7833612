"""What others do to a talk while the agent is answering in it, or remembering it, is neither lost nor in the way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_system import AgentMemory
from memory_system.conversation import Conversation, TalkSettings
from memory_system.conversation.storage import text_changes
from memory_system.errors import ConversationNotFound, StaleChange
from tests.conversing import answers, calls, script, talking
from tests.fake_server import FakeServer


@pytest.fixture
def talk(agent: AgentMemory, server: FakeServer) -> Conversation:
    """A conversation with mira in which something was said."""
    talk = Conversation.begin(talking(agent, server), human="John")
    script(server, answers("Good morning."))
    talk.step("Good morning!")
    return talk


def once(done: Callable[[], object]) -> Callable[..., None]:
    """Called as the answer arrives, it does something the first time."""
    left = [done]

    def heard(*_told: object) -> None:
        if left:
            left.pop()()

    return heard


def test_what_a_person_changes_while_the_agent_answers_stays(talk: Conversation, server: FakeServer) -> None:
    def edited() -> None:
        talk.edit_core("persona", "Mira bakes.")
        talk.change(TalkSettings(budget=5000, heartbeat=30))

    script(server, answers("Fine."))
    assert talk.step("How are you?", heard=once(edited)).answer == "Fine."
    assert (talk.head.blocks.persona, talk.head.settings.heartbeat, talk.head.budget) == ("Mira bakes.", 30, 5000)
    assert [one.said for one in talk.messages() if one.said][2:] == ["How are you?", "Fine."]


def test_core_memory_that_both_change_is_left_as_the_person_wrote_it(talk: Conversation, server: FakeServer) -> None:
    noted = calls(("core_memory_append", {"name": "human", "content": "He is tired."}))
    script(server, noted, answers("Rest, then."))
    with pytest.raises(StaleChange, match="changed the same in this talk at the same moment"):
        talk.step("I am tired.", heard=once(lambda: talk.edit_core("human", "John is a smith.")))
    assert talk.head.blocks.human == "John is a smith."
    assert talk.head.next_number == 3


def test_a_talk_that_is_removed_while_the_agent_answers_stays_removed(talk: Conversation, server: FakeServer) -> None:
    script(server, answers("Fine."))
    with pytest.raises(ConversationNotFound):
        talk.step("How are you?", heard=once(talk.remove))
    assert Conversation.all(talk.agent) == ()


def test_a_synopsis_that_is_made_while_the_agent_answers_covers_what_was_said_before(agent: AgentMemory) -> None:
    talk = Conversation.begin(agent, human="John")
    talk.step("My name is John. I sold the mill yesterday.")
    said = talk.head.next_number
    assert talk.step("How are you?", heard=once(talk.synopsis)).answer
    assert (talk.head.remembered, talk.head.next_number > said) == (said, True)


def test_a_talk_goes_on_if_somebody_talks_while_it_is_remembered(agent: AgentMemory) -> None:
    talk = Conversation.begin(agent, human="John")
    talk.step("My name is John. I sold the mill yesterday.")
    with pytest.raises(StaleChange, match="while the talk was remembered"):
        talk.synopsis(progress=once(lambda: talk.step("How are you?")))
    assert talk.step("And the weather?").answer
    assert talk.synopsis().revision
    assert talk.head.remembered == talk.head.next_number


def test_a_talk_that_was_read_before_others_talked_is_not_written_even_if_it_says_the_same(agent: AgentMemory) -> None:
    """Else nothing would be left to tell that it is stale once what the others said is undone."""
    talk = Conversation.begin(agent, human="John")
    before = talk.talk
    talk.step("My name is John.")
    with pytest.raises(StaleChange, match="Somebody else changed this talk at the same moment"):
        text_changes(agent, talk.talk, before)
    assert text_changes(agent, talk.talk, talk.head) == ()
