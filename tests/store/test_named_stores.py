"""A store is chosen by name: one that is thrown away with its world, and one that another package brings."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core import State
from memory_system.core.chroma_address import NamedStore
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter, StoreError
from memory_system.maintenance import doctor
from memory_system.maintenance.samples import fill_world
from memory_system.store.named import STORES, THROWN_AWAY, NamedStores, placed
from tests.contributed import install_contributed
from tests.joining import install
from tests.sample_world import SAMPLES

EVENTS = [
    {"document": "Saw smoke over the north field", "id": "smoke", "rating": 7},
    {"document": "Bought two fish at the harbour", "id": "fish", "rating": 2},
]


# -- a world that is thrown away -----------------------------------------------------------------------


@pytest.fixture
def thrown_away(settings: Settings, embedder: CachedEmbedder) -> Iterator[World]:
    with World(settings.model_copy(update={"store": "memory"}), embedder=embedder) as world:
        yield world


def test_nothing_of_a_throw_away_world_is_where_worlds_are_kept(settings: Settings, embedder: CachedEmbedder) -> None:
    with World(settings.model_copy(update={"store": "memory"}), embedder=embedder) as world:
        agent = world.create_agent("ana")
        agent.add_short_term(EVENTS)
        assert agent.query_memory("smoke", top_k=1, static_threshold=1).hits[0].entry.id == "smoke"
        folder = world.folder
        assert folder.is_dir()
        assert not list(folder.glob("*/chroma"))
    assert not folder.exists()
    assert not settings.database.exists()
    assert not (settings.personalities / "ana.json").exists()


def test_an_agent_of_a_throw_away_world_says_what_becomes_of_it_and_nothing_else(thrown_away: World) -> None:
    agent = thrown_away.create_agent("ana")
    assert agent.messages == (THROWN_AWAY,)
    agent.add_short_term(EVENTS)
    again = thrown_away.rename_agent("ana", "anna")
    assert again.messages == (THROWN_AWAY,)


def test_an_agent_of_a_throw_away_world_does_what_any_other_does(thrown_away: World) -> None:
    agent = thrown_away.create_agent("ana")
    agent.add_short_term(EVENTS)
    agent.edit("fish", rating=9)
    agent.migrate_stm2ltm(0.1, ids=["smoke"])
    assert agent.find("smoke").tier is Tier.LTM  # type: ignore[union-attr]
    agent.undo(agent.history(1)[0].revision)
    agent.forget("fish")
    agent.purge("fish")
    twin = thrown_away.duplicate_agent("ana", "bob")
    assert {entry.id for entry in twin.entries(Tier.STM)} == {"smoke"}
    assert twin.query_memory("smoke", top_k=1, static_threshold=1).hits[0].entry.id == "smoke"
    assert twin.as_of(revision=1).entries(Tier.STM) == []
    found = doctor.examine(thrown_away)
    assert {one.state for one in found} <= {State.RIGHT, State.NOTE}, found


def test_an_agent_whose_folder_is_kept_is_not_said_to_be_thrown_away(
    settings: Settings, embedder: CachedEmbedder, tmp_path: Path
) -> None:
    settings.personalities.mkdir(parents=True, exist_ok=True)
    (settings.personalities / "ana.json").write_text('{"identity": {"name": "Ana"}}', encoding="utf-8")
    there = settings.model_copy(update={"store": "memory"})
    with AgentMemory("ana", database=tmp_path / "kept", settings=there, embedder=embedder) as agent:
        agent.add_short_term(EVENTS)
        assert agent.messages == ()
    with AgentMemory("ana", database=tmp_path / "kept", settings=there, embedder=embedder) as agent:
        assert {entry.id for entry in agent.entries(Tier.STM)} == {"smoke", "fish"}


def test_the_samples_fill_a_throw_away_world(thrown_away: World) -> None:
    assert fill_world(thrown_away, SAMPLES)
    mira = thrown_away.agent("mira")
    assert len(mira.entries(Tier.STM)) > 10
    assert mira.messages == (THROWN_AWAY,)
    assert mira.query_memory("Where is the brass key?").hits


# -- a store of another package ------------------------------------------------------------------------


@pytest.fixture
def kept(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings by which memories are kept by the store of CONTRIBUTING."""
    folder = tmp_path / "joined"
    folder.mkdir()
    install_contributed(folder, "sqlite")
    monkeypatch.syspath_prepend(folder)
    return settings.model_copy(update={"store": "sqlite"})


def test_an_agent_is_kept_by_the_store_of_another_package(kept: Settings, embedder: CachedEmbedder) -> None:
    with World(kept, embedder=embedder) as world:
        agent = world.create_agent("ana")
        agent.add_short_term(EVENTS)
        agent.forget("fish")
        folder = world.folder / "ana"
        assert not (folder / "chroma").exists()
    with sqlite3.connect(folder / "store-sqlite" / "stm.sqlite3") as db:
        assert db.execute("SELECT id FROM held").fetchall() == [("smoke",)]
    db.close()
    with World(kept, embedder=embedder) as world:
        agent = world.agent("ana")
        assert agent.messages == ()
        assert agent.query_memory("smoke", top_k=1, static_threshold=1).hits[0].entry.id == "smoke"
        assert {one.state for one in doctor.examine(world)} <= {State.RIGHT, State.NOTE}


