"""The client for asyncio: the same calls, each awaited, made of those of the client."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.errors import AgentNotFound, ServerUnavailable
from memory_system.interfaces.client import (
    AsyncAgent,
    AsyncConversation,
    AsyncView,
    AsyncWorld,
    RemoteAgent,
    RemoteConversation,
    RemoteView,
    RemoteWorld,
    awaited,
    conversation,
)
from tests.conftest import NOW
from tests.conversing import answers, calls, script, talking
from tests.fake_server import FakeServer
from tests.served import served_api

Remember = Callable[..., str]
PAIRS = [
    (AsyncWorld, RemoteWorld),
    (AsyncAgent, RemoteAgent),
    (AsyncView, RemoteView),
    (AsyncConversation, RemoteConversation),
]


def played(world: World, play: Callable[[AsyncWorld], Awaitable[Any]]) -> Any:
    """What comes of a program on an event loop, whose world is ``world`` by way of a server."""

    async def main(address: str) -> Any:
        async with AsyncWorld(address) as there:
            return await play(there)

    with served_api(world) as address:
        return asyncio.run(main(address))


@pytest.mark.parametrize(("later", "now"), PAIRS, ids=lambda kind: kind.__name__)
def test_everything_of_the_client_is_there_under_its_name(later: type, now: type) -> None:
    for name in (name for name in dir(now) if not name.startswith("_")):
        at_once, found = inspect.getattr_static(now, name), inspect.getattr_static(later, name)
        assert isinstance(found, property) == isinstance(at_once, property), name
        if inspect.isfunction(at_once):
            assert inspect.signature(found) == inspect.signature(at_once), name
            assert found.__doc__ == at_once.__doc__


def test_what_belongs_to_talks_is_there_too() -> None:
    for name in conversation.__all__:
        assert getattr(awaited, name) is not None
    assert awaited.Conversation is AsyncConversation
    assert awaited.TalkSettings is conversation.TalkSettings
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = awaited.nothing_of_the_kind


def test_it_adds_recalls_and_changes_as_the_client_does(world: World, agent: AgentMemory, remember: Remember) -> None:
    remember("Tobias has the brass key.", id="key", rating=6)

    async def play(there: AsyncWorld) -> None:
        mira = await there.agent("mira")
        assert (mira.name, await mira.display_name, await there.agents()) == ("mira", "Mira Holloway", ["mira"])
        await mira.add_short_term({"document": "Saw smoke over the north field.", "id": "smoke", "rating": 4})
        asked = {"top_k": 1, "touch": False}
        found = await asyncio.gather(*(mira.query_memory(cue, **asked) for cue in ("Who has the key?", "What smoked?")))
        assert [one.hits[0].entry.id for one in found] == ["key", "smoke"]
        planned = await mira.forget("smoke", preview=True)
        assert (await mira.apply(planned)).revision == agent.revision
        assert [entry.id for entry in await mira.entries(Tier.STM)] == ["key"]
        assert (await mira.as_of(revision=agent.revision - 1)).name == "mira"
        past = await mira.as_of(world_time=NOW - timedelta(days=400))
        assert isinstance(past, AsyncView)
        assert [head["revision"] async for kind, head in mira.changes(since=0, seconds=0.2) if kind == "change"]
        assert [line async for line in mira.export() if "Tobias has the brass key." in line]
        with pytest.raises(AgentNotFound):
            await there.agent("nobody")

    played(world, play)


def test_two_talk_and_each_thing_is_told_in_the_event_loop(world: World, agent: AgentMemory) -> None:
    world.create_agent("ana")
    heard: list[tuple[str, bool]] = []

    async def play(there: AsyncWorld) -> list[str]:
        loops = threading.get_ident()

        async def hears(text: str) -> None:
            await asyncio.sleep(0)
            heard.append((text, threading.get_ident() == loops))

        one, other = await asyncio.gather(there.agent("mira"), there.agent("ana"))
        talk = await awaited.Conversation.begin(one, human="John")
        step = await talk.step("My name is John.", heard=hears)
        assert "".join(text for text, _ in heard) == step.answer
        assert all(in_loop for _, in_loop in heard)
        assert "John" in [person.name for person in await awaited.people(one)]
        assert [begun.id for begun in await awaited.Conversation.all(one)] == [talk.id]
        duet = await awaited.Duet.begin(one, other)
        assert isinstance(duet.first, AsyncConversation)
        return [said.speaker async for said in duet.stream(2)]

    assert played(world, play) == ["Mira Holloway", "ana"]


def test_the_event_loop_goes_on_while_a_server_is_waited_for(world: World, agent: AgentMemory) -> None:
    async def play(there: AsyncWorld) -> int:
        mira, ticks = await there.agent("mira"), 0

        async def listen() -> list[Any]:
            return [said async for said in mira.changes(seconds=0.3)]

        listening = asyncio.create_task(listen())
        while not listening.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks

    assert played(world, play) > 1


class Talkative:
    """Says one word after the other until nobody listens any more."""

    name = label = "talkative"

    def chat(self, *_asked: object, heard: Callable[[str], None], **_how: object) -> None:
        while True:
            heard("word ")
            time.sleep(0.01)


def test_a_talk_that_nobody_waits_for_any_more_stores_nothing(world: World, agent: AgentMemory) -> None:
    agent.model = Talkative()  # type: ignore[assignment]

    async def play(there: AsyncWorld) -> int:
        talk = await awaited.Conversation.begin(await there.agent("mira"), human="John")
        began, told = agent.revision, asyncio.Event()

        async def hear(_text: str) -> None:
            told.set()
            await asyncio.sleep(3600)

        speaking = asyncio.create_task(talk.step("Hello.", heard=hear))
        await told.wait()
        speaking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await speaking
        assert await talk.messages() == ()
        return began

    assert played(world, play) == agent.revision


def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    async def ask() -> None:
        async with AsyncWorld("http://127.0.0.1:9") as nowhere:
            await nowhere.agents()

    with pytest.raises(ServerUnavailable):
        asyncio.run(ask())


def test_an_action_may_be_carried_out_by_a_coroutine(world: World, agent: AgentMemory, server: FakeServer) -> None:
    talking(agent, server)
    script(server, calls(("wave", {"times": 2})), answers("Done."))

    async def wave(times: int) -> str:
        await asyncio.sleep(0)
        return f"Waved {times} times in {threading.current_thread().name}."

    async def play(there: AsyncWorld) -> Any:
        talk = await AsyncConversation.begin(await there.agent("mira"), human="John")
        schema = {"properties": {"times": {"type": "integer"}}}
        return await talk.step("Wave.", actions=[conversation.Action("wave", "Wave a hand.", schema, wave)])

    step = played(world, play)
    assert step.answer == "Done."
    assert "Waved 2 times in MainThread." in step.functions[0].result
