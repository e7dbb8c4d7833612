"""How long an agent with many memories takes to open, with its kept table and without.

    python -m benchmarks.opening [--memories 100000] [--rows 1000000]

Fills an agent through change sets (vectors are drawn, not embedded: opening does not depend on them), closes it, and
times opening and closing it: with the kept table, also with one answer; as after a killed process, so that every page
of the journal and every row of the store with its vector is checked; the same with an index that may be half written,
which is tried out in another process; with the table removed, so that every entry is read from the journal; and, as
the named alternative, opening the same collection in plain Chroma and getting all its rows. Then the same table on its
own at a size that would take an hour to fill.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from memory_system import AgentMemory, Change, ChangeSet, ChromaMemory, MemoryEntry, Settings, Tier, World
from memory_system.core.memory import Vectors
from memory_system.core.scoring import Scoring
from memory_system.recall.kept_tables import Place, load, save
from memory_system.recall.table import Table
from memory_system.recall.top_k import Sought, top_rows

NAME = "bench"
WIDTH = 384
NOW = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
_AT_ONCE = 5000


class Drawn:
    """Unit vectors drawn from the text, the same each time; they only serve to measure times."""

    identity = "drawn"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, 384)."""
        rows = [np.random.default_rng(abs(hash(text)) % 2**32).standard_normal(WIDTH) for text in texts]
        vectors = np.array(rows, np.float32).reshape(-1, WIDTH)
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit


def entries(start: int, count: int) -> list[MemoryEntry]:
    """Long-term memories of some weeks."""
    return [
        MemoryEntry(
            f"Carried sack {number} to the mill and heard a word about the key on the way.",
            id=f"m{number:07d}",
            tier=Tier.LTM,
            rating=1 + number % 10,
            timestamp=NOW - timedelta(minutes=7 * number % 500_000),
        )
        for number in range(start, start + count)
    ]


def fill(agent: AgentMemory, count: int) -> None:
    """Put this many memories into LTM."""
    for start in range(0, count, _AT_ONCE):
        changes = tuple(Change(None, entry, "filled") for entry in entries(start, min(_AT_ONCE, count - start)))
        agent.apply(ChangeSet("fill", "Fill", changes, NOW, agent.stamp[0], agent=agent.name))
        print(f"filled {start + len(changes):,}", flush=True)


def timed(act: Callable[[], object], rounds: int = 3) -> float:
    """The median of some runs, in seconds."""
    took = []
    for _ in range(rounds):
        started = time.perf_counter()
        act()
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def agent_rows(folder: Path, count: int) -> list[tuple[str, float]]:
    """Opening one agent in three ways."""
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    embedder = Drawn()
    with World(settings, embedder=embedder) as world:
        fill(world.create_agent(NAME), count)

    def opened() -> None:
        with World(settings, embedder=embedder) as world:
            assert world.agent(NAME).messages == ()

    def asked() -> None:
        with World(settings, embedder=embedder) as world:
            world.agent(NAME).query_memory("Who has the key?", touch=False)

    def without() -> None:
        (folder / "database" / settings.world / NAME / "ltm.table").unlink()
        opened()

    def checked() -> None:
        agent = folder / "database" / settings.world / NAME
        (agent / "closed.json").replace(agent / "opened.json")  # as a killed process leaves it
        opened()

    def probed() -> None:
        index = next((folder / "database" / settings.world / NAME / "chroma").glob("*/header.bin"))
        index.touch()  # as if it had been written, perhaps only in part
        checked()

    def plain() -> None:
        memory = ChromaMemory.at(folder / "database" / settings.world / NAME / "chroma", Tier.LTM)
        memory.snapshot()
        memory.close()

    return [
        ("kept table", timed(opened)),
        ("kept table, and the first answer ever: every text is read", timed(asked, 1)),
        ("kept table, and one answer", timed(asked)),
        ("after a kill: every page and row checked", timed(checked)),
        ("the same, and the index probed in another process", timed(probed)),
        ("no table: journal", timed(without)),
        ("plain Chroma, all rows", timed(plain)),
    ]


def table_rows(folder: Path, count: int) -> list[tuple[str, float]]:
    """The table alone: saving, opening, and the first answer."""
    table = Table()
    rng = np.random.default_rng(7)
    for start in range(0, count, _AT_ONCE):
        vectors = rng.standard_normal((_AT_ONCE, WIDTH), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for entry, vector in zip(entries(start, min(_AT_ONCE, count - start)), vectors, strict=False):
            table.put(entry, vector)
    path = folder / "ltm.table"
    saved = timed(lambda: save(path, table, Place(1, "x", 0, "drawn")), 1)
    cue = table.vectors[0].copy()

    def opened() -> None:
        loaded = load(path)
        assert loaded is not None, "it was just saved"
        top_rows(loaded[0], Sought(cue, NOW, Scoring(), 0.35, 5))

    return [("table alone: open and answer", timed(opened)), ("table alone: save", saved)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = [(asked.memories, *row) for row in agent_rows(Path(scratch), asked.memories)]
        first = found[0][2]
        if asked.rows:
            found += [(asked.rows, *row) for row in table_rows(Path(scratch), asked.rows)]
    print("| memories | what | seconds | ratio to the kept table |")
    print("|---:|---|---:|---:|")
    for count, what, seconds in found:
        ratio = f"{seconds / first:.1f}" if count == asked.memories else ""
        print(f"| {count:,} | {what} | {seconds:.2f} | {ratio} |")


if __name__ == "__main__":
    main()
