"""Who writes at the same time writes together: one commit, one wait for the disk, and to each its own revision."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from memory_system import AgentMemory, ChangeSet, MemoryEntry, Tier, World
from memory_system.errors import StaleChange, StoreDamaged, StoreError
from memory_system.store.ledger import Ledger
from tests.waiting import LAST_RESORT, until

Remember = Callable[..., str]


@contextmanager
def held_by_another(ledger: Ledger) -> Iterator[None]:
    """It is this thread's turn to write, while others may read."""
    with ledger.writing(), ledger.turns.others_reading():
        yield


class Crowd:
    """Threads that all want to write while one holds the turn; then they may.

    Args:
        agent: whose turn it is.
        pool: the threads.
    """

    def __init__(self, agent: AgentMemory, pool: ThreadPoolExecutor) -> None:
        self._ledger = agent._context.held
        self._pool = pool

    def all_at_once(self, works: Sequence[Callable[[], Any]]) -> list[Future[Any]]:
        """What becomes of each, asked for in this order."""
        asked: list[Future[Any]] = []
        with held_by_another(self._ledger):
            for number, work in enumerate(works, start=1):
                asked.append(self._pool.submit(work))
                until(lambda number=number: len(self._ledger._together._waiting) == number)
        for one in asked:
            one.exception(LAST_RESORT)
        return asked


@pytest.fixture
def crowd(agent: AgentMemory) -> Iterator[Crowd]:
    with ThreadPoolExecutor(8) as pool:
        yield Crowd(agent, pool)


