"""Events over HTTP as other programs write them, and beside a language model that is slow."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.core.authors import RATING
from memory_system.core.entry import BY_RULES
from memory_system.errors import InvalidEntry
from memory_system.interfaces.api.deps import SLOW
from memory_system.interfaces.client import RemoteWorld
from tests.fake_server import FakeServer, says
from tests.served import served_api
from tests.waiting import LAST_RESORT, until

EVENTS = "/v1/agents/mira/events"
ZONE = timezone(timedelta(hours=2))


def sent(world: World, body: dict[str, Any]) -> httpx.Response:
    with served_api(world) as address:
        return httpx.post(f"{address}{EVENTS}", json=body, timeout=LAST_RESORT)


def test_columns_are_taken_over_http(world: World, agent: AgentMemory) -> None:
    body = {
        "documents": ["Saw smoke.", "Fed the geese."],
        "metadatas": [{"importance_score": 0.7, "place": "mill"}, None],
        "ids": ["smoke", None],
    }
    answer = sent(world, body)
    assert answer.status_code == 200, answer.text
    held = agent.find("smoke")
    assert held is not None
    assert (held.rating, held.extras) == (7, {"place": "mill"})
    assert len(agent.entries(Tier.STM)) == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"events": [], "documents": []},
        {"ids": ["a"]},
        {"documents": ["a"], "ids": ["a", "b"]},
        {"documents": ["a"], "when": []},
    ],
)
def test_what_is_neither_is_refused(world: World, agent: AgentMemory, body: dict[str, Any]) -> None:
    assert sent(world, body).status_code in (400, 422)
    assert not agent.entries(Tier.STM)


def test_an_importance_is_taken_on_either_scale_and_the_answer_says_which(world: World, agent: AgentMemory) -> None:
    tenths = sent(world, {"events": [{"document": "Saw smoke.", "id": "a", "importance_score": 0.8}]}).json()
    assert tenths["change_set"]["notes"] == []
    ten = [
        {"document": "He lied.", "id": "b", "importance_score": 8},
        {"document": "So?", "id": "c", "importance_score": 1},
    ]
    (note,) = sent(world, {"events": ten}).json()["change_set"]["notes"]
    assert "1 to 10" in note
    found = {entry.id: entry.rating for entry in agent.entries(Tier.STM)}
    assert found == {"a": 8, "b": 8, "c": 1}
    assert sent(world, {"events": [{"document": "x", "importance_score": 11}]}).status_code == 422


def test_a_time_without_a_zone_is_the_world_s_and_the_answer_says_so(world: World, agent: AgentMemory) -> None:
    world.stand_at(datetime(2026, 3, 27, 18, tzinfo=ZONE))
    events = [
        {"document": "Saw smoke.", "id": "a", "timestamp": "2026-03-26T10:00:00"},
        {"document": "Fed the geese.", "id": "b", "metadata": {"timestamp": "2026-03-26T11:00:00"}},
        {"document": "Slept.", "id": "c", "timestamp": "2026-03-26T11:00:00+00:00"},
    ]
    answer = sent(world, {"events": events, "now": "2026-03-27T12:00:00"})
    (note,) = answer.json()["change_set"]["notes"]
    assert "2 times" in note
    hours = {entry.id: entry.timestamp for entry in agent.entries(Tier.STM)}
    assert hours == {
        "a": datetime(2026, 3, 26, 8, tzinfo=UTC),
        "b": datetime(2026, 3, 26, 9, tzinfo=UTC),
        "c": datetime(2026, 3, 26, 11, tzinfo=UTC),
    }


def test_the_same_is_so_in_python_and_of_the_client(world: World, agent: AgentMemory) -> None:
    world.stand_at(datetime(2026, 3, 27, 18, tzinfo=ZONE))
    events = [{"document": "Saw smoke.", "timestamp": "2026-03-26T10:00:00", "importance_score": 8}]
    here = agent.add_short_term(events)
    with served_api(world) as address, RemoteWorld(address) as there:
        over_there = there.agent("mira").add_short_term(events)
    assert over_there.change_set.notes == here.change_set.notes != ()
    for added in (here, over_there):
        assert added.outcomes[0].entry.rating == 8
        assert added.outcomes[0].entry.timestamp == datetime(2026, 3, 26, 8, tzinfo=UTC)
    with pytest.raises(InvalidEntry):
        agent.add_short_term({"document": "Saw smoke.", "timestamp": "in spring"})


def test_an_event_that_needs_no_model_waits_for_none(world: World, agent: AgentMemory, server: FakeServer) -> None:
    agent.model = server.model(deadline=LAST_RESORT)
    gate = threading.Event()

    def wait(handler: Any) -> None:
        gate.wait(LAST_RESORT)
        says({"explanation": "So so.", "rating": 5})(handler)

    server.on("rate", wait)
    with served_api(world) as address, ThreadPoolExecutor(SLOW) as pool, httpx.Client(base_url=address) as api:

        def add(event: dict[str, Any], **more: Any) -> int:
            return api.post(EVENTS, json={"events": [event], **more}, timeout=LAST_RESORT).status_code

        try:
            waiting = [pool.submit(add, {"document": f"Event {number}."}, wait=True) for number in range(SLOW)]
            until(lambda: len(server.requests) == SLOW)
            assert add({"document": "It is rated.", "rating": 3}) == 200
            assert add({"document": "It is rated too.", "metadata": {"importance_score": 0.3}}) == 200
            assert add({"document": "It is not to be rated."}, rate=False) == 200
            assert add({"document": "It does not wait."}, wait=False) == 200
            agent.configure(rated_by="nobody")
            assert add({"document": "It is rated later."}) == 200
            lines = {"Content-Type": "application/x-ndjson"}
            line = json.dumps({"document": "A line."})
            assert api.post(f"{EVENTS}.ndjson", content=line, headers=lines).status_code == 200
            many = {"events": [{"agent": "mira", "document": "One of many."}]}
            assert api.post("/v1/events", json=many).json()["items"][0]["problem"] is None
            assert not any(one.done() for one in waiting)
            assert len(agent.entries(Tier.STM)) == 7
        finally:
            gate.set()
        assert [one.result() for one in waiting] == [200] * SLOW


def test_where_a_server_rates_in_the_background_an_event_is_acknowledged_at_once(
    world: World, agent: AgentMemory, server: FakeServer
) -> None:
    gate = threading.Event()

    def wait(handler: Any) -> None:
        gate.wait(LAST_RESORT)
        says({"explanation": "So so.", "rating": 5})(handler)

    server.on("rate", wait)
    agent.model = server.model(deadline=LAST_RESORT)
    world.rerater.start()
    with served_api(world) as address, RemoteWorld(address) as there:
        try:
            there.agent("mira").add_short_term({"document": "The mill burned.", "id": "fire"})
            (told,) = there.add_events([{"agent": "mira", "document": "The barn too.", "id": "barn"}])
            held = [agent.find("fire"), agent.find("barn")]
            assert told.value is not None
            assert all(one is not None and one.rating and one.explanation == BY_RULES for one in held)
            until(lambda: len(server.requests) == 1)  # it was told that there is something to rate
        finally:
            gate.set()
        until(lambda: world.rerater.state.rated == 2)
        assert there.agent("mira").add_short_term({"document": "It rained."}, wait=True).outcomes[0].entry.rating == 5
    assert agent.history(2)[1].change_set.author == RATING
    assert [one.rating for one in agent.entries(Tier.STM)] == [5, 5, 5]
