"""What the journal costs: a journalled change against a synced SQLite commit and a bare Chroma write, in one run.

    python -m benchmarks.journal [--memories 1000] [--rounds 60]

Each round writes the same rows in turn: into a plain Chroma collection with the same settings, documents and vectors,
with the entry in its metadata; into a bare SQLite file, with their vectors, in one commit that waits for the disk; into
an agent whose journal waits for the disk (``MEMORY_DURABILITY=full``, the default); and into one whose journal does not
(``normal``). For an agent, everything a caller waits for is timed: the check against the history, the commit, the
tables. The store follows in the background; here it is waited for and timed separately, so that it delays nothing.
Vectors are drawn, so that no embedding is timed. Set TMPDIR to a folder on a disk: in memory nothing is waited for.

Then 1, 8 and 64 threads add one event after the other to one agent, and as many commit them to the bare SQLite file in
turn. Threads that wait at the same time share a commit of the journal.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings as ChromaSettings

from benchmarks.opening import NOW, Drawn, entries, fill
from memory_system import AgentMemory, Change, ChangeSet, MemoryEntry, Settings, Tier, World
from memory_system.core.change_set import entry_to_json
from memory_system.core.memory import Vectors
from memory_system.embedding.embedder import CachedEmbedder

LEVELS = ("full", "normal")
OURS: Any = {"hnsw": {"space": "l2", "sync_threshold": 100, "batch_size": 50}}
"""The settings of our own collections."""
CROWDS = (1, 8, 64)
FIRST = 10_000_000
"""The number of the first row to write, far from the existing ones."""


def milliseconds(act: Callable[[], object]) -> float:
    """How long an act takes."""
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1000


def plain(collection: chromadb.Collection, rows: Sequence[MemoryEntry], vectors: Vectors) -> None:
    """Write rows as a program that uses Chroma alone and wants to read its memories back."""
    collection.upsert(
        ids=[row.id for row in rows],
        documents=[row.document for row in rows],
        metadatas=[{"kind": row.kind.value, "entry": json.dumps(entry_to_json(row))} for row in rows],
        embeddings=vectors,
    )


def committed(db: sqlite3.Connection, rows: Sequence[MemoryEntry], vectors: Vectors) -> None:
    """Write rows into a file of SQLite and wait for the disk."""
    told = (
        (row.id, json.dumps(entry_to_json(row)), vector.tobytes()) for row, vector in zip(rows, vectors, strict=True)
    )
    with db:
        db.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", told)


@contextmanager
def bare_file(folder: Path) -> Iterator[sqlite3.Connection]:
    """A file of SQLite whose commits wait for the disk."""
    with closing(sqlite3.connect(folder / "rows.sqlite3", check_same_thread=False)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, body TEXT, vector BLOB)")
        yield db


def followed(agent: AgentMemory) -> None:
    """Wait until the store holds everything."""
    with agent.contents.alone():
        pass


def journalled(agent: AgentMemory, rows: Sequence[MemoryEntry], before: Sequence[MemoryEntry | None]) -> None:
    """Write rows through the journal."""
    changes = tuple(Change(was, row, "measured") for was, row in zip(before, rows, strict=True))
    agent.apply(ChangeSet("measure", "Measure", changes, NOW, agent.stamp[0], agent=agent.name))


def compare(folder: Path, memories: int, rounds: int, at_once: int) -> dict[str, dict[str, float]]:
    """The median of each way of writing, by what is written: new memories, and the same edited."""
    embedder = CachedEmbedder(Drawn(), size=200_000)
    took: dict[str, dict[str, list[float]]] = {"add": {}, "edit": {}}
    with ExitStack() as opened:
        client = chromadb.PersistentClient(str(folder / "bare"), ChromaSettings(anonymized_telemetry=False))
        opened.callback(client.close)  # type: ignore[attr-defined]
        bare = client.create_collection("bare", embedding_function=None, configuration=OURS)
        held = entries(0, memories)
        for start in range(0, memories, 1000):
            some = held[start : start + 1000]
            plain(bare, some, embedder.embed([entry.document for entry in some]))
        db = opened.enter_context(bare_file(folder))
        agents: dict[str, AgentMemory] = {}
        for level in LEVELS:
            place = folder / level
            settings = Settings(
                database=place / "database", personalities=place / "personalities", llm="offline", durability=level
            )
            agents[level] = opened.enter_context(World(settings, embedder=embedder)).create_agent("bench")
            fill(agents[level], memories)
        for number in range(rounds):
            new = entries(FIRST + number * at_once, at_once)
            edited = [entry.evolve(document=f"{entry.document} Edited.") for entry in new]
            for what, rows, was in (("add", new, [None] * at_once), ("edit", edited, new)):
                vectors = embedder.embed([entry.document for entry in rows])
                ways: dict[str, Callable[[], object]] = {
                    "bare": lambda rows=rows, vectors=vectors: plain(bare, rows, vectors),  # type: ignore[misc]
                    "commit": lambda rows=rows, vectors=vectors: committed(db, rows, vectors),  # type: ignore[misc]
                    **{
                        level: lambda level=level, rows=rows, was=was: journalled(agents[level], rows, was)  # type: ignore[misc]
                        for level in LEVELS
                    },
                }
                order = list(ways)[number % 4 :] + list(ways)[: number % 4]  # none is always first
                for way in order:
                    took[what].setdefault(way, []).append(milliseconds(ways[way]))
                    if way in agents:
                        after = milliseconds(lambda way=way: followed(agents[way]))  # type: ignore[misc]
                        took[what].setdefault(f"{way}, followed", []).append(after)
    return {what: {way: statistics.median(of_way) for way, of_way in ways.items()} for what, ways in took.items()}


def crowd(folder: Path, memories: int, events: int) -> list[tuple[int, float, float, float]]:
    """For each number of threads: commits per second, events per second, and processor time per event in ms."""
    embedder, turn = CachedEmbedder(Drawn(), size=200_000), threading.Lock()
    found: list[tuple[int, float, float, float]] = []
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    with bare_file(folder) as db, World(settings, embedder=embedder) as world:
        agent = world.create_agent("bench")
        fill(agent, memories)

        def commit(rows: Sequence[MemoryEntry]) -> None:
            vectors = embedder.embed([row.document for row in rows])
            for row, vector in zip(rows, vectors, strict=True):
                with turn:
                    committed(db, [row], vector[None])

        def add(rows: Sequence[MemoryEntry]) -> None:
            for row in rows:
                agent.add_short_term(row.evolve(tier=Tier.STM), rate=False)

        for threads in CROWDS:
            first = FIRST * (2 + len(found))
            shares = [entries(first + number * events, max(events // threads, 5)) for number in range(threads)]
            many = sum(map(len, shares))
            rates, cost = [], 0.0
            for way in (commit, add):
                followed(agent)
                began, used = time.perf_counter(), time.process_time()
                with ThreadPoolExecutor(threads) as pool:
                    list(pool.map(way, shares))
                rates.append(many / (time.perf_counter() - began))
                followed(agent)
                cost = 1000 * (time.process_time() - used) / many
            found.append((threads, rates[0], rates[1], cost))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=60)
    asked = parser.parse_args()
    rows = []
    for at_once in (1, 100):
        rounds = asked.rounds if at_once == 1 else max(asked.rounds // 5, 5)
        with tempfile.TemporaryDirectory() as scratch:
            for what, ms in compare(Path(scratch), asked.memories, rounds, at_once).items():
                rows.append((f"{what} {at_once}", ms))
    print(f"An agent of {asked.memories:,} memories; medians in ms, and how many times a commit and a bare write.\n")
    print("| what | commit | bare Chroma | journal, full (default) | ratio | journal, normal | ratio | store after |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for what, ms in rows:
        both = ms["commit"] + ms["bare"]
        ratios = (f"{ms[level]:.2f} | {ms[level] / both:.2f}" for level in LEVELS)
        print(f"| {what} | {ms['commit']:.2f} | {ms['bare']:.2f} | {' | '.join(ratios)} | {ms['full, followed']:.2f} |")
    with tempfile.TemporaryDirectory() as scratch:
        of_crowds = crowd(Path(scratch), asked.memories, asked.rounds * 10)
    print("\nThreads that add one event after the other to one agent, all of it counted but embedding.\n")
    print("| threads | bare commits a second | events a second | ratio | processor time of an event, ms |")
    print("|---:|---:|---:|---:|---:|")
    for threads, commits, events, cost in of_crowds:
        print(f"| {threads} | {commits:,.0f} | {events:,.0f} | {events / commits:.2f} | {cost:.1f} |")


if __name__ == "__main__":
    main()
