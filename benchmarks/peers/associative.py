"""Concordia's associative memory (gdm-concordia): a pandas table, and a cosine for each row in a lambda."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from concordia.associative_memory.basic_associative_memory import (  # type: ignore[import-not-found,unused-ignore]
    AssociativeMemoryBank,
)

from .corpus import TOP_K, Budget, Corpus, Vectors

MOST_ADDED = 10_000
"""Up to here ``extend`` fills it. It copies the whole table for each memory, so beyond it the table is set directly to
what ``add`` would have made."""


class Concordia:
    """A memory bank asked with ``retrieve_associative``."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        del folder
        self._corpus = corpus
        self._bank = AssociativeMemoryBank(sentence_embedder=self._embed)
        if len(corpus) <= MOST_ADDED:
            for part in budget.batches(len(corpus), 500):
                self._bank.extend(corpus.texts[part])
        else:
            rows = {"text": corpus.texts, "embedding": [self._embed(text) for text in corpus.texts]}
            self._bank._memory_bank = pd.DataFrame(rows, dtype=object)

    def _embed(self, text: str) -> Vectors:
        """A separate array for each text, as embedders return it."""
        return self._corpus.vector(text).copy()

    def ask(self, number: int) -> Sequence[str]:
        """Texts, the nearest first; it has neither recency nor importance."""
        answer: Sequence[str] = self._bank.retrieve_associative(self._corpus.cue(number), k=TOP_K)
        return answer

    def rows(self, number: int, answer: Sequence[str]) -> list[int]:
        """Nothing was touched."""
        del number
        return [self._corpus.rows[text] for text in answer]

    def close(self) -> None:
        """Nothing is open."""
