"""Ratings, tokens and cost by way of the HTTP API, its client, and the command line."""

from __future__ import annotations

import httpx
import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.errors import BudgetSpent, InvalidInput
from memory_system.interfaces.client import RemoteWorld
from memory_system.llm import prices
from memory_system.llm.prices import Price
from tests.command_line import CommandLine
from tests.fake_server import FakeServer, says
from tests.served import served_api

GOOD = {"explanation": "A promise.", "rating": 7}
MIRA = "/v1/agents/mira"


@pytest.fixture
def talker(agent: AgentMemory, server: FakeServer) -> AgentMemory:
    """``agent`` with a language model that rates everything 7, and six memories without a rating."""
    server.on("rate", says(GOOD))
    agent.model = server.model()
    agent.add_short_term([{"document": f"Event number {n}.", "id": f"e{n}"} for n in range(6)], rate=False)
    return agent


def test_what_is_unrated_is_rated_over_http_as_many_as_are_wanted(api: httpx.Client, talker: AgentMemory) -> None:
    done = api.post(f"{MIRA}/rate-unrated", json={"most": 4, "but": ["e0"]}).json()
    assert (len(done["rated"]), done["failed"], done["left"], done["stopped"]) == (4, [], 2, "")
    assert "e0" not in done["rated"]
    assert api.post(f"{MIRA}/rate-unrated", json={"only_wanted": True}).json()["left"] == 2
    assert api.post(f"{MIRA}/rate-unrated", json={}).json()["left"] == 0
    assert talker.unrated() == []
    assert api.post(f"{MIRA}/rate-unrated", json={"most": 0}).status_code == 422


def test_tokens_and_cost_are_told_and_prices_set_over_http(api: httpx.Client, talker: AgentMemory) -> None:
    assert api.get("/v1/prices").json() == {"items": {}}
    told = api.put("/v1/prices", json={"items": {"fake": {"prompt": 1000, "answer": 2000}}})
    assert told.json() == api.get("/v1/prices").json() == {"items": {"fake": {"prompt": 1000.0, "answer": 2000.0}}}
    api.post(f"{MIRA}/rate-unrated", json={"most": 1})
    spent = api.get(f"{MIRA}/spent").json()
    line = {"model": "fake", "task": "rate", "calls": 1, "prompt": 5, "answer": 7, "cost": pytest.approx(0.019)}
    assert spent["items"] == [line]
    assert (spent["total"]["calls"], spent["token_budget"], spent["cost_budget"]) == (1, 0, 0)
    for wrong in ({"fake": {"prompt": -1, "answer": 1}}, {"": {"prompt": 1, "answer": 1}}, {"fake": {"prompt": 1}}):
        assert api.put("/v1/prices", json={"items": wrong}).status_code == 422


def test_a_spent_budget_is_402_and_the_event_is_stored(api: httpx.Client, talker: AgentMemory) -> None:
    assert api.patch(f"{MIRA}/settings", json={"token_budget": 10}).status_code == 200
    assert api.get(f"{MIRA}/settings").json()["token_budget"] == 10
    added = api.post(f"{MIRA}/events", json={"events": [{"document": "He lied."}]}).json()
    assert len(added["unrated"]) == 1
    assert "budget of 10 tokens" in added["outcomes"][0]["why"]
    refused = api.post(f"{MIRA}/operations/reflect", json={})
    assert (refused.status_code, refused.json()["code"]) == (402, "budget-spent")


def test_the_same_text_is_asked_about_once_by_rate(api: httpx.Client, world: World, server: FakeServer) -> None:
    server.on("rate", says(GOOD))
    world.model = server.model()
    answers = [api.post("/rate", json={"memory": "He lied."}).json() for _ in range(3)]
    assert answers == [GOOD] * 3
    assert len(server.requests) == 1


def test_the_work_in_the_background_is_told(api: httpx.Client, world: World) -> None:
    told = api.get("/v1/rerating").json()
    assert (told["on"], told["rated"], told["next"]) == (False, 0, None)
    world.rerater.start()
    assert api.get("/v1/rerating").json()["on"]


def test_the_client_has_the_same_calls(world: World, talker: AgentMemory) -> None:
    with served_api(world) as address, RemoteWorld(address) as there:
        remote = there.agent("mira")
        done = remote.rate_unrated(most=2)
        assert (len(done.rated), done.left) == (2, 4)
        assert remote.unrated() == talker.unrated()
        assert len(remote.unrated()) == done.left
        assert remote.spent == talker.spent
        remote.configure(token_budget=1)
        with pytest.raises(BudgetSpent):
            remote.reflect_from_recent_memory()
        with pytest.raises(InvalidInput):
            remote.rate_unrated(most=0)


def by_network(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Let commands ask a language model at this address."""
    monkeypatch.setenv("MEMORY_LLM", "openai")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("MEMORY_LLM_MODEL", "fake")
    monkeypatch.setenv("MEMORY_LLM_DEADLINE", "30")


def test_the_command_line_rates_and_tells_what_was_spent(
    world: World, talker: AgentMemory, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = CommandLine(world, monkeypatch)
    by_network(monkeypatch, server.url)
    prices.write(world.folder, {"fake": Price(100_000, 0)})
    assert "6 memories of mira would be rated" in cli("rate", "mira", "--dry-run").out
    assert len(talker.unrated()) == 6
    assert "6 memories were rated, 0 are left." in cli("rate", "mira").out
    told = cli("spent", "mira")
    assert "72 tokens in 6 calls, cost 3.0000." in told.out
    assert cli("spent", "mira", "--json").value["total"]["answer"] == 42


def test_the_command_line_says_why_it_stopped(
    world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.add_short_term({"document": "He lied."}, rate=False)
    cli = CommandLine(world, monkeypatch)
    by_network(monkeypatch, "http://127.0.0.1:9/v1")
    done = cli("rate", "mira")
    assert (done.code, "cannot be reached" in done.err) == (1, True)
    assert [one.rating for one in agent.entries(Tier.STM)] == [None]
