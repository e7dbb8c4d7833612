"""What a long life costs: one agent that adds events, migrates and is asked, from its first day to its last.

    python -m benchmarks.life [--events 100000] [--at 1000 10000 100000] [--history 1000] [--profile FOLDER]

Events come in batches of 50, each followed by a migration and a question; reflection is off. At each of the given
numbers of events the last rounds are shown as medians of the processor time of the thread that asks, which a loaded
machine hardly changes, without embedding; there, single events are also added, and a migration is undone. The sizes are
those of the files then. ``All of it`` is the processor time of the whole process: also of the migrations, of the
questions, and of what follows in the background. The last column compares the last row with the first. ``--history``
limits the history to so many change sets. With ``--profile`` what is computed between two rows is profiled into files
of that folder, for ``python -m pstats``.
"""

from __future__ import annotations

import argparse
import cProfile
import sqlite3
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import numpy as np

from benchmarks.opening import NAME, NOW, Drawn
from memory_system import AgentMemory, Settings, Tier, World
from memory_system.core import DECAYING
from memory_system.core.memory import Vectors

AT_ONCE = 50
_LAST = 20
"""How many rounds a median covers."""
_ALONE = 20
"""Single events at each row."""
_DEED = ("Carried", "Sold", "Borrowed", "Counted", "Hid", "Mended", "Found", "Gave away")
_THING = ("a sack of rye", "the brass key", "two seed loaves", "a coil of rope", "the lamp oil", "a net", "the ledger")
_WHERE = ("at the tide mill", "in the chapel porch", "by the harbour", "at Harrow light", "in the north field")
_WHO = ("with Tobias", "for Ines", "while Juno watched", "and told Edda", "without Oswin", "alone")


class Apart(Drawn):
    """Drawn vectors, with a record of the processor time for drawing them, so that it can be left out."""

    def __init__(self) -> None:
        self.spent = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, 384)."""
        started = time.thread_time()
        vectors = super().embed(texts)
        self.spent += time.thread_time() - started
        return vectors


@dataclass
class Measured:
    """Processor time of this thread in the last acts of each kind, in milliseconds, without embedding."""

    embedder: Apart
    last: dict[str, deque[float]] = field(default_factory=dict)

    def timed(self, what: str, act: Callable[[], object], share: int = 1) -> None:
        """Do something, and record a share of its time."""
        started, apart = time.thread_time(), self.embedder.spent
        act()
        took = time.thread_time() - started - (self.embedder.spent - apart)
        self.last.setdefault(what, deque(maxlen=_LAST)).append(took * 1000 / share)

    def median(self, what: str) -> float:
        """The median of the last rounds."""
        return statistics.median(self.last[what])


def event(number: int, chance: np.random.Generator) -> dict[str, object]:
    """What happened at the ``number``-th quarter of an hour."""
    words = " ".join(str(chance.choice(some)) for some in (_DEED, _THING, _WHERE, _WHO))
    return {
        "document": f"{words}, event {number}.",
        "rating": int(chance.integers(1, 11)),
        "timestamp": NOW + timedelta(minutes=15 * number),
    }


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.glob("**/*") if file.is_file())


def index_size(folder: Path) -> int:
    """Bytes of short-term memory's index on disk; 0 if only the journal stores anything."""
    if not (folder / "chroma/chroma.sqlite3").exists():
        return 0
    with closing(sqlite3.connect(f"{(folder / 'chroma/chroma.sqlite3').as_uri()}?mode=ro", uri=True)) as db:
        (found,) = db.execute(
            "SELECT segments.id FROM segments JOIN collections ON segments.collection = collections.id "
            "WHERE collections.name = ? AND segments.scope = 'VECTOR'",
            (Tier.STM.value,),
        ).fetchone()
    return size(folder / "chroma" / str(found))


