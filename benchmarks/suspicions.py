"""Which duplicates and contradictions are suspected in conversations, for a person to read and count the right ones.

    python -m benchmarks.suspicions ../shared/data/locomo [--first 20]

The turns of each conversation are told to an agent; the offline rules search for suspicions. Printed are how many
there are of each sort and the first of them, the surest first, with both texts and the reasons for each.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from memory_system import Settings, Tier, World
from memory_system.core.settings import MEMORY
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation.data import DataSet
from memory_system.evaluation.personality import personality
from memory_system.evaluation.sources import data_sets
from memory_system.operations.duplicates.suspicions import Sort, Suspicion
from memory_system.recall.hybrid.speakers import speaker_of


def suspected(data: DataSet, world: World, number: int) -> tuple[Suspicion, ...]:
    """What is suspected once the data set has been told."""
    agent = world.create_agent(f"told-{number}", personality(speaker_of(data.entries[0].document)[0], 0))
    agent.add_short_term([entry.evolve(tier=Tier.STM) for entry in data.entries])
    return agent.suspicions(ask_model=False, limit=10_000).suspicions


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--first", type=int, default=20, help="how many of each sort are printed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store=MEMORY, personalities=Path(folder) / "none", world="suspicions", llm="offline")
        with World(settings, embedder=CachedEmbedder(MiniLM(settings.cache), size=1_000_000)) as world:
            sets = data_sets(given.data)
            found = [one for number, data in enumerate(sets) for one in suspected(data, world, number)]
    print(f"{sum(data.memories for data in sets):,} turns of {len(sets)} conversations.")
    for sort in Sort:
        some = sorted((one for one in found if one.sort is sort), key=lambda one: -one.similarity)
        print(f"\n## {sort}: {len(some)}\n")
        for place, one in enumerate(some[: given.first], start=1):
            print(f"{place}. {one.similarity:.2f} {' '.join(one.reasons)}")
            for entry in one.entries:
                print(f"   - {entry.timestamp:%Y-%m-%d} {' '.join(entry.document.split())}")


if __name__ == "__main__":
    main()
