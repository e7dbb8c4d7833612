"""``MEMORY_STORE=journal``: nothing is kept beside the journal; and one PostgreSQL server for all of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.__main__ import app
from memory_system.core import State
from memory_system.core.change_set import dump_entry
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import AgentNotFound, JournalDamaged, ServerUnavailable
from memory_system.maintenance import backup, doctor, restore
from memory_system.store.journal import moving
from memory_system.store.journal.moving import Journals
from memory_system.store.journal.postgres import Server
from memory_system.store.journal.vectors import content_hash
from tests.conftest import NOW, PERSONALITY
from tests.faults.child import Renamed
from tests.faults.survivor import Survivor, killed_at, prepare, settings_of, told_by
from tests.faults.survivor import start as started

EVENTS = [
    {"document": "Saw smoke over the north field", "id": "smoke", "rating": 7},
    {"document": "Bought two fish at the harbour", "id": "fish", "rating": 2},
]
Machine = Callable[[str], World]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept beside the journal, in child processes too."""
    monkeypatch.setenv("MEMORY_STORE", "journal")


@pytest.fixture
def settings(alone: None, settings: Settings) -> Settings:
    """Settings of a world in a temporary folder, read once more."""
    return Settings(database=settings.database, personalities=settings.personalities, llm="offline")


def _held(agent: AgentMemory) -> dict[str, str | None]:
    return {entry.id: dump_entry(entry) for tier in Tier for entry in agent.entries(tier)}


def test_pgvector_is_a_name_for_it_where_journals_are_on_a_server(
    journal_server: str, settings: Settings, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pgvector", "journal"):
        monkeypatch.setenv("MEMORY_STORE", name)
        named = Settings(database=settings.database, personalities=settings.personalities, llm="offline")
        with World(named, embedder=embedder) as world:
            agent = world.agent("mira") if "mira" in world.agents() else world.create_agent("mira")
            agent.add_short_term({"document": f"Came by {name}.", "rating": 5})
            told = sorted(entry.document for entry in agent.entries(Tier.STM))
    assert told == ["Came by journal.", "Came by pgvector."]
    assert not list((named.database / named.world / "mira").glob("*chroma*"))
    assert not list((named.database / named.world / "mira").glob("store-*"))


def test_pgvector_without_a_server_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_STORE", "pgvector")
    monkeypatch.delenv("MEMORY_JOURNAL_URL", raising=False)
    told = CliRunner().invoke(app, ["agents"])
    assert told.exit_code
    assert "MEMORY_STORE=pgvector needs MEMORY_JOURNAL_URL, a PostgreSQL database's address." in told.output


# -- on one machine ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage", ["substr(data, 1, 400)", "substr(data, 1, 401)", "substr(data, 1, 402)", "'rubbish'", "NULL"]
)
def test_a_damaged_vector_is_made_again_of_its_text(damage: str, world: World, agent: AgentMemory) -> None:
    agent.add_short_term([*EVENTS, {"document": "Paid the ferryman", "id": "paid", "rating": 5}])
    place = world.folder / "mira"
    world.close()
    for table in place.glob("*.table"):
        table.unlink()
    key = content_hash(EVENTS[0]["document"])
    with closing(sqlite3.connect(place / "journal.sqlite3")) as db, db:
        (kept,) = db.execute("SELECT data FROM vectors WHERE hash = ?", (key,)).fetchone()
        if damage == "NULL":
            db.execute("DELETE FROM vectors WHERE hash = ?", (key,))
        else:
            db.execute(f"UPDATE vectors SET data = {damage} WHERE hash = ?", (key,))
    again = world.agent("mira")
    assert [hit.entry.id for hit in again.query_memory("Where was the smoke?", 1)] == ["smoke"]
    world.close()
    with closing(sqlite3.connect(place / "journal.sqlite3")) as db:
        assert db.execute("SELECT data FROM vectors WHERE hash = ?", (key,)).fetchone() == (kept,)


@pytest.mark.usefixtures("each_journal")
def test_an_agent_does_what_any_other_does_and_has_no_store(world: World, agent: AgentMemory) -> None:
    agent.add_short_term(EVENTS)
    agent.edit("fish", rating=9)
    agent.migrate_stm2ltm(0.1, ids=["smoke"])
    agent.undo(agent.history(1)[0].revision)
    agent.save_personality(json.dumps(PERSONALITY | {"facts": ["The heron is a rumour."]}))
    agent.forget("fish")
    agent.purge("fish")
    held = _held(agent)
    world.close()
    again = world.agent("mira")
    assert (again.messages, _held(again)) == ((), held)
    assert again.query_memory("smoke", top_k=1, static_threshold=1).hits[0].entry.id == "smoke"
    assert not list((world.folder / "mira").glob("*chroma*"))
    assert {one.state for one in doctor.examine(world)} <= {State.RIGHT, State.NOTE}


