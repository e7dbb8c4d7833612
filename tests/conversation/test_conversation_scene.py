"""The scene of John who is Mike, and of his mother Brenda: MemGPT's own (arXiv 2310.08560), over HTTP and offline."""

from __future__ import annotations

import json

import pytest

from memory_system import AgentMemory
from memory_system.conversation.conversation import Conversation
from memory_system.conversation.steps import Step
from memory_system.conversation.talk import TalkSettings
from tests.conversing import answers, calls, chats, script, talking
from tests.fake_server import FakeServer

CAKE = (
    "My name is John. I took the day off today, and my mother Brenda baked me a birthday cake. It was my favourite, "
    "chocolate lava!"
)
MIKE = "Sure, but my name is Mike."
BRENDA = "Do you remember the time when I talked about my mother with you? And what is my name?"


def found(step: Step, name: str) -> str:
    """What the functions of this name answered."""
    return "\n".join(run.result for run in step.functions if run.name == name)


def fill(talk: Conversation, turns: int) -> None:
    """Talk about something else until the beginning has left the prompt."""
    for number in range(turns):
        talk.step(f"The tide mill needs its wheel number {number} mended before the storm comes, do you see?")


def test_the_scene_over_http(agent: AgentMemory, server: FakeServer) -> None:
    talk = Conversation.begin(talking(agent, server), settings=TalkSettings(budget=2000))
    script(
        server,
        calls(("core_memory_append", {"name": "human", "content": "Name: John"})),
        answers("Happy birthday, John! How was the chocolate lava cake?"),
    )
    talk.step(CAKE)
    script(
        server,
        calls(("core_memory_replace", {"name": "human", "old_content": "John", "new_content": "Mike"})),
        answers("I am sorry, Mike! Happy birthday."),
    )
    talk.step(MIKE)
    fill(talk, 6)
    assert not any("Brenda" in str(m) for m in talk.talk.queue)
    script(
        server,
        calls(("conversation_search", {"query": "my mother"})),
        answers("Yes, Mike: your mother Brenda baked you the cake."),
    )
    step = talk.step(BRENDA)
    assert step.answer == "Yes, Mike: your mother Brenda baked you the cake."
    assert talk.head.blocks.human == "Name: Mike"
    prompt, with_result = chats(server)[-2:]
    assert "Name: Mike" in prompt["messages"][0]["content"]
    assert "Brenda" not in json.dumps(prompt["messages"][1:])
    assert "Brenda baked me a birthday cake" in with_result["messages"][-1]["content"]
    assert talk.replay(step.change_set or 0).same


def test_the_scene_by_plain_rules(agent: AgentMemory) -> None:
    talk = Conversation.begin(agent, settings=TalkSettings(budget=2000))
    talk.step(CAKE)
    assert "John" in talk.head.blocks.human
    talk.step(MIKE)
    assert "Mike" in talk.head.blocks.human
    assert "John" not in talk.head.blocks.human
    step = talk.step("Do you remember the time when I talked about my mother with you?")
    assert "Brenda" in found(step, "conversation_search")
    assert "Brenda" in step.answer
    assert "Mike" in talk.step("What is my name?").answer
    assert "offline" in step.answer


@pytest.mark.parametrize("budget", [2000, 8000])
def test_the_scene_survives_a_long_talk_by_plain_rules(agent: AgentMemory, budget: int) -> None:
    talk = Conversation.begin(agent, settings=TalkSettings(budget=budget))
    talk.step(CAKE)
    talk.step(MIKE)
    fill(talk, 12)
    step = talk.step("Do you remember what I told you about my mother?")
    assert "Brenda" in step.answer
    assert "Mike" in talk.step("What is my name?").answer
    assert step.context.tokens <= budget
