"""Abstention: which questions get no answer from a conversation, at each threshold.

    python -m benchmarks.abstention ../shared/data/locomo

DATA are conversations in LoCoMo's form, or folders of them. Each is asked its own questions, for which evidence among
the first five has to pass; its adversarial ones, which ask one speaker for what the other said; the questions of the
other conversations, with the names of its speakers in place of theirs; and cues about nothing in it
(``tests/data/confidence.json``). Everything is measured with the defaults, lived through or not: nothing is forgotten.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_system import Settings
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation.data import DataSet, Question
from memory_system.evaluation.sources import data_sets
from memory_system.evaluation.threshold import asked, read_pairs
from memory_system.recall.hybrid import TokenStates
from memory_system.recall.hybrid.speakers import speaker_of

THRESHOLDS = (0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99)
UNRELATED = Path(__file__).parents[1] / "tests" / "data" / "confidence.json"
Shares = NDArray[np.float64]


def speakers(data: DataSet) -> list[str]:
    """Who speaks in a conversation, in alphabetical order."""
    return sorted({name for entry in data.entries if (name := speaker_of(entry.document)[0])})


def renamed(question: Question, theirs: Sequence[str], ours: Sequence[str]) -> Question:
    """A question about others, asked about these, that nothing answers."""
    cue = question.cue
    for name, other in zip(theirs, ours, strict=False):
        cue = re.sub(rf"\b{re.escape(name)}\b", other, cue)
    return replace(question, cue=cue, right=frozenset())


def curve(sets: Sequence[DataSet], embedder: CachedEmbedder, unrelated: Iterable[str]) -> dict[str, Shares]:
    """For each sort of question the shares, 0 to 1, at each of ``THRESHOLDS``: the first answered, the others not."""
    tokens = TokenStates.of(embedder)
    found: dict[str, list[float]] = {}
    for data in sets:
        ours, last = speakers(data), max(one.now for one in data.questions)
        foreign = [
            replace(renamed(one, speakers(other), ours), now=last)
            for other in sets
            if other is not data
            for one in other.questions
        ]
        sorts = {
            "answered by evidence": data.questions,
            "adversarial by nothing": data.unanswerable,
            "other conversations' by nothing": foreign,
            "unrelated by nothing": [Question(cue, last, frozenset()) for cue in unrelated],
        }
        for sort, questions in sorts.items():
            answers = asked(data, questions, embedder, tokens)
            for question, (hits, _) in zip(questions, answers, strict=True):
                wanted = [hit for hit in hits if not question.right or hit.entry.id in question.right]
                found.setdefault(sort, []).append(max((hit.score.passing for hit in wanted), default=0.0))
    steps = np.array(THRESHOLDS)[:, None]
    return {
        sort: (np.array(values) > steps if sort.startswith("answered") else np.array(values) <= steps).mean(axis=1)
        for sort, values in found.items()
    }


def main() -> None:
    """Print the curve as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="conversations in LoCoMo's form")
    sets = data_sets(parser.parse_args().data)
    embedder = CachedEmbedder(MiniLM(Settings().cache), size=1_000_000)
    found = curve(sets, embedder, read_pairs(UNRELATED).unrelated)
    print(f"| threshold | {' | '.join(found)} |", f"|---:|{'---:|' * len(found)}", sep="\n")
    for row, threshold in enumerate(THRESHOLDS):
        print(f"| {threshold:.2f} | {' | '.join(f'{100 * shares[row]:.0f}' for shares in found.values())} |")


if __name__ == "__main__":
    main()
