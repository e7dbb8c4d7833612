"""The store takes in what is committed behind it: together, in order, and without anybody who waits for it."""

from __future__ import annotations

import errno
import json
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchmarks.opening import Drawn
from memory_system import AgentMemory, Tier, World
from memory_system.core import DECAYING
from memory_system.core.findings import State
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import OtherEmbedder, StoreDamaged
from memory_system.maintenance import doctor
from memory_system.store import store_queue
from memory_system.store.chroma.store import ChromaStore, Crowd
from memory_system.store.projection import Stores
from memory_system.store.soon import Soon
from tests.conftest import PERSONALITY, ROOT
from tests.faults.survivor import settings_of, stored
from tests.waiting import LAST_RESORT, until


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store takes in nothing by itself."""
    monkeypatch.setattr(store_queue, "DELAY_SECONDS", 1000.0)


def _event(entry_id: str) -> dict[str, Any]:
    return {"document": f"The ferry came at {entry_id}", "id": entry_id, "rating": 5}


def _stored(agent: AgentMemory) -> set[str]:
    """What Chroma holds of STM and LTM, with no word to the agent."""
    memories = agent._context.held._stores.memories
    return set(memories[Tier.STM].ids() | memories[Tier.LTM].ids())


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The ids of each write to a store."""
    told: list[list[str]] = []
    upsert = Stores.upsert

    def telling(self: Stores, entries: Any, vectors: Any) -> None:
        told.append([entry.id for entry in entries])
        upsert(self, entries, vectors)

    monkeypatch.setattr(Stores, "upsert", telling)
    return told


def test_many_changes_are_taken_in_by_one_write(agent: AgentMemory, late: None, written: list[list[str]]) -> None:
    for number in range(5):
        agent.add_short_term(_event(f"m{number}"))
    agent.edit("m1", rating=9)
    agent.forget(["m2"])
    assert not written
    assert "m1" not in _stored(agent)
    agent._context.held.settle()
    assert written == [["m0", "m1", "m3", "m4"]], "what is gone again is never written"
    assert {"m0", "m1", "m3", "m4"} <= _stored(agent)
    assert "m2" not in _stored(agent)
    assert not agent._context.held.journal.pending_revisions()


def test_a_memory_that_moves_and_comes_back_is_where_it_should_be(agent: AgentMemory, late: None) -> None:
    settle = agent._context.held.settle
    memories = agent._context.held._stores.memories
    agent.add_short_term([_event(f"m{number}") for number in range(agent.settings.stm_size + 2)])
    settle()
    moved = agent.migrate_stm2ltm(0.0)
    first, second = (change.entry_id for change in moved.changes if change.after is not None)
    agent.forget([first])
    settle()
    assert first not in _stored(agent)
    assert second in memories[Tier.LTM].ids() - memories[Tier.STM].ids()
    agent.undo(agent.history(1)[0].revision)
    agent.undo(agent.undo(moved.revision).revision)
    settle()
    assert {first, second} <= memories[Tier.LTM].ids() - memories[Tier.STM].ids()


