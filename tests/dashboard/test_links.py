"""Symbolic links in the data folder lead nowhere: what is written through one could be any file of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import AlreadyExists, ForeignStore


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder outside the data, with a file that is nobody's business."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret.txt").write_text("nobody's business")
    return folder


@pytest.fixture
def closed(world: World, agent: AgentMemory) -> Path:
    """The folder of the agent "mira", which is not open."""
    agent.add_short_term({"document": "Saw smoke over the north field", "rating": 5})
    agent.close()
    return world.folder / "mira"


@pytest.mark.parametrize("name", ["journal.sqlite3", "chroma", "chroma/chroma.sqlite3"])
def test_an_agent_with_a_link_among_its_files_is_not_opened_and_the_others_are(
    world: World, closed: Path, elsewhere: Path, name: str
) -> None:
    world.create_agent("ana")
    moved = elsewhere / "moved"
    (closed / name).rename(moved)
    (closed / name).symlink_to(moved)
    with pytest.raises(ForeignStore, match=r"is a symbolic link, .* Put the real file or folder there"):
        world.agent("mira")
    assert world.agent("ana").display_name == "ana"
    (closed / name).unlink()
    moved.rename(closed / name)
    assert len(world.agent("mira").history()) == 2


def test_an_agents_folder_that_is_a_link_is_not_opened(world: World, closed: Path, elsewhere: Path) -> None:
    closed.rename(elsewhere / "mira")
    closed.symlink_to(elsewhere / "mira")
    with pytest.raises(ForeignStore, match="mira is a symbolic link"):
        world.agent("mira")


def test_a_name_that_leads_to_a_strangers_folder_makes_nothing_there(world: World, elsewhere: Path) -> None:
    world.folder.mkdir(exist_ok=True)
    (world.folder / "bait").symlink_to(elsewhere)
    with pytest.raises(AlreadyExists, match="'bait'"):
        world.create_agent("bait")
    assert [path.name for path in elsewhere.iterdir()] == ["secret.txt"]


def test_a_personality_that_is_a_link_is_not_read(world: World, closed: Path, elsewhere: Path) -> None:
    file = world.settings.personalities / "mira.json"
    kept = file.read_text()
    file.rename(elsewhere / "mira.json")
    (elsewhere / "mira.json").write_text(kept.replace("Mira Holloway", "Somebody Else"))
    file.symlink_to(elsewhere / "mira.json")
    agent = world.agent("mira")
    assert agent.display_name == "Mira Holloway"
    assert "it is a symbolic link" in (agent.personality_problem or "")
    (world.settings.personalities / "new.json").symlink_to(elsewhere / "secret.txt")
    new = world.agent("new")
    assert new.entries(Tier.STATIC) == []
    assert "it is a symbolic link" in (new.personality_problem or "")
    assert "nobody's business" not in (new.personality_problem or "")


@pytest.mark.parametrize("name", ["world.json", "token-states.sqlite3"])
def test_a_world_with_a_link_among_its_own_files_is_not_opened(
    world: World, settings: Settings, embedder: CachedEmbedder, elsewhere: Path, name: str
) -> None:
    world.close()
    (world.folder / name).unlink(missing_ok=True)
    (world.folder / name).symlink_to(elsewhere / "secret.txt")
    with pytest.raises(ForeignStore, match="is a symbolic link"):
        World(settings, embedder=embedder)
    assert (elsewhere / "secret.txt").read_text() == "nobody's business"


def test_a_link_to_the_whole_database_folder_is_the_operators_own_choice(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    (tmp_path / "big disk").mkdir()
    (tmp_path / "database").symlink_to(tmp_path / "big disk")
    settings = Settings(database=tmp_path / "database", personalities=tmp_path / "personalities", llm="offline")
    with World(settings, embedder=embedder) as world:
        assert world.create_agent("ana").display_name == "ana"
