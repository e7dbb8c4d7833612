"""How an agent came to know of a memory, who is in it, and where: typed fields that facets and every front end know."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from memory_system import AgentMemory, Facets, MemoryEntry, Source, Tier, World
from memory_system.core.change_set import dump_entry, load_entry
from memory_system.errors import InvalidEntry, InvalidParameter
from memory_system.interfaces.api import create_app
from memory_system.interfaces.client import RemoteWorld
from memory_system.maintenance import export
from memory_system.recall.kept_tables import Place, load, save
from memory_system.recall.query import Query
from memory_system.recall.table import Table
from tests.command_line import CommandLine
from tests.conftest import NOW
from tests.served import served_api

Remember = Callable[..., str]
TOLD = {"source": "told", "people": ("Tobias Finch", "Edda Marsh"), "place": "Three Herons"}


@pytest.fixture
def three(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """mira, who saw something, was told something, and remembers something of which nothing is said."""
    remember("The key is gone from its nail.", id="saw", source="saw", place="Bakery")
    remember("Tobias told me that Edda has the key.", id="told", **TOLD)
    remember("Somebody spoke of the key.", id="plain")
    return agent


def found(agent: AgentMemory, **facets: object) -> set[str]:
    """The ids that a query with these facets may find, static memory aside."""
    hits = agent.query_memory("Who has the key?", 20, 0, touch=False, facets=Facets(**facets))  # type: ignore[arg-type]
    return {hit.entry.id for hit in hits if hit.entry.tier is not Tier.STATIC}


def test_a_memory_keeps_its_scene_and_metadata_of_those_names_stay_the_callers() -> None:
    entry = MemoryEntry("x", {"place": "own", "source": 7}, **TOLD)  # type: ignore[arg-type]
    assert (entry.source, entry.people, entry.place) == (Source.TOLD, ("Tobias Finch", "Edda Marsh"), "Three Herons")
    assert entry.extras == {"place": "own", "source": 7}
    assert load_entry(dump_entry(entry)) == entry
    told = json.loads(dump_entry(MemoryEntry("x")) or "")
    assert not told.keys() & {"source", "people", "place"}, "what was not said is not written, as in version 0.2"


@pytest.mark.parametrize(
    "wrong",
    [{"source": "guessed"}, {"people": "Ana"}, {"people": [str(one) for one in range(51)]}, {"place": 7}],
    ids=str,
)
def test_what_is_no_scene_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidEntry, match=next(iter(wrong))):
        MemoryEntry("x", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facets", "expected"),
    [
        ({"sources": ("saw",)}, ["saw"]),
        ({"sources": (Source.SAW, Source.TOLD)}, ["saw", "told"]),
        ({"people": "edda marsh"}, ["told"]),
        ({"places": ("BAKERY", "Quay")}, ["saw"]),
        ({"places": "Bakery", "people": "Edda Marsh"}, []),
        ({"places": "Three Herons", "without": ("told",)}, []),
    ],
    ids=str,
)
def test_facets_admit_what_has_one_of_each(three: AgentMemory, facets: dict[str, object], expected: list[str]) -> None:
    assert found(three, **facets) == set(expected)


def test_facets_follow_edits_and_what_is_forgotten(three: AgentMemory) -> None:
    three.edit("plain", place="Bakery", people=["Juno Pell"], source="heard")
    assert found(three, places="Bakery") == {"saw", "plain"}
    three.edit("saw", place="", source=None)
    assert found(three, places="Bakery") == {"plain"}
    three.forget("plain")
    assert found(three, people="Juno Pell") == set()
    three.undo(three.revision)
    assert found(three, people="Juno Pell") == {"plain"}
    with pytest.raises(InvalidParameter, match="sources"):
        Facets(sources=("guessed",))  # type: ignore[arg-type]


def test_why_it_is_not_found_names_the_facet_without_which_it_would_be(three: AgentMemory) -> None:
    ways = three.ways(three.query("Who has the key?", 20, 0, facets=Facets(people=("Nobody",))), "told")
    assert Facets() in [way.value for way in ways]


def test_a_table_that_is_kept_keeps_the_scenes(tmp_path: Path, three: AgentMemory) -> None:
    with three.contents.shelf(Tier.STM) as table:
        save(tmp_path / "kept", table, Place(1, "a", 0, "x"))
        again = load(tmp_path / "kept")
    assert again is not None
    facets = Facets(people=("Tobias Finch",))
    assert again[0].scenes == table.scenes
    rows = Query("?", NOW, facets=facets).admitted(again[0])
    assert rows is not None
    assert [again[0].ids[row] for row in rows.nonzero()[0]] == ["told"]
    assert Table().scenes == {}


def test_it_is_exported_and_comes_back(three: AgentMemory, world: World) -> None:
    lines = list(export.lines(three))
    rows = export.read_rows("\n".join(lines))
    (row,) = (one for one in rows if one.entry is not None and one.entry.id == "told")
    assert row.entry is not None
    assert (row.entry.source, row.entry.people, row.entry.place) == tuple(TOLD.values())


def test_merged_memories_are_of_everybody_who_was_in_one(three: AgentMemory) -> None:
    three.edit("saw", people=["Juno Pell"])
    three.merge(["saw", "told"], keep="saw")
    kept = three.find("saw")
    assert kept is not None
    assert (kept.people, kept.place) == (("Juno Pell", "Tobias Finch", "Edda Marsh"), "Bakery")


def test_the_api_and_its_client_take_and_tell_it(world: World, agent: AgentMemory) -> None:
    with served_api(world) as address, RemoteWorld(address) as there:
        mira = there.agent("mira")
        event = MemoryEntry("Tobias told me of the key.", id="told", rating=5, **TOLD)  # type: ignore[arg-type]
        mira.add_short_term(event)
        held = mira.find("told")
        assert held is not None
        assert (held.source, held.people, held.place) == tuple(TOLD.values())
        facets = Facets(sources=(Source.TOLD,), people=("Tobias Finch",))
        (hit,) = mira.query_memory("Who has the key?", 5, 0, touch=False, facets=facets)
        assert hit.entry == agent.find("told")
        mira.edit("told", place="Quay")
    assert agent.find("told").place == "Quay"  # type: ignore[union-attr]
    client = TestClient(create_app(lambda: world), base_url="http://127.0.0.1")
    wrong = client.post("/v1/agents/mira/events", json={"events": [{"document": "x", "source": "guessed"}]})
    assert wrong.status_code == 422


def test_the_command_line_takes_and_narrows_by_it(
    world: World, three: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = CommandLine(world, monkeypatch)
    words = ["--source", "heard", "--person", "Edda Marsh", "--place", "Quay", "--rating", "4", "--id", "new"]
    assert cli("add", "mira", "Heard Edda laugh about the key.", *words).code == 0
    entry = three.find("new")
    assert entry is not None
    assert (entry.source, entry.people, entry.place) == (Source.HEARD, ("Edda Marsh",), "Quay")
    asked = ["recall", "mira", "Who has the key?", "--person", "Edda Marsh", "--source", "heard", "--threshold", "0"]
    told = cli(*asked, "--dry-run").out
    assert "laugh about the key" in told
    assert "Tobias told me" not in told