def test_a_change_is_whole_as_soon_as_it_is_committed(agent: AgentMemory) -> None:
    agent._context.held.settle()
    agent.add_short_term(EVENTS)
    assert agent._context.held.journal.pending_revisions() == frozenset()
    agent.save_personality(json.dumps(PERSONALITY | {"facts": ["The heron is a rumour."]}))
    assert len(agent._context.held.journal.pending_revisions()) == 1, "the file is noted after it was written"


def test_from_chroma_and_back_nothing_is_lost(
    settings: Settings, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_chroma = settings.model_copy(update={"store": "chroma"})
    with World(in_chroma, embedder=embedder) as world:
        world.create_agent("mira", json.dumps(PERSONALITY)).add_short_term(EVENTS)
    with World(settings, embedder=embedder) as world:
        world.agent("mira").forget("fish")
        world.agent("mira").add_short_term({"document": "Sold the boat", "id": "boat", "rating": 5})
        held = _held(world.agent("mira"))
    with World(in_chroma, embedder=embedder) as world:
        assert _held(world.agent("mira")) == held
    with World(in_chroma, embedder=embedder) as world:
        assert world.agent("mira").messages == ()
        assert {one.state for one in doctor.examine(world)} <= {State.RIGHT, State.NOTE}


def test_a_journal_that_is_gone_is_told_and_not_begun_anew(world: World, agent: AgentMemory) -> None:
    agent.add_short_term(EVENTS)
    world.close()
    for file in (world.folder / "mira").glob("journal.sqlite3*"):
        file.unlink()
    with pytest.raises(JournalDamaged, match="mira"):
        world.agent("mira")
    assert any(one.state is State.WRONG for one in doctor.examine(world))


def test_a_backup_brings_it_back(world: World, agent: AgentMemory) -> None:
    agent.add_short_term(EVENTS)
    held = _held(agent)
    made = backup.make(world)
    assert made is not None
    agent.forget("smoke")
    restore.restore(world, made.path)
    assert _held(world.agent("mira")) == held


def test_vectors_are_made_anew_by_another_embedder(
    world: World, agent: AgentMemory, settings: Settings, embedder: CachedEmbedder
) -> None:
    agent.add_short_term(EVENTS)
    world.close()
    with World(settings, embedder=Renamed(embedder)) as other:
        there = other.agent("mira")
        there.reembed()
        assert there.query_memory("smoke", top_k=1, static_threshold=1).hits
    with World(settings, embedder=Renamed(embedder)) as other:
        assert other.agent("mira").messages == ()


# -- killed --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_journal", "alone")
@pytest.mark.parametrize("operation", ["add", "migrate", "reflect"])
@pytest.mark.parametrize("step", ["before the commit", "within the commit"])
def test_a_change_that_is_killed_was_never_made(
    tmp_path: Path, embedder: CachedEmbedder, operation: str, step: str
) -> None:
    root = prepare(tmp_path, embedder)
    before = Survivor(root, embedder)
    assert killed_at(root, step, operation=operation) == [{"open": True}]
    after = Survivor(root, embedder)
    assert (after.tiers, after.history, after.messages) == (before.tiers, before.history, ())


@pytest.mark.usefixtures("each_journal", "alone")
def test_a_save_that_is_killed_is_finished(tmp_path: Path, embedder: CachedEmbedder) -> None:
    root = prepare(tmp_path, embedder)
    saved = json.dumps(PERSONALITY | {"facts": ["The heron is a rumour."]})
    killed_at(root, "before the personality file is written", operation="personality", text=saved)
    after = Survivor(root, embedder)
    assert (after.personality, after.file, after.messages) == (saved, saved, ())


@pytest.mark.usefixtures("each_journal", "alone")
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path, embedder: CachedEmbedder) -> None:
    root = prepare(tmp_path, embedder)
    children = [started(root, operation="many", count=10, name=name, wait=True) for name in ("left", "right")]
    for child in children:
        assert told_by(child) == {"open": True}
    for child in children:
        out, problems = child.communicate("go\n")
        assert child.returncode == 0, problems
        assert json.loads(out) == {"added": 10}
    after = Survivor(root, embedder)
    assert {f"{name}-{n}" for name in ("left", "right") for n in range(10)} <= after.ids


