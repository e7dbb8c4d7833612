"""Measures of relevancy beyond similarity, prepared for one query of an agent's tables."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, tzinfo
from functools import lru_cache, partial
from typing import Self

import numpy as np

from ..core.entry import LIVED, Tier
from ..core.memory import Vectors
from ..core.scoring import Measure, Seats
from . import hybrid as relevancy
from .expansion import Expanded, Measured, Relevancy
from .hybrid import Cue, Evidence, Joint, Kept, Texts, TokenStates, evidence, hybrid
from .hybrid.dates import SMALL_HOURS, names_hours
from .hybrid.fields import like_known
from .query import Query
from .rank import by_vectors
from .table import Table

_SHORT = 500
"""Characters of a cue up to which its analysis is cached."""


@dataclass(frozen=True, eq=False)
class _WorkedOut:
    """Results for a cue: of all tables together, and of each in order."""

    of_all: relevancy.Relevancy
    of_tables: tuple[Relevancy, ...]

    @classmethod
    def of(cls, found: relevancy.Relevancy, lengths: Sequence[int]) -> Self:
        """For tables of these lengths, whose rows follow one another."""
        each, end = [], 0
        for length in lengths:
            rows = slice(end, end := end + length)
            parts = {name: part[rows] for name, part in found.parts.items()}
            each.append(Relevancy(found.values[rows], parts, found.outset))
        return cls(found, tuple(each))


class Hybrid:
    """Hybrid relevancy over tables that change; thread-safe, as long as the tables are held still.

    If the best of all tiers get the seats, they are measured together; otherwise each tier separately. Results
    for a cue are kept with the token states as long as the texts stay the same: asking the same cue
    again only costs its recency and importance.

    Args:
        tokens: the token states to compare; without any, late interaction is left out.
    """

    def __init__(self, tokens: TokenStates) -> None:
        self._tokens = tokens
        self._kept: Kept[_WorkedOut] = tokens.relevancies
        self._joint: tuple[Hashable, Joint] | None = None

    def measure(self, query: Query, vector: Vectors, tables: Mapping[Tier, Table]) -> Measured:
        """A function that returns, for one query, a table's relevancies, their parts and the odds of an answer.

        Args:
            query: what is asked.
            vector: the cue's, shape (d,).
            tables: one table per tier.

        Raises:
            EmbedderError: (when it is called) token states could not be computed.
        """
        if query.scoring.seats is Seats.CASCADE:
            cue = _read(query, tables)

            def apart(_tier: Tier, table: Table) -> Relevancy:
                return self._found(cue, vector, table.texts, table).of_tables[0]

            return apart
        texts = self._texts(tables)
        cue = _reading(query, texts.speakers)
        found: dict[Tier, Relevancy] = {}

        def together(tier: Tier, _table: Table) -> Relevancy:
            if not found:  # once for all tiers
                worked_out = self._found(cue, vector, texts, *(tables[tier] for tier in LIVED))
                found.update(zip(LIVED, worked_out.of_tables, strict=True))
            return found[tier]

        return together

    def measured(self, query: Query, vectors: Sequence[Vectors], tables: Mapping[Tier, Table]) -> Measured | None:
        """How a query's relevancy is measured, whatever its measure; ``None`` if the cue's vector is enough.

        Args:
            query: what is asked.
            vectors: the cue's, shape (d,), and those of the query's instances, in their order.
            tables: one table per tier.
        """
        measure = query.scoring.measure
        if measure is Measure.SIMILARITY and not query.instances:
            return None
        cues = [query]
        if query.instances:
            cues = [replace(query, cue=cue, instances=()) for cue in (query.cue, *query.instances)]
        found = [
            self.measure(cue, vector, tables) if measure is Measure.HYBRID else partial(_by_vector, measure, vector)
            for cue, vector in zip(cues, vectors, strict=True)
        ]
        return Expanded(query, tables, found[0], found[1:]) if query.instances else found[0]

    def evidence(self, query: Query, vector: Vectors, tables: Mapping[Tier, Table], entry_id: str) -> Evidence | None:
        """Which words, tokens, names and times of a memory met the cue; ``None`` if there is no such memory.

        Raises:
            EmbedderError: token states could not be computed.
        """
        cue, start = self._asking(self._cue(query, tables), vector), 0
        for tier in LIVED:
            table = tables[tier]
            row = table.row(entry_id)
            if row is None:
                start += len(table)
                continue
            if query.scoring.seats is Seats.CASCADE:
                texts: Texts = table.texts
                pool = self._found(cue, vector, texts, table).of_all.pool
            else:
                row, texts = start + row, self._texts(tables)
                pool = self._found(cue, vector, texts, *(tables[tier] for tier in LIVED)).of_all.pool
            return evidence(cue, row, texts, self._tokens, pool=pool)
        return None

    def _cue(self, query: Query, tables: Mapping[Tier, Table]) -> Cue:
        return (
            _read(query, tables)
            if query.scoring.seats is Seats.CASCADE
            else _reading(query, self._texts(tables).speakers)
        )

    def _asking(self, cue: Cue, vector: Vectors) -> Cue:
        """The cue with the field of a personality that it asks for by its vector."""
        if cue.asked:
            return cue
        found = like_known(cue.text, vector, self._tokens.identity, addressed=cue.addressed)
        return replace(cue, fields=found) if found else cue

    def _texts(self, tables: Mapping[Tier, Table]) -> Joint:
        """The texts of all tiers as one, read again once one of them has changed."""
        key = tuple((weakref.ref(tables[tier]), tables[tier].version) for tier in LIVED)
        joint = self._joint
        if joint is None or joint[0] != key:
            joint = self._joint = key, Joint(*(tables[tier].texts for tier in LIVED))
        return joint[1]

    def _found(self, cue: Cue, vector: Vectors, texts: Texts, *tables: Table) -> _WorkedOut:
        # everything else about a cue follows from its text, its names, its times and who says it
        key = tuple(map(weakref.ref, tables)), cue.text, cue.names, cue.asked, cue.addressed
        version = tuple(table.version for table in tables)
        found = self._kept.get(key, version)
        if found is None:
            similarity = np.concatenate([table.similarities(vector) for table in tables])
            measured = hybrid(self._asking(cue, vector), similarity, texts, self._tokens)
            found = _WorkedOut.of(measured, [len(table) for table in tables])
            self._kept.put(key, version, found, found.of_all.size + 4 * len(cue.text))
        return found


def _by_vector(measure: Measure, vector: Vectors, _tier: Tier, table: Table) -> Relevancy:
    return by_vectors(measure, table, vector)


def _read(query: Query, tables: Mapping[Tier, Table]) -> Cue:
    return _reading(query, frozenset().union(*(table.texts.speakers for table in tables.values())))


def _reading(query: Query, names: frozenset[str]) -> Cue:
    zone = query.now.tzinfo
    if len(query.cue) > _SHORT or not isinstance(zone, Hashable) or names_hours(query.cue):
        cue = Cue.read(query.cue, query.now, names)
    else:
        cue = _remembered(query.cue, query.now.date(), query.now.hour < SMALL_HOURS, zone, names)
    return replace(cue, addressed=True) if query.addressed else cue


@lru_cache(maxsize=256)
def _remembered(text: str, day: date, small: bool, zone: tzinfo | None, names: frozenset[str]) -> Cue:
    """The analysis of a cue, with "yesterday" relative to the day and its zone.

    The time of day does not matter, except whether it is still ``small`` hours: "tonight" began the day before then.
    """
    return Cue.read(text, datetime.combine(day, time(0 if small else SMALL_HOURS), zone), names)
