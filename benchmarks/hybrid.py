"""What a new cue costs with hybrid relevancy, cold and warm, compared with the same cue by similarity alone.

    python -m benchmarks.hybrid [--sizes 1000 10000 100000] [--cues 20]

Synthetic memories (``peers/corpus.py``) with sentences for texts, all long-term; ``rank.answer`` with the preset
``balanced``, the cue's vector given. Medians of processor time, in milliseconds per cue. **Ever**: the very first cue,
which also reads the words of all texts. **Cold**: a new cue, with the token states of its pool still to be computed,
as in a world whose states were lost. **Warm**: a new cue, with the states of its pool kept, as for everything that was
embedded in the world. **Again**: the same cue, with everything but recency and importance kept.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmarks.memory import texts
from benchmarks.peers import corpus, ours
from memory_system import Query, Settings, Tier
from memory_system.core.presets import DEFAULT
from memory_system.core.scoring import Measure, Scoring, Weights
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.recall.hybrid import Kept, TokenStates
from memory_system.recall.measures import Hybrid
from memory_system.recall.rank import answer
from memory_system.recall.table import Table

ALONE = Scoring(Weights(*corpus.WEIGHTS), corpus.DECAY, Measure.SIMILARITY)


def filled(held: corpus.Corpus, told: Sequence[str]) -> dict[Tier, Table]:
    """Tables with these memories in long-term memory."""
    tables = {tier: Table() for tier in Tier}
    for row, text in enumerate(told):
        tables[Tier.LTM].put(replace(ours.entry(held, row, Tier.LTM), document=text), held.vectors[row])
    return tables


def taken(act: Callable[[int], object], cues: Sequence[int]) -> list[float]:
    """Milliseconds of processor time for each cue."""
    took = []
    for cue in cues:
        started = time.process_time()
        act(cue)
        took.append(1000 * (time.process_time() - started))
    return took


def measure(size: int, cues: int, tokens: TokenStates) -> None:
    """Print the line of one size."""
    held, told = corpus.made(size, cues + 1), texts(size)
    tables = filled(held, told)
    asked = [f"Who was there, and what became of it? {told[size * cue // cues]}" for cue in range(cues)] + ["And then?"]

    def query(cue: int, scoring: Scoring) -> Query:
        return Query(asked[cue], held.now, threshold=DEFAULT.threshold, scoring=scoring)

    def alone(cue: int) -> object:
        return answer(query(cue, ALONE), held.cues[cue], tables, "Bench", explain=False)

    def by(hybrid: Hybrid) -> Callable[[int], object]:
        def ask(cue: int) -> object:
            one = query(cue, DEFAULT.scoring)
            measured = hybrid.measured(one, [held.cues[cue]], tables)
            return answer(one, held.cues[cue], tables, "Bench", explain=False, measured=measured)

        return ask

    several = range(cues)
    alone(cues)
    similar = statistics.median(taken(alone, several))
    first = by(Hybrid(tokens))
    (ever,) = taken(first, [cues])
    cold = statistics.median(taken(first, several))
    tokens.relevancies = Kept()  # results for each cue are forgotten; token states and words stay
    second = by(Hybrid(tokens))
    second(cues)
    warm = statistics.median(taken(second, several))
    again = statistics.median(taken(second, several))
    cells = " | ".join(f"{took:,.1f} ({took / similar:,.1f})" for took in (ever, cold, warm, again))
    print(f"| {size:,} | {similar:.2f} | {cells} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--cues", type=int, default=20)
    given = parser.parse_args()
    print("| memories | similarity alone, ms | first, ms (times as much) | cold | warm | again |")
    print("|---:|---:|---:|---:|---:|---:|")
    for size in given.sizes:
        measure(size, given.cues, TokenStates.of(CachedEmbedder(MiniLM(Settings().cache))))


if __name__ == "__main__":
    main()
