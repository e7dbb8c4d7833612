"""The product's recall as a ranking: the only module here that knows how recall is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from ..embedding import Embedder
from ..entry import MemoryEntry, Tier
from ..errors import InvalidParameter
from ..measures import Hybrid
from ..memory import Vectors
from ..presets import PRESETS
from ..query import Query
from ..recall import answer
from ..relevancy import TokenStates
from ..scoring import Measure, Scoring, Weights
from ..table import Table
from .metrics import DEPTH

COSINE, ALONE = "cosine", "hybrid alone"
"""Not presets of the product: the vectors alone, with which every preset has to compare, and hybrid relevancy without
recency and importance."""

SCORINGS: Mapping[str, Scoring] = MappingProxyType(
    {
        COSINE: Scoring(Weights(recency=0.0, importance=0.0, relevancy=1.0)),
        ALONE: Scoring(Weights(recency=0.0, importance=0.0, relevancy=1.0), measure=Measure.HYBRID),
    }
    | {name: preset.scoring for name, preset in PRESETS.items()}
)
"""What can be evaluated, by name. For unit vectors 1 / (1 + distance) grows with the cosine, so both rank alike."""


def checked(names: Sequence[str]) -> tuple[str, ...]:
    """These names of presets, each once; all of them if none is named.

    Raises:
        InvalidParameter: there is no such preset.
    """
    for name in names:
        if name not in SCORINGS:
            raise InvalidParameter(f"There is no preset {name!r:.60}; there are {', '.join(SCORINGS)}.")
    return tuple(dict.fromkeys(names)) or tuple(SCORINGS)


class Ranker(Protocol):
    """Whatever orders the memories that it holds by how well they answer a cue."""

    def put(self, entry: MemoryEntry, vector: Vectors) -> None:
        """Hold a memory, or hold it anew; ``vector`` has shape (d,) and unit length."""

    def drop(self, entry_id: str) -> None:
        """Hold a memory no longer; one that is not held is passed over."""

    def know(self, cue: str, vector: Vectors) -> None:
        """Take the vector of a cue, so that embedding is no part of ranking."""

    def rank(self, cue: str, now: datetime, preset: str) -> list[str]:
        """The ids of the best ``DEPTH`` memories for a cue asked at ``now``, best first."""


class TierRanker:
    """Ranks as the product recalls: one long-term tier in memory, no threshold, nothing touched."""

    def __init__(self, embedder: Embedder) -> None:
        self._hybrid = Hybrid(TokenStates.of(embedder))
        self._tables = {tier: Table() for tier in Tier}
        self._cues: dict[str, Vectors] = {}

    def put(self, entry: MemoryEntry, vector: Vectors) -> None:
        """Hold a memory, or hold it anew; ``vector`` has shape (d,) and unit length."""
        self._tables[Tier.LTM].put(entry, vector)

    def drop(self, entry_id: str) -> None:
        """Hold a memory no longer; one that is not held is passed over."""
        self._tables[Tier.LTM].drop(entry_id)

    def know(self, cue: str, vector: Vectors) -> None:
        """Take the vector of a cue, so that embedding is no part of ranking."""
        self._cues[cue] = vector

    def rank(self, cue: str, now: datetime, preset: str) -> list[str]:
        """The ids of the best ``DEPTH`` memories for a cue asked at ``now``, best first.

        Equal scores stand in the order of their ids, as in every answer of the product.
        """
        query = Query(cue, now, top_k=DEPTH, threshold=0.0, static_threshold=0.0, scoring=SCORINGS[preset])
        vector, hybrid = self._cues[cue], query.scoring.measure is Measure.HYBRID
        measured = self._hybrid.measure(query, vector, self._tables) if hybrid else None
        found = answer(query, vector, self._tables, "", explain=False, measured=measured)
        return [hit.entry.id for hit in found.hits]
