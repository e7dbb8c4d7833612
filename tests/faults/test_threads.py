"""Eight threads on ten agents at once: no error, nothing lost, nobody waits for ever."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core.change_set import dump_entry
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import Conflict, NotFound
from memory_system.store.access_buffer import DELAY_SECONDS
from tests.conftest import NOW, PERSONALITY
from tests.faults.conftest import Counted
from tests.faults.survivor import HAPPENED, stored
from tests.waiting import LAST_RESORT

THREADS = 8
AGENTS = [f"agent-{number}" for number in range(10)]


class Life:
    """What one thread does: changes of every kind and questions, on agents drawn at random."""

    def __init__(self, world: World, number: int, acts: int) -> None:
        self._world, self._number, self._acts = world, number, acts
        self._drawn = random.Random(number)
        self.acknowledged: list[tuple[str, int]] = []
        self.asked = 0

    def live(self) -> None:
        """Act so many times; whatever is raised beside a conflict with another thread is an error."""
        for count in range(self._acts):
            agent = self._world.agent(self._drawn.choice(AGENTS))
            act = self._drawn.choice(
                (self._add, self._add, self._ask, self._ask, self._edit, self._migrate, self._undo)
            )
            try:
                revision = act(agent, count)
            except (Conflict, NotFound):
                continue  # another thread was there first, and this was told so
            if revision is not None:
                self.acknowledged.append((agent.name, revision))

    def _add(self, agent: AgentMemory, count: int) -> int | None:
        event = {"document": self._drawn.choice(HAPPENED), "rating": 5, "id": f"t{self._number}-{count}"}
        return agent.add_short_term(event).change_set.revision

    def _ask(self, agent: AgentMemory, _: int) -> None:
        agent.query_memory("Who has the key?")
        self.asked += 1

    def _edit(self, agent: AgentMemory, count: int) -> int | None:
        held = agent.entries(Tier.STM)
        return agent.edit(self._drawn.choice(held).id, tags=(f"t{count}",)).revision if held else None

    def _migrate(self, agent: AgentMemory, _: int) -> int | None:
        return agent.migrate_stm2ltm(0.4).revision

    def _undo(self, agent: AgentMemory, _: int) -> int | None:
        newest = agent.history(1)
        return agent.undo(newest[0].revision).revision if newest and newest[0].revision > 1 else None


@pytest.mark.parametrize("acts", [30, pytest.param(500, marks=pytest.mark.long)])
def test_eight_threads_on_ten_agents_lose_nothing(
    settings: Settings, embedder: CachedEmbedder, counted: Counted, acts: int
) -> None:
    with World(settings, embedder=embedder) as world:
        world.stand_at(NOW)
        for name in AGENTS:
            world.create_agent(name, json.dumps(PERSONALITY))
        world.close()  # so that the threads open them, all at once
        lives = [Life(world, number, acts) for number in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            for done in [pool.submit(life.live) for life in lives]:
                done.result(timeout=LAST_RESORT)
        assert all(not world.agent(name).messages for name in AGENTS)
        world.close()
    lost = doubled = half = 0
    with World(settings, embedder=embedder) as world:
        for name in AGENTS:
            agent = world.agent(name)
            assert agent.messages == (), "Chroma held what the journal says"
            revisions = [told.revision for told in agent.history(10_000)]
            assert revisions == list(range(len(revisions), 0, -1))
            told = {revision for life in lives for one, revision in life.acknowledged if one == name}
            lost += len(told - set(revisions))
            shown = {tier: {e.id: dump_entry(e) for e in agent.entries(tier)} for tier in Tier}
            ids = [entry_id for held in shown.values() for entry_id in held]
            doubled += len(ids) - len(set(ids))
            agent.close()
            half += stored(world.folder / name / "chroma") != shown
    changes = sum(len(life.acknowledged) for life in lives)
    losses = {"rows lost": lost, "rows doubled": doubled, "half changes": half}
    counted(f"8 threads of {acts} acts each on 10 agents", THREADS, acknowledged=changes, **losses)
    assert (lost, doubled, half) == (0, 0, 0)
    assert changes > 20
    assert sum(life.asked for life in lives) > 10


def _ends(work: Callable[[], object]) -> bool:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LAST_RESORT)
    return not thread.is_alive()


def test_a_change_and_what_is_written_in_the_background_do_not_wait_for_each_other(agent: AgentMemory) -> None:
    agent.add_short_term({"document": HAPPENED[0], "rating": 5})

    def change_while_accesses_wait() -> None:
        with agent.contents.alone():
            agent.query_memory("Who has the key?", static_threshold=1)
            time.sleep(DELAY_SECONDS * 2)  # the background is at it by now, and waits for this one
            agent.add_short_term({"document": HAPPENED[1], "rating": 5})

    assert _ends(change_while_accesses_wait)
    assert len(agent.entries(Tier.STM)) == 2
