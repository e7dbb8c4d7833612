"""MemGPT's functions for MCP clients: the client's own conversation, and a talk with the character."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client

from memory_system import AgentMemory, Tier, World
from memory_system.conversation.conversation import Conversation
from memory_system.conversation.noting import note
from memory_system.errors import ConversationNotFound, InvalidEntry, InvalidParameter
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.server import create_server
from memory_system.interfaces.mcp.talking import TALK_TOOLS
from memory_system.interfaces.mcp.together import TOGETHER_TOOLS
from memory_system.interfaces.mcp.tool import Tools
from memory_system.llm.base import StandIn
from tests.fake_server import FakeServer, calling, error, talks
from tests.mcp_clients import called, over_http, refused, run, served, text
from tests.waiting import LAST_RESORT

Remember = Callable[..., str]
TOOLS = Tools((*MEMORY_TOOLS, *TALK_TOOLS), "mira")
BRENDA = "My mother Brenda baked me a chocolate lava cake."


def test_the_client_s_model_keeps_its_memory_as_memgpt_does(agent: AgentMemory, world: World) -> None:
    """The scene of John and Mike, played by a client."""

    async def session(url: str) -> None:
        async with over_http(url, name="a companion") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[4:] == [tool.name for tool in TALK_TOOLS]
            core = await called(client, "core_memory")
            assert "Mira Holloway" in core["persona"]
            assert (core["human"], core["revision"]) == ("", None)
            await called(client, "core_memory_append", name="human", content="Name: John")
            await called(client, "send_message", heard=f"I am John. {BRENDA}", message="Happy birthday, John!")
            changed = await called(
                client,
                "core_memory_replace",
                name="human",
                old_content="John",
                new_content="Mike",
                request_heartbeat=True,
            )
            assert changed["human"] == "Name: Mike"
            await called(client, "send_message", heard="Sorry, I am Mike.", message="Oops! Happy birthday, Mike!")
            found = await called(client, "conversation_search", query="Brenda")
            assert BRENDA in found["results"][0]["text"]
            assert found["results"][0]["source"] == "You"
            dated = await called(
                client, "conversation_search_date", start_date="2026-03-27", end_date="2026-03-28T00:00:00+00:00"
            )
            assert dated["total"] == 4
            assert (await called(client, "core_memory"))["human"] == "Name: Mike"

    with served(world, tools=TOOLS) as url:
        run(lambda: session(url))
    (conversation,) = Conversation.all(agent)
    assert conversation.head.title == "Over MCP: a companion"
    assert [message.said for message in conversation.messages()] == [
        f"I am John. {BRENDA}",
        "Happy birthday, John!",
        "Sorry, I am Mike.",
        "Oops! Happy birthday, Mike!",
    ]
    (note,) = agent.entries(Tier.STM)
    assert note.tags == ("talk",)
    told = agent.history(10)
    assert {one.change_set.author for one in told if one.change_set.operation in ("talk", "note")} == {
        "MCP a companion"
    }
    replaced = next(one for one in told if one.change_set.title == "Edit core memory: human")
    agent.undo(replaced.revision)
    assert conversation.head.blocks.human == "Name: John"


def test_what_is_stored_goes_through_short_term_memory_and_is_found(agent: AgentMemory, world: World) -> None:
    async def session(url: str) -> None:
        async with over_http(url) as client:
            stored = await called(client, "archival_memory_insert", content="Mike likes chocolate lava cake.")
            assert 1 <= stored["rating"] <= 10
            found = await called(client, "archival_memory_search", query="chocolate")
            assert found["results"][0]["text"] == "Mike likes chocolate lava cake."
            assert (found["page"], found["pages"], found["total"]) == (0, 1, 1)
            beyond = await client.call_tool("archival_memory_search", {"query": "chocolate", "page": 9})
            assert text(beyond) == "Nothing was found on page 9 of 1."

    with served(world, tools=TOOLS) as url:
        run(lambda: session(url))
    (entry,) = agent.entries(Tier.STM)
    assert (entry.tags, entry.tier) == (("archival",), Tier.STM)


def test_looking_begins_no_conversation(agent: AgentMemory, world: World) -> None:
    before = agent.stamp

    async def session() -> None:
        async with Client(create_server(world, TOOLS)) as client:
            await called(client, "core_memory")
            await called(client, "conversation_search", query="anything")
            await called(client, "archival_memory_search", query="anything")
            looks = {tool.name for tool in (await client.list_tools()).tools if tool.annotations.read_only_hint}
            assert looks == {
                "core_memory",
                "conversation_search",
                "conversation_search_date",
                "archival_memory_search",
            }

    run(session)
    assert agent.stamp == before
    assert Conversation.all(agent) == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("core_memory_append", {"name": "pet", "content": "x"}, "name: It must be 'persona' or 'human'"),
        ("core_memory_append", {"name": "human", "content": " "}, "'content' is empty."),
        ("core_memory_append", {"name": "human", "content": "x" * 5000}, "it has room for 2,000"),
        (
            "core_memory_replace",
            {"name": "human", "old_content": "John", "new_content": "Mike"},
            "The block human does not hold 'John'; it must be its exact text.",
        ),
        ("core_memory_replace", {"name": "human", "old_content": "", "new_content": "x"}, "'old_content' is empty"),
        ("conversation_search", {"query": "x", "page": -1}, "page: It must be 0 or more"),
        (
            "conversation_search_date",
            {"start_date": "yesterday", "end_date": "2026-03-27"},
            "The start 'yesterday' is not a date",
        ),
        ("archival_memory_insert", {"content": ""}, "content: It is empty"),
        ("talk", {"message": " \n"}, "The message is empty: say something."),
        ("send_message", {"message": "  "}, "The message is empty: say something."),
        ("send_message", {"message": "x", "heard": "x" * 32_001}, "heard: It must have 32,000 characters or fewer"),
        ("send_message", {"message": "x", "to": "y"}, "to: there is no such argument."),
    ],
)
def test_what_cannot_be_done_is_a_tool_error_in_a_sentence(
    agent: AgentMemory, world: World, tool: str, arguments: dict[str, object], sentence: str
) -> None:
    before = agent.stamp

    async def session() -> str:
        async with Client(create_server(world, TOOLS)) as client:
            return await refused(client, tool, **arguments)

    told = run(session)
    assert sentence in told
    assert told.endswith(".")
    assert agent.stamp == before, "not even a conversation was begun"


def test_a_talk_is_answered_by_the_character_s_own_model(
    agent: AgentMemory, world: World, server: FakeServer, remember: Remember
) -> None:
    remember("Lent Tobias the brass key.", id="key")
    agent.model = server.model()
    server.queue(
        talks(
            None, calling("core_memory_append", {"name": "human", "content": "Asks of keys", "request_heartbeat": True})
        ),
        talks(None, calling("send_message", {"message": "Tobias has it."})),
    )

    async def session(url: str) -> None:
        async with over_http(url, name="a game") as client:
            told = []

            async def progress(done: float, _total: float | None, doing: str | None) -> None:
                told.append((done, doing))

            said = await client.call_tool("talk", {"message": "Who has the brass key?"}, progress_callback=progress)
            assert told[0] == (0.5, "Called core_memory_append")
            assert text(said) == "Tobias has it."
            answer = said.structured_content
            assert [one["name"] for one in answer["functions"]] == ["core_memory_append", "send_message"]
            assert "key" in answer["recalled"]
            assert (await called(client, "core_memory"))["human"] == "Asks of keys"

    with served(world, tools=TOOLS) as url:
        run(lambda: session(url))
    (conversation,) = Conversation.all(agent)
    assert conversation.messages()[0].text == "Who has the brass key?"
    talked = agent.history(1)[0]
    agent.undo(talked.revision)
    assert conversation.messages() == ()
    assert conversation.head.blocks.human == ""


def test_an_answer_that_is_called_off_is_not_stored(agent: AgentMemory, world: World) -> None:
    asked, called_off = threading.Event(), threading.Event()

    class Waits(StandIn):
        def passed(self, ask: Callable[[], Any], *_sent: Any) -> Any:
            asked.set()
            assert called_off.wait(LAST_RESORT)
            return replace(ask(), text="Tobias has it.", calls=())  # as models answer that call no function

    async def session(url: str) -> None:
        async with over_http(url) as client:
            await called(client, "talk", message="Good morning.")
            agent.model, said = Waits(agent.model), agent.revision
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "talk", {"message": "Who has the key?"})
                while not asked.is_set():
                    await anyio.sleep(0.02)
                tasks.cancel_scope.cancel()
            await called(client, "recall", cue="the key")  # the server has heard of it by now
            called_off.set()
            await called(client, "talk", message="Good night.")
            assert agent.revision == said + 1

    with served(world, tools=TOOLS) as url:
        run(lambda: session(url))
    (conversation,) = Conversation.all(agent)
    assert "Who has the key?" not in [one.text for one in conversation.messages()]


def test_john_and_mike_by_the_offline_model_over_mcp(agent: AgentMemory, world: World) -> None:
    async def session(url: str) -> None:
        async with over_http(url, name="a companion") as client:

            async def said(message: str) -> str:
                return str((await called(client, "talk", message=message))["answer"])

            await said(f"Hello, my name is John. {BRENDA}")
            await said("Sorry, my name is Mike.")
            core = await called(client, "core_memory")
            assert "Mike" in core["human"]
            assert "John" not in core["human"]
            assert "Brenda" in await said("Do you remember what I said about my mother?")
            assert "Mike" in await said("What is my name?")
            beat = await called(client, "heartbeat")
            assert beat["answer"].startswith("(offline)") or not beat["answer"]
            assert beat["revision"] == agent.revision

    with served(world, tools=TOOLS) as url:
        run(lambda: session(url))


def test_a_talk_that_fails_says_so_and_keeps_what_was_said(
    agent: AgentMemory, world: World, server: FakeServer
) -> None:
    agent.model = server.model(key="sk-secret-key-123456")
    server.on("*", error(401, "wrong key sk-secret-key-123456"))

    async def session(url: str) -> str:
        async with over_http(url) as client:
            return await refused(client, "talk", message="Are you there?")

    with served(world, tools=TOOLS) as url:
        told = run(lambda: session(url))
    assert "What you said is kept, as revision" in told
    assert "sk-secret" not in told
    (conversation,) = Conversation.all(agent)
    assert conversation.messages()[0].text == "Are you there?"


def test_each_client_has_a_conversation_of_its_own_and_none_loses_a_message(agent: AgentMemory, world: World) -> None:
    async def tell(client: Client, who: str) -> None:
        for number in range(5):
            await called(client, "send_message", message=f"{who} {number}")
            await called(client, "core_memory_append", name="human", content=f"{who} {number}")

    async def session(url: str) -> None:
        async with (
            over_http(url, name="one") as first,
            over_http(url, "legacy", name="one") as again,
            over_http(url, name="two") as other,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(tell, first, "first")
            tasks.start_soon(tell, again, "again")
            tasks.start_soon(tell, other, "other")

    with served(world, tools=TOOLS) as url:
        run(lambda: session(url))
    talks_ = {conversation.head.title: conversation for conversation in Conversation.all(agent)}
    assert talks_.keys() == {"Over MCP: one", "Over MCP: two"}
    both = [message.text for message in talks_["Over MCP: one"].messages()]
    assert sorted(both) == sorted(f"{who} {number}" for who in ("first", "again") for number in range(5))
    assert sorted(talks_["Over MCP: one"].head.blocks.human.splitlines()) == sorted(both)
    assert len(talks_["Over MCP: two"].messages()) == 5


def test_what_was_said_elsewhere_is_kept_in_order_and_undone_as_one(agent: AgentMemory) -> None:
    conversation = Conversation.begin(agent, human="John")
    planned = note(conversation, heard="Hello!", said="Good morning.", preview=True)
    assert conversation.messages() == ()
    done = agent.apply(planned)
    first, second = conversation.messages()
    assert (first.number, first.role, first.text, first.speaker) == (0, "user", "Hello!", "John")
    assert (second.number, second.role, second.text, second.speaker) == (
        1,
        "assistant",
        "Good morning.",
        "Mira Holloway",
    )
    assert first.tokens > 0
    with pytest.raises(InvalidParameter):
        conversation.replay(done)
    agent.undo(done)
    assert conversation.messages() == ()
    for wrong in ({}, {"said": " "}, {"said": "x" * 32_001}, {"heard": "\ud800"}, {"said": 5}):
        with pytest.raises(InvalidEntry):
            note(conversation, **wrong)  # type: ignore[arg-type]
    agent.undo(agent.history(100)[-2].revision)
    with pytest.raises(ConversationNotFound):
        note(conversation, said="Anybody there?")


def test_characters_talk_with_each_other_over_mcp_and_go_on(world: World, agent: AgentMemory) -> None:
    names = [agent.name, *(world.create_agent(name).name for name in ("bo", "cy"))]

    async def session() -> None:
        async with Client(create_server(world, Tools(TOGETHER_TOOLS))) as client:
            two = await called(client, "talk_together", agents=names[:2], turns=2, opening="You meet at the mill.")
            assert [one["speaker"] for one in two["said"]] == ["Mira Holloway", "bo"]
            on = await called(client, "talk_together", agents=names[:2], turns=1, conversations=two["conversations"])
            assert on["conversations"] == two["conversations"]
            assert on["said"][0]["speaker"] == "Mira Holloway"
            three = await called(client, "talk_together", agents=names, turns=3)
            assert len(three["conversations"]) == len(three["said"]) == 3
            before = [len(Conversation.all(world.agent(name))) for name in names]
            assert before == [2, 2, 1]
            for wrong in (
                {"agents": names[:1]},
                {"agents": ["bo", "bo"]},
                {"agents": ["bo", "bo", "cy"]},
                {"agents": ["bo", "nobody"]},
                {"agents": names, "turns": 0},
                {"agents": names, "turns": 201},
                {"agents": names, "conversations": two["conversations"]},
                {"agents": ["bo", "cy"], "conversations": two["conversations"]},
                {"agents": ["bo", "bo"], "conversations": [two["conversations"][1]] * 2},
            ):
                assert await refused(client, "talk_together", **wrong)
            assert [len(Conversation.all(world.agent(name))) for name in names] == before

    run(session)
    assert agent.history(1)[0].change_set.author.startswith("MCP")
    assert not Tools(TOGETHER_TOOLS, "mira").offered(), "a server of one character has nobody else"
