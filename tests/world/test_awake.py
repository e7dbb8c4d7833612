"""Agents that nobody uses are put to sleep, and wake at their next use: nothing is lost and nobody's agent closes."""

from __future__ import annotations

import gc
import os
import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count, pairwise

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.conversation import Conversation
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import StoreError
from memory_system.recall.kept_tables import FROM_ROWS
from memory_system.store.journal.journal import Journal
from memory_system.store.ledger import Ledger
from tests.conftest import NOW
from tests.waiting import LAST_RESORT, ended, until

NAMES = tuple(f"a{number}" for number in range(5))
HOLDS: dict[str, Callable[[AgentMemory], object]] = {
    "an agent": lambda agent: agent,
    "an agent as somebody's": lambda agent: agent.acting_as("a game"),
    "a part of it": lambda agent: agent.timeline,
    "its past": lambda agent: agent.as_of(revision=1),
    "a talk": Conversation.begin,
}
"""What one may have hold of."""


@pytest.fixture(autouse=True)
def garbage_as_usual() -> Iterator[None]:
    """Python looks for garbage as often as outside the tests: what refers to itself in a circle is held until then."""
    seldom = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*seldom)


@pytest.fixture
def village(settings: Settings, embedder: CachedEmbedder, request: pytest.FixtureRequest) -> Iterator[World]:
    """Five characters, of whom two may be awake, or whatever is asked for; each remembers one event."""
    told = getattr(request, "param", {"awake": 2})
    with World(settings.model_copy(update=told), embedder=embedder) as world:
        world.stand_at(NOW)
        for name in NAMES:
            world.create_agent(name).add_short_term({"document": f"Lent {name} the key.", "rating": 5})
        yield world


def awake(world: World) -> list[str]:
    return [agent.name for agent in world.opened()]


def use(world: World, *names: str) -> None:
    """Use agents one after the other, each once nobody in the background uses the others."""

    tried = count(1)

    def at_rest() -> bool:
        if next(tried) % 10 == 0:
            gc.collect()  # an error that was caught may refer in a circle to who raised it
        return not any(one.in_use for one in world._agents._agents.values())

    for name in names:
        until(at_rest)
        world.agent(name)


def test_no_more_are_open_than_may_be_and_each_answers(village: World) -> None:
    for name in (*NAMES, *reversed(NAMES)):
        use(village, name)
        (hit,) = village.agent(name).query_memory("key").hits
        assert hit.entry.document == f"Lent {name} the key."
        assert len(awake(village)) <= 2
    assert awake(village) == [NAMES[1], NAMES[0]]


def test_what_waited_is_written_before_it_sleeps(village: World) -> None:
    village.stand_at(NOW + timedelta(hours=2))
    village.agent(NAMES[0]).query_memory("key")
    use(village, *NAMES[1:])
    assert NAMES[0] not in awake(village)
    (entry,) = village.agent(NAMES[0]).entries(Tier.STM)
    assert entry.last_access == NOW + timedelta(hours=2)


@pytest.mark.parametrize("what", HOLDS)
def test_what_somebody_has_hold_of_stays_awake(village: World, what: str) -> None:
    held = HOLDS[what](village.agent(NAMES[0]))
    for name in NAMES[1:]:
        village.agent(name)
    assert NAMES[0] in awake(village)
    assert not village.agent(NAMES[0]).gone
    del held
    use(village, *NAMES[1:])
    assert NAMES[0] not in awake(village)


@pytest.mark.parametrize("village", [{"awake_mb": 4}], indirect=True, ids=[""])
def test_large_ones_sleep_for_want_of_memory(village: World) -> None:
    assert len(awake(village)) == len(NAMES)
    events = [{"document": f"Saw boat {number}.", "rating": 5} for number in range(1200)]
    village.agent(NAMES[0]).add_short_term(events)
    assert village.agent(NAMES[0]).contents.size > 3 << 20
    use(village, NAMES[1])
    village.create_agent("newcomer")
    assert NAMES[0] not in awake(village)
    use(village, "newcomer")
    assert len(village.agent(NAMES[0]).entries(Tier.STM)) == 1201
    assert awake(village)[-1] == NAMES[0], "the one that is used stays, however large it is"


