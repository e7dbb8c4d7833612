"""What the store lacks of an agent that is put to sleep waits for whoever opens it again, and nothing is lost by it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.opening import Drawn
from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core.findings import State
from memory_system.maintenance import doctor
from memory_system.store import store_queue
from memory_system.store.projection import Stores
from memory_system.world import awake
from tests import programs
from tests.faults.survivor import settings_of, stored


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of stores that costs more than a note: writes, and comparisons of every row."""
    told: list[str] = []

    def telling(name: str) -> Callable[..., Any]:
        real = getattr(Stores, name)

        def asked(self: Stores, *given: Any, **more: Any) -> Any:
            told.append(name)
            return real(self, *given, **more)

        return asked

    for name in ("upsert", "reconcile", "counts"):
        monkeypatch.setattr(Stores, name, telling(name))
    return told


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A world of two, each of whom has been closed properly, of which one at a time is awake."""
    monkeypatch.setattr(store_queue, "DELAY_SECONDS", 1000.0)  # nothing is taken in by itself
    settings = settings_of(tmp_path)
    with World(settings, embedder=Drawn()) as world:
        for name in ("mira", "tobias"):
            world.create_agent(name).add_short_term({"document": f"{name} began", "id": f"{name}-0", "rating": 5})
    return settings.model_copy(update={"awake": 1})


@pytest.fixture
def world(places: Settings) -> Iterator[World]:
    with World(places, embedder=Drawn()) as opened:
        yield opened


def add(world: World, number: int, count: int = 1) -> None:
    events = [{"document": f"event {number} {n}", "id": f"m{number}-{n}", "rating": 5} for n in range(count)]
    world.agent("mira").add_short_term(events)


def sleeps(world: World) -> None:
    """Mira is put to sleep, since another is wanted."""
    assert world.agent("tobias").name == "tobias"
    assert [agent.name for agent in world.opened()] == ["tobias"]


def held(agent: AgentMemory) -> set[str]:
    return {entry.id for entry in agent.entries(Tier.STM)}


def in_store(folder: Path) -> dict[str, str | None]:
    """What Chroma's files of an agent hold of short-term memory; nobody has them open."""
    return stored(folder / "chroma")[Tier.STM]


def test_a_little_waits_from_one_waking_to_the_next_and_is_taken_in_once_it_is_much(
    world: World, asked: list[str], places: Settings
) -> None:
    for number in range(5):
        add(world, number)
        sleeps(world)
    assert asked == []
    assert world.agent("mira").query_memory("event 3 0", touch=False).hits[0].entry.id == "m3-0"
    assert world.agent("mira").messages == ()
    wanted = {"mira-0", *(f"m{number}-0" for number in range(5))}
    assert held(world.agent("mira")) == wanted
    add(world, 9, store_queue.MOST_ASLEEP)
    sleeps(world)
    assert "upsert" in asked
    assert "reconcile" not in asked
    assert in_store(world.folder / "mira").keys() == wanted | {f"m9-{n}" for n in range(store_queue.MOST_ASLEEP)}


def test_who_is_closed_for_good_has_all_in_its_store(world: World, places: Settings) -> None:
    add(world, 1)
    sleeps(world)
    world.agent("mira").edit("m1-0", document="It was told otherwise.")
    folder = world.folder / "mira"
    world.close()
    assert "It was told otherwise." in str(in_store(folder)["m1-0"])
    with World(places, embedder=Drawn()) as again:
        assert again.agent("mira").messages == ()


def test_a_world_that_is_closed_leaves_it_to_the_next(world: World, places: Settings, asked: list[str]) -> None:
    add(world, 1)
    sleeps(world)
    world.close()
    with World(places, embedder=Drawn()) as again:
        agent = again.agent("mira")
        assert agent.messages == ()
        assert held(agent) == {"mira-0", "m1-0"}
        assert "reconcile" not in asked
        (found,) = [one for one in doctor.examine(again) if one.agent == "mira" and one.what == "store"]
        assert found.state is not State.WRONG, found
        agent.contents.context.held.settle()
        assert in_store(again.folder / "mira").keys() == {"mira-0", "m1-0"}


def test_a_world_that_is_closed_with_many_awake_has_each_leave_a_little(
    places: Settings, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awake, "most_clients", lambda: 1)
    with World(places.model_copy(update={"awake": 2}), embedder=Drawn()) as world:
        add(world, 1)
        assert len(held(world.agent("tobias"))) == 1
    assert asked == []
    with World(places, embedder=Drawn()) as again:
        assert held(again.agent("mira")) == {"mira-0", "m1-0"}
    assert in_store(places.database / "mem_test" / "mira").keys() == {"mira-0", "m1-0"}


@pytest.mark.parametrize("lost", ["its note", "the store", "the journal's place"])
def test_what_becomes_of_its_files_meanwhile_is_seen_and_made_up_for(world: World, places: Settings, lost: str) -> None:
    add(world, 1)
    sleeps(world)
    folder = world.folder / "mira"
    if lost == "its note":  # as if the process had been killed
        (folder / "closed.json").unlink()
    elif lost == "the store":
        shutil.rmtree(folder / "chroma")
    else:  # copied, so that every file is younger than its note
        shutil.copytree(folder, folder.with_name("copied"))
        shutil.rmtree(folder)
        folder.with_name("copied").rename(folder)
        (folder / "journal.sqlite3").touch()
    world.close()
    with World(places, embedder=Drawn()) as again:
        assert held(again.agent("mira")) == {"mira-0", "m1-0"}
        again.agent("mira").contents.context.held.settle()
        assert in_store(folder).keys() == {"mira-0", "m1-0"}


def test_another_program_goes_on_with_what_waits(world: World, places: Settings, tmp_path: Path) -> None:
    add(world, 1)
    sleeps(world)
    there = (
        "import sys; from pathlib import Path; from benchmarks.opening import Drawn; from memory_system import World; "
        "from tests.faults.survivor import settings_of\n"
        "with World(settings_of(Path(sys.argv[1])), embedder=Drawn()) as world:\n"
        "    agent = world.agent('mira'); assert agent.messages == (), agent.messages\n"
        "    agent.add_short_term({'document': 'Told there.', 'id': 'there', 'rating': 5})"
    )
    programs.run("-c", there, str(tmp_path), check=True)
    folder = world.folder / "mira"
    assert in_store(folder).keys() == {"mira-0", "m1-0", "there"}
    assert held(world.agent("mira")) == {"mira-0", "m1-0", "there"}
    assert json.loads((folder / "opened.json").read_text(encoding="utf-8"))["waiting"] == []
