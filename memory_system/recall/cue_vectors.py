"""The vectors that represent cues in comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.memory import Vectors
from ..embedding.embedder import Embedder, words_too
from .hybrid.words import words


def cue_vectors(embedder: Embedder, cues: Sequence[str]) -> Vectors:
    """The vectors of cues, shape (n, d), of unit length.

    With an embedder that asks for it (``words_too``), a cue's vector lies half way between the cue's own and that of
    its significant words: it is then closer to memories, which are rarely questions.

    Raises:
        EmbedderError: the cues could not be embedded.
    """
    if not words_too(embedder):
        return embedder.embed(cues)
    counting = [" ".join(word.written for word in words(cue) if word.stem) or cue for cue in cues]
    vectors = embedder.embed([*cues, *counting])
    between = vectors[: len(cues)] + vectors[len(cues) :]
    unit: Vectors = between / np.maximum(np.linalg.norm(between, axis=1, keepdims=True), np.float32(1e-9))
    return unit
