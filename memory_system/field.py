"""Field: who a memory competes with, so that it can be foreseen whether another query recalls it without asking it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .candidates import Candidates
from .entry import Tier
from .query import Query
from .recall import seats_of
from .scoring import Floats, Weights
from .verdicts import VERDICTS, Verdict

_FILTERED = VERDICTS.index(Verdict.FILTERED_OUT)


class Field:
    """One memory among all candidates of an explanation.

    It foresees the first round of queries that have the same cue, time, facets, decay and measure.

    Args:
        candidates: every candidate.
        entry_id: the memory, which is one of them.
    """

    def __init__(self, candidates: Candidates, entry_id: str) -> None:
        self._tiers = candidates.tiers
        self._own = next(judged for judged in self._tiers if entry_id in judged.ids)
        self._row = self._own.ids.index(entry_id)
        self._ranked: tuple[Weights, dict[Tier, Floats], int] | None = None

    def recalls(self, query: Query) -> bool:
        """Whether the first round of a query recalls the memory."""
        totals, rank = self._under(query.scoring.weights)
        if not totals[self._own.tier][self._row] > query.threshold_of(self._own.tier):
            return False
        above = {
            tier: min(int(np.count_nonzero(scores > query.threshold_of(tier))), query.top_k)
            for tier, scores in totals.items()
        }
        seats = seats_of(query, above[Tier.STATIC], above[Tier.STM], above[Tier.LTM])
        return rank <= seats[self._own.tier]

    def _under(self, weights: Weights) -> tuple[dict[Tier, Floats], int]:
        """The scores of every tier, NaN for what cannot be found, and the memory's rank in its tier."""
        if self._ranked is None or self._ranked[0] != weights:
            totals = {
                judged.tier: np.where(
                    judged.verdicts == _FILTERED, np.nan, replace(judged.parts, weights=weights).totals
                )
                for judged in self._tiers
            }
            scores = totals[self._own.tier]
            own = scores[self._row]
            name = self._own.ids[self._row]
            equal = sum(self._own.ids[row] < name for row in np.flatnonzero(scores == own).tolist())
            self._ranked = weights, totals, int(np.count_nonzero(scores > own)) + equal + 1
        return self._ranked[1], self._ranked[2]
