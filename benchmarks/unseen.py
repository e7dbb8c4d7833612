"""Conversations lived by weights that never saw them: of relevancy, and of what migration keeps.

    python -m benchmarks.unseen ../shared/data/locomo

DATA are conversations in LoCoMo's form, or folders of them. Each is lived as in ``python -m memory_system evaluate``,
while the weights of hybrid relevancy and of retention are fitted on all other conversations.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from memory_system import Settings
from memory_system.embedding.embedder import CachedEmbedder, MiniLM
from memory_system.evaluation import weights
from memory_system.evaluation.lived import FACTS, NAMES, Life, Way, lived
from memory_system.evaluation.metrics import Floats
from memory_system.evaluation.sources import data_sets
from memory_system.operations import retention
from memory_system.recall.hybrid import mix

from .retention import Turns, fit, read

LIVES = (Life(Way.EVENTS, 20, {}, FACTS), Life(Way.EVENTS, 50, {}, FACTS), Life(Way.TALKS, 20, {}, FACTS))


@contextmanager
def weighed(relevancy: tuple[mix.Mix, mix.Mix], turns: Sequence[Turns]) -> Iterator[None]:
    """Recall by these weights, without and with token states, and migrate by those fitted to these turns."""
    first, full = relevancy
    intercept, found = fit(turns)
    signs = {
        name: replace(sign, weight=float(weight))
        for (name, sign), weight in zip(retention.SIGNS.items(), found, strict=True)
    }
    every = {**signs, **retention.BESIDE_THE_TEXT}
    with (
        patch.multiple(mix, FIRST=first, FULL=full),
        patch.multiple(retention, INTERCEPT=intercept, SIGNS=signs, _EVERY=every),
    ):
        yield


def main() -> None:
    """Print a line for each way of living, then one for each conversation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="conversations in LoCoMo's form")
    paths = parser.parse_args().data
    sets, turns = data_sets(paths), read(paths)
    if len(sets) != len(turns):
        sys.exit("All of the data must be conversations.")
    say = lambda line: print(line, file=sys.stderr)  # noqa: E731
    embedder = CachedEmbedder(MiniLM(Settings().cache), size=1_000_000)
    relevancy = weights.fitted_on_others(sets, embedder, say)
    found: list[list[Floats]] = [[] for _ in LIVES]
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(sets):
            with weighed(relevancy[data.name], [*turns[:number], *turns[number + 1 :]]):
                for life, values in zip(LIVES, found, strict=True):
                    values.append(lived(data, life, embedder, say, Path(folder, "tokens")).values)
    print(f"| told as | STM | of | {' | '.join(NAMES)} |\n|---|---:|---|{'---:|' * len(NAMES)}")
    for life, some in zip(LIVES, found, strict=True):
        for name, shares in (("all", np.concatenate(some)), *zip((one.name for one in sets), some, strict=True)):
            cells = (f"{100 * value:.1f}" for value in np.nanmean(shares, axis=0))
            print(f"| {life.way} | {life.stm_size} | {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
