"""Journals on a PostgreSQL server: everything that an agent does, and what is different from a file in its folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from typer.testing import CliRunner

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.__main__ import app
from memory_system.core.change_set import dump_entry
from memory_system.core.findings import State
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import (
    InvalidParameter,
    JournalDamaged,
    MemorySystemError,
    ReadOnly,
    ServerUnavailable,
    StoreBusy,
    StoreDamaged,
    StoreError,
)
from memory_system.maintenance import backup, restore
from memory_system.maintenance.doctor import examine
from memory_system.store.chroma.store import ChromaMemory
from memory_system.store.journal import postgres as journal_postgres
from memory_system.store.journal import tables as journal_tables
from memory_system.store.journal.moving import Journals
from memory_system.store.journal.postgres import Server
from tests.conftest import NOW
from tests.faults.survivor import go, start_in, told_by
from tests.postgres_server import PASSWORD, PostgresServer

Remember = Callable[..., str]
Elsewhere = Callable[[str], World]


@pytest.fixture
def database(journal_server: str) -> str:
    """The name of the database, where journals are for the whole test."""
    return str(sa.make_url(journal_server).database)


@pytest.fixture
def world(database: str, settings: Settings, embedder: CachedEmbedder) -> Iterator[World]:
    server_settings = Settings(database=settings.database, personalities=settings.personalities, llm="offline")
    with World(server_settings, embedder=embedder) as opened:
        opened.stand_at(NOW)
        yield opened


@pytest.fixture
def elsewhere(tmp_path: Path, journal_server: str, settings: Settings, embedder: CachedEmbedder) -> Iterator[Elsewhere]:
    """Opens the world as another machine does: the same server and personalities, and another folder."""
    with ExitStack() as opened:

        def on(machine: str) -> World:
            of_it = Settings(database=tmp_path / machine, personalities=settings.personalities, llm="offline")
            other = opened.enter_context(World(of_it, embedder=embedder))
            other.stand_at(NOW)
            return other

        yield on


@pytest.fixture
def in_files(settings: Settings, embedder: CachedEmbedder) -> Iterator[World]:
    """The world with its journals in files."""
    with World(settings, embedder=embedder) as opened:
        opened.stand_at(NOW)
        yield opened


def _schemas(postgres: PostgresServer, database: str) -> dict[str, str]:
    query = "SELECT obj_description(oid, 'pg_namespace'), nspname FROM pg_namespace WHERE nspname LIKE 'memory_%%'"
    return {str(told): str(name) for told, name in postgres.run(database, query)}


def _schema_of_mira(postgres: PostgresServer, database: str) -> str:
    return _schemas(postgres, database)["memory-system: mem_test/mira"]


def _held(agent: AgentMemory) -> dict[str, object]:
    return {entry.id: (dump_entry(entry), entry.last_access) for tier in Tier for entry in agent.entries(tier)}


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def test_an_agent_has_a_schema_of_its_own_and_no_journal_in_its_folder(
    postgres: PostgresServer, database: str, world: World, agent: AgentMemory, remember: Remember
) -> None:
    remember("Saw smoke", id="m1")
    world.create_agent("tobias")
    assert set(_schemas(postgres, database)) == {"memory-system: mem_test/mira", "memory-system: mem_test/tobias"}
    schema = _schema_of_mira(postgres, database)
    assert json.loads((world.folder / "mira/journal.json").read_text()) == {"schema": schema}
    assert not list((world.folder / "mira").glob("journal.sqlite3*"))
    assert postgres.run(database, f"SELECT id FROM {schema}.entries WHERE tier = 'stm'") == [("m1",)]
    world.close()
    again = world.agent("mira")
    assert (again.messages, [entry.id for entry in again.entries(Tier.STM)]) == ((), ["m1"])


def test_the_history_is_found_in_any_case_of_any_script(agent: AgentMemory, remember: Remember) -> None:
    remember("ÜNAL ging zur ΜΎΛΗ", id="m1")
    remember("100 % of the_lamp", id="m2")
    for words, found in (("ünal", 1), ("μύλη", 1), ("100 %", 1), ("100_%", 0), ("the_lamp", 1), ("theXlamp", 0)):
        assert len(agent.history(contains=words, operation="add")) == found, words
    agent.forget(["m1"])
    assert [one.entry.id for one in agent.forgotten(contains="Ünal")] == ["m1"]


def test_the_past_is_told_as_it_was(agent: AgentMemory, remember: Remember) -> None:
    remember("The key is in the mill", id="m1")
    before, revision = _held(agent), agent.history(1)[0].revision
    agent.query_memory("key", now=NOW + timedelta(hours=1))
    agent.edit("m1", document="The key is gone")
    agent.forget(["m1"])
    then = agent.as_of(revision=revision)
    assert {entry.id: (dump_entry(entry), entry.last_access) for tier in Tier for entry in then.entries(tier)} == before
    agent.undo_back_to(revision)
    assert agent.find("m1").document == "The key is in the mill"  # type: ignore[union-attr]
    assert agent.relive(agent.queries()[0].number).then


def test_a_null_character_in_a_cue_does_not_keep_recalls_from_being_written(
    agent: AgentMemory, remember: Remember
) -> None:
    remember("The key is in the mill", id="m1")
    agent.query_memory("the key\x00?")
    assert agent.queries()[0].query.cue == "the key\N{SYMBOL FOR NULL}?"
    assert agent.find("m1").last_access == NOW  # type: ignore[union-attr]


def test_what_was_purged_is_in_no_table_any_more(
    postgres: PostgresServer, database: str, agent: AgentMemory, remember: Remember
) -> None:
    remember("Zanzibar is where the money lies", id="m1")
    agent.edit("m1", document="Zanzibar is where all of the money lies")
    agent.forget(["m1"])
    agent.purge(["m1"])
    postgres.run(database, "CHECKPOINT")
    tables = [file for file in (postgres.folder / "data/base").glob("**/*") if file.is_file()]
    assert [file for file in tables if b"Zanzibar is" in file.read_bytes()] == []
    assert agent.messages == ()


def test_an_agent_keeps_its_journal_when_it_is_renamed_deleted_and_brought_back(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    remember("Saw smoke", id="m1")
    history = len(agent.history())
    renamed = world.rename_agent("mira", "o'hara")
    assert len(renamed.history()) == history
    binned = world.delete_agent(renamed.name)
    fresh = world.create_agent("o'hara")
    assert [entry.id for entry in fresh.entries(Tier.STM)] == [], "a new agent of that name begins anew"
    world.delete_agent(fresh.name)
    assert [entry.id for entry in world.restore_agent(binned).entries(Tier.STM)] == ["m1"]


def test_a_copy_and_a_rehearsal_have_journals_of_their_own(
    postgres: PostgresServer, database: str, world: World, agent: AgentMemory, remember: Remember
) -> None:
    remember("Saw smoke", id="m1")
    copy = world.duplicate_agent("mira", "ana")
    rehearsal = world.branch("mira")
    rehearsal.edit("m1", document="Saw fire")
    copy.forget(["m1"])
    assert not agent.gone
    mira = world.agent("mira")
    assert [entry.document for entry in mira.entries(Tier.STM)] == ["Saw smoke"]
    assert len(copy.history()) == len(mira.history()) + 1
    assert len(_schemas(postgres, database)) == 3
    remember_again = mira.add_short_term({"document": "Numbers go on", "rating": 5}).change_set.revision
    assert remember_again == len(mira.history())


# -- from files and back -------------------------------------------------------------------------------


def _lived(world: World) -> tuple[dict[str, object], list[int]]:
    mira = world.create_agent("mira")
    mira.add_short_term([{"document": f"event {n}", "id": f"m{n}", "rating": 5} for n in range(3)])
    mira.query_memory("event 1", top_k=1)
    mira.forget(["m0"])
    held = _held(mira), [told.revision for told in mira.history()]
    world.close()
    return held


def test_a_journal_in_a_file_moves_to_the_server_when_the_agent_is_opened(in_files: World, world: World) -> None:
    held = _lived(in_files)
    mira = world.agent("mira")
    assert (_held(mira), [told.revision for told in mira.history()]) == held
    assert mira.messages == ()
    assert not list((world.folder / "mira").glob("journal.sqlite3*"))
    assert mira.add_short_term({"document": "after", "rating": 5}).change_set.revision == held[1][0] + 1


def test_a_move_that_was_cut_off_before_the_file_was_removed_is_finished(in_files: World, world: World) -> None:
    held = _lived(in_files)
    file = world.folder / "mira/journal.sqlite3"
    left = file.read_bytes()
    world.agent("mira")
    world.close()
    for pointer in (world.folder / "mira/journal.json", None):
        file.write_bytes(left)
        if pointer is not None:
            pointer.unlink()
        mira = world.agent("mira")
        assert (_held(mira), [told.revision for told in mira.history()]) == held
        assert not file.exists()
        world.close()


def test_a_move_that_was_cut_off_while_it_copied_is_done_again(
    in_files: World, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = _lived(in_files)

    def cut_off(*_: object) -> None:
        raise StoreError("The power went off.")

    with monkeypatch.context() as patched:
        patched.setattr(journal_tables.postgres, "count_on", cut_off)
        with pytest.raises(StoreError, match="The power went off"):
            world.agent("mira")
    assert (world.folder / "mira/journal.sqlite3").exists()
    mira = world.agent("mira")
    assert (_held(mira), [told.revision for told in mira.history()]) == held


def test_two_journals_of_one_agent_are_refused_and_both_left(in_files: World, world: World) -> None:
    _lived(in_files)
    file = world.folder / "mira/journal.sqlite3"
    left = file.read_bytes()
    world.agent("mira").add_short_term({"document": "after", "rating": 5})
    world.close()
    file.write_bytes(left)
    with pytest.raises(StoreError, match=r"There are two journals of 'mira'.* with 4 changes, and .* with 3"):
        world.agent("mira")
    assert file.exists()
    file.unlink()
    assert len(world.agent("mira").history()) == 4


def test_without_the_address_nothing_is_begun_anew(world: World, agent: AgentMemory, in_files: World) -> None:
    world.close()
    with pytest.raises(StoreError, match=r"is on a PostgreSQL server\. Set MEMORY_JOURNAL_URL to its address"):
        in_files.agent("mira")
    assert not (world.folder / "mira/journal.sqlite3").exists()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with journals in files, whatever the environment says."""
    made = Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")
    return made.model_copy(update={"journal_url": None})


