"""Our side: everything that this benchmark knows of the product's recall is in this module."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import agent
from memory_system import MemoryEntry, Query, Scoring, Tier, Weights
from memory_system.recall.rank import Recall as Answer
from memory_system.recall.rank import answer
from memory_system.recall.sieve import SIEVED_FROM
from memory_system.recall.table import Table

from .corpus import DECAY, TOP_K, WEIGHTS, WIDTH, Budget, Corpus, Vectors

_SCORING = Scoring(Weights(*WEIGHTS), DECAY)


def entry(corpus: Corpus, row: int, tier: Tier) -> MemoryEntry:
    """A row of the corpus as a memory; its id is the row."""
    return MemoryEntry(
        corpus.texts[row],
        id=str(row),
        tier=tier,
        rating=round(10 * corpus.importance[row]),
        timestamp=datetime.fromtimestamp(corpus.last_access[row], UTC),
    )


class Recall:
    """``rank.answer`` over tables in this process: what a query costs once the cue's vector is known."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        del folder
        self._corpus = corpus
        self._tables = {tier: Table() for tier in Tier}
        for part in budget.batches(len(corpus), 1000):
            for row in range(part.start, part.stop):
                self._tables[Tier.LTM].put(entry(corpus, row, Tier.LTM), corpus.vectors[row])
        for number in range(200 if len(corpus) >= SIEVED_FROM else 0):  # each question computes more of the bounds
            self.ask(number % len(corpus.cues))

    def ask(self, number: int) -> Answer:
        """The query is made again each time, as a caller would."""
        corpus = self._corpus
        query = Query(corpus.cue(number), corpus.now, top_k=TOP_K, threshold=0.0, scoring=_SCORING)
        return answer(query, corpus.cues[number], self._tables, "Bench", explain=False)

    def rows(self, number: int, answer: Answer) -> list[int]:
        """Nothing was touched."""
        del number
        return [int(hit.entry.id) for hit in answer]

    def close(self) -> None:
        """Nothing is open."""


class _Known:
    """An embedder that knows all vectors already: for the cost of a cue that was asked before."""

    identity = "benchmark"

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, 384); of a text that is not the corpus's, such as the personality, one across all."""
        vectors = [self._vector(text) for text in texts]
        return np.stack(vectors) if vectors else np.zeros((0, WIDTH), np.float32)

    def _vector(self, text: str) -> Vectors:
        try:
            return self._corpus.vector(text)
        except (ValueError, IndexError):
            across = np.zeros(WIDTH, np.float32)
            across[0] = 1.0
            return across


class Agent:
    """``AgentMemory.query_memory`` with its journal, store and touches, as a game calls it."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        self._corpus = corpus
        self._agent = agent(folder, _Known(corpus))
        try:
            for part in budget.batches(len(corpus), 500):
                events = [entry(corpus, row, Tier.STM) for row in range(part.start, part.stop)]
                self._agent.add_short_term(events, rate=False, now=corpus.now)
            self._agent.contents.context.owner().settle()  # the store's later work would count as a query's
            untouched = [self._asked(number, touch=False) for number in range(len(corpus.cues))]
        except BaseException:
            self.close()
            raise
        self._rows = [[int(hit.entry.id) for hit in found] for found in untouched]

    def _asked(self, number: int, *, touch: bool) -> Any:
        return self._agent.query_memory(
            self._corpus.cue(number),
            TOP_K,
            0.0,
            now=self._corpus.now,
            static_threshold=1.0,
            scoring=_SCORING,
            touch=touch,
        )

    def ask(self, number: int) -> Any:
        """Touches what it recalls, as queries do by default."""
        return self._asked(number, touch=True)

    def rows(self, number: int, answer: Any) -> list[int]:
        """What was recalled before the first touch: touches change later answers, as they should."""
        del answer
        return self._rows[number]

    def close(self) -> None:
        """Close the agent's files."""
        self._agent.close()
