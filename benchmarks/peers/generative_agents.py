"""Generative agents' retrieval, reimplemented from Park et al. 2023 (arXiv 2304.03442, section 4.1).

As the published program behaves: a Python loop over all nodes of the memory stream for each part; embeddings are lists
of floats, as they come from its JSON files; each part is brought to 0..1 by its minimum and maximum; the parts weigh
1, 1 and 1; what was retrieved counts as accessed. Recency decays by .995 an hour since the last access, as in the
paper. None of its code is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .corpus import TOP_K, Budget, Corpus

DECAY = 0.995
"""Recency's factor per hour."""


@dataclass
class Node:
    """One node of the memory stream: last accessed (Unix seconds), poignancy (1 to 10), embedding."""

    last_accessed: float
    poignancy: float
    embedding: list[float]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two embeddings, -1 to 1."""
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


def scaled(values: dict[int, float]) -> dict[int, float]:
    """Values brought to 0..1 by their minimum and maximum; all 0.5 if they are equal."""
    low, high = min(values.values()), max(values.values())
    if low == high:
        return dict.fromkeys(values, 0.5)
    return {key: (value - low) / (high - low) for key, value in values.items()}


def retrieve(nodes: Sequence[Node], focal: Sequence[float], now: float, count: int) -> list[int]:
    """The indices of the nodes with the highest sums of recency, importance and relevancy, best first; touches them."""
    recency: dict[int, float] = {}
    for index, node in enumerate(nodes):
        recency[index] = DECAY ** ((now - node.last_accessed) / 3600)
    importance: dict[int, float] = {}
    for index, node in enumerate(nodes):
        importance[index] = node.poignancy
    relevancy: dict[int, float] = {}
    for index, node in enumerate(nodes):
        relevancy[index] = cosine(node.embedding, focal)
    recency, importance, relevancy = scaled(recency), scaled(importance), scaled(relevancy)
    sums = {index: recency[index] + importance[index] + relevancy[index] for index in recency}
    best = sorted(sums, key=sums.__getitem__, reverse=True)[:count]
    for index in best:
        nodes[index].last_accessed = now
    return best


class Stream:
    """The memory stream of one agent."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        del folder
        self._corpus = corpus
        self._cues = corpus.cues.tolist()
        self._nodes: list[Node] = []
        for part in budget.batches(len(corpus), 1000):
            self._nodes += [
                Node(float(corpus.last_access[row]), 10 * float(corpus.importance[row]), corpus.vectors[row].tolist())
                for row in range(part.start, part.stop)
            ]

    def ask(self, number: int) -> list[int]:
        """Retrieve, and touch what was retrieved."""
        return retrieve(self._nodes, self._cues[number], self._corpus.now.timestamp(), TOP_K)

    def rows(self, number: int, answer: list[int]) -> list[int]:
        """Undo the touches."""
        del number
        for row in answer:
            self._nodes[row].last_accessed = float(self._corpus.last_access[row])
        return answer

    def close(self) -> None:
        """Nothing is open."""
