"""An index that is mostly made of what was deleted is made anew by itself; a kill at any step of that loses nothing."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.life import index_size
from benchmarks.opening import Drawn
from memory_system import AgentMemory, Tier, World
from memory_system.errors import StoreDamaged
from memory_system.store.chroma import compacting, files
from tests import programs
from tests.faults.conftest import Counted
from tests.faults.survivor import Survivor, settings_of

EACH = 60
"""Events at once: more than Chroma waits for before it writes its index, together with their deletion."""


def _lives(agent: AgentMemory, number: int) -> None:
    """Some events come and go; three stay."""
    events = [{"document": f"event {number} {n}", "id": f"m{number}-{n}", "rating": 5} for n in range(EACH)]
    agent.add_short_term(events)
    agent._context.held.settle()
    agent.forget([f"m{number}-{n}" for n in range(EACH - 3)])
    agent._context.held.settle()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compact after 100 deleted elements, not 500."""
    monkeypatch.setattr(compacting, "LEAST", 100)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[World]:
    """A world with one agent that has lived a little, not enough to be compacted."""
    with World(settings_of(tmp_path), embedder=Drawn()) as world:
        agent = world.create_agent("mira")
        agent.add_short_term({"document": "Who has the key?", "id": "asked", "rating": 9})
        _lives(agent, 0)
        yield world


def _names(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "chroma/chroma.sqlite3")) as db:
        return {str(name) for (name,) in db.execute("SELECT name FROM collections")}


def _indices(folder: Path) -> set[str]:
    return {path.name for path in (folder / "chroma").glob("*-*-*-*-*")}


def _whole(folder: Path) -> None:
    """Nothing of a compaction is left over."""
    assert not any(name.endswith(files.BESIDE) for name in _names(folder))
    assert not compacting.is_cut_off(folder / "chroma")


@pytest.mark.usefixtures("each_journal")
def test_the_index_of_a_long_life_stays_as_small_as_that_of_a_short_one(opened: World, tmp_path: Path) -> None:
    agent, folder, sizes = opened.agent("mira"), opened.folder / "mira", []
    indices = len(_indices(folder))
    for number in range(1, 16):
        _lives(agent, number)
        agent.forget([f"m{number - 1}-{n}" for n in range(EACH - 3, EACH)])
        sizes.append(index_size(folder))
    assert max(sizes) <= 2 * 1_100_000, "of 900 elements there would be more"
    assert files.elements(folder / "chroma" / _of_stm(folder)) < 400
    assert len(_indices(folder)) == indices
    _whole(folder)
    held = {entry.id for entry in agent.entries(Tier.STM)}
    opened.close()
    assert Survivor(tmp_path, Drawn()).tiers[Tier.STM].keys() == held


def _of_stm(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "chroma/chroma.sqlite3")) as db:
        (found,) = db.execute(
            "SELECT s.id FROM segments s JOIN collections c ON s.collection = c.id WHERE c.name = 'stm' "
            "AND s.scope = 'VECTOR'"
        ).fetchone()
    return str(found)


CHILD = """
import json, os, signal, sys
from benchmarks.opening import Drawn
from memory_system import World
from memory_system.store.chroma import compacting, files
from tests.faults.survivor import settings_of
from tests.faults.test_compacting import _lives
from pathlib import Path

order = json.loads(sys.argv[1])
compacting.LEAST, compacting.AT_ONCE = 100, 10
owner = compacting if order["step"] != "upsert" else __import__("chromadb").Collection
step, calls = getattr(owner, order["step"]), 0

def killed(*arguments, **named):
    global calls
    if order["step"] == "upsert" and not arguments[0].name.endswith(files.BESIDE):
        return step(*arguments, **named)
    if order["after"]:
        step(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(owner, order["step"], killed)
with World(settings_of(Path(order["root"])), embedder=Drawn()) as world:
    agent = world.agent("mira")
    for number in range(1, 9):
        print(json.dumps({"begun": number}), flush=True)
        _lives(agent, number)
"""
STEPS = {
    "before the copy is made": ("begin", False),
    "before the copy is filled": ("upsert", False),
    "between two parts of the copy": ("copy", True),
    "before the old one goes": ("drop", False),
    "before the copy has its name": ("drop", True),
    "before the old index goes": ("take_name", True),
    "when all is done": ("remove_unused", True),
}


@pytest.mark.parametrize(("step", "after"), STEPS.values(), ids=STEPS.keys())
def test_a_kill_within_a_compaction_leaves_a_store_that_opens_and_is_whole(
    opened: World, tmp_path: Path, counted: Counted, step: str, after: bool
) -> None:
    opened.close()
    order = {"root": str(tmp_path), "step": step, "after": after}
    done = programs.run("-c", CHILD, json.dumps(order))
    assert done.returncode == -signal.SIGKILL, done.stderr
    survivor = Survivor(tmp_path, Drawn())
    counted("kill -9 while an index is compacted", **survivor.counts)
    assert survivor.read_only is None
    assert not any("damaged" in said for said in survivor.messages), survivor.messages
    _whole(opened.folder / "mira")
    with World(settings_of(tmp_path), embedder=Drawn()) as again:
        assert again.agent("mira").messages == ()
        for number in range(20, 24):
            _lives(again.agent("mira"), number)
    _whole(opened.folder / "mira")
    assert Survivor(tmp_path, Drawn()).messages == ()