def with_kept_tables(village: World) -> None:
    """Give three of the five a table that is kept, of 900 memories."""
    events = [{"document": f"Saw boat {number}.", "rating": 5} for number in range(900)]
    for name in NAMES[:3]:
        village.agent(name).add_short_term(events)
        village.agent(name).close()


@pytest.mark.parametrize("village", [{"awake_mb": 9}], indirect=True, ids=[""])
def test_large_ones_rest_before_any_sleeps(village: World) -> None:
    with_kept_tables(village)
    held = village.agent(NAMES[0])
    found = [hit.entry.id for hit in held.query_memory("boat", touch=False).hits]
    columns = held.contents.context.ledger.tables[Tier.STM].columns
    assert not columns.laid_aside
    for name in NAMES[1:3]:
        village.agent(name).query_memory("boat", touch=False)
    village.agent(NAMES[3])
    assert columns.laid_aside, "though somebody has hold of it"
    assert set(awake(village)) == set(NAMES)
    assert [hit.entry.id for hit in held.query_memory("boat", touch=False).hits] == found


@pytest.mark.parametrize("village", [{"awake_mb": 1}], indirect=True, ids=[""])
def test_nobody_waits_for_one_that_is_to_rest(village: World) -> None:
    with_kept_tables(village)
    held = {name: village.agent(name) for name in NAMES}
    for agent in held.values():
        agent.query_memory("boat", touch=False)
    rounds: list[str] = []

    def look(name: str, other: str) -> None:
        for _ in range(50):
            with held[name].contents.shelf(Tier.STM) as table:
                assert len(table.vectors) == len(table)
                village.agent(other)
            rounds.append(name)

    looking = [threading.Thread(target=look, args=pair, daemon=True) for pair in pairwise((*NAMES[:3], NAMES[0]))]
    for thread in looking:
        thread.start()
    for thread in looking:
        ended(thread.join)
    assert len(rounds) == 150
    with held[NAMES[0]].contents.shelf(Tier.STM):
        assert not held[NAMES[0]].contents.rest(), "not under whoever looks at it"


