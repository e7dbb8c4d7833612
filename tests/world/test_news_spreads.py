"""A party that one of six is told of spreads by talks alone, and who told whom can be followed back."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, Facets, Settings, Source, World
from memory_system.conversation import Duet, TalkSettings
from memory_system.core.change_set import ModelCall
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import AgentNotFound, EntryNotFound, InvalidParameter
from memory_system.interfaces.client import RemoteWorld
from memory_system.llm.base import Heard, Reply, ToolCall, unheard
from memory_system.llm.offline import OfflineModel
from memory_system.world.places import lies_in
from tests.command_line import CommandLine
from tests.served import served_api

PERSONALITIES = Path(__file__).resolve().parents[2] / "agent_personalities"
BEGIN = datetime(2026, 4, 14, 7, 30, tzinfo=UTC)
PARTY = "There is to be a party at the Three Herons on Friday evening, and all are invited."
KNOWN = "party at the Three Herons"
SMALL_TALK = "The wind goes round to the west."
MEETINGS = ((0, 8, 15), (0, 15, 45), (0, 18, 45), (1, 10, 0), (1, 21, 0))
"""Day, hour and minute at which those who are at one place talk."""


class Gossip(OfflineModel):
    """Looks for news in its memory before it speaks, and passes the party on if it finds it there."""

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),  # noqa: ARG002 - it knows what it calls
        *,
        heard: Heard = unheard,  # noqa: ARG002
        **_more: Any,
    ) -> Reply:
        """Search first, then speak."""
        last = messages[-1]
        if last["role"] == "tool":
            knows = any(KNOWN in str(one["content"]) for one in messages)
            name, given = "send_message", {"message": PARTY if knows else SMALL_TALK}
        else:
            name, given = (
                "archival_memory_search",
                {"query": "What news is there of a party?", "request_heartbeat": True},
            )
        call = ToolCall(f"call-{len(messages)}", name, json.dumps(given))
        return Reply("", (call,), None, ModelCall("talk", self.name, "", json.dumps(given), 0.0))


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> World:
    """The six of the sample village after two days, in the morning of which Mira was told of a party."""
    root = tmp_path_factory.mktemp("news")
    settings = Settings(database=root / "database", personalities=root / "personalities", llm="offline")
    with World(settings, embedder=embedder, model=Gossip(embedder)) as world:
        world.stand_at(BEGIN)
        for path in sorted(PERSONALITIES.glob("*.json")):
            about = json.loads(path.read_text(encoding="utf-8"))
            if path.stem == "ines":
                about["environment"] = [
                    {**one, "within": "Lighthouse"} if one["place"] == "Gallery" else one
                    for one in about["environment"]
                ]
            if "identity" in about:
                world.create_agent(path.stem, json.dumps(about))
        world.happened(PARTY, told={"mira": "a traveller"})
        for day, hour, minute in MEETINGS:
            world.advance((BEGIN + timedelta(days=day)).replace(hour=hour, minute=minute))
            for one, other in met(world):
                Duet.begin(one, other, settings=TalkSettings(budget=4000)).talk(3)
        world.advance(BEGIN + timedelta(days=1, hours=15))
        yield world


def met(world: World) -> list[tuple[AgentMemory, AgentMemory]]:
    """Pairs of those who are at one place now."""
    within = {one.place.casefold(): one.within for one in world.places()}
    doing = {name: world.agent(name).plan_now().doing for name in world.characters()}
    where = {name: one.place for name, one in doing.items() if one is not None and one.place}
    return [
        (world.agent(one), world.agent(other))
        for one, other in itertools.combinations(sorted(where), 2)
        if lies_in(where[one], where[other], within) or lies_in(where[other], where[one], within)
    ]


def knows(agent: AgentMemory) -> Any:
    """The first memory of having been told of the party."""
    told = Facets(sources=(Source.TOLD,))
    found = [hit.entry for hit in agent.query_memory("Is there to be a party?", facets=told, touch=False)]
    return min((one for one in found if KNOWN in one.document), key=lambda one: one.timestamp)


def test_a_party_told_to_one_of_six_is_known_to_all_by_talks_alone(village: World) -> None:
    tellers = {name: knows(village.agent(name)).people[0] for name in village.characters()}
    assert tellers == {
        "mira": "a traveller",
        "edda": "Mira Holloway",
        "oswin": "Edda Marsh",
        "tobias": "Father Oswin",
        "juno": "Tobias Finch",
        "ines": "Father Oswin",
    }


def test_who_told_whom_leads_back_to_who_was_told_first(village: World) -> None:
    hops = village.trail("juno", knows(village.agent("juno")).id)
    assert [one.agent for one in hops] == ["juno", "tobias", "oswin", "edda", "mira"]
    for one, before in itertools.pairwise(hops):
        assert one.teller == village.agent(before.agent).display_name
        assert one.talk
        assert "party" in one.entry.document
    assert (hops[-1].teller, hops[-1].talk) == ("a traveller", "")
    with pytest.raises(InvalidParameter, match="must be a text, not 5"):
        village.trail("juno", hops[0].entry.id, about=5)  # type: ignore[arg-type]


def test_it_is_told_by_every_front_end(village: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told = knows(village.agent("oswin"))
    with served_api(village) as address, RemoteWorld(address) as there:
        assert there.trail("oswin", told.id) == village.trail("oswin", told.id)
        assert there.places() == village.places()
        with pytest.raises(EntryNotFound):
            there.trail("oswin", "none")
        with pytest.raises(AgentNotFound):
            there.trail("nobody", told.id)
    cli = CommandLine(village, monkeypatch)
    assert [one["agent"] for one in cli("trail", "oswin", told.id, "--json").value["items"]] == [
        "oswin",
        "edda",
        "mira",
    ]
    assert {"place": "Gallery", "within": "Lighthouse"} in cli("places", "--json").value["items"]
