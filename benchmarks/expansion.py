"""What asking by instances adds: recall with a scripted expansion of each question, or with a language model's.

    python -m benchmarks.expansion ../shared/data/locomo [--model] [--answers FILE] [--only multi-hop] [--every 2]

The script (``instances.py``) reads the question alone. ``--model`` asks the small language model of the tests instead
(``requirements-model.txt``), which needs a second or more per question; ``--answers`` reads another model's answers, a
line of JSON ``{"cue", "instances"}`` for each question that it expands. Prints the table of relevancy.md: every
category of the questions of all data sets together, ranked by the default preset.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from memory_system import Query, Settings
from memory_system.core.presets import DEFAULT
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.errors import ModelError
from memory_system.evaluation.data import DataSet
from memory_system.evaluation.metrics import recall_at
from memory_system.evaluation.sources import data_sets
from memory_system.evaluation.trial import TierRanker, embedded, in_their_time, know_cues
from memory_system.llm.openai.model import OpenAIModel
from memory_system.llm.tasks import expand
from memory_system.recall.cue_vectors import cue_vectors

from .instances import scripted

MOST = (3, 5, 10)
"""The most instances of a question that are asked."""
DEPTHS = (5, 10)
TOKENS = 200
Expanding = Callable[[str, int], tuple[str, ...]]


@contextmanager
def modelled() -> Iterator[Expanding]:
    """The small model of the tests, as a way to expand a cue."""
    from tests.small_model import KEY, small_model

    held: dict[str, tuple[str, ...]] = {}
    with small_model(TOKENS) as address:
        model = OpenAIModel(model="smollm2", key=KEY, base_url=address, deadline=300.0)

        def asked(cue: str, most: int) -> tuple[str, ...]:
            if cue not in held:
                try:
                    held[cue] = tuple(model.complete(expand("somebody", cue, max(MOST))).answer.instances)
                except ModelError as error:
                    print(f"{cue}: {error}", file=sys.stderr)
                    held[cue] = ()
                print(f"{cue}: {held[cue]}", file=sys.stderr, flush=True)
            return held[cue][:most]

        yield asked


def answers(path: Path) -> Expanding:
    """Answers of another model from a file, as a way to expand a cue."""
    told = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    held = {one["cue"]: tuple(one["instances"]) for one in told}
    return lambda cue, most: held.get(cue, ())[:most]


def measured(
    data: DataSet, embedder: CachedEmbedder, expanding: Expanding, every: int, only: str
) -> Iterator[tuple[str, int, list[float]]]:
    """For each question, its category, how many instances it has, and its recall: alone, then with each of ``MOST``."""
    ranker = TierRanker(embedder)
    vectors = embedded(data, embedder, lambda line: print(line, file=sys.stderr))
    know_cues(data, ranker, embedder)
    for row, question in in_their_time(data, ranker, vectors):
        if row % every or not question.right or (only and question.category != only):
            continue
        instances = expanding(question.cue, max(MOST))
        for one in instances:
            ranker.know(one, cue_vectors(embedder, [one])[0])
        found = []
        for most in (0, *MOST) if instances else (0,):
            for depth in DEPTHS:
                query = Query(question.cue, question.now, depth, 0.4, scoring=DEFAULT.scoring)
                ids = ranker.answered(replace(query, instances=instances[:most]))
                found.append(recall_at(depth, ids, question.right))
        found = found if instances else found * (1 + len(MOST))
        yield question.category, len(instances), found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--model", action="store_true", help="the small language model in place of the script")
    parser.add_argument("--answers", type=Path, help="what another model answered, in place of the script")
    parser.add_argument("--only", default="", help="only the questions of this category")
    parser.add_argument("--every", type=int, default=1, help="ask each so-manieth question only")
    given = parser.parse_args()
    embedder = CachedEmbedder(MiniLM(Settings().cache), size=1_000_000)
    elsewhere = answers(given.answers) if given.answers else scripted
    with modelled() if given.model else nullcontext(elsewhere) as expanding:
        rows = [
            row
            for data in data_sets(given.data)
            for row in measured(data, embedder, expanding, given.every, given.only)
        ]
    print("| questions | n | expanded | alone | " + " | ".join(f"at most {most}" for most in MOST) + " |")
    print("|---|" + "---:|" * (3 + len(MOST)))
    for category in sorted({category for category, _, _ in rows}):
        own = [row for row in rows if row[0] == category]
        values = 100 * np.array([found for _, _, found in own]).mean(axis=0).reshape(-1, len(DEPTHS))
        cells = " | ".join(" / ".join(f"{value:.1f}" for value in pair) for pair in values)
        print(f"| {category} | {len(own)} | {sum(count > 0 for _, count, _ in own)} | {cells} |")


if __name__ == "__main__":
    main()
