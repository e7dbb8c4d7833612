"""A computer that has no memory, thread or file left: told as one of our errors, with nothing half done."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.agent_parts.retrieval import Retrieval
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import Exhausted, StoreError
from memory_system.recall.table import Table
from memory_system.store.chroma import store as chroma_store
from memory_system.store.journal.journal import Journal
from memory_system.store.projection import Stores
from tests.conftest import ROOT
from tests.waiting import LAST_RESORT

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
    "files": lambda: OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
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


class PanicException(BaseException):
    """Raised by Chroma's own code where it gives up: it is known by its name, since nothing exports it."""


def test_a_panic_within_chroma_is_one_of_our_errors_and_takes_no_memory_along(
    world: World, lived: AgentMemory, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        _fails_at(patched, chroma_store, "replacing", 1, PanicException("Expect it to be fetched"))
        with pytest.raises(StoreError, match="Expect it to be fetched"):
            _added_and_taken_in(lived)
    lived.add_short_term({"document": "it works again", "id": "after", "rating": 5})
    wanted = {"before", "after", *(str(one["id"]) for one in EVENTS)}
    world.close()
    with World(world.settings, embedder=embedder) as again:
        assert {entry.id for entry in again.agent("mira").entries(Tier.STM)} == wanted


@pytest.mark.parametrize("made", [2, 3], ids=["without length.bin", "without link_lists.bin"])
def test_an_index_of_which_chroma_could_not_make_all_files_is_as_good_as_new(
    world: World, lived: AgentMemory, embedder: CachedEmbedder, made: int
) -> None:
    """Chroma makes the four files with the first memory and says nothing where it may open no more; it goes on."""
    lived._context.held.settle()
    files = ("header.bin", "data_level0.bin", "length.bin", "link_lists.bin")
    indices = {path.parent for path in world.settings.database.glob("*/mira/chroma/*/header.bin")}
    assert indices
    for index in indices:
        for name in files[made:]:
            (index / name).unlink()
    world.close()
    for note in world.settings.database.glob("*/mira/closed.json"):
        note.unlink()  # as after a kill: who was closed well is not looked at so closely
    for at in (1, 2):
        with World(world.settings, embedder=embedder) as again:
            agent = again.agent("mira")
            assert agent.messages == ()
            agent.add_short_term({"document": f"lived on {at}", "id": f"on{at}", "rating": 5})
            agent._context.held.settle()
            assert {entry.id for entry in agent.entries(Tier.STM)} == {"before", *(f"on{n}" for n in range(1, at + 1))}
    for index in indices:
        assert all((index / name).is_file() for name in files)


# -- files ---------------------------------------------------------------------------------------------

OPENS_MANY = """
import os, resource, sys
from contextlib import suppress
from pathlib import Path
resource.setrlimit(resource.RLIMIT_NOFILE, (min(160, int(sys.argv[3])), int(sys.argv[3])))
from benchmarks.opening import Drawn
from memory_system import Settings, Tier, World
from memory_system.core.files import allow_more_open, may_be_open
from memory_system.errors import Exhausted
folder, held = Path(sys.argv[1]), []
settings = Settings(database=folder / "database", personalities=folder / "people", llm="offline", store=sys.argv[2])
if sys.argv[4] == "allowed":
    allow_more_open()
    assert may_be_open() == int(sys.argv[3])
with World(settings, embedder=Drawn()) as world:
    try:
        for number in range(40):
            agent = world.create_agent(f"a{number}")
            agent.add_short_term({"document": f"a{number} came by", "rating": 5}, rate=False)
            if sys.argv[4] == "held":
                held.append(agent)
    except Exhausted as error:
        print(error.sentence)
        held[0].add_short_term({"document": "still here", "rating": 5}, rate=False)
        assert len(held[0].entries(Tier.STM)) == 2
        held.clear()
        agent, full = None, []
        with suppress(OSError):
            while True:
                full.append(os.open(os.devnull, os.O_RDONLY))
        names = world.agents()
        for one in full:
            os.close(one)
        world.agent(names[-1]).query_memory("came by")
    print(len(world.opened()), "are awake of", len(world.agents()))
with World(settings, embedder=Drawn()) as world:
    for name in world.agents():
        assert world.agent(name).messages == (), world.agent(name).messages
        assert len(world.agent(name).entries(Tier.STM)) in (0, 1, 2)
"""


def opened(tmp_path: Path, store: str, hard: int, how: str) -> str:
    """What a program told that opens 40 characters while it may have 160 files open, or as few as ``hard``."""
    command = [sys.executable, "-c", OPENS_MANY, str(tmp_path), store, str(hard), how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LAST_RESORT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="files are not counted there")
@pytest.mark.parametrize(("store", "files", "most"), [("chroma", 160, 13), ("journal", 160, 13), ("chroma", 64, 3)])
def test_a_world_of_more_agents_than_there_may_be_files_is_used_all_the_same(
    tmp_path: Path, store: str, files: int, most: int
) -> None:
    assert opened(tmp_path, store, files, "asked for by name") == f"{most} are awake of 40\n"


@pytest.mark.skipif(sys.platform == "win32", reason="files are not counted there")
@pytest.mark.parametrize("store", ["chroma", "journal"])
def test_who_has_hold_of_too_many_is_told_so_and_the_others_go_on(tmp_path: Path, store: str) -> None:
    told = opened(tmp_path, store, 160, "held")
    assert "no files left that this program may open (160 are open)" in told
    assert "MEMORY_AWAKE" in told


@pytest.mark.skipif(sys.platform == "win32", reason="files are not counted there")
def test_our_own_programs_have_as_many_files_open_as_the_system_allows(tmp_path: Path) -> None:
    assert opened(tmp_path, "journal", 1000, "allowed") == "40 are awake of 40\n"
