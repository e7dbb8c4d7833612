"""Floors: the products of all vectors with a cue and nothing else. No score, no ranking, no entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .corpus import Budget, Corpus

_BLOCK = 512
"""How many rows numpy's int8 scan widens at a time: the copy then stays in the processor's nearest cache."""


class _Scan:
    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        del folder, budget
        self._corpus = corpus

    def rows(self, number: int, answer: Any) -> None:
        """Nothing is ranked."""

    def close(self) -> None:
        """Nothing is open."""


class Float32(_Scan):
    """One float32 matrix product."""

    def ask(self, number: int) -> Any:
        """All dot products, shape (n,)."""
        return self._corpus.vectors @ self._corpus.cues[number]


class Int8(_Scan):
    """numpy alone: it has no fast int8 product, so blocks are widened to float32 and multiplied there."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        super().__init__(corpus, folder, budget)
        self._bytes, self._cues = as_int8(corpus.vectors), as_int8(corpus.cues)
        self._wide = np.empty((_BLOCK, corpus.vectors.shape[1]), np.float32)
        self._products = np.empty(len(corpus), np.float32)

    def ask(self, number: int) -> Any:
        """All dot products, shape (n,)."""
        cue = self._cues[number].astype(np.float32)
        for start in range(0, len(self._bytes), _BLOCK):
            block = self._bytes[start : start + _BLOCK]
            wide = self._wide[: len(block)]
            wide[...] = block
            np.dot(wide, cue, out=self._products[start : start + len(block)])
        return self._products


class Simd(_Scan):
    """simsimd's int8 product, the fastest available for one thread."""

    def __init__(self, corpus: Corpus, folder: Path, budget: Budget) -> None:
        import simsimd  # type: ignore[import-not-found,unused-ignore]

        super().__init__(corpus, folder, budget)
        self._bytes, self._cues, self._cdist = as_int8(corpus.vectors), as_int8(corpus.cues), simsimd.cdist

    def ask(self, number: int) -> Any:
        """All dot products, shape (1, n)."""
        return np.asarray(self._cdist(self._cues[number : number + 1], self._bytes, "dot", out_dtype="f32"))


def as_int8(vectors: Any) -> Any:
    """Each row scaled so that its largest number is 127, rounded; shape and order stay."""
    scaled = np.empty(vectors.shape, np.int8)
    for start in range(0, len(vectors), 20_000):
        block = vectors[start : start + 20_000]
        scaled[start : start + 20_000] = np.rint(block * (127 / np.abs(block).max(axis=1, keepdims=True)))
    return scaled
