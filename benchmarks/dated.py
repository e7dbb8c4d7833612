"""Cues that name a time: what they find, and whether a time alone makes an unanswerable cue answered.

    python -m benchmarks.dated [--among 5 20 60]

The sixty memories of ``tests/data/paraphrases.json``, or the first so many of them, lived through within a month, are
asked for by their cues and by sixty cues that none of them answers: as written, with the time at which each was
lived through ("How did the young woodworker hurt his hand last week?"), and with the same time for all, which is wrong
for most. The defaults are used, and nothing is forgotten.

Then the six characters of the sample world are asked what happened in parts of its last days: how much of what they
recall happened then, and how much they recall of what did.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation.threshold import Pairs, read_pairs
from memory_system.maintenance import fill_world

PAIRS = Path(__file__).parents[1] / "tests" / "data" / "paraphrases.json"
NOW = datetime.fromisoformat("2026-03-28T18:00:00+00:00")  # a Saturday
AGO = {"today": 0, "yesterday": 1, "this week": 3, "last week": 8, "last month": 35}
"""When something was lived through, and how many days before now that is."""
FIRST = 5
SAMPLE = Path(__file__).parents[1] / "database" / "samples" / "harrow_quay"
PARTS = {
    "this morning": (0, 4, 12),
    "this afternoon": (0, 12, 18),
    "last night": (1, 18, 30),
    "yesterday morning": (1, 4, 12),
    "yesterday evening": (1, 17, 24),
    "on Wednesday afternoon": (2, 12, 18),
    "on Monday night": (4, 18, 30),
}
"""Parts of days: how many days ago the day was, and the hours from and until."""
QUESTIONS = ("What happened {}?", "What did I do {}?", "Whom did I meet {}?")


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


def of_a_part(agents: Sequence[AgentMemory], words: str, begins: datetime, ends: datetime) -> tuple[float, float]:
    """The share of what is recalled that happened in a part of a day, and of what happened then that is recalled.

    At most five memories are recalled, so no more than five count as missing.

    Args:
        agents: who is asked; those to whom nothing happened then are left out.
        words: what the part is called.
        begins: when it begins.
        ends: when it ends.
    """
    right = recalled = possible = 0
    for agent in agents:
        times = [entry.timestamp for tier in (Tier.STM, Tier.LTM) for entry in agent.entries(tier)]
        happened = sum(at is not None and begins <= at < ends for at in times)
        if not happened:
            continue
        for question in QUESTIONS:
            hits = agent.query_memory(question.format(words), FIRST, touch=False).hits
            then = (hit.entry.timestamp for hit in hits)
            right += sum(at is not None and begins <= at < ends for at in then)
            recalled += len(hits)
            possible += min(FIRST, happened)
    return right / max(recalled, 1), right / max(possible, 1)


def parts_of_days(home: str) -> None:
    """Print how well the sample's characters know what happened in each part of its last days."""
    print("\n| part of a day | of what is recalled, %, happened then | of what happened then, %, is recalled |")
    print("|---|---:|---:|")
    with World(_settings(home)) as world:
        fill_world(world, SAMPLE)
        agents = [world.agent(name) for name in world.agents()]
        midnight = world.clock().replace(hour=0, minute=0)
        for words, (days, first, last) in PARTS.items():
            begins, ends = (midnight + timedelta(days=-days, hours=hour) for hour in (first, last))
            right, found = of_a_part(agents, words, begins, ends)
            print(f"| {words} | {right * 100:.0f} | {found * 100:.0f} |", flush=True)


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
    with tempfile.TemporaryDirectory() as home:
        parts_of_days(home)


if __name__ == "__main__":
    main()
