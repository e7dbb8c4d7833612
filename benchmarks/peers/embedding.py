"""Embedding: ours singly, in batches and cached, compared with Chroma's default embedding function singly."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

from chromadb.api.types import DefaultEmbeddingFunction
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from benchmarks.memory import chromas_own, milliseconds, texts
from memory_system import Settings
from memory_system.embedding.embedder import CachedEmbedder, MiniLM

BATCH = 32
TARGET = 10.0
"""How many times faster than Chroma's default embedding function ours should be, singly."""
_OURS = "MiniLM (ours), one text"
_THEIRS = "Chroma's default embedding function, one text"


def measured(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Milliseconds per text, by what embeds it, in turns; the first round is not counted.

    Chroma's default function loads its model again at each call. The same function kept open, which Chroma does not
    do by itself, is also measured.

    Args:
        folder: an empty folder for Chroma's model: its own code with the same weights, instead of a download.
        rounds: how many texts are embedded singly by each, and how many batches of 32.
    """
    cache = Settings().cache
    ours, kept = MiniLM(cache), chromas_own(folder, cache)
    ONNXMiniLM_L6_V2.DOWNLOAD_PATH = folder  # where the default function looks too
    default, cached = DefaultEmbeddingFunction(), CachedEmbedder(ours)
    documents = texts((rounds + 1) * (BATCH + 1))
    took: dict[str, list[float]] = {}
    for turn in range(rounds + 1):
        text = [documents[turn]]
        batch = documents[rounds + 1 + turn * BATCH :][:BATCH]
        cached.embed(text)
        acts: dict[str, tuple[Callable[[], object], int]] = {
            _OURS: (partial(ours.embed, text), 1),
            f"MiniLM (ours), one of {BATCH}": (partial(ours.embed, batch), BATCH),
            "a cached cue (ours)": (partial(cached.embed, text), 1),
            _THEIRS: (partial(default, text), 1),
            "the same kept open, one text": (partial(kept, text), 1),
        }
        for name, (act, many) in acts.items():
            one = milliseconds(act) / many
            if turn:
                took.setdefault(name, []).append(one)
    return took


def table(took: dict[str, list[float]]) -> list[str]:
    """Markdown lines: medians, and how many times as fast as Chroma's default function each is."""
    theirs = statistics.median(took[_THEIRS])
    lines = ["| embedding | median ms a text | times as fast as Chroma's | at least |", "|---|---:|---:|---:|"]
    for name, values in took.items():
        middle = statistics.median(values)
        ratio = theirs / middle
        wanted = "" if name != _OURS else f"{TARGET:.0f}" + (" (missed)" if ratio < TARGET else "")
        lines.append(f"| {name} | {middle:.3f} | {ratio:,.1f} | {wanted} |")
    return lines
