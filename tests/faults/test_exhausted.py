"""A computer that has no memory or no thread left: told as one of our errors, with nothing half done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.agent_parts.retrieval import Retrieval
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import Exhausted
from memory_system.recall.table import Table
from memory_system.store.chroma import store as chroma_store
from memory_system.store.journal.journal import Journal
from memory_system.store.projection import Stores

EVENTS = [{"document": f"a word about the mill {n}", "id": f"m{n}", "rating": 5} for n in range(4)]
STEPS = {
    "before the commit": (Journal, "commit_together", 1, False),
    "within the commit": (Journal, "_record", 1, False),
    "while the tables change": (Table, "put", 3, True),
    "before the upsert": (Stores, "upsert", 1, True),
    "within Chroma": (chroma_store, "replacing", 1, True),
    "before it is marked done": (Journal, "mark_done", 1, True),
}
"""Where it happens, at which call, and whether the change stands then."""
SHORT: dict[str, Callable[[], BaseException]] = {
    "memory": MemoryError,
    "threads": lambda: RuntimeError("can't start new thread"),
}


@pytest.fixture
def lived(agent: AgentMemory) -> AgentMemory:
    """An agent with one memory."""
    agent.add_short_term({"document": "lived before", "id": "before", "rating": 5})
    return agent


def _fails_at(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, which: int, error: BaseException) -> None:
    """Let the ``which``-th call fail, once."""
    step, calls = getattr(owner, name), 0

    def failing(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == which:
            raise error
        return step(*arguments, **named)

    monkeypatch.setattr(owner, name, failing)


def _added_and_taken_in(agent: AgentMemory) -> None:
    agent.add_short_term(EVENTS)
    agent._context.held.settle()


@pytest.mark.parametrize("short", SHORT)
@pytest.mark.parametrize(("owner", "name", "which", "stands"), STEPS.values(), ids=STEPS.keys())
def test_a_change_for_which_there_is_no_room_is_whole_or_not_at_all(
    world: World, lived: AgentMemory, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch,
    owner: Any, name: str, which: int, stands: bool, short: str,
) -> None:  # fmt: skip
    with monkeypatch.context() as patched:
        _fails_at(patched, owner, name, which, SHORT[short]())
        with pytest.raises(Exhausted, match=f"no {short} left") as caught:
            _added_and_taken_in(lived)
    at_once = owner is Table or (stands and lived._context.held._home.shared)  # with journals on a server the store is
    assert ("kept in the journal all the same" in caught.value.sentence) is at_once
    wanted = {"before", *(str(one["id"]) for one in EVENTS if stands)}
    assert {entry.id for entry in lived.entries(Tier.STM)} == wanted
    lived.add_short_term({"document": "there is room again", "id": "after", "rating": 5})
    assert {entry.id for entry in lived.entries(Tier.STM)} == wanted | {"after"}
    assert {hit.entry.id for hit in lived.query_memory("mill", 9, 0.0, touch=False) if hit.entry.tier is Tier.STM}
    world.close()
    with World(world.settings, embedder=embedder) as again:
        assert again.agent("mira").messages == ()
        assert {entry.id for entry in again.agent("mira").entries(Tier.STM)} == wanted | {"after"}


@pytest.mark.parametrize("short", SHORT)
def test_a_question_for_which_there_is_no_room_is_told_so_and_can_be_asked_again(
    lived: AgentMemory, monkeypatch: pytest.MonkeyPatch, short: str
) -> None:
    with monkeypatch.context() as patched:
        _fails_at(patched, Retrieval, "_measure", 1, SHORT[short]())
        with pytest.raises(Exhausted, match=f"no {short} left"):
            lived.query_memory("lived before")
    assert [hit.entry.id for hit in lived.query_memory("lived before", static_threshold=1)] == ["before"]


def test_what_was_recalled_is_written_later_where_no_thread_can_be_started(
    world: World, lived: AgentMemory, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        assert [hit.entry.id for hit in lived.query_memory("lived before", static_threshold=1)] == ["before"]
    world.close()
    with World(world.settings, embedder=embedder) as again:
        (entry,) = again.agent("mira").entries(Tier.STM)
        assert entry.last_access is not None


def test_what_is_no_want_of_room_is_told_as_it_is(lived: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    _fails_at(monkeypatch, Journal, "commit_together", 1, RuntimeError("a mistake in the program"))
    with pytest.raises(RuntimeError, match="a mistake in the program"):
        lived.add_short_term(EVENTS)
