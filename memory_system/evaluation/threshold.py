"""Threshold: how many cues are answered, and how many that nothing answers are answered by nothing, at each threshold.

A file of the form ``{"paraphrases": [{"memory", "cue"}], "unrelated": [cues]}``: every cue is asked of all its memories
together, a day after they happened, each of middling importance, by the preset ``balanced``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from ..core.entry import MemoryEntry, Tier
from ..core.files import read_at_most
from ..core.presets import DEFAULT
from ..core.scoring import Floats
from ..embedding.embedder import Embedder
from ..errors import InvalidFile, Problem
from ..recall.hybrid import TokenStates
from ..recall.measures import Hybrid
from ..recall.query import Query
from ..recall.rank import answer
from ..recall.table import Table
from .data import UNRATED
from .forms import MAX_FILE

_NOW = datetime(2026, 3, 27, 18, 0, tzinfo=UTC)
STEPS = tuple(step / 100 for step in range(10, 61, 5))
_SEATS = 5


@dataclass(frozen=True)
class Pairs:
    """Memories with a cue each that asks for it in other words, and cues that none of them answers."""

    memories: tuple[str, ...]
    cues: tuple[str, ...]
    unrelated: tuple[str, ...]


@dataclass(frozen=True)
class Point:
    """What a threshold does, each a share from 0 to 1.

    Args:
        threshold: the score to exceed.
        answered: of the paraphrases, whose memory is among the first five and above it.
        nothing: of the unrelated cues, which are answered by nothing.
    """

    threshold: float
    answered: float
    nothing: float


def read_pairs(path: Path) -> Pairs:
    """The pairs of a file.

    Raises:
        InvalidFile: it cannot be read, or is not of that form.
    """
    try:
        told = json.loads(read_at_most(path, MAX_FILE))
        pairs = [(one["memory"], one["cue"]) for one in told["paraphrases"]]
        found = Pairs(tuple(memory for memory, _ in pairs), tuple(cue for _, cue in pairs), tuple(told["unrelated"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = Problem(
            "", f'it is not of the form {{"paraphrases": [{{"memory", "cue"}}], "unrelated": []}}: {error}'
        )
        raise InvalidFile((problem,), str(path)) from error
    texts = (*found.memories, *found.cues, *found.unrelated)
    if not found.memories or not found.unrelated or not all(isinstance(one, str) and one.strip() for one in texts):
        raise InvalidFile((Problem("", "it must hold paraphrases and unrelated cues, none of them empty"),), str(path))
    return found


def curve(pairs: Pairs, embedder: Embedder, thresholds: Sequence[float] = STEPS) -> list[Point]:
    """What each threshold does.

    Raises:
        EmbedderError: texts could not be embedded.
    """
    tables = {tier: Table() for tier in Tier}
    happened = _NOW - timedelta(days=1)
    for number, (text, vector) in enumerate(zip(pairs.memories, embedder.embed(pairs.memories), strict=True)):
        entry = MemoryEntry(text, id=f"{number:06}", tier=Tier.LTM, timestamp=happened, rating=UNRATED)
        tables[Tier.LTM].put(entry, vector)
    hybrid = Hybrid(TokenStates.of(embedder))

    def hits(cue: str) -> dict[str, float]:
        query = Query(cue, _NOW, top_k=_SEATS, threshold=0.0, scoring=DEFAULT.scoring)
        (vector,) = embedder.embed([cue])
        found = answer(query, vector, tables, "", explain=False, measured=hybrid.measure(query, vector, tables))
        return {hit.entry.id: hit.score.total for hit in found.hits}

    own: Floats = np.array([hits(cue).get(f"{number:06}", -np.inf) for number, cue in enumerate(pairs.cues)])
    best: Floats = np.array([max(hits(cue).values(), default=-np.inf) for cue in pairs.unrelated])
    return [Point(one, float((own > one).mean()), float((best <= one).mean())) for one in thresholds]


def as_markdown(points: Sequence[Point]) -> str:
    """A table in per cent."""
    rows = [f"| {one.threshold:.2f} | {100 * one.answered:.0f} | {100 * one.nothing:.0f} |" for one in points]
    return "\n".join(
        ["| threshold | paraphrases answered | unrelated answered by nothing |", "|---:|---:|---:|", *rows, ""]
    )
