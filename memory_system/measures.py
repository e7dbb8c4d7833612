"""Measures of relevancy beyond similarity, made ready for one query over an agent's tables."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from . import relevancy
from .entry import Tier
from .memory import Vectors
from .query import Query
from .recall import Measured, Relevancy
from .relevancy import Cue, Evidence, TokenStates, evidence, hybrid
from .table import Table

_KEPT = 32
"""Answers that are kept, a tier and cue each: who moves a slider, or asks every minute, asks the same ones again."""

_Key = tuple[int, int, Cue]


class Hybrid:
    """Hybrid relevancy over tables that change; thread-safe, as far as the tables are held still.

    Args:
        tokens: the token states that are compared; where there are none, late interaction is left out.
    """

    def __init__(self, tokens: TokenStates) -> None:
        self._tokens = tokens
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, relevancy.Relevancy] = OrderedDict()

    def measure(self, query: Query, vector: Vectors, tables: Mapping[Tier, Table]) -> Measured:
        """What answers the relevancies of a table and their parts, for one query.

        Args:
            query: what is asked.
            vector: the cue's, shape (d,).
            tables: one table a tier.

        Raises:
            EmbedderError: (when it is called) token states could not be computed.
        """
        cue = _read(query, tables)

        def measured(_tier: Tier, table: Table) -> Relevancy:
            found = self._found(cue, vector, table)
            return found.values, found.parts

        return measured

    def evidence(self, query: Query, vector: Vectors, tables: Mapping[Tier, Table], entry_id: str) -> Evidence | None:
        """Which words, tokens, names and times of a memory met the cue; ``None`` for one that is not held.

        Raises:
            EmbedderError: token states could not be computed.
        """
        cue = _read(query, tables)
        for table in tables.values():
            row = table.row(entry_id)
            if row is not None:
                return evidence(cue, row, table.texts, self._tokens, pool=self._found(cue, vector, table).pool)
        return None

    def _found(self, cue: Cue, vector: Vectors, table: Table) -> relevancy.Relevancy:
        key = (id(table), table.version, cue)
        with self._lock:
            held = self._kept.get(key)
            if held is not None:
                self._kept.move_to_end(key)
                return held
        found = hybrid(cue, table.relevancies(vector), table.texts, self._tokens)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


def _read(query: Query, tables: Mapping[Tier, Table]) -> Cue:
    names: frozenset[str] = frozenset().union(*(table.texts.speakers for table in tables.values()))
    return Cue.read(query.cue, query.now, names)