ROWS = {
    "all": "all of it since the row before, an event, ms",
    "batch": "an event of a batch of 50, ms",
    "alone": "an event alone, ms",
    "new": "a query of a new cue, after all that, ms",
    "query": "a query of a known cue, ms",
    "migration": "a migration, ms",
    "undo": "an undo of a migration, ms",
}


def live(
    agent: AgentMemory, world: World, embedder: Apart, rows: Sequence[int], profiles: Path | None
) -> list[dict[str, float]]:
    """Live through as many events as the last row says; returns the measurements at each."""
    chance, told, lived = np.random.default_rng(1), [], 0
    measured = Measured(embedder)
    for row in rows:
        begun, apart, before = time.process_time(), embedder.spent, lived
        with cProfile.Profile() if profiles else nullcontext() as profile:
            while lived < row:
                batch = [event(lived + number, chance) for number in range(AT_ONCE)]
                lived += AT_ONCE
                world.stand_at(NOW + timedelta(minutes=15 * lived))
                measured.timed("batch", lambda batch=batch: agent.add_short_term(batch), AT_ONCE)  # type: ignore[misc]
                measured.timed("migration", agent.migrate_stm2ltm)
                cue = str(batch[0]["document"])[:40]
                measured.timed("new", lambda cue=cue: agent.query_memory(cue))  # type: ignore[misc]
                measured.timed("query", lambda cue=cue: agent.query_memory(cue))  # type: ignore[misc]
        spent = time.process_time() - begun - (embedder.spent - apart)
        measured.last["all"] = deque([spent * 1000 / (lived - before)])
        if profile is not None and profiles is not None:
            profile.dump_stats(profiles / f"life-{row}.prof")
        told.append(_row(agent, measured, lived, chance))
        lived += _ALONE
    return told


def _row(agent: AgentMemory, measured: Measured, lived: int, chance: np.random.Generator) -> dict[str, float]:
    for number in range(_ALONE):
        one = event(lived + number, chance)
        measured.timed("alone", lambda one=one: agent.add_short_term(one))  # type: ignore[misc]
    for _ in range(5):
        done = agent.migrate_stm2ltm()
        measured.timed("undo", lambda done=done: agent.undo(done))  # type: ignore[misc]
    agent.migrate_stm2ltm()
    ledger = agent._context.owner()
    ledger.flush()
    folder = ledger.folder
    found = {name: measured.median(name) for name in ROWS}
    found["index"] = index_size(folder) / 1e6
    found["bytes"] = size(folder) / lived / 1000
    found["held"] = sum(len(agent.entries(tier)) for tier in DECAYING)
    print(f"{lived:,} events: " + ", ".join(f"{name} {value:,.2f}" for name, value in found.items()), flush=True)
    return found


def main() -> None:
    """Live, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--at", type=int, nargs="+", default=[100, 1000, 5000, 10_000, 20_000, 50_000])
    parser.add_argument("--history", type=int, default=0, help="how many changes the history keeps; 0 = all")
    parser.add_argument("--profile", type=Path, help="write a profile of what leads to each row into this folder")
    asked = parser.parse_args()
    rows = [*(row for row in asked.at if row < asked.events), asked.events]
    embedder = Apart()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
        with World(settings, embedder=embedder) as world:
            world.stand_at(NOW)
            agent = world.create_agent(NAME)
            agent.configure(stm_size=50, history_changes=asked.history)
            found = live(agent, world, embedder, rows, asked.profile)
    print(f"\n| events so far | {' | '.join(f'{row:,}' for row in rows)} | last / first |")
    print(f"|---|{'---:|' * (len(rows) + 1)}")
    names = {**ROWS, "index": "STM's index on disk, MB", "bytes": "KB an event", "held": "memories held"}
    for name, words in names.items():
        values = [one[name] for one in found]
        ratio = f"{values[-1] / values[0]:.1f}" if values[0] else ""
        print(f"| {words} | {' | '.join(f'{value:,.1f}' for value in values)} | {ratio} |")


if __name__ == "__main__":
    main()