@pytest.fixture
def commits(agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The titles of the change sets of each commit."""
    made: list[list[str]] = []
    journal = agent._context.held.journal
    commit = journal.commit_together

    def noted(change_sets: Sequence[ChangeSet], *more: Any, **named: Any) -> list[ChangeSet]:
        made.append([one.title for one in change_sets])
        return commit(change_sets, *more, **named)

    monkeypatch.setattr(journal, "commit_together", noted)
    return made


def _adding(agent: AgentMemory, entry_id: str) -> Callable[[], Any]:
    return lambda: agent.add_short_term({"document": f"Found the key, {entry_id}", "id": entry_id, "rating": 5})


def _held(agent: AgentMemory) -> dict[str, MemoryEntry]:
    return {entry.id: entry for entry in agent.entries(Tier.STM)}


def test_the_store_is_to_take_in_each_of_what_came_together_though_the_history_is_looked_at(
    agent: AgentMemory, crowd: Crowd
) -> None:
    ledger = agent._context.held
    for number in range(2):
        ledger._letting_go._look_at = 0  # as after each fifty changes: it reads the settings, and so what is new
        crowd.all_at_once([_adding(agent, f"e{number}-{one}") for one in range(5)])
        assert ledger.journal.pending_revisions() <= ledger._behind.revisions


def test_events_that_come_at_the_same_time_share_a_commit_and_have_a_revision_each(
    agent: AgentMemory, crowd: Crowd, commits: list[list[str]]
) -> None:
    written = crowd.all_at_once([_adding(agent, f"m{number}") for number in range(7)])
    assert [len(titles) for titles in commits] == [7]
    revisions = [one.result().change_set.revision for one in written]
    assert revisions == list(range(revisions[0], revisions[0] + 7)), "in the order in which they were asked for"
    assert list(_held(agent)) == [f"m{number}" for number in range(7)]
    agent.undo(revisions[3])
    assert list(_held(agent)) == ["m0", "m1", "m2", "m4", "m5", "m6"]
    agent._context.held.settle()
    assert agent._context.held.journal.pending_revisions() == frozenset()


def test_they_are_all_there_when_it_is_opened_again(world: World, agent: AgentMemory, crowd: Crowd) -> None:
    crowd.all_at_once([_adding(agent, f"m{number}") for number in range(4)])
    world.close()
    assert [one.id for one in world.agent("mira").entries(Tier.STM)] == ["m0", "m1", "m2", "m3"]


def test_one_that_does_not_fit_any_more_is_refused_and_the_others_stand(
    agent: AgentMemory, crowd: Crowd, remember: Remember, commits: list[list[str]]
) -> None:
    held = remember("The mill burns", rating=5)
    first, second = (agent.edit(held, rating=rating, preview=True) for rating in (7, 9))
    commits.clear()
    written = crowd.all_at_once(
        [_adding(agent, "before"), lambda: agent.apply(first), lambda: agent.apply(second), _adding(agent, "after")]
    )
    assert [type(one.exception()) for one in written] == [type(None), type(None), StaleChange, type(None)]
    assert _held(agent)[held].rating == 7
    assert set(_held(agent)) == {held, "before", "after"}
    assert [len(titles) for titles in commits] == [4, 1, 1, 1, 1], "each gets what becomes of it by itself"
    assert agent.revision == 1 + 1 + 3, "what was tried together left nothing"


def test_changes_of_one_memory_that_follow_from_each_other_go_together(
    agent: AgentMemory, crowd: Crowd, remember: Remember, commits: list[list[str]]
) -> None:
    held = remember("The mill burns", rating=5)
    forget = agent.forget([held], preview=True)
    again = agent.edit(held, rating=8, preview=True)
    gone = next(change.before for change in forget.changes)
    back = agent._context.plan("edit", "It comes back", [type(forget.changes[0])(None, gone, "again")])
    commits.clear()
    written = crowd.all_at_once([lambda: agent.apply(forget), lambda: agent.apply(back), lambda: agent.apply(again)])
    assert [one.exception() for one in written] == [None] * 3
    assert [len(titles) for titles in commits] == [3]
    assert _held(agent)[held].rating == 8


def test_a_plan_that_two_apply_is_one_change(agent: AgentMemory, crowd: Crowd) -> None:
    plan = agent.add_short_term({"document": "The mill burns", "rating": 5}, preview=True).change_set
    written = crowd.all_at_once([lambda: agent.apply(plan), lambda: agent.apply(plan)])
    assert len({one.result().revision for one in written}) == 1
    assert len(_held(agent)) == 1


def test_what_changes_more_than_memories_is_committed_by_itself(
    agent: AgentMemory, crowd: Crowd, commits: list[list[str]]
) -> None:
    written = crowd.all_at_once(
        [_adding(agent, "a"), _adding(agent, "b"), lambda: agent.configure(stm_size=9), _adding(agent, "c")]
    )
    assert [one.exception() for one in written] == [None] * 4
    assert [len(titles) for titles in commits] == [2, 1, 1]
    assert agent.settings.stm_size == 9


def test_who_has_the_turn_writes_before_those_who_wait(agent: AgentMemory, crowd: Crowd) -> None:
    ledger = agent._context.held
    with ThreadPoolExecutor(1) as pool:
        with held_by_another(ledger):
            other = pool.submit(_adding(agent, "other"))
            until(lambda: len(ledger._together._waiting) == 1)
            _adding(agent, "mine")()
            assert not other.done()
        assert other.result(LAST_RESORT).change_set.revision == agent.revision
    assert list(_held(agent)) == ["mine", "other"]


def test_what_none_can_write_is_told_to_each(agent: AgentMemory, crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **_named: Any) -> None:
        raise StoreDamaged("The disk is full. Nothing was changed.")

    with monkeypatch.context() as broken:
        broken.setattr(agent._context.held.journal, "commit_together", full)
        written = crowd.all_at_once([_adding(agent, f"m{number}") for number in range(3)])
    assert {str(one.exception()) for one in written} == {"The disk is full. Nothing was changed."}
    assert _held(agent) == {}
    _adding(agent, "then")()
    assert list(_held(agent)) == ["then"]


def test_a_fork_is_told_to_open_the_world_itself(agent: AgentMemory) -> None:
    child = os.fork()
    if not child:
        try:
            agent.contents.alone().__enter__()
        except StoreError as error:
            os._exit(7 if "forked off. Open its world" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