def test_what_cannot_be_marked_done_is_looked_for_again(
    agent: AgentMemory, late: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = agent._context.held
    for number in range(3):  # each sees to it that what is pending waits
        agent.add_short_term(_event(f"m{number}"))
    pending = held.journal.pending_revisions()
    assert held._behind.has_all_pending(held.journal)
    with monkeypatch.context() as full:
        full.setattr(
            held.journal, "mark_done", lambda _revision: (_ for _ in ()).throw(StoreDamaged("The disk is full."))
        )
        with pytest.raises(StoreDamaged):
            held.settle()
    assert pending <= held.journal.pending_revisions()
    assert not held._behind.has_all_pending(held.journal)
    agent.add_short_term(_event("m3"))
    held.settle()
    assert not held.journal.pending_revisions()
    assert len(held._behind) == 0


def test_a_life_without_a_pause_pays_as_it_goes(
    agent: AgentMemory, late: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = agent._context.held._behind
    agent.add_short_term([_event(f"many{number}") for number in range(100)])
    assert len(behind) == 100
    monkeypatch.setattr(store_queue, "MANY", 40)
    waiting = []
    for number in range(20):
        agent.add_short_term(_event(f"m{number}"))
        waiting.append(len(behind))
    assert waiting == [101, 102, 103, *range(3, 20)], "four writes, and then those of the first and of the many are in"
    assert {"many0", "many99", "m0"} <= _stored(agent)


def test_what_moves_on_before_the_store_has_it_is_written_once_where_it_stays(
    agent: AgentMemory, late: None, written: list[list[str]]
) -> None:
    agent.add_short_term([_event(f"m{number}") for number in range(agent.settings.stm_size + 3)])
    agent.migrate_stm2ltm(0.0)
    agent.edit("m0", rating=9)
    agent.add_short_term(_event("gone"))
    agent.forget(["gone"])
    ledger = agent._context.held
    while not ledger.settle(2):
        assert max(map(len, written)) <= 2
    assert sorted(one for some in written for one in some) == sorted({one for some in written for one in some})
    assert "gone" not in _stored(agent)
    assert _by_tier(agent) == {tier: {entry.id for entry in agent.entries(tier)} for tier in DECAYING}


@pytest.mark.parametrize("seed", range(8))
def test_the_store_comes_to_hold_what_the_tables_do_however_little_it_takes_in_at_a_time(
    agent: AgentMemory, late: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(store_queue, "TOGETHER", chance.choice((1, 7, 1024)))
    monkeypatch.setattr(store_queue, "MANY", chance.choice((5, 1000)))
    ledger, upsert = agent._context.held, Stores.upsert
    for number in range(60):
        lived = [entry for tier in DECAYING for entry in agent.entries(tier)]
        act = chance.choice(("add", "add", "edit", "forget", "migrate", "undo", "settle", "fail"))
        if act == "add":
            agent.add_short_term([_event(f"m{number}-{one}") for one in range(chance.randint(1, 9))])
        elif act == "edit" and lived:
            agent.edit(chance.choice(lived).id, document=f"The ferry was late, {number}")
        elif act == "forget" and lived:
            agent.forget([chance.choice(lived).id])
        elif act == "migrate":
            agent.migrate_stm2ltm(chance.choice((0.0, 1.0)))
        elif act == "undo" and (done := agent.history(1)[0]).revision > 1:
            agent.undo(done.revision)
        elif act == "settle":
            ledger.settle(chance.randint(1, 5))
        elif act == "fail":
            with monkeypatch.context() as patched, suppress(StoreDamaged):
                patched.setattr(Stores, "upsert", lambda *given: (upsert(*given), _refused())[1])
                ledger.settle(3)
    ledger.settle()
    assert not ledger.journal.pending_revisions()
    assert _by_tier(agent) == {tier: {entry.id for entry in agent.entries(tier)} for tier in DECAYING}
    held = {tier: {entry.id: entry.document for entry in agent.entries(tier)} for tier in DECAYING}
    memories = ledger._stores.memories
    assert {tier: {one.id: one.document for one in memories[tier].get(list(held[tier]))} for tier in DECAYING} == held


def _by_tier(agent: AgentMemory) -> dict[Tier, set[str]]:
    return {tier: set(agent._context.held._stores.memories[tier].ids()) for tier in DECAYING}


def test_what_cannot_be_taken_in_waits_and_the_change_stands(
    agent: AgentMemory, late: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_queue, "MANY", 1)
    with monkeypatch.context() as patched:
        patched.setattr(Stores, "upsert", _refused)
        agent.add_short_term([_event("first"), _event("second")])
    assert {entry.id for entry in agent.entries(Tier.STM)} >= {"first", "second"}
    agent.add_short_term(_event("third"))
    assert {"first", "second"} <= _stored(agent)


def _refused(*_given: Any) -> None:
    raise StoreDamaged("The disk is full.")


def test_it_is_tidied_although_more_comes_all_the_time(
    agent: AgentMemory, late: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_queue, "UNTIDY", 20)
    tidied: list[int] = []
    behind = agent._context.held._behind
    monkeypatch.setattr(behind, "_tidy", lambda: (tidied.append(len(behind)), True)[1])
    agent.add_short_term([_event(f"m{number}") for number in range(store_queue.AT_ONCE * 4)])
    for _ in range(2):
        agent._context.held.settle(store_queue.AT_ONCE)
    assert tidied == [store_queue.AT_ONCE * 4], "after 32 of 64 changes, once"


def test_it_follows_by_itself(agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    mark_done = agent._context.held.journal.mark_done
    monkeypatch.setattr(agent._context.held.journal, "mark_done", lambda n: (mark_done(n), done.set()))
    agent.add_short_term(_event("soon"))
    assert done.wait(LAST_RESORT)
    assert "soon" in _stored(agent)


def test_one_of_many_agents_is_written_less_often_since_each_opening_costs(
    world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch, written: list[list[str]]
) -> None:
    monkeypatch.setattr(ChromaStore, "_crowd", Crowd(lambda: 1))
    monkeypatch.setattr(store_queue, "DELAY_SECONDS", 0.01)
    monkeypatch.setattr(store_queue, "CROWDED_SECONDS", 1000.0)
    other = world.create_agent("tobias")
    other.add_short_term(_event("t0"))
    other._context.held.settle()  # it has the only client that may be open
    written.clear()
    for number in range(3):
        agent.add_short_term(_event(f"m{number}"))
    other.add_short_term(_event("t1"))
    until(lambda: not other._context.held.journal.pending_revisions())
    assert written == [["t1"]]
    agent.close()
    assert written == [["t1"], ["m0", "m1", "m2"]], "what waits is taken in when the agent is closed at the latest"


def test_an_agent_that_is_gone_is_closed_once_the_background_has_ended(
    agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_queue, "DELAY_SECONDS", 0.01)
    ledger, told = agent._context.held, []
    taking, go_on = threading.Event(), threading.Event()
    take_in, let_go = ledger._behind._take_in, ledger._let_go

    def slowly(*given: Any) -> None:
        taking.set()
        go_on.wait(LAST_RESORT)
        take_in(*given)
        told.append("taken in")

    monkeypatch.setattr(ledger._behind, "_take_in", slowly)
    monkeypatch.setattr(ledger, "_let_go", lambda note: (told.append("let go"), let_go(note)))
    agent.add_short_term(_event("last"))
    assert taking.wait(LAST_RESORT)
    shutil.rmtree(ledger.folder)
    closing = threading.Thread(target=agent.close)
    closing.start()
    closing.join(0.2)
    assert told == [], "its files are in use"
    go_on.set()
    closing.join()
    assert told[-1] == "let go"


def test_one_of_many_agents_is_written_once_much_waits(
    world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch, written: list[list[str]]
) -> None:
    monkeypatch.setattr(ChromaStore, "_crowd", Crowd(lambda: 1))
    monkeypatch.setattr(store_queue, "CROWDED_SECONDS", 1000.0)
    other = world.create_agent("tobias")
    other.add_short_term(_event("t0"))
    other._context.held.settle()  # it has the only client that may be open
    for number in range(store_queue.MOST_ASLEEP):
        agent.add_short_term(_event(f"m{number}"))
    assert not any("m0" in ids for ids in written)
    agent.add_short_term(_event("one more"))
    until(lambda: not agent._context.held.journal.pending_revisions())
    assert "one more" in _stored(agent)


def test_a_large_change_lets_others_write_between(agent: AgentMemory, late: None, written: list[list[str]]) -> None:
    agent.add_short_term([_event(f"m{number:03}") for number in range(100)])
    ledger = agent._context.held
    assert not ledger.settle(store_queue.AT_ONCE)
    agent.forget(["m000", "m099"])
    ledger.settle()
    assert [len(ids) for ids in written if ids] == [store_queue.AT_ONCE, 100 - store_queue.AT_ONCE]
    assert {f"m{number:03}" for number in range(1, 99)} <= _stored(agent)
    assert not _stored(agent) & {"m000", "m099"}


@pytest.fixture
def beside(world: World, agent: AgentMemory, embedder: CachedEmbedder) -> Iterator[AgentMemory]:
    """The same agent, opened by another program."""
    with World(world.settings, embedder=embedder) as other:
        yield other.agent("mira")


def test_what_another_took_in_and_changed_since_is_not_written_again(
    agent: AgentMemory, beside: AgentMemory, late: None
) -> None:
    agent.add_short_term([_event("first"), _event("second")])
    beside.forget(["first"])
    agent._context.held.settle()
    assert "second" in _stored(agent)
    beside._context.held.settle()
    assert not {"first"} & _stored(agent)
    assert [entry.id for entry in agent.entries(Tier.STM)] == ["second"]


def test_who_opens_it_meanwhile_finishes_it_and_says_nothing(
    world: World, agent: AgentMemory, embedder: CachedEmbedder, late: None
) -> None:
    agent.add_short_term(_event("late"))
    with World(world.settings, embedder=embedder) as other:
        beside = other.agent("mira")
        assert beside.messages == ()
        assert "late" in _stored(beside)
    agent._context.held.settle()
    assert [entry.id for entry in agent.entries(Tier.STM)] == ["late"]


def test_what_cannot_be_taken_in_is_told_and_done_before_the_next_change(
    agent: AgentMemory, late: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.add_short_term(_event("first"))
    ledger = agent._context.held

    def full(*_: Any) -> None:
        raise StoreDamaged("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(ledger._stores, "carry_out", full)
        ledger._behind._in_background()
        assert "The store does not hold the newest changes yet. The disk is full." in agent.messages[-1]
        with pytest.raises(StoreDamaged, match=r"The disk is full\. Nothing was changed"):
            agent.add_short_term(_event("second"))
    agent.add_short_term(_event("third"))
    assert "first" in _stored(agent)
    assert [entry.id for entry in agent.entries(Tier.STM)] == ["first", "third"]


def test_an_agent_that_is_deleted_takes_what_waited_with_it(world: World, agent: AgentMemory, late: None) -> None:
    agent.add_short_term(_event("gone"))
    queue = agent._context.held._behind
    world.delete_agent("mira")
    queue._in_background()
    assert not queue.revisions


def test_an_agent_that_is_deleted_while_somebody_waits_for_its_lock_is_said_to_be_gone(
    world: World, agent: AgentMemory, late: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.add_short_term(_event("gone"))
    ledger, folder = agent._context.held, world.folder / "mira"

    def meanwhile(**_: float) -> None:
        folder.rename(folder.with_name("elsewhere"))
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(ledger._file_lock._lock, "acquire", meanwhile)
    ledger._behind._in_background()
    assert not ledger._behind.revisions, "and nobody is told that the store will take it in"
    assert agent.messages == ()
    assert not folder.exists()


def test_the_doctor_finds_nothing_wrong_in_a_store_that_is_just_behind(
    world: World, agent: AgentMemory, late: None
) -> None:
    agent.add_short_term([_event("just now"), _event("and now")])
    (told,) = [one for one in doctor.examine(world) if (one.agent, one.what) == ("mira", "store")]
    assert told.state is State.NOTE
    assert told.sentence.startswith("1 of the newest changes")


def test_the_doctor_finds_what_is_missing_beside_what_the_store_takes_in_by_itself(
    world: World, agent: AgentMemory, late: None
) -> None:
    agent.add_short_term(_event("settled"))
    agent._context.held.settle()
    agent.add_short_term(_event("just now"))
    agent._context.held._stores.memories[Tier.STM].delete(["settled"])
    (told,) = [one for one in doctor.examine(world) if (one.agent, one.what) == ("mira", "store")]
    assert told.state is State.WRONG


def test_what_is_asked_for_while_it_is_done_is_done_once_more_and_by_one_thread_at_a_time() -> None:
    begun, go_on, at_once = threading.Semaphore(0), threading.Semaphore(0), []

    def act() -> None:
        at_once.append(len(at_once) - len(ended))
        begun.release()
        assert go_on.acquire(timeout=LAST_RESORT)
        ended.append(True)

    ended: list[bool] = []
    soon = Soon(act)
    soon.begin(0)
    assert begun.acquire(timeout=LAST_RESORT)
    for _ in range(3):
        soon.begin(0)
    go_on.release()
    assert begun.acquire(timeout=LAST_RESORT)
    go_on.release()
    soon.begin(1000)
    soon.cancel()
    assert at_once == [0, 0]


def test_between_two_parts_of_a_large_change_others_have_time_to_begin(
    agent: AgentMemory, late: None, written: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    left = []

    def meanwhile(seconds: float) -> None:
        assert seconds > 0
        with agent._context.held.writing():  # which takes in the rest, as whoever copies the files does
            left.append(len(written))

    monkeypatch.setattr("time.sleep", meanwhile)
    agent.add_short_term([_event(f"m{number:03}") for number in range(100)])
    agent._context.held._behind._in_background()
    assert left == [2]
    assert [len(ids) for ids in written] == [store_queue.AT_ONCE, 100 - store_queue.AT_ONCE]


_PROGRAM = """
import os, sys
from pathlib import Path
import numpy as np
from memory_system import Settings, World

class Alike:
    identity = "alike"
    def embed(self, texts):
        return np.full((len(texts), 8), 1.0, np.float32)

root = Path(sys.argv[1])
settings = Settings(database=root / "database", personalities=root / "personalities", llm="offline")
world = World(settings, embedder=Alike())
"""
_ENDS = {
    "adds and ends": "",
    "leaves a child that ends": "if os.fork() == 0:\n    sys.exit(0)\nos.wait()\n",
}


@pytest.mark.parametrize("how", _ENDS)
def test_a_program_that_ends_without_closing_leaves_a_whole_store_and_says_nothing(tmp_path: Path, how: str) -> None:
    def ran(program: str) -> str:
        command = [sys.executable, "-c", _PROGRAM + program, str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LAST_RESORT, check=True)
        return done.stderr

    ran(f"world.create_agent('mira', {json.dumps(PERSONALITY)!r})\nworld.close()")
    assert not ran(f"world.agent('mira').add_short_term({[_event('last')]!r})\n{_ENDS[how]}")
    assert "last" in stored(settings_of(tmp_path).database / settings_of(tmp_path).world / "mira" / "chroma")[Tier.STM]


def test_who_writes_with_the_embedder_before_is_refused_once_another_program_has_changed_it_over(
    world: World, agent: AgentMemory, late: None
) -> None:
    agent.add_short_term(_event("first"))
    with World(world.settings, embedder=Drawn()) as other:
        assert [entry.id for entry in other.agent("mira").entries(Tier.STM)] == ["first"]
    with pytest.raises(OtherEmbedder, match="Nothing was changed"):
        agent.add_short_term(_event("second"))
    agent._context.held.settle()
    assert [entry.id for entry in agent.entries(Tier.STM)] == ["first"]
    with World(world.settings, embedder=Drawn()) as other:
        assert other.agent("mira").messages == ()
