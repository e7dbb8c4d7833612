"""One call brings a file in and tells what was done and left out, line by line; it can make the character, too."""

from __future__ import annotations

import httpx
import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.agent_parts.importing import as_address
from memory_system.errors import AlreadyExists, InvalidFile
from memory_system.interfaces.client import RemoteWorld
from tests import materials
from tests.materials import CARD, card_in, picture_of
from tests.served import served_api

RAW = card_in(picture_of("#8a5a94"), CARD)


def test_one_call_makes_a_character_of_a_card_and_tells_each_line(world: World, api: httpx.Client) -> None:
    body = {"material": as_address(RAW), "file_name": "rosa.png"}
    assert api.post("/v1/agents/rosa/imports", json=body).status_code == 404
    looked = api.post("/v1/agents/rosa/imports", json={**body, "create": True}, params={"preview": True}).json()
    assert looked["change_set"] is None
    assert "rosa" not in world.agents()
    answer = api.post("/v1/agents/rosa/imports", json={**body, "create": True})
    assert answer.status_code == 201
    told = answer.json()
    assert told["material"]["rows"] == looked["material"]["rows"]
    assert {row["becomes"] for row in told["material"]["rows"]} == {"personality", "fact", "dropped"}
    assert all(row["why"] for row in told["material"]["rows"])
    assert told["change_set"]["revision"] == 1
    rosa = world.agent("rosa")
    assert rosa.display_name == "Rosa Quill"
    assert rosa.portrait
    assert rosa.text("card")
    assert rosa.history(1)[0].change_set.author.startswith("API")


def test_one_call_brings_a_chat_to_a_character_and_a_preview_can_be_applied(
    agent: AgentMemory, api: httpx.Client
) -> None:
    address, begun = f"/v1/agents/{agent.name}/imports", agent.revision
    body = {"material": materials.SILLYTAVERN, "rate": False}
    looked = api.post(address, json=body, params={"preview": True}).json()
    assert agent.revision == begun
    waits = looked["change_set"]["id"]
    assert api.post(f"/v1/agents/{agent.name}/previews/{waits}/apply", json={}).status_code == 200
    agent.undo(agent.revision)
    before = agent.revision
    told = api.post(address, json=body, headers={"If-Match": f'"{before}"'}).json()
    assert [row["becomes"] for row in told["material"]["rows"]] == ["dropped", "dropped", "memory", "memory"]
    assert told["change_set"]["revision"] == agent.revision == before + 1
    stale = api.post(address, json={"material": materials.LOG}, headers={"If-Match": f'"{before}"'})
    assert stale.status_code == 412


def test_what_is_refused_makes_nobody(world: World, api: httpx.Client) -> None:
    bomb = as_address(materials.png(width=60_000, height=60_000))
    answer = api.post("/v1/agents/rosa/imports", json={"material": bomb, "create": True})
    assert answer.status_code == 422
    assert "60,000 by 60,000 pixels" in answer.text
    assert "rosa" not in world.agents()


def test_the_client_brings_and_makes_as_the_world_does(world: World, agent: AgentMemory) -> None:
    with served_api(world) as address, RemoteWorld(address) as there:
        here = world.bring_character("rosa", RAW, file_name="rosa.png", preview=True)
        assert there.bring_character("rosa", RAW, file_name="rosa.png", preview=True) == here
        made = there.bring_character("rosa", RAW, file_name="rosa.png")
        assert made.material == here.material
        assert made.change_set is not None
        assert made.change_set.title.startswith("Create Rosa Quill")
        with pytest.raises(AlreadyExists):
            there.bring_character("rosa", RAW)
        with pytest.raises(InvalidFile):
            there.bring_character("bo", b"")
        brought = there.agent(agent.name).bring_in(materials.CSV, rate=False)
        assert brought.change_set is not None
        assert sorted(row.becomes for row in brought.material.rows) == ["dropped", "memory"]
    assert [entry.document for entry in agent.entries(Tier.STM)] == ["The oven cracked"]
