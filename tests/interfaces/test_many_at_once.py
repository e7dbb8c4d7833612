"""Events, and cues, of many agents in one request: an answer for each, and what is wrong with one costs no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from starlette.testclient import TestClient

from memory_system import AgentMemory, Facets, Settings, Tier, World
from memory_system.errors import AgentNotFound, InvalidEntry, InvalidParameter, NotAllowed
from memory_system.interfaces.api import create_app
from memory_system.interfaces.client import RemoteWorld
from memory_system.world.auth import Door
from tests.served import served_api

Remember = Callable[..., str]


@pytest.fixture
def ana(world: World, agent: AgentMemory) -> AgentMemory:
    """A second agent beside mira."""
    return world.create_agent("ana")


@pytest.fixture
def there(world: World) -> Iterator[RemoteWorld]:
    with served_api(world) as address, RemoteWorld(address) as opened:
        yield opened


@pytest.fixture
def api(world: World) -> TestClient:
    return TestClient(create_app(lambda: world), base_url="http://127.0.0.1")


def texts(agent: AgentMemory) -> list[str]:
    return sorted(entry.document for entry in agent.entries(Tier.STM))


def test_events_reach_the_agents_that_they_name(there: RemoteWorld, agent: AgentMemory, ana: AgentMemory) -> None:
    before = agent.revision
    told = there.add_events(
        [
            {"agent": "mira", "document": "Saw smoke.", "rating": 4},
            {"agent": "ana", "document": "Sold a hen.", "rating": 2, "timestamp": "2026-03-27T09:00:00"},
            {"agent": "mira", "document": "The smoke is gone.", "rating": 3},
        ]
    )
    assert [one.agent for one in told] == ["mira", "ana", "mira"]
    assert [one.value.action for one in told if one.value] == ["added"] * 3
    assert (texts(agent), texts(ana)) == (["Saw smoke.", "The smoke is gone."], ["Sold a hen."])
    assert [one.revision for one in told] == [before + 1, ana.revision, before + 1], "one change set for each agent"
    agent.undo(before + 1)
    assert (texts(agent), len(texts(ana))) == ([], 1)


def test_one_that_cannot_be_taken_says_which_and_why_and_the_others_are_stored(
    there: RemoteWorld, agent: AgentMemory, ana: AgentMemory
) -> None:
    told = there.add_events(
        [
            {"agent": "mira", "document": "One.", "id": "one", "importance_score": 1},
            {"agent": "mira", "document": ""},
            {"agent": "mira", "document": "Two.", "id": "two", "importance_score": 8},
            {"agent": "mira", "document": "Again.", "id": "two"},
            {"agent": "nobody", "document": "Three."},
            {"agent": "ana", "document": "Four.", "colour": "red"},
            {"document": "Five."},
            {"agent": "ana", "document": "Six.", "kind": "reflection"},
            {"agent": "ana", "document": "Seven.", "rating": 7},
        ]
    )
    assert [one.value is not None for one in told] == [True, False, True, *[False] * 5, True]
    wrong = {place: one.error for place, one in enumerate(told, start=1) if one.error}
    assert {place: type(error) for place, error in wrong.items()} == {
        **dict.fromkeys((2, 4, 6, 7, 8), InvalidEntry),
        5: AgentNotFound,
    }
    assert all(f"Event {place}: " in str(error) for place, error in wrong.items())
    assert (texts(agent), texts(ana)) == (["One.", "Two."], ["Seven."])
    assert [entry.rating for entry in agent.entries(Tier.STM)] == [1, 8], "on one scale with those beside them"


def test_one_request_has_one_scale_and_says_what_it_read(
    there: RemoteWorld, agent: AgentMemory, ana: AgentMemory
) -> None:
    eight, one, late = there.add_events(
        [
            {"agent": "mira", "document": "The mill burned.", "importance_score": 8},
            {"agent": "ana", "document": "Swept.", "importance_score": 1},
            {"agent": "ana", "document": "Slept.", "rating": 1, "timestamp": "2026-03-27T09:00:00"},
        ]
    )
    assert [each.value and each.value.entry.rating for each in (eight, one, late)] == [8, 1, 1]
    assert "1 to 10" in eight.notes[0]
    assert "1 to 10" in one.notes[0]
    assert "no zone" in late.notes[0]


def test_a_request_that_is_sent_again_doubles_nothing(api: TestClient, agent: AgentMemory, ana: AgentMemory) -> None:
    body = {"events": [{"agent": name, "document": "It rains.", "rating": 2} for name in ("mira", "ana")]}
    first, again = (api.post("/v1/events", json=body, headers={"Idempotency-Key": "a1"}).json() for _ in range(2))
    assert first == again
    ids = [one["outcome"]["id"] for one in first["items"]]
    assert len(set(ids)) == 2, "the key makes other ids for each agent"
    assert [entry.id for one in (agent, ana) for entry in one.entries(Tier.STM)] == ids


def test_a_request_that_a_new_server_gets_again_takes_no_edit_back(world: World, agent: AgentMemory) -> None:
    body = {"events": [{"agent": "mira", "document": "It rains.", "rating": 2}]}
    for rating in (7, 8):
        with served_api(world) as address:
            told = httpx.post(f"{address}/v1/events", json=body, headers={"Idempotency-Key": "a1"}, trust_env=False)
        (entry,) = agent.entries(Tier.STM)
        assert told.json()["items"][0]["outcome"]["action"] == "added"
        assert (told.json()["items"][0]["outcome"]["entry"]["rating"], entry.rating) == (2, 2 if rating == 7 else 7)
        agent.edit(entry.id, rating=rating)


def test_many_cues_are_answered_as_each_alone(
    there: RemoteWorld, agent: AgentMemory, ana: AgentMemory, remember: Remember
) -> None:
    remember("Tobias has the brass key.", rating=6, tags=["key"])
    ana.add_short_term({"document": "Sold a hen to Edda.", "rating": 3})
    facets = Facets(tags=("key",))
    found = there.query_many(
        [
            {"agent": "ana", "cue": "What was sold?", "touch": False},
            {"agent": "mira", "cue": "Who has the key?", "top_k": -1},
            {"agent": "mira", "cue": "Who has the key?", "top_k": 1, "facets": facets, "touch": False},
            {"agent": "nobody", "cue": "Who?"},
        ]
    )
    alone = [
        ana.query_memory("What was sold?", touch=False),
        agent.query_memory("Who has the key?", 1, facets=facets, touch=False),
    ]
    recalled = [one.value for one in found if one.value]
    assert [[hit.entry.id for hit in one.hits] for one in recalled] == [
        [hit.entry.id for hit in one.hits] for one in alone
    ]
    assert [type(one.error) for one in found] == [type(None), InvalidParameter, type(None), AgentNotFound]
    assert "Query 2: top_k" in str(found[1].error)
    assert found[2].revision == agent.revision


def test_one_request_has_its_limits(api: TestClient, there: RemoteWorld, agent: AgentMemory) -> None:
    assert api.post("/v1/query", json={"queries": [{"agent": "mira", "cue": "?"}] * 501}).status_code == 422
    assert api.post("/v1/events", json={"events": [{}] * 10_001}).status_code == 422
    found = there.query_many([{"agent": "mira", "cue": "Who?", "top_k": 6_000, "touch": False}] * 2)
    assert [one.error is None for one in found] == [True, False]
    assert "10,000" in str(found[1].error)
    for many in (there.add_events, there.query_many):
        (answered,) = many([5])  # type: ignore[list-item]
        assert "names an 'agent'" in str(answered.error)
        for wrong in (5, None, {"agent": "mira"}, "mira"):
            with pytest.raises(InvalidParameter, match="must be a list"):
                many(wrong)  # type: ignore[arg-type]


def test_a_viewer_may_ask_many_and_tell_none(world: World, agent: AgentMemory) -> None:
    secrets = Settings(token="the-curators-token-1234", viewer_token="the-viewers-token-12345")  # type: ignore[arg-type]
    with (
        served_api(world, Door.of_api(secrets)) as address,
        RemoteWorld(address, token="the-viewers-token-12345") as there,
    ):
        (found,) = there.query_many([{"agent": "mira", "cue": "What is true of the tide mill key?"}])
        assert found.value is not None
        assert found.value.hits
        with pytest.raises(NotAllowed):
            there.add_events([{"agent": "mira", "document": "Saw smoke."}])
    assert texts(agent) == []


def test_the_description_tells_what_each_of_many_is(api: TestClient) -> None:
    told = api.get("/openapi.json").json()
    for address, form in (("/v1/events", "AgentsEvent"), ("/v1/query", "AgentsQuery")):
        assert told["paths"][address]["post"]["description"]
        assert "agent" in told["components"]["schemas"][form]["required"]
