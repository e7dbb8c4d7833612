"""Importing 10,000 lines of another program into an agent, compared with embedding the same texts alone.

    python -m benchmarks.bringing [--lines 10000] [--rounds 1] [--profile]

Imported in the public way: read line by line, planned, reviewed and applied, with progress, into a new agent whose
journal waits for the disk; then the store follows in the background, which is measured separately. Once with a rating
on each line, and once without, so that the offline rules rate each. The embedder alone embeds the same texts in pieces
of the same size, before and after, and its two runs count half each. A speed of 1.00 is the embedder's own; 0.80 is
required. On the clock it is the share of the whole in which the embedder itself was running, so that a machine that is
busy with something else is busy for both.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.journal import followed
from benchmarks.memory import agent, texts
from memory_system import Settings, Tier
from memory_system.core.memory import Vectors
from memory_system.embedding.embedder import CachedEmbedder, MiniLM

AT_ONCE = 256
"""How many texts the embedder gets at once."""


@dataclass(frozen=True)
class Took:
    """Seconds on the clock, and of all of this process's threads on a processor."""

    clock: float
    processor: float


def took(act: Callable[[], object]) -> Took:
    """The cost of an act."""
    clock, processor = time.perf_counter(), time.process_time()
    act()
    return Took(time.perf_counter() - clock, time.process_time() - processor)


def alone(documents: list[str]) -> Took:
    """The embedder by itself."""
    embedder = MiniLM(Settings().cache)
    embedder.embed(["warm up the session"])

    def embed() -> None:
        for begin in range(0, len(documents), AT_ONCE):
            embedder.embed(documents[begin : begin + AT_ONCE])

    return took(embed)


class Timed:
    """An embedder that records how long it was running."""

    def __init__(self) -> None:
        self._inner = MiniLM(Settings().cache)
        self.identity = self._inner.identity
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Like the embedder."""
        begin = time.perf_counter()
        made = self._inner.embed(texts)
        self.seconds += time.perf_counter() - begin
        return made


def brought(folder: Path, material: str, *, apart: bool) -> tuple[tuple[Took, Took, Took, Took], float]:
    """The cost of reading and planning, embedding ahead, applying and following, and the clock seconds of embedding.

    With ``apart`` it is profiled, and what took longest is printed.
    """
    timed = Timed()
    embedder = CachedEmbedder(timed)
    embedder.embed(["warm up the session"])
    timed.seconds = 0.0
    profile = cProfile.Profile() if apart else None
    with agent(folder, embedder) as one:
        if profile:
            profile.enable()
        plans = []
        planning = took(lambda: plans.append(one.import_material(material, file_name="lines.jsonl", preview=True)))
        accepted = plans[0].without([plans[0].changes[-1].entry_id])  # as a person reviewing it would
        ahead = took(lambda: one.embed_ahead(accepted, progress=lambda _done, _doing: None))
        applying = took(lambda: one.apply(accepted))
        if profile:
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        held = len(one.entries(Tier.STM))
        following = took(lambda: followed(one))
    if held != len(accepted.changes):
        raise SystemExit(f"{held:,} memories are there of {len(accepted.changes):,}.")
    return (planning, ahead, applying, following), timed.seconds


def compare(scratch: Path, lines: int, *, rated: bool, profile: bool) -> None:
    """Print one row of the table."""
    documents = texts(lines)
    material = "\n".join(
        json.dumps({"text": text, "time": f"2026-03-{1 + number % 28:02}T{number % 24:02}:00:00Z"}
                   | ({"importance": 1 + number % 10} if rated else {}))
        for number, text in enumerate(documents)
    )  # fmt: skip
    before = alone(documents)
    parts, embedding = brought(scratch, material, apart=profile)
    after = alone(documents)
    processor = (before.processor + after.processor) / 2
    until = [Took(sum(one.clock for one in some), sum(one.processor for one in some)) for some in (parts[:3], parts)]
    told = " | ".join(f"{one.clock:.1f}, {one.processor:.1f}" for one in (*parts, Took(embedding, processor)))
    speeds = " | ".join(f"{embedding / one.clock:.2f} | {processor / one.processor:.2f}" for one in until)
    print(f"| {'rated' if rated else 'unrated'} | {lines:,} | {told} | {speeds} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="tell what took longest, which slows it")
    asked = parser.parse_args()
    print("Seconds on the clock, and of processors.\n")
    print("| lines | how many | read and planned | embedded | applied | store followed | embedder alone ", end="")
    print("| speed | of processors | with the store | of processors |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(asked.rounds):
            for rated in (True, False):
                compare(Path(scratch) / f"{number}-{rated}", asked.lines, rated=rated, profile=asked.profile)


if __name__ == "__main__":
    main()
