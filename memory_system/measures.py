"""Measures of relevancy beyond similarity, made ready for one query over an agent's tables."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from .embedding import Embedder
from .entry import Tier
from .memory import Vectors
from .query import Query
from .recall import Measured, Relevancy
from .relevancy import Cue, TokenStates, hybrid
from .table import Table

_KEPT = 12
"""Answers that are kept, a tier and cue each: who moves a slider asks the same one again and again."""

_Key = tuple[int, int, Cue]


class Hybrid:
    """Hybrid relevancy over tables that change; thread-safe, as far as the tables are held still.

    Args:
        embedder: whose token states are compared; without any, late interaction is left out.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._tokens = TokenStates.of(embedder)
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, Relevancy] = OrderedDict()

    def cue(self, query: Query, tables: Mapping[Tier, Table]) -> Cue:
        """How the cue of a query is read."""
        names = frozenset().union(*(table.texts.speakers for table in tables.values()))
        return Cue.read(query.cue, query.now, names)

    def measure(self, query: Query, vector: Vectors, tables: Mapping[Tier, Table]) -> Measured:
        """What answers the relevancies of a table and their parts, for one query.

        Args:
            query: what is asked.
            vector: the cue's, shape (d,).
            tables: one table a tier.

        Raises:
            EmbedderError: (when it is called) token states could not be computed.
        """
        cue = self.cue(query, tables)

        def measured(_tier: Tier, table: Table) -> Relevancy:
            key = (id(table), table.version, cue)
            with self._lock:
                held = self._kept.get(key)
            if held is None:
                found = hybrid(cue, table.relevancies(vector), table.texts, self._tokens)
                held = found.values, found.parts
                with self._lock:
                    self._kept[key] = held
                    while len(self._kept) > _KEPT:
                        self._kept.popitem(last=False)
            return held

        return measured
