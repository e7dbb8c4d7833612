"""What all systems contain and are asked: synthetic memories like MiniLM's, cues, and the plain answer to each cue."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

WIDTH = 384
TOPICS = 200
WEEKS = 6
TOP_K = 5
WEIGHTS = (0.25, 0.25, 1.0)
"""Recency, importance, relevancy: the preset ``classic``."""
DECAY = 0.99
FRESH = 3600.0
_BLOCK = 50_000

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Corpus:
    """n memories and c cues. All systems get these vectors, and none embeds anything itself.

    Args:
        vectors: shape (n, 384), of unit length.
        importance: shape (n,), 0.1 to 1 in steps of 0.1.
        last_access: shape (n,), Unix seconds, whole ones.
        now: the time at which all cues are asked.
        cues: shape (c, 384), of unit length.
    """

    vectors: Vectors
    importance: Floats
    last_access: Floats
    now: datetime
    cues: Vectors
    texts: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    """The row of each text."""

    def __post_init__(self) -> None:
        self.texts.extend(f"note {row} of what was seen and said" for row in range(len(self.vectors)))
        self.rows.update((text, row) for row, text in enumerate(self.texts))

    def __len__(self) -> int:
        return len(self.vectors)

    def cue(self, number: int) -> str:
        """The text of a cue."""
        return f"what was seen and said of matter {number}"

    def vector(self, text: str) -> Vectors:
        """The vector of a memory's or a cue's text, shape (384,)."""
        row = self.rows.get(text)
        vector: Vectors = self.cues[int(text.rsplit(" ", 1)[1])] if row is None else self.vectors[row]
        return vector


def made(count: int, cues: int, *, seed: int = 4) -> Corpus:
    """Memories of 200 topics with noise, and cues near topics; the same ones in each run, ages included.

    Spectrum and cosines are based on MiniLM's on 2,760 real turns of conversation (LoCoMo): some 52 of 384 directions
    carry most of the variance, a cue has a mean cosine of .12 (there .14) to all and .52 (there .62) to the nearest
    memory.
    """
    chance = np.random.default_rng(seed)
    scale = np.sqrt((np.arange(WIDTH) + 6.0) ** -1.3)
    scale /= np.linalg.norm(scale)
    topics = chance.standard_normal((TOPICS, WIDTH)) * scale * 0.5
    common = np.zeros(WIDTH)
    common[-1] = 0.5  # what all texts share
    asked = common / 2 + topics[chance.integers(TOPICS, size=cues)]
    asked += chance.standard_normal((cues, WIDTH)) * scale * 0.8
    vectors = np.empty((count, WIDTH), np.float32)
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        block = common + topics[chance.integers(TOPICS, size=size)]
        block += chance.standard_normal((size, WIDTH)) * scale * 0.8
        vectors[start : start + size] = block / np.linalg.norm(block, axis=1, keepdims=True)
    importance = (chance.integers(1, 11, size=count) / 10).astype(np.float64)
    now = datetime.now(UTC).replace(microsecond=0)  # LangChain's retriever reads the real clock
    ages = chance.integers(0, WEEKS * 7 * 86_400, size=count)
    units = (asked / np.linalg.norm(asked, axis=1, keepdims=True)).astype(np.float32)
    return Corpus(vectors, importance, (now.timestamp() - ages).astype(np.float64), now, units)


def exact(corpus: Corpus, top_k: int = TOP_K) -> list[list[int]]:
    """The rows of the highest scores for each cue, best first: everything in float64, nothing left out."""
    seconds = corpus.now.timestamp() - corpus.last_access
    recency = np.where(seconds <= FRESH, 1.0, DECAY ** (np.maximum(seconds, 0.0) / 3600.0))
    fixed = WEIGHTS[0] * recency + WEIGHTS[1] * corpus.importance
    cues = corpus.cues.astype(np.float64)
    best: list[list[tuple[float, int]]] = [[] for _ in cues]
    for start in range(0, len(corpus), _BLOCK):
        block = corpus.vectors[start : start + _BLOCK].astype(np.float64)
        squares = (block**2).sum(axis=1)
        for number, cue in enumerate(cues):
            distance = np.maximum(squares - 2.0 * (block @ cue) + cue @ cue, 0.0)
            scores = fixed[start : start + len(block)] + WEIGHTS[2] / (1.0 + distance)
            rows = np.argsort(-scores, kind="stable")[:top_k]
            merged = best[number] + [(-float(scores[row]), start + int(row)) for row in rows]
            best[number] = sorted(merged)[:top_k]
    return [[row for _, row in found] for found in best]


def share(found: Sequence[int], right: Sequence[int]) -> float:
    """How much of the exact answer was found, 0 to 1; the order does not count."""
    return len(set(found) & set(right)) / len(right) if right else 1.0


class TooSlow(Exception):
    """A system was not filled within its budget."""


class Budget:
    """Seconds that filling one system may take."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.perf_counter()

    def batches(self, count: int, size: int) -> Iterator[slice]:
        """Slices that cover ``count`` rows, for as long as there is time.

        Raises:
            TooSlow: the time is up, or a fifth of it shows that it cannot suffice.
        """
        for start in range(0, count, size):
            took = time.perf_counter() - self._started
            whole = took * count / start if start else 0.0
            if whole and (took > self.seconds or (took > self.seconds / 5 and whole > 2 * self.seconds)):
                raise TooSlow(
                    f"skipped: filling would take over {self.seconds:.0f} s "
                    f"({start:,} of {count:,} in {took:.0f} s, about {math.ceil(whole / 60)} minutes for all)"
                )
            yield slice(start, min(start + size, count))