def test_a_backup_of_a_server_is_restored_into_files_and_the_other_way(
    world: World, in_files: World, agent: AgentMemory, remember: Remember, tmp_path: Path
) -> None:
    remember("Saw smoke", id="m1")
    held, history = _held(agent), len(agent.history())
    made = backup.make(world, tmp_path / "made.zip")
    assert made is not None
    assert "agents/mira/journal.sqlite3" in made.manifest.files
    remember("Saw more smoke", id="m2")
    world.close()
    assert restore.restore(in_files, made.path) is not None
    mira = in_files.agent("mira")
    assert (_held(mira), len(mira.history())) == (held, history)
    in_files.close()
    done = restore.restore(world, made.path)
    assert done is not None
    assert done.findings == ()
    mira = world.agent("mira")
    assert (_held(mira), len(mira.history())) == (held, history)
    assert mira.messages == ()
    assert not (world.folder / "mira/journal.sqlite3").exists()


# -- what goes wrong -----------------------------------------------------------------------------------


def test_the_doctor_finds_all_in_order(world: World, agent: AgentMemory, remember: Remember) -> None:
    remember("Saw smoke", id="m1")
    assert {one.state for one in examine(world) if one.agent == "mira"} == {State.RIGHT}


@pytest.mark.parametrize(
    "damage", ["DROP TABLE {0}.changes", "DROP SCHEMA {0} CASCADE", "TRUNCATE {0}.change_sets CASCADE"]
)
def test_a_damaged_journal_leaves_the_agent_readable_and_a_new_one_is_begun_from_the_store(
    postgres: PostgresServer, database: str, world: World, agent: AgentMemory, remember: Remember, damage: str
) -> None:
    remember("Saw smoke", id="m1")
    world.close()
    postgres.run(database, damage.format(_schema_of_mira(postgres, database)))
    left = _schemas(postgres, database)
    assert State.WRONG in {one.state for one in examine(world) if one.what == "journal"}
    shown = world.agent("mira")
    assert [entry.id for entry in shown.entries(Tier.STM)] == ["m1"]
    assert "Restore a backup of the world, or the schema from a dump of the server" in str(shown.read_only)
    with pytest.raises(ReadOnly):
        shown.add_short_term({"document": "no", "rating": 5})
    assert _schemas(postgres, database) == left
    repaired = [one for one in examine(world, repair=True) if one.what == "journal"]
    assert [one.state for one in repaired] == [State.REPAIRED]
    assert world.agent("mira").add_short_term({"document": "yes", "rating": 5}).change_set.revision
    assert {entry.document for entry in world.agent("mira").entries(Tier.STM)} == {"Saw smoke", "yes"}


