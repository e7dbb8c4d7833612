"""Measures of relevancy beyond similarity, made ready for one query over an agent's tables."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Mapping
from datetime import date, datetime, time, tzinfo
from functools import lru_cache

from ..core.entry import Tier
from ..core.memory import Vectors
from . import hybrid as relevancy
from .hybrid import Cue, Evidence, Kept, TokenStates, evidence, hybrid
from .query import Query
from .rank import Measured, Relevancy
from .table import Table

_SHORT = 500
"""Characters of a cue whose reading is remembered."""


class Hybrid:
    """Hybrid relevancy over tables that change; thread-safe, as far as the tables are held still.

    What was worked out for a cue is kept with the token states for as long as the texts stay as they are: who asks
    the same cue again pays for its recency and importance only.

    Args:
        tokens: the token states that are compared; where there are none, late interaction is left out.
    """

    def __init__(self, tokens: TokenStates) -> None:
        self._tokens = tokens
        self._kept: Kept[relevancy.Relevancy] = tokens.relevancies

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
        # what else a cue says follows from its text, its names and its times
        key = weakref.ref(table), cue.text, cue.names, cue.asked
        found = self._kept.get(key, table.version)
        if found is None:
            found = hybrid(cue, table.relevancies(vector), table.texts, self._tokens)
            self._kept.put(key, table.version, found, found.size + 4 * len(cue.text))
        return found


def _read(query: Query, tables: Mapping[Tier, Table]) -> Cue:
    names: frozenset[str] = frozenset().union(*(table.texts.speakers for table in tables.values()))
    zone = query.now.tzinfo
    if len(query.cue) > _SHORT or not isinstance(zone, Hashable):
        return Cue.read(query.cue, query.now, names)
    return _remembered(query.cue, query.now.date(), zone, names)


@lru_cache(maxsize=256)
def _remembered(text: str, day: date, zone: tzinfo | None, names: frozenset[str]) -> Cue:
    """The reading of a cue, which counts "yesterday" from the day and its zone: the time of day plays no part."""
    return Cue.read(text, datetime.combine(day, time(), zone), names)
