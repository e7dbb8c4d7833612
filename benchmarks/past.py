"""How long viewing an agent's past takes, and what the log of queries costs per query.

    python -m benchmarks.past [--memories 5000] [--revisions 500]

Fills an agent, moves all its memories to another tier in one change set, edits, configures and asks it, and times
``as_of`` at several revisions: rebuilt, and from the cache; and, as the named alternative, the same state by going
through all change sets from the first on. Then a query with the log on and with it off, in turns.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memory_system import PRESETS, AgentMemory, Settings, Tier, World
from memory_system.recall.table import Table
from memory_system.store.past import Pasts

from .opening import NAME, NOW, Drawn, fill

_ROUNDS = 5


def live(agent: AgentMemory, revisions: int) -> int:
    """A life of edits, settings and queries; returns the revision at which it began."""
    moved = agent.entries(Tier.LTM)
    agent.undo(agent.reset_memory())
    agent.configure(stm_size=100, scoring=PRESETS["classic"].scoring)
    began, chance = agent.stamp[0], np.random.default_rng(1)
    while agent.stamp[0] < revisions:
        entry = moved[chance.integers(len(moved))]
        if agent.stamp[0] % 3:
            agent.edit(entry.id, rating=int(chance.integers(1, 11)), document=f"{entry.document} {agent.stamp[0]}")
        else:
            agent.configure(top_k=1 + agent.stamp[0] % 9)
        for _ in range(4):
            agent.query_memory(moved[chance.integers(len(moved))].document[:30], 5, 0.1)
    return began


def replayed(agent: AgentMemory, revision: int) -> dict[Tier, Table]:
    """The tables made from every change set, from the first on, without last accesses."""
    tables = {tier: Table() for tier in Tier}
    ledger = agent._context.owner()
    for done in ledger.journal.since(0):
        if (done.revision or 0) > revision:
            break
        vectors = ledger.vectors([change.after.document for change in done.changes if change.after], {})
        for change, vector in zip([one for one in done.changes if one.after], vectors.values(), strict=False):
            assert change.after is not None, "chosen so"
            tables[change.after.tier].put(change.after, vector)
        for change in done.changes:
            if change.before is not None and (change.after is None or change.after.tier is not change.before.tier):
                tables[change.before.tier].drop(change.entry_id)
    return tables


def seconds(act: Callable[[], object], rounds: int = _ROUNDS) -> tuple[float, float]:
    """The median of some runs, on the clock and in processor time."""
    took = []
    for _ in range(rounds):
        wall, used = time.perf_counter(), time.process_time()
        act()
        took.append((time.perf_counter() - wall, time.process_time() - used))
    return statistics.median(one for one, _ in took), statistics.median(one for _, one in took)


def told(words: str, measured: tuple[float, float]) -> None:
    """Print one line."""
    print(f"{words:<58} {measured[0] * 1000:8.1f} ms wall {measured[1] * 1000:8.1f} ms processor", flush=True)


def main() -> None:
    """Fill, live, and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--revisions", type=int, default=500)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
        with World(settings, embedder=Drawn()) as world:
            world.stand_at(NOW)
            agent = world.create_agent(NAME)
            fill(agent, asked.memories)
            began = live(agent, asked.revisions)
            newest = agent.stamp[0]
            for revision in (newest, newest - 10, (began + newest) // 2, began, began - 2, began - 3, 1):

                def anew(revision: int = revision) -> None:
                    agent._context.pasts = Pasts()
                    agent.as_of(revision=revision)

                told(f"as of revision {revision} of {newest}, rebuilt", seconds(anew))
            told("the same, at hand", seconds(lambda: agent.as_of(revision=1)))
            middle = (began + newest) // 2
            told(f"revision {middle} by all change sets before it", seconds(lambda: replayed(agent, middle), 1))
            number = agent.queries(1)[0].number
            told("a query lived through again", seconds(lambda: agent.relive(number)))
            for kept in (0, 1000, 0, 1000):
                agent.configure(query_log=kept)
                ask = seconds(lambda: agent.query_memory("Carried sack 7 to the mill", 5, 0.1), 500)
                told(f"a query, the log keeping {kept}", ask)


if __name__ == "__main__":
    main()