def test_who_reads_and_who_writes_to_another_agent_goes_on_while_an_index_is_compacted(
    opened: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = opened.create_agent("tobias")
    agent, copying, done = opened.agent("mira"), threading.Event(), threading.Event()
    real = compacting.copy

    def slowly(*arguments: Any) -> Any:
        copying.set()
        assert done.wait(60), "whoever goes on beside it is kept waiting"
        return real(*arguments)

    monkeypatch.setattr(compacting, "copy", slowly)
    living = threading.Thread(target=lambda: [_lives(agent, number) for number in range(1, 5)])
    living.start()
    assert copying.wait(60)
    assert agent.query_memory("event 0 59", 3, 0.0)
    assert agent.entries(Tier.STM)
    assert other.add_short_term({"document": "beside it", "rating": 5}).change_set.revision
    done.set()
    living.join()
    _whole(opened.folder / "mira")


def _until_begun(agent: AgentMemory) -> list[str]:
    """Live until a copy has been begun, and not filled; answers the ids of what stays, the second with a tag."""
    held, kept = agent._context.held, [f"kept {n}" for n in range(8)]
    agent.add_short_term([{"document": one, "id": one, "rating": 5} for one in kept])
    agent.edit(kept[1], tags=["lent"])
    number = 0
    while not any(name.endswith(files.BESIDE) for name in _names(held.folder)):
        if held.settle(16):
            number += 1
            ids = [f"m{number}-{n}" for n in range(EACH)]
            agent.add_short_term([{"document": f"event {one}", "id": one, "rating": 5} for one in ids])
            held.settle()
            agent.forget(ids)
    return kept


def test_what_is_written_between_two_parts_of_a_copy_is_in_it(
    opened: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, begun, parts = opened.agent("mira"), threading.Event(), []
    begin, copy = compacting.begin, compacting.copy
    monkeypatch.setattr(compacting, "AT_ONCE", 2)
    monkeypatch.setattr(compacting, "begin", lambda *given: (begin(*given), begun.set()))
    monkeypatch.setattr(compacting, "copy", lambda *given: (copy(*given), parts.append(given[-1])))
    held = agent._context.held
    monkeypatch.setattr(
        held._behind._soon, "begin", lambda *_given, **_more: None
    )  # the parts are done here, one by one
    kept = _until_begun(agent)
    assert begun.is_set()
    agent.edit(kept[0], document="The key lies under the sack.", pinned=True)
    agent.edit(kept[1], tags=[])
    agent.forget([kept[2]])
    agent.add_short_term({"document": "The mill stands still.", "id": "new", "rating": 7})
    while not held.settle(16):
        agent.edit(kept[3], document=f"The key lies under sack {len(parts)}.")
    assert len(parts) > 4
    assert all(len(part) <= 2 for part in parts)
    assert files.elements(opened.folder / "mira" / "chroma" / _of_stm(opened.folder / "mira")) < 100
    wanted = {entry.id: entry.document for entry in agent.entries(Tier.STM)}
    stored = held._stores.memories[Tier.STM].get(list(wanted))
    assert {entry.id: entry.document for entry in stored} == wanted
    assert held._stores.memories[Tier.STM].ids() == wanted.keys()
    _whole(opened.folder / "mira")
    opened.close()
    assert Survivor(tmp_path, Drawn()).messages == ()


def test_a_copy_that_was_begun_is_dropped_where_another_program_wrote_meanwhile(
    opened: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = opened.agent("mira")
    held = agent._context.held
    monkeypatch.setattr(held._behind._soon, "begin", lambda *_given, **_more: None)
    _until_begun(agent)
    lived = (
        "import sys; from pathlib import Path; from benchmarks.opening import Drawn; from memory_system import World; "
        "from tests.faults.survivor import settings_of\n"
        "with World(settings_of(Path(sys.argv[1])), embedder=Drawn()) as world:\n"
        "    world.agent('mira').add_short_term({'document': 'Told elsewhere.', 'id': 'there', 'rating': 5})"
    )
    programs.run("-c", lived, str(tmp_path), check=True)
    while not held.settle(16):
        continue
    agent.add_short_term({"document": "Told here.", "id": "here", "rating": 5})
    opened.close()
    _whole(opened.folder / "mira")
    survivor = Survivor(tmp_path, Drawn())
    assert survivor.messages == ()
    assert {"here", "there"} <= survivor.tiers[Tier.STM].keys()


def test_a_compaction_that_fails_is_no_part_of_the_change_and_made_up_for(
    opened: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, failed = opened.agent("mira"), threading.Event()
    with monkeypatch.context() as patched:

        def refused(*_: object) -> None:
            failed.set()
            raise StoreDamaged("the disk is full")

        patched.setattr(compacting, "take_name", refused)
        for number in range(1, 4):
            _lives(agent, number)
    assert failed.is_set()
    _lives(agent, 9)
    _whole(opened.folder / "mira")
    opened.close()
    assert Survivor(tmp_path, Drawn()).messages == ()


def test_another_program_that_has_the_agent_open_sees_the_new_index(opened: World, tmp_path: Path) -> None:
    agent = opened.agent("mira")
    lived = (
        "import sys; from pathlib import Path; from benchmarks.opening import Drawn; from memory_system import World; "
        "from memory_system.store.chroma import compacting; from tests.faults.test_compacting import _lives; "
        "from tests.faults.survivor import settings_of; compacting.LEAST = 100\n"
        "with World(settings_of(Path(sys.argv[1])), embedder=Drawn()) as world:\n"
        "    [_lives(world.agent('mira'), number) for number in range(1, 5)]"
    )
    before = _of_stm(opened.folder / "mira")
    programs.run("-c", lived, str(tmp_path), check=True)
    assert _of_stm(opened.folder / "mira") != before
    assert "m4-59" in {entry.id for entry in agent.entries(Tier.STM)}
    _lives(agent, 9)
    opened.close()
    assert Survivor(tmp_path, Drawn()).messages == ()
