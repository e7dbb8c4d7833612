"""Worlds as save slots: made, copied, branched, compared, renamed, deleted and restored, and one of them in use."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core import DECAYING
from memory_system.core.settings import in_use
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import (
    AlreadyExists,
    Conflict,
    InvalidAgentName,
    StoreDamaged,
    StoreError,
    WorldNotFound,
)
from memory_system.maintenance import InUse, Worlds, backup, restore
from memory_system.store.journal.location import JOURNAL
from memory_system.store.slot import FILE
from memory_system.world import swap
from tests import programs
from tests.conftest import PERSONALITY

Remember = Callable[..., str]
Open = Callable[[str], World]


@pytest.fixture
def worlds(world: World, agent: AgentMemory, embedder: CachedEmbedder) -> Worlds:
    """All worlds beside one in which mira lives."""
    agent.add_short_term({"document": "Saw smoke over the north field", "rating": 6})
    return Worlds(world.settings, embedder=embedder)


@pytest.fixture
def opened(worlds: Worlds, embedder: CachedEmbedder) -> Iterator[Open]:
    held: list[World] = []

    def open_(name: str) -> World:
        held.append(World(worlds.settings.model_copy(update={"world": name}), embedder=embedder))
        return held[-1]

    yield open_
    for one in held:
        one.close()


def texts(world: World, name: str = "mira") -> set[str]:
    return {entry.document for tier in DECAYING for entry in world.agent(name).entries(tier)}


def test_a_world_is_told_without_being_opened(worlds: Worlds, agent: AgentMemory) -> None:
    before = agent.stamp
    (told,) = worlds.all()
    assert (told.name, told.characters, told.memories, told.served) == ("mem_test", 1, 1, True)
    assert told.size > 0
    assert told.made_at is not None
    assert told.changed_at == agent.history(1)[0].applied_at
    assert told.branched is None
    assert agent.stamp == before


def test_a_new_world_is_empty_and_shares_no_character_with_another(worlds: Worlds, opened: Open) -> None:
    made = worlds.create("harrow")
    assert (made.characters, made.memories, made.served) == (0, 0, False)
    assert made.made_at is not None
    other = opened("harrow")
    assert other.agents() == []
    other.create_agent("mira", PERSONALITY | {"facts": ["She has never been here."]})
    assert "never been here" not in str(opened("mem_test").agent("mira").personality_text)
    assert other.agent("mira").entries(Tier.STM) == []
    assert AgentMemory("mira", settings=other.settings, embedder=other.embedder).personality_text == (
        other.agent("mira").personality_text
    )


def test_a_new_world_can_be_filled_with_the_sample(worlds: Worlds, opened: Open) -> None:
    said: list[str] = []
    made = worlds.create("story", sample=True, progress=lambda _done, doing: said.append(doing))
    assert made.characters == 6
    assert made.memories > 100
    assert opened("story").about.title
    assert opened("story").agent("tobias").personality is not None
    assert worlds.saved("mem_test").characters == 1


def test_a_copy_has_everything_and_goes_its_own_way(worlds: Worlds, world: World, opened: Open) -> None:
    world.know("The mill stands by the river.")
    world.create_agent("ana")
    world.delete_agent("ana")
    said: list[str] = []
    copy = worlds.copy("mem_test", "second", progress=lambda _done, doing: said.append(doing))
    assert copy.branched is None
    assert copy.memories == 1
    assert said[0] == "Copying mira, 1 of 2"
    twin = opened("second")
    assert twin.agent("mira").history() == world.agent("mira").history()
    assert [fact.text for fact in twin.facts()] == ["The mill stands by the river."]
    assert [one.name for one in twin.deleted_agents()] == ["ana"]
    twin.agent("mira").add_short_term({"document": "Only in the copy", "rating": 5})
    twin.agent("mira").save_personality('{"identity": {"name": "Mirabel"}}')
    assert "Only in the copy" not in texts(world)
    assert world.agent("mira").display_name != "Mirabel"


def test_a_branch_knows_of_which_world_it_is_and_is_compared_with_it(
    worlds: Worlds, world: World, opened: Open
) -> None:
    worlds.branch("mem_test", "what if")
    branched = worlds.saved("what if").branched
    assert branched is not None
    assert (branched.world, dict(branched.revisions)) == ("mem_test", {"mira": world.agent("mira").revision})
    assert not worlds.compare("mem_test", "what if").characters
    assert worlds.compare("mem_test", "what if").same == ("mira",)

    there = opened("what if")
    there.create_agent("ana")
    there.agent("mira").add_short_term({"document": "Met a tinker", "rating": 8})
    there.agent("mira").configure(stm_size=11)
    (smoke,) = world.agent("mira").entries(Tier.STM)
    world.agent("mira").edit(smoke.id, document="Saw fire over the north field")
    stamps = [one.agent("mira").stamp for one in (world, there)]
    found = worlds.compare("mem_test", "what if")
    assert (found.only_left, found.only_right, found.same) == ((), ("ana",), ())
    (mira,) = found.characters
    assert (mira.left_changes, mira.right_changes) == (1, 2)
    assert [one.document for one in mira.only_right] == ["Met a tinker"]
    assert [
        (one.left and one.left.document, one.right and one.right.document) for one in mira.memories if one.left
    ] == [("Saw fire over the north field", "Saw smoke over the north field")]
    assert [one.name for one in mira.texts] == ["settings"]
    assert [one.agent("mira").stamp for one in (world, there)] == stamps


def test_a_renamed_world_is_the_same_and_its_branches_know_it(worlds: Worlds, opened: Open) -> None:
    worlds.copy("mem_test", "first")
    worlds.branch("first", "second")
    worlds.rename("first", "The First")
    assert worlds.names() == ["The First", "mem_test", "second"]
    assert texts(opened("The First")) == {"Saw smoke over the north field"}
    branched = worlds.saved("second").branched
    assert branched is not None
    assert branched.world == "The First"


def test_a_deleted_world_comes_back_whole(worlds: Worlds, opened: Open) -> None:
    worlds.copy("mem_test", "second")
    binned = worlds.delete("second")
    assert worlds.names() == ["mem_test"]
    assert worlds.deleted() == [binned]
    with pytest.raises(WorldNotFound, match="There is no world 'second'"):
        worlds.saved("second")
    assert worlds.restore(binned).memories == 1
    assert worlds.deleted() == []
    assert texts(opened("second")) == {"Saw smoke over the north field"}
    with pytest.raises(WorldNotFound, match="no longer in the bin"):
        worlds.restore(binned)


def test_a_deleted_world_comes_back_under_another_name_where_its_own_was_taken(worlds: Worlds) -> None:
    worlds.copy("mem_test", "second")
    binned = worlds.delete("second")
    worlds.create("Second")
    with pytest.raises(AlreadyExists, match="'Second'"):
        worlds.restore(binned)
    assert worlds.restore(binned, "third").memories == 1


def test_a_world_of_before_is_deleted_with_its_personalities(worlds: Worlds, world: World, opened: Open) -> None:
    world.close()
    worlds.create("other")
    worlds.switch("other")
    binned = worlds.delete("mem_test")
    assert not list(Path(worlds.settings.personalities).glob("*.json"))
    worlds.restore(binned)
    assert opened("mem_test").agent("mira").personality is not None
    assert texts(opened("mem_test")) == {"Saw smoke over the north field"}


def test_personalities_that_another_world_of_before_uses_stay(worlds: Worlds, opened: Open) -> None:
    opened("another").agent("mira").add_short_term({"document": "Elsewhere", "rating": 5})
    worlds.delete("another")
    assert [path.stem for path in Path(worlds.settings.personalities).glob("*.json")] == ["mira"]


@pytest.mark.parametrize("name", ["", "..", "../elsewhere", "a/b", ".hidden", "x" * 65, "con", "mіra", "a\nb"])
def test_a_name_that_is_no_folder_of_its_own_is_refused(worlds: Worlds, name: str) -> None:
    before = sorted(path.name for path in worlds.folder.glob("*"))
    for act in (worlds.create, worlds.saved, lambda name: worlds.copy("mem_test", name)):
        with pytest.raises(InvalidAgentName):
            act(name)
    assert sorted(path.name for path in worlds.folder.glob("*")) == before


def test_a_name_that_is_taken_in_any_case_is_refused(worlds: Worlds) -> None:
    worlds.create("Harrow")
    for taken in ("harrow", "MEM_TEST", "backups"):
        with pytest.raises(AlreadyExists):
            worlds.create(taken)
    assert worlds.rename("Harrow", "HARROW").name == "HARROW"


def test_the_world_in_use_is_not_deleted(worlds: Worlds) -> None:
    with pytest.raises(Conflict, match="Switch to another one"):
        worlds.delete("mem_test")


SERVE = """
import sys
from pathlib import Path
from memory_system.store import served
with served(Path(sys.argv[1]), "http://127.0.0.1:5000"):
    print("served", flush=True)
    sys.stdin.readline()