# -- several machines and one server -------------------------------------------------------------------


@pytest.fixture
def machine(
    alone: None, tmp_path: Path, journal_server: str, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machine]:
    """Opens the world on a machine that shares nothing with the others but the server."""
    monkeypatch.setattr(moving, "JOIN_SECONDS", 0.0)
    with ExitStack() as opened:

        def on(name: str) -> World:
            world = opened.enter_context(World(settings_of(tmp_path / name), embedder=embedder))
            world.stand_at(NOW)
            return world

        yield on


def _file(world: World) -> str:
    return (world.settings.personalities / "mira.json").read_text(encoding="utf-8")


def _saying(fact: str) -> str:
    return json.dumps(PERSONALITY | {"facts": [fact]})


def test_an_agent_made_on_one_machine_is_whole_on_another(machine: Machine) -> None:
    here, there = machine("here"), machine("there")
    assert there.agents() == []
    here.create_agent("mira", _saying("The heron is a rumour.")).add_short_term(EVENTS)
    assert there.agents() == ["mira"]
    known = there.agent("mira")
    assert {entry.id for entry in known.entries(Tier.STM)} == {"smoke", "fish"}
    assert (known.messages, _file(there)) == ((), _file(here))
    known.add_short_term({"document": "Sold the boat", "id": "boat", "rating": 5})
    assert "boat" in {entry.id for entry in here.agent("mira").entries(Tier.STM)}
    assert machine("a third").agent("mira").query_memory("boat", top_k=1, static_threshold=1).hits
    with pytest.raises(AgentNotFound):
        there.agent("nobody")


def test_a_personality_saved_on_one_machine_replaces_the_file_of_another(machine: Machine) -> None:
    here, there = machine("here"), machine("there")
    here.create_agent("mira", _saying("one")).add_short_term(EVENTS)
    assert there.agent("mira").personality_text == _saying("one")
    here.agent("mira").save_personality(_saying("two"))
    assert there.agent("mira").personality_text == _saying("two")
    assert _file(there) == _saying("two")
    there.close()
    here.agent("mira").save_personality(_saying("three"))
    again = machine("there")
    assert again.agent("mira").personality_text == _saying("three")
    assert (_file(again), _file(here)) == (_saying("three"), _saying("three"))
    assert here.agent("mira").personality_text == _saying("three")


def test_a_file_edited_by_hand_on_one_machine_reaches_the_other(machine: Machine) -> None:
    here, there = machine("here"), machine("there")
    here.create_agent("mira", _saying("one")).add_short_term(EVENTS)
    assert there.agent("mira").personality_text == _saying("one")
    (there.settings.personalities / "mira.json").write_text(_saying("by hand, and longer"), encoding="utf-8")
    assert any("by hand" in entry.document for entry in there.agent("mira").entries(Tier.STATIC))
    assert here.agent("mira").personality_text == _saying("by hand, and longer")
    assert _file(here) == _saying("by hand, and longer")


def test_another_worlds_agents_and_names_that_are_none_get_no_folder(machine: Machine) -> None:
    here = machine("here")
    here.create_agent("mira", _saying("one"))
    with here.journals._reached(here.settings.journal_url).writing("x") as db:  # type: ignore[arg-type]
        for schema, place in (("memory_a", "mem_test/../../etc"), ("memory_b", "mem_test_2/tobias")):
            db.exec_driver_sql(f"CREATE SCHEMA {schema}")
            db.exec_driver_sql(f"COMMENT ON SCHEMA {schema} IS 'memory-system: {place}'")
    there = machine("there")
    assert there.agents() == ["mira"]
    assert sorted(path.name for path in there.folder.iterdir() if path.is_dir()) == ["mira"]


def test_a_server_that_is_away_is_not_waited_for_at_every_listing(
    journal_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[None] = []

    def away(_server: Server) -> None:
        asked.append(None)
        raise ServerUnavailable("It does not answer.")

    monkeypatch.setattr(Server, "reading", away)
    journals = Journals(SecretStr(journal_server))
    with pytest.raises(ServerUnavailable):
        journals.join(tmp_path)
    journals.join(tmp_path)
    assert len(asked) == 1
