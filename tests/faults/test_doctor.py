"""The doctor: finds what is wrong without touching anything, and repairs it when told to."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.__main__ import app
from memory_system.errors import JournalDamaged
from memory_system.maintenance.doctor import Finding, State, examine, light, mend
from memory_system.store import read_only
from memory_system.store.ledger import Ledger
from tests.faults.conftest import replace_by_folder


@pytest.fixture
def folder(world: World, agent: AgentMemory) -> Path:
    """The folder of an agent with 110 memories, closed."""
    agent.add_short_term([{"document": f"event {n}", "id": f"m{n}", "rating": 5} for n in range(110)])
    world.close()
    return world.folder / "mira"


def _hash(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.glob("**/*")) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _states(found: list[Finding]) -> dict[str, State]:
    return {one.what: one.state for one in found if one.agent == "mira"}


def _damage(folder: Path, what: str) -> None:
    index = next(path.parent for path in folder.glob("chroma/*/index_metadata.pickle"))
    match what:
        case "index":
            (index / "header.bin").write_bytes(b"")
        case "index, subtly":
            (index / "index_metadata.pickle").write_bytes(b"\0" * 99)
        case "journal":
            (folder / "journal.sqlite3").write_bytes(b"no journal " * 999)
        case "journal removed":
            (folder / "journal.sqlite3").unlink()
        case "journal a folder":
            replace_by_folder(folder / "journal.sqlite3")
        case "journal -shm a folder":
            replace_by_folder(folder / "journal.sqlite3-shm")
        case "store":
            shutil.rmtree(folder / "chroma")
        case "leftovers":
            (folder / "closed.json.part").write_text("{")
        case _:
            (folder.parents[2] / "personalities" / "mira.json").unlink()


DAMAGES = (
    "index", "index, subtly", "journal", "journal removed", "journal a folder", "journal -shm a folder", "store",
    "leftovers", "personality",
)  # fmt: skip


def test_a_world_that_is_whole_is_said_to_be(world: World, folder: Path) -> None:
    before = _hash(folder.parents[2])
    found = examine(world)
    assert {one.state for one in found} == {State.RIGHT}, found
    assert _states(found).keys() >= {"index", "journal", "store", "personality"}
    assert _hash(folder.parents[2]) == before


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_wrong_is_found_and_nothing_changed_and_repaired_when_told(
    world: World, folder: Path, damage: str
) -> None:
    _damage(folder, damage)
    what = damage.split(" ", maxsplit=1)[0].rstrip(",")
    before = _hash(folder.parents[2])
    assert _states(examine(world))[what] is State.WRONG
    assert _hash(folder.parents[2]) == before
    repaired = examine(world, repair=True)
    assert _states(repaired)[what] is State.REPAIRED, repaired
    again = _states(examine(world))
    assert set(again.values()) <= {State.RIGHT, State.NOTE}
    agent = world.agent("mira")
    assert agent.messages == ()
    assert agent.read_only is None
    assert {entry.id for entry in agent.entries(Tier.STM)} == {f"m{n}" for n in range(110)}
    agent.add_short_term({"document": "life goes on", "rating": 5})


def test_a_journal_that_cannot_be_read_is_named_where_it_lies(world: World, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "journal.sqlite3")) as journal, journal:
        journal.execute("INSERT INTO version (number) VALUES (999)")
    (told,) = (one for one in examine(world) if one.what == "journal")
    assert (told.state, str(folder / "journal.sqlite3") in told.sentence) == (State.WRONG, True)


def test_a_repair_is_offered_only_where_it_can_help(world: World, folder: Path, command: CliRunner) -> None:
    with closing(sqlite3.connect(folder / "journal.sqlite3")) as journal, journal:
        journal.execute("INSERT INTO version (number) VALUES (999)")
    printed = command.invoke(app, ["doctor"])
    assert (printed.exit_code, printed.output.splitlines()[-1]) == (1, "1 wrong.")
    (told,) = (one for one in examine(world, repair=True) if one.what == "journal")
    assert told.beyond_repair
    assert told.sentence.endswith("Update the program. It could not be repaired.")
    _damage(folder, "journal")
    assert command.invoke(app, ["doctor"]).output.endswith("Repair with: python -m memory_system doctor --repair\n")


def test_who_opens_an_agent_while_it_is_mended_can_change_it(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _damage(folder, "journal")
    mended: list[str | None] = []

    def opening(*args: Any, **kwargs: Any) -> Ledger:
        try:
            return Ledger(*args, **kwargs)
        except JournalDamaged:
            monkeypatch.undo()
            mended.append(mend(world, "mira"))  # as another thread does, before this one has read the store
            raise

    monkeypatch.setattr(read_only, "Ledger", opening)
    assert world.agent("mira").read_only is None
    assert mended == [None]


def test_a_repaired_journal_is_kept_beside_the_new_one(world: World, folder: Path) -> None:
    _damage(folder, "journal")
    examine(world, repair=True)
    assert len(list(folder.glob("journal-damaged-*.sqlite3"))) == 1
    (told,) = world.agent("mira").history()
    assert (
        told.change_set.title
        == f"Read {110 + len(world.agent('mira').entries(Tier.STATIC))} memories back from the store"
    )


@pytest.fixture
def command(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("MEMORY_DATABASE", str(settings.database))
    monkeypatch.setenv("MEMORY_PERSONALITIES", str(settings.personalities))
    return CliRunner()


def test_the_command_prints_a_table_and_ends_with_1_until_it_is_repaired(command: CliRunner, folder: Path) -> None:
    _damage(folder, "index")
    done = command.invoke(app, ["doctor"])
    assert done.exit_code == 1
    assert "header.bin is cut short" in done.output
    assert "WRONG" in done.output
    assert "doctor --repair" in done.output
    done = command.invoke(app, ["doctor", "--repair"])
    assert done.exit_code == 0
    assert "repaired" in done.output
    done = command.invoke(app, ["doctor", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["right"] is True


def test_the_light_tells_without_opening(world: World, folder: Path) -> None:
    assert light(world)[0] is State.RIGHT
    _damage(folder, "index")
    assert light(world)[0] is State.WRONG
    assert world.agent("mira").messages
    assert light(world)[0] is State.REPAIRED
    world.close()
    (folder / "journal.sqlite3").write_bytes(b"")
    assert light(world) == (
        State.WRONG,
        "mira: its journal is missing or empty. “python -m memory_system doctor” tells more.",
    )
    assert world.agent("mira").read_only
    state, sentence = light(world)
    assert (state, "mira can only be read" in sentence) == (State.WRONG, True)
