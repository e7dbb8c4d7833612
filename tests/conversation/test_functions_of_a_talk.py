"""What an agent can do in a talk: what it stores is found in the same step, and what it looks for is what answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from memory_system import AgentMemory
from memory_system.conversation import DEFINITIONS, Conversation, TalkSettings, conversation_search, note
from memory_system.conversation.functions import BRIEF
from tests.conversing import answers, calls, chats, script, talking
from tests.fake_server import FakeServer, calling, talks


@pytest.fixture
def talk(agent: AgentMemory, server: FakeServer) -> Conversation:
    return Conversation.begin(talking(agent, server), human="John")


def results(talk: Conversation) -> list[Mapping[str, Any]]:
    """What the functions of the talk answered, in their order."""
    return [json.loads(message.text) for message in talk.messages() if message.call_id]


def test_what_a_step_stores_is_found_in_the_same_step(talk: Conversation, server: FakeServer) -> None:
    script(
        server,
        calls(
            ("archival_memory_insert", {"content": "John has a grey parrot."}),
            ("archival_memory_search", {"query": "parrot"}),
            ("archival_memory_search", {"query": "Which pet does John have?"}),
            ("archival_memory_search", {"query": "the price of coal"}),
        ),
        answers("A parrot!"),
    )
    talk.step("I have a grey parrot.")
    stored, by_word, by_meaning, other = results(talk)[:4]
    assert stored["status"] == "OK"
    assert by_word["results"][0]["text"] == by_meaning["results"][0]["text"] == "John has a grey parrot."
    assert not [one for one in other["results"] if "parrot" in one["text"]]
    assert talk.replay().same


def test_a_text_is_replaced_wherever_it_stands(talk: Conversation, server: FakeServer) -> None:
    talk.edit_core("human", "Jon likes rye. Jon has a dog.")
    change = {"name": "human", "old_content": "Jon", "new_content": "John"}
    script(server, calls(("core_memory_replace", change)), answers("Done."))
    talk.step("It is John.")
    assert talk.head.blocks.human == "John likes rye. John has a dog."
    assert "2" in results(talk)[0]["message"]


def test_what_it_thought_beside_what_it_said_is_kept_and_nobody_hears_it(
    talk: Conversation, server: FakeServer
) -> None:
    script(server, talks("He seems sad.", calling("send_message", {"message": "Have some bread."})))
    step = talk.step("I have lost my hat.")
    assert step.answer == "Have some bread."
    (said,) = [message for message in talk.messages() if message.thought]
    assert (said.said, said.thought) == ("Have some bread.", "He seems sad.")
    talk.step("Thank you.")
    sent = [message for message in chats(server)[-1]["messages"] if message["role"] == "assistant"]
    assert sent[0]["content"] == "He seems sad."
    assert talk.replay().same


def test_every_argument_of_a_function_has_a_type_and_is_described() -> None:
    for definition in DEFINITIONS:
        for argument in definition["function"]["parameters"]["properties"].values():
            assert argument["type"] in ("string", "integer", "boolean")
            assert argument["description"]
    dates = next(one["function"] for one in DEFINITIONS if one["function"]["name"] == "conversation_search_date")
    assert "date" in dates["parameters"]["properties"]["start_date"]["description"]
    assert "2026-03-27" in dates["description"]


def test_a_prompt_that_is_short_of_room_describes_the_functions_only(talk: Conversation, server: FakeServer) -> None:
    assert talk.context().tools == DEFINITIONS
    talk.change(TalkSettings(budget=2000))
    assert talk.context().tools == BRIEF
    assert "description" not in BRIEF[1]["function"]["parameters"]["properties"]["content"]


@pytest.mark.parametrize("query", ["favourite colour", "What is my favourite colour?", "Which colour do I like?"])
def test_the_answer_is_found_before_the_question_and_nothing_else_is(agent: AgentMemory, query: str) -> None:
    talk = Conversation.begin(agent, human="John")
    for text in (
        "My favourite colour is green.",
        "What is my favourite colour?",
        "The weather is awful today.",
        "Do you like bread?",
        "I will come on Monday at ten.",
        "My boat needs paint.",
    ):
        note(talk, heard=text, said="I see.")
    found = conversation_search(agent, query)
    assert found.found[0].text == "My favourite colour is green."
    assert found.total <= 3
    assert not conversation_search(agent, "The zebra is a mammal of Africa.").total
