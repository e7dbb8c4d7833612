"""Letting time pass, and what will happen by itself, through every front end."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from memory_system import AgentMemory, World
from memory_system.interfaces.client import RemoteWorld
from memory_system.interfaces.mcp.curating import CURATING_TOOLS, LOOKING_TOOLS
from memory_system.interfaces.mcp.server import create_server
from memory_system.interfaces.mcp.tool import Tools
from tests.command_line import CommandLine
from tests.conftest import NOW
from tests.mcp_clients import called, run

TO = NOW + timedelta(hours=14)


@pytest.fixture(autouse=True)
def full(agent: AgentMemory) -> None:
    """Mira has more to remember than room for it."""
    agent.configure(stm_size=2, retention="importance", reflection_trigger=10)
    for number in range(4):
        when = NOW - timedelta(hours=4 - number)
        event = {"document": f"Tobias sold goose {number} at the mill.", "rating": 6, "timestamp": when}
        agent.add_short_term(event, rate=False)


def whats(told: Any) -> list[str]:
    return [step["what"] for step in told["steps"]]


def test_over_http_and_with_the_client(world: World, agent: AgentMemory, api: httpx.Client) -> None:
    before = agent.stamp
    told = api.get("/v1/due", params={"to": TO.isoformat()}).json()
    with RemoteWorld(str(api.base_url)) as remote:
        assert remote.due(TO) == remote.advance(TO, preview=True) == world.due(TO)
        assert (agent.stamp, world.standing) == (before, NOW)
        shares: list[float] = []
        done = remote.advance(TO, progress=lambda share, _doing: shares.append(share))
    assert [step.what for step in done.steps] == whats(told) == ["migrate", "plan", "plan"]
    assert shares == sorted(shares) != []
    assert done.now == world.standing == TO
    assert all(agent.change(step.revision).change_set.reason == step.why for step in done.steps if step.revision)
    assert api.post("/v1/advance", json={}).json() == {
        "now": TO.isoformat(),
        "steps": [],
        "waiting": [],
        "stopped": False,
    }
    for wrong, what in (
        ({"to": NOW.isoformat()}, "does not run back"),
        ({"to": "2026-04-01T08:00:00"}, "to: The zone is missing; write it like 2026"),
        ({"to": "soon"}, "to: It must be a time; write it like 2026"),
        ({"until": TO.isoformat()}, "until: There is no such field"),
    ):
        refused = api.post("/v1/advance", json=wrong)
        assert (refused.status_code, world.standing) == (422, TO)
        assert what in refused.json()["detail"]


def test_events_are_handed_in_over_http_too(agent: AgentMemory, api: httpx.Client) -> None:
    coming = {"mira": [{"document": "It rains.", "id": "rain", "rating": 3, "timestamp": NOW + timedelta(hours=1)}]}
    with RemoteWorld(str(api.base_url)) as remote:
        assert "add" in [step.what for step in remote.advance(TO, events=coming, preview=True).steps]
        assert agent.find("rain") is None
        remote.advance(TO, events=coming)
    assert agent.find("rain") is not None
    nobody = api.post("/v1/advance", json={"events": {"nobody": [{"document": "It rains.", "id": "r"}]}})
    assert nobody.status_code == 404


def test_on_the_command_line(world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cli, before = CommandLine(world, monkeypatch), agent.stamp
    dry = cli("advance", "--to", TO.isoformat(), "--dry-run", "--json")
    assert (dry.code, agent.stamp) == (0, before)
    assert cli("due", "--to", TO.isoformat(), "--json").value == dry.value
    assert "mira" in cli("advance", "--to", TO.isoformat(), "--dry-run").out
    done = cli("advance", "--to", TO.isoformat(), "--json")
    assert whats(done.value) == whats(dry.value) == ["migrate", "plan", "plan"]
    assert world.standing == TO
    late = cli("advance", "--to", NOW.isoformat())
    assert (late.code, late.out) == (1, "")
    happens, nobody = tmp_path / "happens.json", tmp_path / "nobody.json"
    happens.write_text(json.dumps({"mira": [{"document": "It rains.", "id": "rain", "rating": 3}]}))
    nobody.write_text('{"nobody": [{"document": "It rains.", "id": "rain"}]}')
    for wrong, told in ((nobody, "no character 'nobody'"), (tmp_path / "none.json", "cannot be read as events")):
        refused = cli("advance", "--events", str(wrong))
        assert (refused.code, told in refused.err) == (1, True)
    assert cli("advance", "--events", str(happens), "--json").code == 0
    assert agent.find("rain") is not None


def test_the_clock_is_set_on_the_command_line(
    world: World, agent: AgentMemory, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = CommandLine(world, monkeypatch)
    assert cli("clock", "--at", TO.isoformat(), "--json").value["standing"] == TO.isoformat()
    with RemoteWorld(str(api.base_url)) as remote:
        assert remote.clock() == world.standing == TO
    told = cli("clock", "--speed", "60", "--live", "--json").value
    assert (told["speed"], told["lives"], told["standing"]) == (60.0, True, None)
    assert (world.speed, world.lives) == (60.0, True)
    assert cli("clock", "--real", "--no-live").code == 0
    assert (world.speed, world.lives) == (1.0, False)
    assert cli("clock", "--pause").code == 0
    assert world.standing is not None
    assert cli("clock", "--pause", "--real").code == cli("clock", "--at", "soon").code == 2
    assert cli("clock", "--speed", "-1").code == 1
    assert world.standing is not None


def test_over_mcp(world: World, agent: AgentMemory) -> None:
    async def session() -> tuple[Any, Any]:
        async with Client(create_server(world, Tools((*CURATING_TOOLS, *LOOKING_TOOLS)))) as client:
            seen = await called(client, "due", to=TO.isoformat())
            assert await called(client, "advance", to=TO.isoformat(), preview=True) == seen
            assert world.standing == NOW
            rain = {"mira": [{"document": "It rains.", "id": "rain", "rating": 3, "timestamp": TO.isoformat()}]}
            return seen, await called(client, "advance", to=TO.isoformat(), events=rain)

    seen, done = run(session)
    assert whats(done) == [*whats(seen), "add", "migrate"]
    assert whats(seen) == ["migrate", "plan", "plan"]
    assert agent.find("rain") is not None
    assert world.standing == TO
