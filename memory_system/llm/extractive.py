"""The most significant of many sentences, by LexRank and MMR over embedding vectors; and how to quote them.

LexRank: Erkan and Radev 2004 (arXiv 1109.2128, section 3.2). MMR: Carbonell and Goldstein 1998, section 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.memory import Vectors

_SIMILAR = 0.2
_DAMPING = 0.85
_ROUNDS = 100


def centrality(vectors: Vectors) -> NDArray[np.float64]:
    """How central each text is among all: shape (n,), 0 to 1, the most central 1.

    Args:
        vectors: shape (n, d), n at least 1, of unit length.
    """
    similar = np.clip((vectors @ vectors.T).astype(np.float64), 0, 1)
    similar[similar < _SIMILAR] = 0
    np.fill_diagonal(similar, 1)
    step = similar / similar.sum(axis=1, keepdims=True)
    rank = np.full(len(vectors), 1 / len(vectors))
    for _ in range(_ROUNDS):
        rank = (1 - _DAMPING) / len(vectors) + _DAMPING * (step.T @ rank)
    central: NDArray[np.float64] = rank / rank.max()
    return central


def choose(vectors: Vectors, worth: NDArray[np.float64], count: int, *, balance: float = 0.7) -> list[int]:
    """The rows that are worth most without repetition, in the order in which they were chosen.

    Args:
        vectors: shape (n, d), of unit length.
        worth: shape (n,), 0 to 1.
        count: how many, at most.
        balance: 1 considers worth alone, 0 difference alone.
    """
    chosen: list[int] = []
    closest = np.zeros(len(vectors))
    while len(chosen) < min(count, len(vectors)):
        gain = balance * worth - (1 - balance) * closest
        gain[chosen] = -np.inf
        best = int(np.argmax(gain))
        chosen.append(best)
        closest = np.maximum(closest, vectors @ vectors[best])
    return chosen


def quote(text: str) -> str:
    """The text in quotation marks, on one line; those inside become single ones, and a long text is cut."""
    return f"“{short(text).rstrip('.').replace('“', '‘').replace('”', '’')}”"


def short(text: str, most: int = 220) -> str:
    """The text on one line, cut after ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
