"""An encoder for tests of relevancy: one token per word, with a state that depends only on the word's letters."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from memory_system.embedding.embedder import States
from memory_system.recall.hybrid.words import words

WIDTH = 64


class WordStates:
    """Equal words have equal states, others nearly none in common; ``asked`` lists what was encoded."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> list[States]:
        self.asked.append(list(texts))
        return [self._states(text) for text in texts]

    def _states(self, text: str) -> States:
        found = list(words(text))[:254]
        spans = np.array([(word.start, word.end) for word in found], np.int32).reshape(-1, 2)
        vectors = np.array([_direction(word.stem or word.plain) for word in found], np.float32)
        return States(tuple(word.plain for word in found), spans, vectors.reshape(-1, WIDTH))


def _direction(word: str) -> np.ndarray:
    made = np.random.default_rng(zlib.crc32(word.encode("utf-8", "surrogatepass"))).normal(size=WIDTH)
    return made / np.linalg.norm(made)
