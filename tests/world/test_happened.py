"""What happened in a world is remembered by those who know of it, each in its own words, with how it came to know."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from mcp import Client

from memory_system import Facets, MemoryEntry, Source, Tier, World
from memory_system.errors import AgentNotFound, InvalidEntry, InvalidParameter, NotAllowed
from memory_system.interfaces.client import RemoteWorld
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.server import create_server
from memory_system.interfaces.mcp.tool import Tools
from memory_system.world.auth import Role
from memory_system.world.viewer import for_role
from tests.command_line import CommandLine
from tests.conftest import NOW
from tests.fake_server import FakeServer, says
from tests.mcp_clients import called, run
from tests.served import served_api

SOLD = "Tobias Finch sold the mill to Edda Marsh."
AT_WORK = [{"time": "09:00", "until": "19:00", "activity": "serves guests", "place": "Three Herons"}]
PEOPLE = {
    "mira": {
        "identity": {"name": "Mira Holloway"},
        "relationships": [{"name": "Tobias Finch", "relation": "childhood friend", "trust": 0.5}],
    },
    "tobias": {"identity": {"name": "Tobias Finch"}},
    "edda": {"identity": {"name": "Edda Marsh"}, "routine": AT_WORK},
    "juno": {"identity": {"name": "Juno Pell"}, "routine": AT_WORK},
}


@pytest.fixture
def village(world: World) -> World:
    """Four characters at six in the evening; two of them are at the inn."""
    world.stand_at(NOW)
    for name, personality in PEOPLE.items():
        world.create_agent(name, json.dumps(personality))
    return world


def held(world: World) -> dict[str, MemoryEntry]:
    """What each remembers, of those who remember anything."""
    return {agent.name: one for agent in world for one in agent.entries(Tier.STM)}


def test_each_remembers_it_in_its_own_words_with_how_it_came_to_know(village: World) -> None:
    done = village.happened(SOLD, at="Quay", seen_by="Juno Pell", heard_by=["edda", "juno"], told={"mira": "tobias"})
    found = held(village)
    assert {name: one.source for name, one in found.items()} == {
        "juno": Source.SAW,
        "edda": Source.HEARD,
        "mira": Source.TOLD,
    }
    assert found["juno"].document == f"I saw at Quay: {SOLD}"
    assert sorted(str(done).splitlines()) == sorted(f"{name}: {one.document}" for name, one in found.items())
    assert found["edda"].document == f"I heard at Quay: {SOLD}"
    assert found["mira"].document == f"Tobias Finch, my childhood friend, told me: {SOLD}"
    assert {one.place for one in found.values()} == {"Quay"}
    assert [found[name].people for name in ("mira", "edda", "juno")] == [
        ("Tobias Finch", "Edda Marsh"),
        ("Tobias Finch",),
        ("Edda Marsh", "Tobias Finch"),
    ]
    assert all(one.rating and one.timestamp == NOW for one in found.values())
    assert [one.entry for one in done.known] == [found[one.agent] for one in done.known]
    mira = village.agent("mira")
    assert mira.query_memory("Who sold the mill?", facets=Facets(people=("Tobias Finch",), places=("quay",))).hits
    assert not mira.query_memory("Who sold the mill?", facets=Facets(sources=(Source.SAW,))).hits


def test_each_memory_is_a_change_set_of_its_own_agent(village: World) -> None:
    done = village.happened(SOLD, seen_by=["mira", "juno"], author="the game")
    mira = village.agent("mira")
    assert mira.history(1)[0].change_set.author == "the game"
    (of_mira,) = (one.added.change_set for one in done.known if one.agent == "mira")
    mira.undo(of_mira)
    assert set(held(village)) == {"juno"}


def test_where_nobody_is_named_whoever_is_at_the_place_saw_it(village: World) -> None:
    done = village.happened("A stranger came in from the fog.", at="three herons")
    assert {one.agent: one.source for one in done.known} == dict.fromkeys(("edda", "juno"), Source.SAW)
    later = village.happened("A stranger left.", at="Three Herons", now=NOW.replace(hour=20))
    assert later.known == ()
    village.agent("mira").plan_from_memory(NOW.replace(hour=6))
    assert village.happened("A bell rang.", at="Lighthouse").known == ()
    assert len(held(village)) == 2


def test_who_asks_for_a_place_finds_what_happened_in_those_that_lie_in_it(village: World) -> None:
    inn = [{"place": "Three Herons", "description": "An inn.", "within": "Harrow"}]
    village.create_agent("sam", json.dumps({"identity": {"name": "Sam"}, "environment": inn}))
    village.happened(SOLD, at="Three Herons", seen_by="mira")
    mira = village.agent("mira")
    found = {
        at: bool(mira.query_memory("Who sold the mill?", facets=Facets(places=(at,)))) for at in ("harrow", "Quay")
    }
    assert found == {"harrow": True, "Quay": False}
    assert mira.relive(mira.queries(1)[0].number).faithful


def test_what_those_in_it_are_to_somebody_stands_where_they_are_named(village: World) -> None:
    for text, expected in (
        ("The key went to Tobias Finch.", "The key went to Tobias Finch, my childhood friend."),
        ("Tobias Finch's boat sank.", "Tobias Finch's boat sank."),
        ("It was Tobias Finch", "It was Tobias Finch, my childhood friend"),
    ):
        (known,) = village.happened(text, seen_by="mira", preview=True).known
        assert known.entry.document == f"I saw: {expected}"


def test_a_preview_changes_nothing_and_is_applied_by_each(village: World) -> None:
    planned = village.happened(SOLD, seen_by=["mira", "juno"], preview=True)
    assert held(village) == {}
    for one in planned.known:
        village.agent(one.agent).apply(one.added.change_set)
    assert set(held(village)) == {"mira", "juno"}


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"text": SOLD}, InvalidParameter, "seen_by, heard_by, told"),
        ({"text": SOLD, "seen_by": ["mira", "nobody"]}, AgentNotFound, "'nobody'; there are"),
        ({"text": " ", "seen_by": "mira"}, InvalidEntry, "empty"),
        ({"text": SOLD, "seen_by": "mira", "at": 7}, InvalidParameter, "'at'"),
        ({"text": SOLD, "seen_by": "mira", "now": NOW.replace(tzinfo=None)}, InvalidParameter, "zone"),
        ({"text": SOLD, "seen_by": 7}, InvalidParameter, "'seen_by'"),
        ({"text": SOLD, "told": 7}, InvalidParameter, "'told'"),
        ({"text": SOLD, "told": {7: "juno"}}, InvalidParameter, "'told'"),
        ({"text": SOLD, "told": {"mira": None}}, InvalidParameter, "'told' says by whom"),
        ({"text": SOLD, "told": {"mira": "mira"}}, InvalidParameter, "told by Mira"),
        ({"text": SOLD, "told": {"mira": "a\x00b"}}, InvalidEntry, "people"),
        ({"text": SOLD, "told": {"mira": "x" * 40_000}}, InvalidEntry, "people"),
    ],
    ids=lambda given: str(given)[:60],
)
def test_what_cannot_be_told_changes_nothing(
    village: World, given: dict[str, object], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        village.happened(**given)  # type: ignore[arg-type]
    assert held(village) == {}


def test_a_language_model_finds_the_words_and_where_it_does_not_they_are_those_of_the_event(
    village: World, server: FakeServer
) -> None:
    model = server.model()
    server.on("rate", says({"explanation": "So.", "rating": 6}))
    server.on("retell", says({"text": "I watched Tobias sell our mill."}))
    mira = village.agent("mira")
    mira.model = model
    (known,) = village.happened(SOLD, at="Quay", seen_by="mira").known
    assert (known.entry.document, known.entry.rating, known.note) == ("I watched Tobias sell our mill.", 6, "")
    asked = next(one for one in server.requests if "what_happened" in json.dumps(one))
    assert "childhood friend" in json.dumps(asked)
    server.on("retell", says("no JSON"))
    (known,) = village.happened("The mill burned down.", seen_by="mira").known
    assert known.entry.document == "The mill burned down."
    assert known.note


def test_nobody_waits_for_a_model_where_ratings_come_later_unless_asked_to(village: World, server: FakeServer) -> None:
    server.on("rate", says({"explanation": "So.", "rating": 6}))
    server.on("retell", says({"text": "I watched Tobias sell our mill."}))
    village.agent("mira").model = server.model()
    village.rerater.state = replace(village.rerater.state, on=True)

    async def session() -> None:
        async with Client(create_server(village, Tools(MEMORY_TOOLS))) as client:
            await called(client, "remember", agent="mira", text="The geese are loud.")
            await called(client, "happened", text="A bell rang.", seen_by=["mira"])

    run(session)
    with served_api(village) as address, RemoteWorld(address) as there:
        there.happened(SOLD, seen_by="mira")
        assert not server.requests
        assert {one.document for one in village.agent("mira").entries(Tier.STM)} == {
            "The geese are loud.",
            "I saw: A bell rang.",
            "I saw: Tobias Finch, my childhood friend, sold the mill to Edda Marsh.",
        }
        (known,) = there.happened(SOLD, seen_by="mira", wait=True).known
    assert (known.entry.document, known.entry.rating) == ("I watched Tobias sell our mill.", 6)


def test_it_is_told_over_http_as_in_process(village: World) -> None:
    with served_api(village) as address, RemoteWorld(address, author="a game") as there:
        planned = there.happened(SOLD, at="Quay", seen_by="mira", told=["juno"], preview=True)
        assert held(village) == {}
        there.agent("mira").apply(planned.known[0].added.change_set)
        assert set(held(village)) == {"mira"}
        done = there.happened("A stranger came in.", at="Three Herons")
        assert sorted(one.agent for one in done.known) == ["edda", "juno"]
        with pytest.raises(AgentNotFound):
            there.happened(SOLD, seen_by="nobody")
    assert village.agent("edda").history(1)[0].change_set.author == "API a game"


def test_what_is_too_long_to_be_retold_is_remembered_as_it_is(village: World) -> None:
    long = "The bell rang. " * 1000
    (known,) = village.happened(long, seen_by="mira").known
    assert known.note
    assert known.entry.document == held(village)["mira"].document == long.strip()


def test_a_viewer_tells_nobody_anything(village: World) -> None:
    with pytest.raises(NotAllowed):
        for_role(village, Role.VIEWER).happened(SOLD, seen_by="mira")
    assert held(village) == {}


def test_it_is_told_on_the_command_line(village: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = CommandLine(village, monkeypatch)
    words = ["happened", SOLD, "--at", "Quay", "--seen-by", "juno", "--told", "mira=Tobias Finch"]
    assert cli(*words, "--dry-run").code == 0
    assert held(village) == {}
    told = cli(*words, "--json").value
    assert [one["source"] for one in told["known"]] == ["saw", "told"]
    assert held(village)["mira"].people[0] == "Tobias Finch"
    assert "--seen-by" in cli("happened", SOLD, "--at", "Nowhere").out
    assert cli("happened", SOLD, "--seen-by", "nobody").code == 1


def test_it_is_told_by_a_client_of_mcp_that_serves_the_whole_world(village: World) -> None:
    async def session() -> dict[str, object]:
        async with Client(create_server(village, Tools(MEMORY_TOOLS))) as client:
            return await called(client, "happened", text=SOLD, seen_by=["mira"], told={"juno": "mira"})

    told = run(session)
    assert [one["source"] for one in told["known"]] == ["saw", "told"]  # type: ignore[attr-defined]
    assert held(village)["juno"].people[0] == "Mira Holloway"
    assert "happened" not in [tool.name for tool in Tools(MEMORY_TOOLS, "mira").offered()]


def test_what_nobody_knows_of_says_so_and_a_place_of_what_happened_is_one(village: World) -> None:
    done = village.happened("The bell rang.", at="Old Chapel")
    assert done.known == ()
    assert done.note == "Nobody is at 'Old Chapel' then, and nobody was named, so nobody knows of it."
    assert "Old Chapel" not in [one.place for one in village.places()]
    done = village.happened("The bell rang.", at="Old Chapel", seen_by="mira")
    assert done.note == ""
    village.happened("A guest left.", at="THREE HERONS")
    there = [one.place for one in village.places()]
    assert "Old Chapel" in there
    assert "Three Herons" in there
    assert len({one.casefold() for one in there}) == len(there)