@pytest.mark.parametrize("village", [{"awake_mb": 9}], indirect=True, ids=[""])
def test_what_is_used_without_being_asked_for_is_weighed_too(village: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with_kept_tables(village)
    held = [village.agent(name) for name in NAMES]
    for agent in held:
        agent.query_memory("boat", touch=False)
    monkeypatch.setattr("memory_system.world.awake._WEIGH_SECONDS", 0.0)
    village.agent(NAMES[4])
    assert sum(agent.contents.size for agent in held) <= 9 << 20
    assert village._agents._bytes == sum(agent.contents.size for agent in held)


def test_who_reads_while_an_agent_is_closed_is_done_first(village: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = village.agent(NAMES[0])
    os.utime(agent._context.held.personality_path, (0, 0))  # one that has just changed is read first, and then let go
    agent.entries(Tier.STM)
    reading, go_on = threading.Event(), threading.Event()
    told: list[object] = []
    seen = Journal.seen

    def slow(journal: Journal) -> int | None:
        if threading.current_thread() is reader:
            reading.set()
            assert go_on.wait(LAST_RESORT)
        return seen(journal)

    monkeypatch.setattr(Journal, "seen", slow)
    reader = threading.Thread(target=lambda: told.append(agent.entries(Tier.STM)[0].document), daemon=True)
    reader.start()
    assert reading.wait(LAST_RESORT)
    closing = threading.Thread(target=agent.close, daemon=True)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    go_on.set()
    ended(reader.join)
    ended(closing.join)
    assert told == [f"Lent {NAMES[0]} the key."]


def test_no_more_are_open_than_there_may_be_files(
    settings: Settings, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_system.world.awake.may_be_open", lambda: 120)
    with World(settings, embedder=embedder) as world:
        for number in range(12):
            world.create_agent(f"a{number}")
        assert len(awake(world)) == 10
        assert len(world.agents()) == 12


def test_the_tables_of_one_that_sleeps_are_gone_at_once(village: World) -> None:
    events = [{"document": f"Saw boat {number}.", "rating": 5} for number in range(FROM_ROWS)]
    village.agent(NAMES[0]).add_short_term(events)
    use(village, *NAMES[1:3], NAMES[0], NAMES[1])  # it slept meanwhile, so that its table is read from its file
    tables = [weakref.ref(table) for table in village.agent(NAMES[0]).contents.context.ledger.tables.values()]
    use(village, NAMES[1])
    gc.disable()  # what refers to itself in a circle is collected late
    try:
        village.agent(NAMES[2])
        assert NAMES[0] not in awake(village)
        assert all(table() is None for table in tables)
    finally:
        gc.enable()


def test_nothing_that_was_kept_by_its_stamp_is_taken_for_what_woke(village: World) -> None:
    seen = set()
    for _ in range(3):
        use(village, *NAMES)
        stamp = village.agent(NAMES[0]).stamp
        assert stamp not in seen
        seen.add(stamp)
    assert len({revision for revision, _ in seen}) == 1


def test_what_cannot_be_written_stays_awake(village: World, monkeypatch: pytest.MonkeyPatch) -> None:
    village.agent(NAMES[0]).query_memory("key")

    def full(_ledger: Ledger) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Ledger, "flush", full)
        for name in NAMES[1:]:
            village.agent(name)
        assert NAMES[0] in awake(village)
    use(village, NAMES[4])
    village.create_agent("newcomer")
    assert awake(village) == [NAMES[4], "newcomer"]


def test_one_that_somebody_else_deleted_is_in_nobodys_way(village: World) -> None:
    use(village, *NAMES[:2])
    shutil.rmtree(village.folder / NAMES[0])
    use(village, *NAMES[2:])
    assert awake(village) == [NAMES[3], NAMES[4]]


def test_many_threads_find_each_agent_open_and_lose_nothing(village: World) -> None:
    failed: list[BaseException] = []

    def live(number: int) -> None:
        try:
            for turn in range(12):
                agent = village.agent(NAMES[(number + turn) % len(NAMES)])
                agent.add_short_term({"document": f"Thread {number}, turn {turn}.", "rating": 5})
                assert agent.query_memory("key", touch=True).hits
        except BaseException as error:  # noqa: BLE001 - told to the test, whatever it is
            failed.append(error)

    threads = [threading.Thread(target=live, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sum(len(village.agent(name).entries(Tier.STM)) for name in NAMES) == len(NAMES) + 4 * 12


@pytest.mark.parametrize("last", ["opened", "put to sleep"])
def test_who_wants_one_that_is_awake_does_not_wait_for_another(
    village: World, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    use(village, *NAMES[:2])
    started, go_on = threading.Event(), threading.Event()
    done = village._agents._opening if last == "opened" else AgentMemory.close

    def halted(*given: object) -> object:
        started.set()
        go_on.wait()
        return done(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(*((village._agents, "_opening") if last == "opened" else (AgentMemory, "close")), halted)
        opener = threading.Thread(target=lambda: village.agent(NAMES[2]).name)
        opener.start()
        started.wait()
        try:
            assert ended(lambda: village.agent(NAMES[1]).query_memory("key").hits)
            assert NAMES[1] in awake(village)
        finally:
            go_on.set()
            opener.join()
    assert sorted(awake(village)) == [NAMES[1], NAMES[2]]


@pytest.mark.parametrize("village", [{"awake": 2, "rerate_seconds": 0.05}], indirect=True, ids=[""])
def test_what_waits_for_its_rating_is_rated_though_its_agent_sleeps(village: World) -> None:
    village.agent(NAMES[0]).configure(rated_by="nobody")
    village.agent(NAMES[0]).add_short_term({"document": "The mill burned down."})
    assert village.agent(NAMES[0]).contents.waits_for_rating
    use(village, *NAMES[1:])
    assert NAMES[0] not in awake(village)
    village.rerater.start()
    until(lambda: not village.agent(NAMES[0]).contents.waits_for_rating)
    assert all(entry.rating for entry in village.agent(NAMES[0]).entries(Tier.STM))