def test_what_such_a_store_lost_is_written_again_from_the_journal(kept: Settings, embedder: CachedEmbedder) -> None:
    with World(kept, embedder=embedder) as world:
        world.create_agent("ana").add_short_term(EVENTS)
        file = world.folder / "ana" / "store-sqlite" / "stm.sqlite3"
    with sqlite3.connect(file) as db:
        db.execute("DELETE FROM held WHERE id = 'fish'")
    db.close()
    with World(kept, embedder=embedder) as world:
        assert world.agent("ana").messages == ("1 memory written and 0 removed to match the journal.",)
    with sqlite3.connect(file) as db:
        assert db.execute("SELECT count(*) FROM held").fetchone() == (2,)
    db.close()


def test_an_agent_moves_from_chroma_to_another_store_and_back(
    settings: Settings, kept: Settings, embedder: CachedEmbedder
) -> None:
    with World(settings, embedder=embedder) as world:
        world.create_agent("ana").add_short_term(EVENTS)
    with World(kept, embedder=embedder) as world:
        world.agent("ana").edit("fish", document="Bought three fish")
    with World(settings, embedder=embedder) as world:
        agent = world.agent("ana")
        assert agent.messages == ("1 memory written and 0 removed to match the journal.",)
        assert agent.find("fish").document == "Bought three fish"  # type: ignore[union-attr]


def test_a_store_that_nobody_has_is_told_before_a_world_is_opened(settings: Settings) -> None:
    with pytest.raises(InvalidParameter, match=r"There is no store 'redis'; there are: chroma, memory, journal\."):
        World(settings.model_copy(update={"store": "redis"}))
    assert not settings.database.exists()


def test_a_store_that_fails_to_open_is_told_in_a_sentence(
    settings: Settings, embedder: CachedEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "failing"
    folder.mkdir()
    source = "def opened(folder, tier):\n    raise RuntimeError('the disk is upside down')\n"
    install(folder, "failing_store", source, {STORES.group: "failing = failing_store:opened"})
    monkeypatch.syspath_prepend(folder)
    told = "The store 'failing' cannot be opened: RuntimeError: the disk is upside down."
    with World(settings.model_copy(update={"store": "failing"}), embedder=embedder) as world:
        with pytest.raises(InvalidParameter, match=told):
            world.create_agent("ana")
        assert world.agents() == []


BREAKABLE = """
from memory_system import Memory
from memory_system.core.memory import InMemory

broken = set()


class Breakable(InMemory):
    lasts = True

    def _break(self, how):
        if how in broken:
            raise KeyError(f"no {how} today")

    def upsert(self, entries, vectors):
        self._break("upsert")
        super().upsert(entries, vectors)

    def delete(self, ids):
        self._break("delete")
        super().delete(ids)

    def pages(self):
        self._break("pages")
        if "nothing" in broken:
            return None
        return super().pages()

    def clear(self):
        if "exit" in broken:
            raise SystemExit(3)
        super().clear()

    def close(self):
        self._break("close")


def opened(folder, tier):
    return 3 if "number" in broken else Breakable()
"""


@pytest.fixture
def breakable(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings by which memories are kept by a store that breaks on demand."""
    folder = tmp_path / "breakable"
    folder.mkdir()
    install(folder, "breakable_store", BREAKABLE, {STORES.group: "breakable = breakable_store:opened"})
    monkeypatch.syspath_prepend(folder)
    yield settings.model_copy(update={"store": "breakable"})
    sys.modules.pop("breakable_store", None)


def test_a_store_of_another_package_that_fails_in_use_says_so_and_costs_no_memory(
    breakable: Settings, embedder: CachedEmbedder
) -> None:
    with World(breakable, embedder=embedder) as world:
        agent = world.create_agent("ana")
        agent.add_short_term(EVENTS)
        agent.forget("fish")
        broken = sys.modules["breakable_store"].broken
        broken.add("close")
        world.close()
        for how, told in (("upsert", "no upsert today"), ("pages", "no pages today"), ("nothing", "TypeError")):
            broken.clear()
            broken.add(how)
            with pytest.raises(StoreError, match=f"The store 'breakable' failed: .*{told}"):
                world.agent("ana")
        broken.clear()
        broken.add("number")
        with pytest.raises(InvalidParameter, match="'breakable' cannot be opened: it is an int, not a Memory"):
            world.agent("ana")
        broken.clear()
        assert [entry.id for entry in world.agent("ana").entries(Tier.STM)] == ["smoke"]


def test_a_store_of_another_package_ends_no_program(breakable: Settings, embedder: CachedEmbedder) -> None:
    with World(breakable, embedder=embedder) as world:
        world.create_agent("ana")
        memory = NamedStores(world.folder / "ana" / "chroma", NamedStore("breakable")).memories[Tier.STM]
        sys.modules["breakable_store"].broken.add("exit")
        with pytest.raises(StoreError, match=r"SystemExit: 3\."):
            memory.clear()
        sys.modules["breakable_store"].broken.add("delete")
        with pytest.raises(StoreError, match=r"The store 'breakable' failed: KeyError: 'no delete today'\."):
            memory.delete(["fish"])
        assert memory.lasts


def test_who_places_a_throw_away_world_leaves_it_to_the_first_world_there_to_delete(
    settings: Settings, embedder: CachedEmbedder
) -> None:
    there = placed(settings.model_copy(update={"store": "memory"}))
    with World(there, embedder=embedder) as world:
        with World(there.model_copy(update={"world": "another"}), embedder=embedder) as beside:
            beside.create_agent("bob")
        assert world.create_agent("ana").entries(Tier.STATIC)
        assert world.folder.parent == beside.folder.parent == there.database
    assert not there.home.exists()
