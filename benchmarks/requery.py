"""What a second round adds: recall and the seats filled, by threshold, top-k and how many hits become cues.

    python -m benchmarks.requery ../shared/data [--every 2]

Prints the table of relevancy.md: all data sets of a form together, ranked by the default preset.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from memory_system import Query, Settings
from memory_system.core.presets import DEFAULT
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation.data import DataSet
from memory_system.evaluation.metrics import recall_at
from memory_system.evaluation.sources import data_sets
from memory_system.evaluation.trial import TierRanker, embedded, in_their_time, know_cues

ROUNDS = (0, 1, 3, 10)
ASKED = ((0.4, 5), (0.4, 10), (0.8, 10))
"""Thresholds, each with a top-k."""


def measured(data: DataSet, embedder: CachedEmbedder, every: int) -> np.ndarray:
    """Recall and filled seats of every ``every``-th question, shape (questions, thresholds, rounds, 2)."""
    ranker, rows = TierRanker(embedder), []
    vectors = embedded(data, embedder, lambda line: print(line, file=sys.stderr))
    know_cues(data, ranker, embedder)
    for row, question in in_their_time(data, ranker, vectors):
        if row % every or not question.right:
            continue
        found = []
        for threshold, top_k in ASKED:
            for rounds in ROUNDS:
                query = Query(question.cue, question.now, top_k, threshold, scoring=DEFAULT.scoring, requery=rounds)
                ids = ranker.answered(query)
                found.append((recall_at(top_k, ids, question.right), len(ids)))
        rows.append(np.reshape(found, (len(ASKED), len(ROUNDS), 2)))
    return np.array(rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask each so-manieth question only")
    given = parser.parse_args()
    embedder = CachedEmbedder(MiniLM(Settings().cache), size=1_000_000)
    sets = data_sets(given.data)
    print("| set | n | threshold | top-k | " + " | ".join(f"`requery={rounds}`" for rounds in ROUNDS) + " |")
    print("|---|" + "---:|" * (3 + len(ROUNDS)))
    for form in dict.fromkeys(one.form for one in sets):
        values = np.concatenate([measured(one, embedder, given.every) for one in sets if one.form is form])
        for (threshold, top_k), row in zip(ASKED, values.mean(axis=0), strict=True):
            cells = " | ".join(f"{100 * recall:.1f} ({seats:.1f})" for recall, seats in row)
            print(f"| {form} | {len(values)} | {threshold:g} | {top_k} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
