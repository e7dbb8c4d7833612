"""How long a game waits for a single event while the same agent is busy with something large.

    python -m benchmarks.pause [--memories 5000] [--seconds 6]

A thread adds an event every 20 milliseconds to an agent of so many memories and records how long each takes, from the
call to the answer: while nothing else is done; while Chroma adds 5,000 memories in the background that another thread
has just added; while that thread forgets them; while Chroma deletes them in the background, and its index is
compacted; and while that thread adds 10,000 more and undoes them. For comparison, the same events into a bare Chroma
collection of as many rows. Vectors are drawn, so that no embedding is timed; events have their rating.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings as ChromaSettings

from benchmarks.journal import OURS, followed, milliseconds, plain
from benchmarks.opening import Drawn, entries, fill
from memory_system import AgentMemory, Settings, World
from memory_system.embedding.embedder import CachedEmbedder

EVERY = 0.02
"""Seconds between two events."""
LARGE = 5_000


def events(first: int, count: int) -> list[dict[str, object]]:
    """So many events with their ratings."""
    numbers = range(first, first + count)
    return [{"document": f"event {number} at the mill", "id": f"large-{number}", "rating": 5} for number in numbers]


def beside(add: Callable[[int], object], work: Callable[[], object], first: int, seconds: float) -> list[float]:
    """The milliseconds of each event added while something is done, and for at least so many seconds."""
    took: list[float] = []
    worker = threading.Thread(target=work)
    worker.start()
    until = time.perf_counter() + seconds
    while worker.is_alive() or time.perf_counter() < until:
        took.append(milliseconds(lambda: add(first + len(took))))
        time.sleep(EVERY)
    worker.join()
    return took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=6.0)
    asked = parser.parse_args()
    embedder = CachedEmbedder(Drawn(), size=200_000)
    print("| meanwhile | events | median ms | 99 of 100 under | longest |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        client = chromadb.PersistentClient(str(folder / "bare"), ChromaSettings(anonymized_telemetry=False))
        bare = client.create_collection("bare", embedding_function=None, configuration=OURS)
        held = entries(0, asked.memories)
        for start in range(0, len(held), 1000):
            some = held[start : start + 1000]
            plain(bare, some, embedder.embed([entry.document for entry in some]))

        def into_chroma(number: int) -> None:
            (one,) = entries(10_000_000 + number, 1)
            plain(bare, [one], embedder.embed([one.document]))

        told("a bare Chroma collection, nothing", beside(into_chroma, lambda: None, 0, asked.seconds))
        settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
        with World(settings, embedder=embedder) as world:
            agent = world.create_agent("bench")
            fill(agent, asked.memories)
            followed(agent)
            measure(agent, asked.seconds)


def measure(agent: AgentMemory, seconds: float) -> None:
    """Print the rows of an agent."""

    def add(number: int) -> None:
        agent.add_short_term({"document": f"a single event {number}", "id": f"single-{number}", "rating": 5})

    told("nothing", beside(add, lambda: None, 0, seconds))
    agent.add_short_term(events(0, LARGE))
    told(f"Chroma takes in {LARGE:,} memories", beside(add, lambda: None, 10_000, seconds))
    ids = [str(one["id"]) for one in events(0, LARGE)]
    followed(agent)
    told(f"{LARGE:,} are forgotten", beside(add, lambda: agent.forget(ids), 20_000, 0.0))
    told("Chroma deletes them, and its index is compacted", beside(add, lambda: None, 25_000, seconds))

    def add_and_undo() -> None:
        added = agent.add_short_term(events(LARGE, 2 * LARGE)).change_set
        agent.undo(added.revision or 0)

    told(f"{2 * LARGE:,} are added and undone", beside(add, add_and_undo, 30_000, seconds))


def told(meanwhile: str, took: list[float]) -> None:
    """Print one row."""
    median, most = np.percentile(took, [50, 99])
    print(f"| {meanwhile} | {len(took):,} | {median:.1f} | {most:.1f} | {max(took):.1f} |", flush=True)


if __name__ == "__main__":
    main()