"""


def test_a_world_that_another_process_serves_is_neither_renamed_nor_deleted(worlds: Worlds) -> None:
    worlds.copy("mem_test", "second")
    with programs.Program("-c", SERVE, str(worlds.folder / "second")) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert worlds.saved("second").served_at == "http://127.0.0.1:5000"
        for act in (lambda: worlds.delete("second"), lambda: worlds.rename("second", "third")):
            with pytest.raises(Conflict, match="served by another process"):
                act()
    assert worlds.delete("second").name == "second"


def test_programs_open_the_world_that_was_switched_to(worlds: Worlds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_DATABASE", str(worlds.folder))
    worlds.create("second")
    worlds.switch("second")
    assert Settings().world == "second"
    monkeypatch.setenv("MEMORY_WORLD", "mem_test")
    assert Settings().world == "mem_test"
    monkeypatch.delenv("MEMORY_WORLD")
    shutil.rmtree(worlds.folder / "second")
    assert Settings().world == "mem_test"


def test_what_is_held_of_a_world_goes_on_in_it_after_a_switch(worlds: Worlds, world: World) -> None:
    worlds.branch("mem_test", "second")
    use = InUse(lambda: world)
    told: list[str] = []
    use.after.append(lambda: told.append(use.world.name))
    held = use.world
    use.switch("second")
    assert told == ["second"]
    held.agent("mira").add_short_term({"document": "Late, and meant for the first", "rating": 5})
    assert "Late, and meant for the first" not in texts(use.world)
    with pytest.raises(Conflict, match="The world in use is 'second', not 'mem_test'"):
        use.expected("mem_test")
    use.close()


def test_the_world_in_use_is_served_on_under_its_new_name(worlds: Worlds, world: World) -> None:
    use = InUse(lambda: world)
    with use.serving("http://127.0.0.1:5000", lives=False):
        assert use.rename("mem_test", "harrow").served
        assert use.world.name == "harrow"
        assert texts(use.world) == {"Saw smoke over the north field"}
        assert use.worlds.names() == ["harrow"]
    use.close()


def test_a_world_that_cannot_be_read_is_told_with_the_reason(worlds: Worlds) -> None:
    worlds.copy("mem_test", "second")
    (worlds.folder / "second" / FILE).write_text("{}")
    told = worlds.saved("second")
    assert "does not say when the world was made" in told.problem
    assert told.memories == 1
    (worlds.folder / "second" / "mira" / JOURNAL).write_bytes(b"not a journal at all")
    assert len(worlds.all()) == 2
    with pytest.raises(StoreDamaged):
        worlds.compare("mem_test", "second")


def test_a_world_that_may_not_be_entered_is_told_in_its_line_and_refused_in_a_sentence(
    worlds: Worlds, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds.copy("mem_test", "second")
    shut, really = worlds.folder / "second", os.stat

    def refused(path: Any, **more: Any) -> os.stat_result:  # to root, who may run the tests, no folder is shut
        if isinstance(path, Path) and shut in path.parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path, **more)

    monkeypatch.setattr(os, "stat", refused)
    wrong = (
        r"'second' cannot be used: Permission denied \(.+second.+\)\. Give the user who runs this program permission"
    )
    assert worlds.names() == ["mem_test", "second"]
    first, second = worlds.all()
    assert (first.problem, first.memories) == ("", 1)
    assert re.search(wrong, second.problem)
    for act in (opened, lambda name: worlds.copy(name, "third"), lambda name: worlds.compare("mem_test", name)):
        with pytest.raises(StoreError, match=wrong):
            act("second")


def test_a_folder_of_all_worlds_that_may_not_be_entered_is_told_in_a_sentence(
    worlds: Worlds, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.stat

    def refused(path: Any, **more: Any) -> os.stat_result:
        if isinstance(path, Path) and worlds.folder in path.parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path, **more)

    monkeypatch.setattr(os, "stat", refused)
    with pytest.raises(StoreError, match=r"'mem_test' cannot be used: Permission denied .+ Give the user"):
        opened("mem_test")


def test_a_backup_is_restored_into_a_world_that_keeps_everything_in_its_folder(
    worlds: Worlds, opened: Open, tmp_path: Path
) -> None:
    worlds.copy("mem_test", "second")
    there = opened("second")
    made = backup.make(there, tmp_path / "made.zip")
    assert made is not None
    there.agent("mira").save_personality('{"identity": {"name": "Mirabel"}}')
    restore.restore(there, made.path)
    assert there.agent("mira").display_name == "Mira Holloway"
    (aside,) = swap.of_world(there.folder)
    restore.put_back(there, aside)
    there.close()
    assert opened("second").agent("mira").display_name == "Mirabel"
    assert worlds.saved("second").characters == 1
    assert opened("mem_test").agent("mira").display_name == "Mira Holloway"


def test_a_world_that_is_thrown_away_has_none_beside_it(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="thrown away when the program ends"):
        Worlds(Settings(store="memory", database=tmp_path, personalities=tmp_path))


def test_a_copy_that_is_stopped_leaves_nothing(worlds: Worlds) -> None:
    class Enough(Exception):
        pass

    def stop(_done: float, _doing: str) -> None:
        raise Enough

    before = sorted(path.name for path in worlds.folder.glob("*"))
    with pytest.raises(Enough):
        worlds.copy("mem_test", "second", progress=stop)
    assert sorted(path.name for path in worlds.folder.glob("*")) == before


def test_the_world_that_others_open_is_followed_when_it_moves_and_is_not_deleted(worlds: Worlds) -> None:
    worlds.create("winter")
    worlds.switch("winter")
    other = Worlds(worlds.settings.model_copy(update={"world": "mem_test"}))
    with pytest.raises(Conflict, match="is in use"):
        other.delete("winter")
    other.rename("winter", "spring")
    assert in_use(worlds.folder) == "spring"


def test_a_copy_of_a_world_that_a_newer_version_wrote_is_refused_by_the_path_of_its_journal(worlds: Worlds) -> None:
    journal = worlds.folder / "mem_test" / "mira" / JOURNAL
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("INSERT INTO version (number) VALUES (999)")
    for made in (worlds.copy, worlds.branch):
        with pytest.raises(StoreDamaged, match="written by a newer version") as refused:
            made("mem_test", "second")
        assert str(journal) in refused.value.sentence
    assert worlds.names() == ["mem_test"]


def test_a_world_in_which_nothing_has_happened_is_not_renamed(worlds: Worlds) -> None:
    worlds.create("winter")
    worlds.switch("winter")
    with pytest.raises(Conflict, match="Create 'played'"):
        Worlds(worlds.settings.model_copy(update={"world": "nowhere"})).rename("nowhere", "played")
    assert worlds.create("played").name == "played"


def test_a_lost_journal_is_told_in_the_line_of_its_world(worlds: Worlds, agent: AgentMemory) -> None:
    agent.add_short_term({"document": "Locked the mill."}, rate=False)
    agent.close()
    (worlds.folder / worlds.used / "mira" / "journal.sqlite3").write_bytes(b"")
    assert "journal of 'mira' is missing" in worlds.saved(worlds.used).problem
