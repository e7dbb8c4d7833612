"""Agents as files: created, duplicated, renamed, deleted and restored, whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.errors import (
    AgentGone,
    AgentNotFound,
    AlreadyExists,
    Conflict,
    EmbedderError,
    InvalidAgentName,
    InvalidInput,
    MemorySystemError,
    StoreError,
)
from memory_system.store.clock import LOCK as CLOCK_LOCK
from memory_system.world.folders import Binned
from memory_system.world.world import TOKENS
from tests.conftest import PERSONALITY

Remember = Callable[..., str]
GONE = "was closed, renamed, deleted or replaced. Open it again by its name"


@pytest.fixture
def lived(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """The agent "mira" after a little life: memories in all tiers, an access, a setting and an undo."""
    ids = [remember(f"The mill, part {number}", rating=number + 3) for number in range(4)]
    agent.migrate_stm2ltm(ids=ids[:2])
    agent.configure(stm_size=7)
    agent.undo(agent.forget(ids[3]).revision or 0)
    agent.query_memory("the mill")
    return agent


def told(agent: AgentMemory) -> list[Any]:
    """All that an agent is: memories with their accesses, history, settings, personality."""
    return [
        [agent.entries(tier) for tier in Tier],
        agent.history(),
        agent.settings,
        agent.personality_text,
        agent.personality_problem,
    ]


def on_disk(world: World) -> set[str]:
    """What lies in the world and among the personalities, scratch files and bin too; token states and a lock apart."""
    folders = (world.folder, Path(world.settings.personalities))
    found = {str(path.relative_to(folder)) for folder in folders for path in folder.glob("*")}
    return {name for name in found if name != CLOCK_LOCK and not name.startswith(TOKENS)}


def test_a_new_agent_has_the_personality_it_was_given_or_its_name_alone(world: World) -> None:
    assert world.create_agent("mira", PERSONALITY).display_name == "Mira Holloway"
    bo = world.create_agent("bo")
    assert (bo.display_name, len(bo.entries(Tier.STATIC))) == ("bo", 1)
    assert world.agents() == ["bo", "mira"]
    assert world.agent("bo") is bo


def test_a_duplicate_has_all_that_the_agent_has(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    copy = world.duplicate_agent("mira", "bo")
    assert told(copy) == told(world.agent("mira")) == before
    assert copy.name == "bo"
    assert copy.messages == ()
    assert world.agents() == ["bo", "mira"]


def test_duplicates_are_independent(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    copy = world.duplicate_agent("mira", "bo")
    copy.add_short_term({"document": "Only the copy saw this.", "rating": 5})
    copy.save_personality('{"identity": {"name": "Bo"}}')
    copy.configure(stm_size=99)
    assert told(world.agent("mira")) == before
    after = told(copy)
    world.agent("mira").reset_memory()
    world.delete_agent("mira")
    assert told(copy) == after


def test_renaming_takes_everything_along(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    renamed = world.rename_agent("mira", "Mira Two")
    assert told(renamed) == before
    assert world.agents() == ["Mira Two"]
    assert on_disk(world) == {"Mira Two", "Mira Two.json", "world.json"}
    assert renamed.add_short_term({"document": "Life goes on", "rating": 5}).change_set.revision
    with pytest.raises(AgentNotFound):
        world.agent("mira")


def test_whether_an_agent_is_there_is_asked_by_its_name(world: World, lived: AgentMemory) -> None:
    assert "mira" in world
    assert lived in world
    assert "bo" not in world


def test_the_case_of_a_name_may_be_changed(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    assert told(world.rename_agent("mira", "MIRA")) == before
    assert world.agents() == ["MIRA"]


def test_a_deleted_agent_waits_in_the_bin_and_comes_back_whole(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    binned = world.delete_agent("mira")
    assert world.agents() == []
    assert world.deleted_agents() == [binned]
    assert binned.name == "mira"
    assert not (Path(world.settings.personalities) / "mira.json").exists()
    assert told(world.restore_agent(binned)) == before
    assert world.deleted_agents() == []
    world.rename_agent("mira", "bo")
    with pytest.raises(AgentNotFound, match="'mira' is no longer in the bin"):
        world.restore_agent(binned)


def test_the_bin_shows_the_last_deleted_first_and_passes_over_what_is_not_ours(world: World) -> None:
    for name in ("one", "two", "one"):
        world.create_agent(name)
        world.delete_agent(name)
    (world.folder / ".bin" / "holiday photos").mkdir()
    assert [binned.name for binned in world.deleted_agents()] == ["one", "two", "one"]


def test_restoring_is_refused_while_the_name_is_taken(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    binned = world.delete_agent("mira")
    other = world.create_agent("Mira")
    with pytest.raises(AlreadyExists, match="There is an agent 'Mira' already"):
        world.restore_agent(binned)
    assert world.deleted_agents() == [binned]
    assert other.display_name == "Mira"
    world.rename_agent("Mira", "another")
    assert told(world.restore_agent(binned)) == before


@pytest.mark.parametrize("binned", [None, "mira", 5])
def test_only_what_was_in_the_bin_can_be_restored(world: World, binned: Any) -> None:
    with pytest.raises(InvalidInput, match="deleted_agents"):
        world.restore_agent(binned)


REFUSED: list[tuple[str, type[MemorySystemError]]] = [
    ("bo", AlreadyExists),
    ("BO", AlreadyExists),
    ("../bo", InvalidAgentName),
    ("world.json", InvalidAgentName),
    ("schema", InvalidAgentName),
    ("", InvalidAgentName),
]


@pytest.mark.parametrize(("name", "error"), REFUSED, ids=[name or "empty" for name, _ in REFUSED])
def test_a_name_that_is_taken_or_refused_changes_nothing(
    world: World, lived: AgentMemory, name: str, error: type[MemorySystemError]
) -> None:
    world.create_agent("bo")
    before = told(lived), on_disk(world)
    for attempt in (
        lambda: world.create_agent(name),
        lambda: world.duplicate_agent("mira", name),
        lambda: world.rename_agent("mira", name),
    ):
        with pytest.raises(error):
            attempt()
    assert (told(world.agent("mira")), on_disk(world)) == before
    assert not lived.gone, "who is refused a name did not close the agent"


def test_of_many_characters_an_unknown_name_lists_the_first_and_how_many_more_there_are(world: World) -> None:
    for number in range(1_022):
        folder = world.settings.personalities
        folder.mkdir(exist_ok=True)
        (folder / f"c{number:04}.json").write_text('{"identity": {"name": "C"}}')
    with pytest.raises(AgentNotFound, match=r"There are c0000, .*, c0019 and 1,002 more\."):
        world.agent("mira")


def test_who_asks_an_empty_world_for_a_character_learns_how_to_get_one(world: World) -> None:
    with pytest.raises(AgentNotFound, match=r"create one, or let “memory-system fill” add"):
        world.agent("mira")


def test_an_agent_that_is_not_there_cannot_be_moved(world: World, lived: AgentMemory) -> None:
    before = on_disk(world)
    for attempt in (
        lambda: world.duplicate_agent("nobody", "bo"),
        lambda: world.rename_agent("nobody", "bo"),
        lambda: world.delete_agent("nobody"),
        lambda: world.restore_agent(Binned("bo", lived.now, world.folder / ".bin" / "none")),
    ):
        with pytest.raises(AgentNotFound):
            attempt()
    with pytest.raises(AgentNotFound, match="Did you mean 'mira'"):
        world.delete_agent("Mira")
    assert on_disk(world) == before


MOVES: dict[str, Callable[[World], object]] = {
    "renamed": lambda world: world.rename_agent("mira", "bo"),
    "deleted": lambda world: world.delete_agent("mira"),
    "renamed, and the name taken": lambda world: (world.rename_agent("mira", "bo"), world.create_agent("mira")),
    "its folder removed": lambda world: shutil.rmtree(world.folder / "mira"),
    "its folder replaced": lambda world: (
        (world.folder / "mira").rename(world.folder / "away"),
        shutil.copytree(world.folder / "away", world.folder / "mira"),
    ),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_who_still_holds_an_agent_that_was_moved_is_told_so(
    world: World, lived: AgentMemory, move: Callable[[World], object]
) -> None:
    plan = lived.reset_memory(preview=True)
    assert not lived.gone
    move(world)
    assert lived.gone
    for attempt in (
        lambda: lived.entries(Tier.STM),
        lambda: lived.query_memory("the mill"),
        lambda: lived.history(),
        lambda: lived.personality_text,
        lambda: lived.add_short_term({"document": "Lost", "rating": 5}),
        lambda: lived.apply(plan),
        lambda: lived.acting_as("a friend").reset_memory(),
    ):
        with pytest.raises(AgentGone, match=GONE):
            attempt()
    for name in world.agents():
        assert world.agent(name) is not lived
        assert not world.agent(name).gone
        assert world.agent(name).entries(Tier.STATIC)


def test_who_holds_an_agent_that_is_copied_goes_on_with_it(world: World, lived: AgentMemory) -> None:
    friend, before = lived.acting_as("a friend"), told(lived)
    copy = world.duplicate_agent("mira", "bo")
    tried = world.branch("mira")
    assert told(lived) == told(copy) == told(tried) == before
    friend.add_short_term({"document": "The mill stands still", "rating": 5})
    assert lived is world.agent("mira")
    assert [len(one.entries(Tier.STM)) - len(copy.entries(Tier.STM)) for one in (lived, tried)] == [1, 0]
    world.close()
    with World(world.settings) as again:
        assert [again.agent(name).messages for name in again.agents()] == [(), (), ()]
        assert "The mill stands still" in [one.document for one in again.agent("mira").entries(Tier.STM)]


def test_a_copy_that_cannot_be_made_leaves_who_holds_the_agent_with_it(
    world: World, lived: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    before = on_disk(world)
    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(StoreError, match="cannot be copied"):
        world.duplicate_agent("mira", "bo")
    lived.add_short_term({"document": "The mill stands still", "rating": 5})
    assert world.agent("mira") is lived
    assert {name for name in on_disk(world) if "bo" in name} == {name for name in before if "bo" in name}


def test_a_personality_that_was_left_inside_the_folder_is_found_again(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    world.close()
    file = Path(world.settings.personalities) / "mira.json"
    file.rename(world.folder / "mira" / "personality.json")  # killed between the two renames
    assert world.agents() == ["mira"]
    assert told(world.agent("mira")) == before
    assert file.exists()


def test_a_restored_agent_makes_the_folder_of_personalities_if_that_is_gone(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    binned = world.delete_agent("mira")
    shutil.rmtree(world.settings.personalities)
    assert told(world.restore_agent(binned)) == before


def test_a_move_that_fails_changes_nothing(world: World, lived: AgentMemory) -> None:
    before = told(lived)
    (world.folder / ".bin").write_text("I am a file.")
    with pytest.raises(StoreError, match="'mira' cannot be deleted"):
        world.delete_agent("mira")
    assert told(world.agent("mira")) == before
    assert on_disk(world) == {"mira", "mira.json", "world.json", ".bin"}


def test_a_duplicate_that_fails_leaves_nothing(world: World, lived: AgentMemory) -> None:
    file = Path(world.settings.personalities) / "mira.json"
    file.unlink()
    file.mkdir()
    with pytest.raises(StoreError, match="'mira' cannot be copied"):
        world.duplicate_agent("mira", "bo")
    assert on_disk(world) == {"mira", "mira.json", "world.json"}
    file.rmdir()
    assert world.duplicate_agent("mira", "bo").entries(Tier.STM) == world.agent("mira").entries(Tier.STM)


def test_a_creation_that_fails_leaves_nothing_and_can_be_repeated(settings: Settings) -> None:
    class Failing:
        identity = "all-MiniLM-L6-v2"
        fails = True

        def embed(self, texts: list[str]) -> np.ndarray:
            if self.fails:
                raise EmbedderError("The weights are missing.")
            return np.eye(len(texts), 384, dtype=np.float32)

    embedder = Failing()
    with World(settings, embedder=embedder) as world:
        with pytest.raises(EmbedderError):
            world.create_agent("mira")
        assert on_disk(world) == set()
        embedder.fails = False
        assert world.create_agent("mira").entries(Tier.STATIC)


BORN = {"identity": {"name": "Rosa Quill"}, "traits": ["stubborn"]}
LIVED = [{"document": "Saw smoke", "rating": 7}, {"document": "Swept the yard"}]


def test_one_agent_that_cannot_be_closed_keeps_no_other_open(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = world.create_agent("ana"), world.create_agent("bob")
    closing = AgentMemory.close

    def close(agent: AgentMemory) -> None:
        closing(agent)
        if agent.name == "ana":
            raise StoreError("The disk is full.")

    monkeypatch.setattr(AgentMemory, "close", close)
    with pytest.raises(StoreError, match=r"The disk is full\."):
        world.close()
    assert first.gone
    assert second.gone


def test_an_agent_is_made_with_what_happened_before_in_one_change_set(world: World) -> None:
    rosa = world.create_with_events("rosa", BORN, LIVED, author="a person")
    (only,) = rosa.history()
    assert (only.change_set.operation, only.change_set.author) == ("create", "a person")
    assert only.change_set.title == "Create Rosa Quill with 2 memories"
    assert {entry.document: entry.rating is None for entry in rosa.entries(Tier.STM)} == dict.fromkeys(
        ("Saw smoke", "Swept the yard"), False
    )
    assert "Rosa Quill is: stubborn" in {entry.document for entry in rosa.entries(Tier.STATIC)}
    assert rosa.personality_problem is None
    with pytest.raises(Conflict, match="how the character came to be"):
        rosa.undo(1)
    binned = world.delete_agent("rosa")
    assert world.agents() == []
    world.restore_agent(binned)
    assert world.agent("rosa").revision == 1


@pytest.mark.parametrize("events", [[{"document": ""}], [*LIVED, {"document": "x", "tier": "ltm"}]])
def test_an_agent_whose_events_cannot_be_taken_is_not_made(world: World, events: list[dict[str, str]]) -> None:
    before = on_disk(world)
    with pytest.raises(InvalidInput):
        world.create_with_events("rosa", BORN, events)
    assert on_disk(world) == before
    rosa = world.create_with_events("rosa", BORN)
    assert rosa.history(1)[0].change_set.title == "Create Rosa Quill"
    with pytest.raises(AlreadyExists):
        world.create_with_events("Rosa", BORN)
