"""While a thread writes the store, which takes longest, others read, nobody else writes, and nobody waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from memory_system import AgentMemory, Tier
from memory_system.errors import StoreDamaged
from memory_system.store.ledger import TableLock
from tests.waiting import LAST_RESORT

LONG = LAST_RESORT
"""Seconds after which a thread is taken to wait for ever."""


class Slow:
    """The writing of an agent's store, which goes on when it is told to."""

    def __init__(self, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.writing = 0
        self.most = 0
        stores = agent._context.held._stores
        carry_out = stores.carry_out

        def slowly(*given: Any) -> None:
            self.writing += 1
            self.most = max(self.most, self.writing)
            self.begun.set()
            assert self.go_on.wait(LONG)
            carry_out(*given)
            self.writing -= 1

        monkeypatch.setattr(stores, "carry_out", slowly)


@pytest.fixture
def slow(agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Mira's store, which is slow."""
    made = Slow(agent, monkeypatch)
    yield made
    made.go_on.set()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """A few threads."""
    with ThreadPoolExecutor(6) as pool:
        yield pool


Remembering = Callable[[str], "Future[Any]"]


@pytest.fixture
def remembering(agent: AgentMemory, threads: ThreadPoolExecutor) -> Remembering:
    """Has a thread remember an event of this id."""

    def begin(entry_id: str) -> Future[Any]:
        event = {"document": f"Found the key, {entry_id}", "id": entry_id, "rating": 9}
        return threads.submit(agent.add_short_term, event)

    return begin


def test_what_is_being_written_is_recalled_at_once(agent: AgentMemory, slow: Slow, remembering: Remembering) -> None:
    written = remembering("first").result(LONG)
    assert slow.begun.wait(LONG)
    assert "first" in [hit.entry.id for hit in agent.query_memory("Found the key, first", threshold=0)]
    assert agent.stamp[0] == agent.history(1)[0].change_set.revision == written.change_set.revision
    assert slow.writing, "who remembers something does not wait for the store"
    slow.go_on.set()
    assert [one.id for one in agent.entries(Tier.STM)] == ["first"]


def test_one_thread_writes_at_a_time_and_each_change_is_there(
    agent: AgentMemory, slow: Slow, remembering: Remembering
) -> None:
    written = [remembering(f"m{number}") for number in range(4)]
    assert slow.begun.wait(LONG)
    slow.go_on.set()
    revisions = [one.result(LONG).change_set.revision for one in written]
    assert len(set(revisions)) == 4
    agent._context.held.settle()
    assert slow.most == 1
    assert [one.id for one in agent.entries(Tier.STM)] == ["m0", "m1", "m2", "m3"]


def test_who_writes_while_reading_waits_for_the_writer_and_not_for_ever(
    agent: AgentMemory, slow: Slow, threads: ThreadPoolExecutor, remembering: Remembering
) -> None:
    first = remembering("first")
    assert slow.begun.wait(LONG)
    reading = threading.Event()

    def read_and_write() -> list[str]:
        with agent.contents.shelf(Tier.STM) as shelf:
            reading.set()
            agent.add_short_term({"document": "It rained", "id": "second", "rating": 2})
            return sorted(shelf.ids)

    second = threads.submit(read_and_write)
    assert reading.wait(LONG)
    slow.go_on.set()
    assert second.result(LONG) == ["first", "second"]
    assert first.done()


def test_a_store_that_cannot_be_written_leaves_nobody_waiting(
    agent: AgentMemory, monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor, remembering: Remembering
) -> None:
    stores = agent._context.held._stores

    def broken(*_: Any) -> None:
        raise StoreDamaged("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(stores, "carry_out", broken)
        remembering("first").result(LONG)
        with pytest.raises(StoreDamaged, match="The disk is full"):
            agent._context.held.settle()
        with pytest.raises(StoreDamaged, match=r"The disk is full\. Nothing was changed"):
            remembering("refused").result(LONG)
    assert "first" in [one.id for one in threads.submit(agent.entries, Tier.STM).result(LONG)]
    remembering("second").result(LONG)
    assert [one.id for one in agent.entries(Tier.STM)] == ["first", "second"]
    agent._context.held.settle()
    assert agent._context.held._stores.counts()["stm"] == 2


def test_a_lock_that_was_let_go_of_is_held_as_often_as_before(threads: ThreadPoolExecutor) -> None:
    lock = TableLock()

    def take() -> bool:
        with lock:
            return lock.mine

    with lock, lock:
        other = threads.submit(take)
        with lock.let_go():
            assert other.result(LONG)
            assert not lock.mine
        assert lock.mine
        waiting = threads.submit(take)
        assert not waiting.done()
    assert waiting.result(LONG)
    assert not lock.mine
