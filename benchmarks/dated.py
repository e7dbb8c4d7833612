"""Cues that name a time: what they find, and whether a time alone makes an unanswerable cue answered.

    python -m benchmarks.dated [--among 5 20 60]

The sixty memories of ``tests/data/paraphrases.json``, or the first so many of them, lived through within a month, are
asked for by their cues and by sixty cues that none of them answers: as written, with the time at which each was
lived through ("How did the young woodworker hurt his hand last week?"), and with the same time for all, which is wrong
for most. The defaults are used, and nothing is forgotten.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from memory_system import AgentMemory, Settings, World
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation.threshold import Pairs, read_pairs

PAIRS = Path(__file__).parents[1] / "tests" / "data" / "paraphrases.json"
NOW = datetime.fromisoformat("2026-03-28T18:00:00+00:00")  # a Saturday
AGO = {"today": 0, "yesterday": 1, "this week": 3, "last week": 8, "last month": 35}
"""When something was lived through, and how many days before now that is."""
FIRST = 5


def asked(cue: str, when: str) -> str:
    """The cue with a time."""
    return f"{cue.rstrip('?')} {when}?" if when else cue


def measured(agent: AgentMemory, pairs: Pairs, lived: Sequence[str], when: str) -> tuple[float, float]:
    """The share of cues whose memory is among the first five, and of the unrelated cues that are answered.

    Args:
        agent: who lived through the memories.
        pairs: the memories with their cues, and the unrelated cues.
        lived: when each memory was lived through.
        when: the time that each cue names; "its own" for the time of its memory, the same times for the unrelated.
    """
    found = answered = 0
    for memory, cue, own in zip(pairs.memories, pairs.cues, lived, strict=False):
        hits = agent.query_memory(asked(cue, own if when == "its own" else when), FIRST, touch=False).hits
        found += any(hit.entry.document == memory for hit in hits)
    for number, cue in enumerate(pairs.unrelated):
        own = lived[number % len(lived)]
        answered += bool(agent.query_memory(asked(cue, own if when == "its own" else when), touch=False).hits)
    return found / len(lived), answered / len(pairs.unrelated)


def _settings(home: str) -> Settings:
    return Settings(database=Path(home, "database"), personalities=Path(home, "personalities"), llm="offline")


def main() -> None:
    """Live, ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--among", type=int, nargs="+", default=[5, 20, 60], help="how many memories there are")
    among = parser.parse_args().among
    pairs, embedder, chance = read_pairs(PAIRS), CachedEmbedder(MiniLM(Settings().cache)), np.random.default_rng(3)
    print("| time | memories | found among the first five, % | unrelated left unanswered, % |")
    print("|---|---:|---:|---:|")
    for count in among:
        lived = [str(one) for one in chance.choice(list(AGO), count)]
        events = [
            {"document": memory, "timestamp": NOW - timedelta(days=AGO[own], minutes=number), "rating": 5}
            for number, (memory, own) in enumerate(zip(pairs.memories, lived, strict=False))
        ]
        with tempfile.TemporaryDirectory() as home, World(_settings(home), embedder=embedder) as world:
            world.stand_at(NOW)
            agent = world.create_agent("ana")
            agent.add_short_term(events)
            for when in ("", "its own", "yesterday", "this week", "last month"):
                found, answered = measured(agent, pairs, lived, when)
                print(f"| {when or 'none'} | {count} | {found * 100:.0f} | {(1 - answered) * 100:.0f} |", flush=True)


if __name__ == "__main__":
    main()
