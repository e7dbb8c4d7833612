"""Cues that name somebody: whether any memory of somebody answers every question about them.

    python -m benchmarks.named

The characters of the sample world are asked, with the defaults, what no memory says about five people whom they know
("What is Juno's favourite film?"), about them in general ("Who is Juno?"), what the sample suggests to ask, and what
has nothing to do with them (the unrelated cues of ``tests/data/paraphrases.json``). Then the sixty memories of that
file are asked for, every fourth of which was told by Tobias, as are their cues and all that are unrelated. Asking
changes nothing, and nothing is forgotten.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from memory_system import AgentMemory, Settings, World
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation.threshold import Pairs, read_pairs
from memory_system.maintenance import fill_world

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "database" / "samples" / "harrow_quay"
PEOPLE = ("Tobias", "Juno", "Edda", "Oswin", "Ines")
NOT_TOLD = (
    "What does {} think of quantum mechanics?", "Which football club does {} support?",
    "What did {} pay for the computer?", "Is {} allergic to peanuts?", "When does {}'s flight leave?",
    "What is {}'s favourite film?", "Does {} have a sister in America?", "What did {} study at university?",
    "Which medicine does {} take for the heart?", "Can {} swim?", "How did {} fix the printer?",
    "Has {} ever ridden an elephant?",
)  # fmt: skip
IN_GENERAL = (
    "{}", "Who is {}?", "Where is {}?", "What did {} do?", "What did {} promise?", "Can {} be trusted?",
    "What do you know about {}?", "Where was {} when the mill burned?",
)  # fmt: skip
TOLD_BY = ("According to Tobias, {}?", "What did Tobias say: {}?", "Tobias, {}?", "{}, according to Tobias?")
EVERY = 4
"""Which of the sixty memories are told by Tobias."""
FIRST = 5


def answered(agent: AgentMemory, cues: Iterable[str]) -> float:
    """The share of cues that anything answers, 0 to 1."""
    found = [bool(agent.query_memory(cue, FIRST, touch=False).hits) for cue in cues]
    return sum(found) / len(found)


def by_tobias(number: int, cue: str) -> str:
    """A cue as something that Tobias told."""
    asked = cue.rstrip("?")
    return TOLD_BY[number % len(TOLD_BY)].format(asked[0].lower() + asked[1:])


def of_people(forms: Iterable[str]) -> list[str]:
    """Each form with each of the people."""
    return [form.format(name) for form in forms for name in PEOPLE]


def sample_world(world: World, pairs: Pairs) -> None:
    """Fill the world with the sample, ask its characters, and print a row for each."""
    fill_world(world, SAMPLES)
    suggested = json.loads((SAMPLES / "cues.json").read_text(encoding="utf-8"))
    print(
        "| asked of | not told of people, left | anybody in general, answered | suggested, answered | unrelated, left |"
    )
    print("|---|---:|---:|---:|---:|")
    for name, cues in suggested.items():
        agent = world.agent(name)
        left = 1 - answered(agent, of_people(NOT_TOLD)), 1 - answered(agent, pairs.unrelated)
        given = answered(agent, of_people(IN_GENERAL)), answered(agent, cues)
        print(f"| {name} | {left[0]:.0%} | {given[0]:.0%} | {given[1]:.0%} | {left[1]:.0%} |", flush=True)


def told_by_tobias(world: World, pairs: Pairs) -> None:
    """Live the sixty memories; print how much of what Tobias told is found, and of what nobody told is left out."""
    agent = world.create_agent("ana")
    memories = [
        f"Tobias said: {memory}" if number % EVERY == 0 else memory for number, memory in enumerate(pairs.memories)
    ]
    agent.add_short_term([{"document": memory, "rating": 5} for memory in memories])
    found = [
        any(hit.entry.document == memories[number] for hit in agent.query_memory(cue, FIRST, touch=False).hits)
        for number, cue in ((at, by_tobias(at // EVERY, pairs.cues[at])) for at in range(0, len(memories), EVERY))
    ]
    left = 1 - answered(agent, [by_tobias(number, cue) for number, cue in enumerate(pairs.unrelated)])
    print(
        f"\nOf what Tobias told found among the first five: {sum(found) / len(found):.0%}; of what nobody told left: ",
        end="",
    )
    print(f"{left:.0%}")


def main() -> None:
    """Ask, and print the tables."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    pairs = read_pairs(ROOT / "tests" / "data" / "paraphrases.json")
    embedder = CachedEmbedder(MiniLM(Settings().cache))
    for asked in (sample_world, told_by_tobias):
        with tempfile.TemporaryDirectory() as home:
            settings = Settings(
                database=Path(home, "database"), personalities=Path(home, "personalities"), llm="offline"
            )
            with World(settings, embedder=embedder) as world:
                asked(world, pairs)


if __name__ == "__main__":
    main()
