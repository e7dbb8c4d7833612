"""Asking: one state of the memory, put the same question to again and again in other words, weights and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .entry import Tier
from .memory import Vectors
from .query import Query
from .recall import Explanation, Measured, Recall, answer
from .table import Table
from .what_if import WhatIf


def _by_similarity(_query: Query, _cue: Vectors) -> None:
    """What every measure is without anything beside the vectors."""


@dataclass(frozen=True, eq=False)
class Asker:
    """Asks tables that are held still, and touches nothing.

    Args:
        tables: one table a tier.
        vectors: the vector of every cue that will be asked, shape (d,).
        agent: the name used in the context text.
        measure: how relevancy is measured for a query, where it is not by similarity.
    """

    tables: Mapping[Tier, Table]
    vectors: Mapping[str, Vectors]
    agent: str
    measure: Callable[[Query, Vectors], Measured | None] = _by_similarity

    def answer(self, query: Query, what_if: WhatIf | None = None) -> Recall:
        """What a query recalls, or would if a memory were rated otherwise."""
        cue = self.vectors[query.cue]
        measured = self.measure(query, cue)
        return answer(query, cue, self.tables, self.agent, explain=False, measured=measured, what_if=what_if)

    def explain(self, query: Query) -> Explanation:
        """Every memory with its verdict."""
        cue = self.vectors[query.cue]
        return answer(query, cue, self.tables, self.agent, explain=True, measured=self.measure(query, cue))
