"""Two processes on one agent: both may write, and a reader sees what the other wrote at its next question."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
from filelock import FileLock

from memory_system import AgentMemory, ChromaMemory, Settings, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.errors import StoreBusy
from memory_system.store import write_lock
from tests.faults.conftest import Counted
from tests.faults.survivor import Child, go, kill, start_in, told_by
from tests.waiting import until


def _start(settings: Settings, **order: Any) -> Child:
    return start_in(settings, **order, wait=True)


def _opened(child: Child) -> None:
    assert told_by(child) == {"open": True}


def _finished(child: Child) -> list[Any]:
    out, problems = child.communicate("go\n")
    assert child.returncode == 0, problems
    return [json.loads(line) for line in out.splitlines()]


def _ids(name: str, count: int) -> set[str]:
    return {f"{name}-{number}" for number in range(count)}


LONG = pytest.mark.long
pytestmark = pytest.mark.usefixtures("each_journal")


@pytest.mark.parametrize(
    ("writers", "each"), [(4, 10), pytest.param(2, 30, marks=LONG), pytest.param(4, 50, marks=LONG)]
)
def test_processes_that_write_at_once_lose_nothing(
    world: World, agent: AgentMemory, counted: Counted, writers: int, each: int
) -> None:
    world.close()
    names = ("left", "right", "above", "below")[:writers]
    children = [_start(world.settings, operation="many", count=each, name=name) for name in names]
    for child in children:
        _opened(child)
    for child in children:
        go(child)
    assert [_finished(child) for child in children] == [[{"added": each}]] * writers
    again = world.agent("mira")
    wanted = {entry_id for name in names for entry_id in _ids(name, each)}
    held = [entry.id for entry in again.entries(Tier.STM)]
    counts = {"rows lost": len(wanted - set(held)), "rows doubled": len(held) - len(set(held)), "half changes": 0}
    counted(f"{writers} processes write one agent", writers, acknowledged=each * writers, **counts)
    assert set(held) == wanted
    assert again.messages == (), "Chroma held what the journal holds"
    revisions = [told.revision for told in again.history(1000)]
    assert revisions == list(range(len(revisions), 0, -1))
    world.close()
    memory = ChromaMemory.at(world.folder / "mira" / "chroma", server=world.settings.chroma)
    stored = {entry.id: dump_entry(entry) for entry in memory.snapshot().entries}
    memory.close()
    assert stored == {entry.id: dump_entry(entry) for entry in world.agent("mira").entries(Tier.STM)}


def test_a_reader_beside_a_writer_sees_each_write_at_its_next_question(world: World, agent: AgentMemory) -> None:
    child = _start(world.settings, operation="many", count=30, name="writer")
    _opened(child)
    assert len(agent.query_memory("event", top_k=100, static_threshold=1)) == 0
    go(child)
    seen: list[int] = []
    while not seen or seen[-1] < 30:
        seen.append(len(agent.query_memory("event", top_k=100, static_threshold=1, touch=False)))
    _finished(child)
    assert seen == sorted(seen)
    assert len(set(seen)) > 3, "the reader saw the writes as they came"
    assert {hit.entry.id for hit in agent.query_memory("event", top_k=100, static_threshold=1)} == _ids("writer", 30)
    accessed = {entry.last_access for entry in agent.entries(Tier.STM)}
    assert accessed == {agent.now}


def test_the_next_question_sees_what_another_process_has_acknowledged(
    world: World, agent: AgentMemory, counted: Counted
) -> None:
    writers = [
        _start(world.settings, operation="many", count=8, name=name, telling=True) for name in ("first", "second")
    ]
    for child in writers:
        _opened(child)
        go(child)
    unseen = 0
    for _ in range(8):
        for child in writers:
            added = told_by(child)["added"]
            found = agent.query_memory("event", top_k=100, static_threshold=1, touch=False)
            unseen += added not in {hit.entry.id for hit in found}
            go(child)
    for child in writers:
        _finished(child)
    counted("a reader asks beside 2 writers", 16, acknowledged=16, **{"rows lost": unseen})
    assert unseen == 0


def test_the_index_on_disk_finds_what_both_wrote_in_turns(world: World, agent: AgentMemory) -> None:
    def batch(name: str) -> None:
        agent.add_short_term([{"document": f"{name} {n}", "rating": 5, "id": f"{name}-{n}"} for n in range(120)])

    batch("before")  # more than 100, so that the index is on disk
    child = _start(world.settings, operation="batch", count=120, name="child")
    _opened(child)
    batch("beside")
    _finished(child)
    batch("after")
    world.close()
    memory = ChromaMemory.at(world.folder / "mira" / "chroma", server=world.settings.chroma)
    stored = memory.snapshot()
    found = {entry_id for entry_id, _ in memory.nearest(stored.vectors[0], 480)}
    memory.close()
    assert len(stored.entries) == 480
    assert len(found) == 480, "a client that was not opened again overwrites the index of the other"


def test_both_may_write_while_both_are_open(world: World, agent: AgentMemory) -> None:
    child = _start(world.settings, operation="many", count=5, name="child")
    _opened(child)
    agent.add_short_term({"document": "from the parent", "rating": 5, "id": "parent-1"})
    _finished(child)
    agent.add_short_term({"document": "from the parent again", "rating": 5, "id": "parent-2"})
    assert {entry.id for entry in agent.entries(Tier.STM)} == _ids("child", 5) | {"parent-1", "parent-2"}
    world.close()
    again = world.agent("mira")
    assert again.messages == ()
    assert len(again.entries(Tier.STM)) == 7


def test_a_lock_that_is_never_let_go_ends_in_a_sentence(
    world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.close()
    monkeypatch.setattr(write_lock, "LOCK_SECONDS", 0.3)
    with FileLock(world.folder / "mira" / "lock"), pytest.raises(StoreBusy, match="Another program has been writing"):
        world.agent("mira")
    assert world.agent("mira").entries(Tier.STATIC)


def test_a_survivor_finishes_what_a_killed_process_left_half_done(world: World, agent: AgentMemory) -> None:
    boundary = "after the commit, before the upsert"
    child = _start(world.settings, operation="batch", count=3, name="left", boundary=boundary)
    _opened(child)
    child.communicate("go\n")
    assert child.returncode == -signal.SIGKILL
    agent.add_short_term({"document": "the survivor writes", "id": "mine", "rating": 5})
    wanted = _ids("left", 3) | {"mine"}
    assert {entry.id for entry in agent.entries(Tier.STM)} == wanted
    world.close()
    memory = ChromaMemory.at(world.folder / "mira" / "chroma", server=world.settings.chroma)
    assert memory.ids() == wanted
    memory.close()


def test_a_survivor_can_save_a_personality_whose_file_a_killed_process_did_not_write(
    world: World, agent: AgentMemory
) -> None:
    text = str(agent.personality_text).replace("34", "35")
    boundary = "before the personality file is written"
    child = _start(world.settings, operation="personality", text=text, boundary=boundary)
    _opened(child)
    child.communicate("go\n")
    assert child.returncode == -signal.SIGKILL
    later = text.replace("35", "36")
    agent.save_personality(later, expected=text)
    assert (world.settings.personalities / "mira.json").read_text(encoding="utf-8") == later
    assert "Mira Holloway is 36 years old." in {entry.document for entry in agent.entries(Tier.STATIC)}


def test_accesses_are_written_while_nothing_else_happens_and_survive_a_kill(world: World, agent: AgentMemory) -> None:
    agent.add_short_term([{"document": f"event {n}", "rating": 5, "id": f"event-{n}"} for n in range(3)])
    child = _start(world.settings, operation="ask", cue="event")
    _opened(child)
    go(child)
    recalled = told_by(child)["recalled"]
    until(lambda: all(entry.last_access for entry in agent.entries(Tier.STM)))
    kill(child)
    assert set(recalled) == {"event-0", "event-1", "event-2"}
    assert all(entry.last_access is not None for entry in agent.entries(Tier.STM)), (
        "nothing was waited for to write them"
    )
