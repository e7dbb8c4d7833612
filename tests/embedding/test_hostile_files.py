"""An attack by files: what lies where ours should be is told in a sentence, and left as it is."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import AgentNotFound, ForeignStore, InvalidEntry, MemorySystemError, StoreDamaged, StoreError
from tests.waiting import ended

OURS = (
    "CREATE TABLE change_sets (revision integer); CREATE TABLE changes (revision integer); "
    "CREATE TABLE entries (id, tier, body, hash);"
)


@pytest.fixture
def closed(world: World, agent: AgentMemory) -> Path:
    """The folder of the agent "mira", with a memory, closed."""
    agent.add_short_term({"document": "Saw smoke", "id": "smoke", "rating": 6})
    world.close()
    return world.folder / "mira"


@pytest.fixture
def personality(world: World) -> Path:
    return Path(world.settings.personalities) / "mira.json"


# -- journals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_noted", [False, True], ids=["", "of the size and time that was noted"])
@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')",
        "CREATE TABLE version (number text); INSERT INTO version VALUES ('abc')",
        "CREATE TABLE entries (id, x); INSERT INTO entries VALUES (1, 2)",
        f"{OURS} CREATE TABLE version (number text); INSERT INTO version VALUES ('abc')",
        f"{OURS} CREATE TABLE version (x)",
        "CREATE VIEW version AS SELECT 1 AS number; CREATE TABLE notes (text)",
    ],
    ids=["notes", "a version of letters", "other columns", "ours but for the version", "no number", "a view"],
)
def test_a_journal_of_something_else_is_refused_and_not_one_byte_is_changed(
    world: World, closed: Path, script: str, as_noted: bool
) -> None:
    file = closed / "journal.sqlite3"
    lying = file.stat()
    for path in closed.glob("journal.sqlite3*"):
        path.unlink()
    db = sqlite3.connect(file)
    db.executescript(script)
    db.close()
    if as_noted:
        os.truncate(file, lying.st_size)
        os.utime(file, ns=(lying.st_atime_ns, lying.st_mtime_ns))
    before = file.read_bytes()
    with pytest.raises((ForeignStore, StoreDamaged), match=r"journal\.sqlite3"):
        world.agent("mira")
    assert file.read_bytes() == before
    assert not [path.name for path in closed.glob("journal.sqlite3-*")]


# -- a file for a folder, a folder for a file ----------------------------------------------------------


def _swap(path: Path, *, to_folder: bool = False) -> None:
    if path.exists():
        path.rename(path.with_name(f"{path.name} of before"))
    path.mkdir() if to_folder else path.write_text("I am a file.")


@pytest.mark.parametrize(
    ("name", "to_folder"),
    [("chroma", False), ("generation", True), ("lock", True), ("", False)],
    ids=["chroma is a file", "generation is a folder", "lock is a folder", "the agent is a file"],
)
def test_a_file_in_the_place_of_a_folder_is_told_and_left(
    world: World, closed: Path, name: str, to_folder: bool
) -> None:
    place = closed / name
    away = place.with_name(f"{place.name} of before")
    _swap(place, to_folder=to_folder)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"mira' cannot be used|mira cannot be written"):
            world.agent("mira")
    assert place.is_dir() is to_folder
    place.rmdir() if to_folder else place.unlink()
    if away.exists():
        away.rename(place)
    opened = world.agent("mira")
    assert [entry.id for entry in opened.entries(Tier.STM)] == ["smoke"]
    assert opened.messages == ()


def _saw_fire(agent: AgentMemory) -> None:
    agent.add_short_term({"document": "Saw fire", "id": "fire", "rating": 6})
    agent._context.held.settle()


@pytest.mark.parametrize(("name", "to_folder"), [("chroma", False), ("generation", True)])
def test_a_file_in_the_place_of_a_folder_while_the_agent_is_open_loses_nothing(
    world: World, agent: AgentMemory, name: str, to_folder: bool
) -> None:
    agent.add_short_term({"document": "Saw smoke", "id": "smoke", "rating": 6})
    place = world.folder / "mira" / name
    _swap(place, to_folder=to_folder)
    with pytest.raises(StoreError, match="The agent 'mira' cannot be used"):
        _saw_fire(agent)
    place.rmdir() if to_folder else place.unlink()
    place.with_name(f"{name} of before").rename(place)
    agent.add_short_term({"document": "Saw ash", "id": "ash", "rating": 6})
    assert [entry.id for entry in agent.entries(Tier.STM)] == ["ash", "fire", "smoke"]
    world.close()
    assert world.agent("mira").messages == (), "journal and store agree"


@pytest.mark.parametrize("folder", ["the world", "the database"])
def test_a_world_that_is_a_file_is_told_at_each_use(settings: Settings, embedder: CachedEmbedder, folder: str) -> None:
    with World(settings, embedder=embedder) as world:
        place = world.folder if folder == "the world" else world.folder.parent
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("I am a file.")
        assert world.agents() == world.deleted_agents() == []
        with pytest.raises(StoreError):
            world.create_agent("mira")
        with pytest.raises(StoreError):
            world.stand_at(None)
        assert not list(Path(settings.personalities).glob("*"))
        assert place.read_text() == "I am a file."


def test_a_folder_of_personalities_that_is_a_file_is_told(settings: Settings, embedder: CachedEmbedder) -> None:
    Path(settings.personalities).write_text("I am a file.")
    with World(settings, embedder=embedder) as world:
        assert world.agents() == []
        with pytest.raises(StoreError, match="The agent 'mira' cannot be used"):
            world.create_agent("mira")
        with pytest.raises(AgentNotFound):
            world.agent("mira")
        assert world.agents() == []


def test_a_path_with_a_null_byte_is_told(settings: Settings, embedder: CachedEmbedder, tmp_path: Path) -> None:
    broken = settings.model_copy(update={"database": Path(f"{tmp_path}/a\x00b")})
    with World(broken, embedder=embedder) as world:
        for attempt in (
            lambda: world.create_agent("mira"),
            lambda: world.agent("mira"),
            lambda: world.stand_at(None),
            lambda: world.standing,
            lambda: AgentMemory("mira", database=broken.database, embedder=embedder),
        ):
            with pytest.raises(MemorySystemError):
                attempt()


# -- the clock -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[]",
        '"x"',
        '{"clock": 5e400}',
        f'{{"clock": {"9" * 5000}}}',
        '{"clock": "noon"}',
        "\x00",
        "\udcff",
    ],
    ids=["brackets", "a list", "a text", "infinite", "huge", "words", "NUL", "no UTF-8"],
)
def test_a_broken_clock_is_told_and_its_file_is_left(world: World, agent: AgentMemory, text: str) -> None:
    file = world.folder / "world.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(StoreDamaged, match=r"world\.json cannot be read: .* Fix or delete that file\."):
        world.standing  # noqa: B018 - asking is what fails
    with pytest.raises(StoreDamaged):
        agent.query_memory("Who am I?")
    assert file.read_bytes() == text.encode("utf-8", "surrogateescape")


# -- files without an end ------------------------------------------------------------------------------


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [_pipe, _zeros, _loop])
def test_a_personality_without_an_end_leaves_the_last_good_one_in_use(
    world: World, closed: Path, personality: Path, make: Callable[[Path], None]
) -> None:
    personality.unlink()
    make(personality)
    agent = ended(lambda: world.agent("mira"))
    assert len(ended(lambda: agent.entries(Tier.STATIC))) == 11
    problem = ended(lambda: agent.personality_problem)
    assert "cannot be read" in problem
    assert "The last good personality stays in use." in problem
    assert ended(lambda: agent.query_memory("Who are you?")).considered == 12


@pytest.mark.parametrize("make", [_pipe, _zeros])
def test_a_new_agent_with_a_personality_without_an_end_says_so(
    world: World, personality: Path, make: Callable[[Path], None]
) -> None:
    personality.parent.mkdir()
    make(personality)
    agent = ended(lambda: world.agent("mira"))
    assert ended(lambda: agent.entries(Tier.STATIC)) == []
    problem = ended(lambda: agent.personality_problem)
    assert "it is not a regular file" in problem or "it is a symbolic link" in problem


@pytest.mark.parametrize("make", [_pipe, _zeros, _loop])
def test_events_without_an_end_are_refused_at_once(
    agent: AgentMemory, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "events.json")
    before = agent.stamp
    with pytest.raises(InvalidEntry, match="cannot be read as a file"):
        ended(lambda: agent.add_short_term(tmp_path / "events.json"))
    assert agent.stamp == before


def test_a_clock_without_an_end_is_told_at_once(world: World, agent: AgentMemory) -> None:
    (world.folder / "world.json").unlink()
    _pipe(world.folder / "world.json")
    with pytest.raises(StoreDamaged, match="it is not a regular file"):
        ended(lambda: world.standing)