def test_a_server_that_is_away_is_told_and_nothing_is_lost(
    settings: Settings, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("postgres")  # skips where there is none
    with PostgresServer() as server:
        reached = settings.model_copy(update={"journal_url": SecretStr(server.new_database())})
        with World(reached, embedder=embedder) as world:
            world.stand_at(NOW)
            mira = world.create_agent("mira")
            mira.add_short_term({"document": "Saw smoke", "id": "m1", "rating": 5})
            server.stop()
            for attempt in (
                lambda: mira.add_short_term({"document": "Saw fire", "rating": 5}),
                lambda: mira.query_memory("smoke"),
                lambda: mira.history(),
            ):
                with pytest.raises(ServerUnavailable, match="Is it running") as told:
                    attempt()
                assert PASSWORD not in _told(told.value)
            server.start()
            mira.add_short_term({"document": "Saw water", "id": "m2", "rating": 5})
            assert {entry.id for entry in mira.entries(Tier.STM)} == {"m1", "m2"}
            assert [told.revision for told in mira.history()] == [3, 2, 1]


@pytest.mark.parametrize(
    "address",
    [
        "mysql://u:{}@h/db",
        "postgresql://u:{}@h:port/db",
        "postgresql://u:{}@h",
        "{}",
        "postgresql://tester:wrong-{}@/postgres?host={{folder}}",
        "postgresql://tester:{}@/no_such_database?host={{folder}}",
        "postgresql://tester:{}@/postgres?host=/nowhere",
        "postgresql://tester:{}@/postgres?host={{folder}}&nonsense=1",
    ],
)
def test_an_address_that_does_not_work_is_told_without_its_password(
    postgres: PostgresServer, settings: Settings, embedder: CachedEmbedder, address: str
) -> None:
    url = address.format(quote(PASSWORD, safe="")).replace("{folder}", str(postgres.folder))
    wrong = settings.model_copy(update={"journal_url": SecretStr(url)})
    with World(wrong, embedder=embedder) as world:
        with pytest.raises((InvalidParameter, StoreError)) as told:
            world.create_agent("mira")
        said = _told(told.value) + repr(world.settings) + repr(vars(world.journals))
        assert PASSWORD not in said
        assert quote(PASSWORD, safe="") not in said
        assert not isinstance(told.value, JournalDamaged)
        assert not (world.folder / "mira").exists()


def test_a_password_with_a_sign_that_is_not_written_as_it_must_be_is_not_taken_for_a_host() -> None:
    for address in ("postgresql://u:p@h1dden@localhost/db", "postgresql://u:p@h1dden/more@localhost:9/db"):
        with pytest.raises(InvalidParameter, match="@ is written as %40") as told:
            Server(SecretStr(address))
        assert "h1dden" not in _told(told.value)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_every_letter_is_refused_before_anything_is_written(
    postgres: PostgresServer, settings: Settings, embedder: CachedEmbedder, encoding: str
) -> None:
    name = f"of_{encoding.lower()}"
    postgres.run("postgres", f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0")
    wrong = settings.model_copy(update={"journal_url": SecretStr(postgres.address(name))})
    with World(wrong, embedder=embedder) as world:
        with pytest.raises(StoreError, match=f"keeps texts in {encoding}.* with ENCODING 'UTF8'"):
            world.create_agent("mira")
        assert not (world.folder / "mira").exists()


def test_a_server_that_is_only_read_is_told_as_one_that_cannot_be_used_now(
    postgres: PostgresServer, settings: Settings, embedder: CachedEmbedder
) -> None:
    address = postgres.new_database()
    postgres.run("postgres", f"ALTER DATABASE {sa.make_url(address).database} SET default_transaction_read_only = on")
    standby = settings.model_copy(update={"journal_url": SecretStr(address)})
    with World(standby, embedder=embedder) as world, pytest.raises(ServerUnavailable, match="in a read-only transac"):
        world.create_agent("mira")


# -- what names the journal ----------------------------------------------------------------------------


@pytest.mark.parametrize("left", ["", "{", "5", '{"schema": "public"}', '{"schema": "memory_x\\""}', None])
def test_a_note_that_names_no_journal_is_said_so_and_the_journal_is_found_without_it(
    world: World, agent: AgentMemory, remember: Remember, left: str | None
) -> None:
    remember("Saw smoke", id="m1")
    world.close()
    note = world.folder / "mira/journal.json"
    note.unlink()
    if left is None:
        os.mkfifo(note)
    else:
        note.write_text(left)
    with pytest.raises(StoreDamaged, match=r"does not name a journal\. Move it away"):
        world.agent("mira")
    note.unlink()
    assert [entry.id for entry in world.agent("mira").entries(Tier.STM)] == ["m1"]


def test_a_folder_that_names_the_journal_of_another_agent_is_refused(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    remember("Saw smoke", id="m1")
    world.create_agent("tobias")
    world.close()
    shutil.copytree(world.folder / "mira", world.folder / "ana")
    with pytest.raises(StoreError, match=r"names the journal of another agent, mem_test/mira\. .* duplicate the agent"):
        world.agent("ana")
    mine, others = world.folder / "mira/journal.json", world.folder / "tobias/journal.json"
    mine.write_bytes(others.read_bytes())
    with pytest.raises(StoreError, match=r"of another agent, mem_test/tobias\. .* otherwise remove journal\.json"):
        world.agent("mira")
    assert world.agent("tobias").entries(Tier.STM) == []
    mine.unlink()
    assert [entry.id for entry in world.agent("mira").entries(Tier.STM)] == ["m1"]


def test_a_folder_that_was_moved_keeps_its_journal(
    world: World, agent: AgentMemory, remember: Remember, settings: Settings, embedder: CachedEmbedder
) -> None:
    remember("Saw smoke", id="m1")
    history = len(agent.history())
    world.close()
    world.folder.rename(world.folder.with_name("moved"))
    with World(world.settings.model_copy(update={"world": "moved"}), embedder=embedder) as moved:
        assert len(moved.agent("mira").history()) == history


# -- several machines ----------------------------------------------------------------------------------


def test_another_machine_sees_each_change_at_its_next_question_and_writes_its_own_store(elsewhere: Elsewhere) -> None:
    left, right = elsewhere("left"), elsewhere("right")
    here = left.create_agent("mira")
    there = right.agent("mira")
    for number in range(4):
        one, other = (here, there) if number % 2 else (there, here)
        one.add_short_term({"document": f"event {number}", "id": f"m{number}", "rating": 5})
        assert other.find(f"m{number}") is not None
    there.edit("m0", document="It was otherwise")
    here.forget(["m1"])
    there.add_short_term({"document": "the last", "id": "m9", "rating": 5})
    wanted = {entry.id: dump_entry(entry) for entry in there.entries(Tier.STM)}
    assert set(wanted) == {"m0", "m2", "m3", "m9"}
    left.close()
    right.close()
    for world in (left, right):
        memory = ChromaMemory.at(world.folder / "mira/chroma")
        assert {entry.id: dump_entry(entry) for entry in memory.snapshot().entries} == wanted
        memory.close()
        assert world.agent("mira").messages == ()


def test_a_machine_that_was_away_takes_over_what_it_missed(elsewhere: Elsewhere) -> None:
    left, right = elsewhere("left"), elsewhere("right")
    left.create_agent("mira").add_short_term({"document": "event", "id": "m1", "rating": 5})
    left.close()
    right.agent("mira").edit("m1", document="It was otherwise")
    assert left.agent("mira").find("m1").document == "It was otherwise"  # type: ignore[union-attr]
    left.close()
    memory = ChromaMemory.at(left.folder / "mira/chroma")
    assert [entry.document for entry in memory.snapshot().entries] == ["It was otherwise"]
    memory.close()


def test_machines_that_write_at_once_lose_nothing(elsewhere: Elsewhere) -> None:
    worlds = {name: elsewhere(name) for name in ("left", "right")}
    worlds["left"].create_agent("mira")
    worlds["left"].close()
    children = [
        start_in(world.settings, operation="many", count=10, name=name, wait=True) for name, world in worlds.items()
    ]
    for child in children:
        assert told_by(child) == {"open": True}
    for child in children:
        go(child)
    for child in children:
        out, problems = child.communicate()
        assert child.returncode == 0, problems
        assert json.loads(out) == {"added": 10}
    wanted = {f"{name}-{number}" for name in worlds for number in range(10)}
    for world in worlds.values():
        mira = world.agent("mira")
        assert {entry.id for entry in mira.entries(Tier.STM)} == wanted
        assert [told.revision for told in mira.history()] == list(range(21, 0, -1))
        world.close()
        memory = ChromaMemory.at(world.folder / "mira/chroma")
        assert memory.ids() == wanted
        memory.close()


def test_one_machine_writes_at_a_time(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    left = elsewhere("left")
    here = left.create_agent("mira")
    monkeypatch.setattr(journal_postgres, "LOCK_SECONDS", 1)
    there = elsewhere("right").agent("mira")
    with here.contents.alone(), here.contents.alone():
        with pytest.raises(StoreBusy, match="Another machine or program has been writing for 1 seconds"):
            there.add_short_term({"document": "event", "rating": 5})
        here.add_short_term({"document": "event", "id": "m1", "rating": 5})
    there.add_short_term({"document": "event", "id": "m2", "rating": 5})
    assert {entry.id for entry in here.entries(Tier.STM)} == {"m1", "m2"}


def test_a_server_that_hangs_is_given_up_and_used_again_when_it_answers(
    postgres: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch, world: World, agent: AgentMemory
) -> None:
    world.close()
    monkeypatch.setattr(journal_postgres, "_CONNECT_SECONDS", 5)
    mira = world.agent("mira")
    backends = [int(pid) for (pid,) in postgres.run(database, "SELECT pid FROM pg_stat_activity WHERE pid <> 0")]
    stopped = [postgres.process, *backends]
    try:
        for pid in stopped:
            with suppress(ProcessLookupError):  # of a connection that was let go of just now
                os.kill(pid, signal.SIGSTOP)
        with monkeypatch.context() as hurried:
            hurried.setattr(journal_postgres, "ANSWER_SECONDS", 0.5)
            with pytest.raises(ServerUnavailable, match="Is it running"):
                mira.add_short_term({"document": "Saw smoke", "id": "smoke", "rating": 5})
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):  # whoever asked by it has given it up, and it has ended
                os.kill(pid, signal.SIGCONT)
    mira.add_short_term({"document": "Saw fire", "id": "fire", "rating": 5})
    assert {"fire"} <= {entry.id for entry in mira.entries(Tier.STM)} <= {"fire", "smoke"}


def test_a_lost_folder_is_made_anew_from_the_server(world: World, elsewhere: Elsewhere, agent: AgentMemory) -> None:
    agent.add_short_term({"document": "event", "id": "m1", "rating": 5})
    world.close()
    (world.folder / "mira").rename(world.folder / ".lost")
    found = world.agent("mira")
    assert [entry.id for entry in found.entries(Tier.STM)] == ["m1"]
    assert len(found.history()) == 2


def test_a_journal_that_the_server_does_not_have_is_not_begun_anew(
    world: World, agent: AgentMemory, postgres: PostgresServer
) -> None:
    agent.add_short_term({"document": "event", "id": "m1", "rating": 5})
    world.close()
    (world.folder / "mira/journal.json").unlink()
    other = world.settings.model_copy(update={"journal_url": SecretStr(postgres.new_database())})
    with World(other, embedder=world.embedder) as moved:
        assert "is not on the PostgreSQL server, and had 2 changes before" in str(moved.agent("mira").read_only)


def test_the_command_line_tells_no_password(
    postgres: PostgresServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_JOURNAL_URL", postgres.address("no_such_database"))
    monkeypatch.setenv("MEMORY_DATABASE", str(settings.database))
    settings.personalities.mkdir()
    monkeypatch.setenv("MEMORY_PERSONALITIES", str(settings.personalities))
    (settings.personalities / "mira.json").write_text('{"identity": {"name": "Mira"}}')
    done = CliRunner().invoke(app, ["recall", "mira", "smoke"])
    said = done.output + (done.stderr or "") + repr(done.exception)
    assert done.exit_code != 0
    assert "no_such_database" in said
    assert PASSWORD not in said
    assert quote(PASSWORD, safe="") not in said


def test_the_address_is_needed_for_the_first_agent_only(tmp_path: Path) -> None:
    journals = Journals(SecretStr(""))
    assert journals.of(tmp_path / "mira").anchor.name == "journal.sqlite3"
    with pytest.raises(MemorySystemError, match="must be an address such as postgresql://"):
        Journals(SecretStr("nonsense")).of(tmp_path / "mira")
