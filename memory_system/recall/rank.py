"""Recall: which memories answer a cue, and for every other one why it does not.

The tiers are asked in the order static, STM, LTM, each while the answer is short. Two rules keep static
memory, which is asked first and never decays, from starving the others (**own threshold, reserved seats**):

1. Static memory has a threshold of its own, because it is scored by relevancy alone and an unrelated text
   already has a similarity of 1/3.
2. Static memory takes at most ``static_share`` of the ``top_k`` seats (rounded up), and more only where STM
   and LTM together cannot fill the rest.

Re-query: the best hits become cues of a second round, for the seats that the first one left free.

The first round's answer stays as it is, so a second one never takes a hit away (recall at k cannot fall). What a hit
leads to has the relevancy of the hit times its cosine to the hit: a path is never stronger than its first step. It is
the spreading of activation (Collins and Loftus 1975, Psychological Review 82) by one step.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..core import scoring as formulas
from ..core.entry import LIVED, MemoryEntry, Tier
from ..core.memory import Vectors
from ..core.scoring import Floats, Measure, Parts, Score, Weights
from ..core.times import ago, stamp
from .candidates import Candidates, Judged
from .query import Query
from .table import Table, WhatIf
from .top_k import Sought, best_of, top_measured, top_rows
from .verdicts import Candidate, Verdict, because, gap, verdicts_of


def second_round(query: Query, found: Sequence[Candidate], tables: Mapping[Tier, Table]) -> tuple[Candidate, ...]:
    """What the best hits lead to, at most as many as there are seats free, the highest score first.

    Args:
        query: what was asked; its ``requery`` best hits become cues.
        found: the hits of the first round.
        tables: one table a tier; static memory leads on, and is not led to.
    """
    held = {one.entry.id for one in found}
    best: dict[str, tuple[float, Score, Candidate, Tier, int]] = {}
    admitted = {tier: query.facets.admit(tables[tier]) for tier in (Tier.STM, Tier.LTM)} if query.facets else {}
    first = sorted(found, key=lambda one: (-one.score.total, one.entry.id))[: query.requery]
    for hit in first:
        vector = tables[hit.entry.tier].vector(hit.entry.id)
        for tier in (Tier.STM, Tier.LTM):
            table = tables[tier]
            if not len(table):
                continue
            # of unit vectors 1 / (1 + distance) is 1 / (3 - 2 cos)
            cosines = 1.5 - 0.5 / formulas.relevancy(table.vectors, vector, table.columns["squares"][: len(table)])
            relevancies = hit.score.relevancy * np.clip(cosines, 0, 1)
            parts = formulas.score(cosines, table.importance, table.last_access, query.now, query.scoring)
            parts = dataclasses.replace(parts, relevancy=relevancies)  # not scaled again, where parts are scaled
            totals = parts.totals
            able = (totals > query.threshold) & admitted.get(tier, True)
            for row in np.flatnonzero(able).tolist():
                entry_id = table.ids[row]
                if entry_id not in held and (entry_id not in best or totals[row] > best[entry_id][0]):
                    best[entry_id] = float(totals[row]), parts.one(row), hit, tier, row
    ordered = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))[: query.top_k - len(found)]
    return tuple(
        Candidate(
            tables[tier].entries[row],
            score,
            rank,
            Verdict.RECALLED,
            f"Found by way of “{hit.entry.document[:60]}”, {gap(total - query.threshold)} above the threshold.",
            hit.entry.id,
        )
        for rank, (_, (total, score, hit, tier, row)) in enumerate(ordered, start=1)
    )


FEW = 512
"""Up to this many rows every score is computed; estimating them first would cost more."""

_NOTHING = Parts(np.zeros(0), np.zeros(0), np.zeros(0), Weights())

Relevancy = tuple[Floats, Mapping[str, Floats]]
"""The relevancies of a tier's rows, shape (n,), and what they are made of, by name."""
Measured = Callable[[Tier, Table], Relevancy]
"""Measures the relevancies of one tier."""


@dataclass(frozen=True)
class Recall:
    """The answer to a query: iterate over it for the recalled candidates, in the order static, STM, LTM.

    ``candidates`` holds the recalled ones only after ``query_memory``, and every memory after ``explain``, which
    answers an ``Explanation``.
    """

    query: Query
    candidates: Sequence[Candidate]
    considered: int
    agent: str
    milliseconds: float

    @property
    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates, in the order static, STM, LTM, the highest score first in each."""
        return tuple(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def context(self) -> str:
        """The recalled memories as a text that can be put into a prompt; empty if nothing was recalled."""
        hits = [hit.entry for hit in self.hits]
        known = [entry.document for entry in hits if entry.tier is Tier.STATIC]
        happened = [entry for entry in hits if entry.tier is not Tier.STATIC]
        lines = []
        if known:
            lines += [f"What is always true of {self.agent}:", *(f"- {_one_line(text)}" for text in known)]
        if happened:
            lines += [f"What {self.agent} remembers (now: {stamp(self.query.now)}):"]
            lines += [f"- {self._dated(entry)}{_one_line(entry.document)}" for entry in happened]
        return "\n".join(lines)

    def _dated(self, entry: MemoryEntry) -> str:
        if entry.timestamp is None:
            return ""
        return f"[{stamp(entry.timestamp)}; {ago(entry.timestamp, self.query.now)}] "


@dataclass(frozen=True)
class Explanation(Recall):
    """The answer to a query with every memory as a candidate, recalled or not."""

    candidates: Candidates

    @property
    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates, in the order static, STM, LTM, the highest score first in each."""
        return self.candidates.hits


@dataclass(frozen=True)
class _Ranked:
    """One tier: the rows above the threshold, best first, at most top-k, and their parts, row by row."""

    tier: Tier
    table: Table
    best: list[int]
    parts: Parts


@overload
def answer(
    query: Query,
    cue_vector: Vectors,
    tables: Mapping[Tier, Table],
    agent: str,
    *,
    explain: Literal[True],
    measured: Measured | None = None,
    what_if: WhatIf | None = None,
) -> Explanation: ...
@overload
def answer(
    query: Query,
    cue_vector: Vectors,
    tables: Mapping[Tier, Table],
    agent: str,
    *,
    explain: bool,
    measured: Measured | None = None,
    what_if: WhatIf | None = None,
) -> Recall: ...
def answer(
    query: Query,
    cue_vector: Vectors,
    tables: Mapping[Tier, Table],
    agent: str,
    *,
    explain: bool,
    measured: Measured | None = None,
    what_if: WhatIf | None = None,
) -> Recall:
    """The exact top-k of every tier by score; touches nothing.

    Args:
        query: what is asked.
        cue_vector: the cue's vector, shape (d,).
        tables: one table a tier; those of ``LIVED`` are asked.
        agent: the name used in the context text.
        explain: whether every candidate is answered, with its verdict, or the recalled ones only.
        measured: how relevancy is measured where it is not by similarity.
        what_if: a memory that is to count as rated otherwise.

    Raises:
        ValueError: it is not by similarity, and nothing was handed in.
    """
    if measured is None and query.scoring.measure is not Measure.SIMILARITY:
        raise ValueError("A measure other than similarity has to be handed in.")
    started = time.perf_counter()
    asked = _Asked(query, cue_vector, what_if.over(tables) if what_if else tables, measured, tables)
    considered = sum(len(tables[tier]) for tier in LIVED)
    if explain:
        everyone = asked.every_candidate()
        return Explanation(query, everyone, considered, agent, (time.perf_counter() - started) * 1000)
    hits = asked.hits()
    return Recall(query, hits, considered, agent, (time.perf_counter() - started) * 1000)


@dataclass(frozen=True)
class _Asked:
    """A query over the tables as they stand."""

    query: Query
    cue: Vectors
    tables: Mapping[Tier, Table]
    measured: Measured | None
    held: Mapping[Tier, Table]
    """The tables as they are, where one is asked as it would be if a memory were rated otherwise."""

    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates only."""
        ranked = [self._ranked(tier) for tier in LIVED]
        seats = seats_of(self.query, *(len(tier.best) for tier in ranked))
        found = []
        for tier in ranked:
            for place, row in enumerate(tier.best[: seats[tier.tier]]):
                score, rank = tier.parts.one(place), place + 1
                words = because(Verdict.RECALLED, tier.tier, score, rank, seats, self.query)
                found.append(Candidate(tier.table.entries[row], score, rank, Verdict.RECALLED, words))
        return (*found, *self._guided(found))

    def every_candidate(self) -> Candidates:
        """Every memory with its verdict."""
        scored = {tier: self._parts(tier) for tier in LIVED}
        admitted = {tier: self._admitted(tier) for tier in LIVED}
        totals = {tier: scored[tier].totals for tier in LIVED}
        counts = [
            min(int((admitted[tier] & (totals[tier] > self.query.threshold_of(tier))).sum()), self.query.top_k)
            for tier in LIVED
        ]
        seats = seats_of(self.query, *counts)
        judged = []
        for tier in LIVED:
            table = self.tables[tier]
            by_score = np.where(np.isnan(totals[tier]), np.inf, -totals[tier])
            order = np.lexsort((table.id_ranks, by_score, ~admitted[tier]))
            ranks = np.empty(len(table), np.intp)
            ranks[order] = np.arange(1, len(table) + 1)
            verdicts = verdicts_of(tier, totals[tier], ranks, admitted[tier], seats, self.query)
            judged.append(
                Judged(tier, table.entries.copied(), list(table.ids), scored[tier], totals[tier], ranks, verdicts)
            )
        everyone = Candidates(judged, seats, self.query)
        guided = self._guided(everyone.hits) if self.query.requery else ()
        return Candidates(judged, seats, self.query, guided) if guided else everyone

    def _ranked(self, tier: Tier) -> _Ranked:
        table, query = self.tables[tier], self.query
        if not len(table):
            return _Ranked(tier, table, [], _NOTHING)
        if tier is not Tier.STATIC and not query.scoring.normalise and len(table) > FEW and table is self.held[tier]:
            admitted = self._admitted(tier) if query.facets else None
            sought = Sought(self.cue, query.now, query.scoring, query.threshold_of(tier), query.top_k, admitted)
            if self.measured is None:
                return _Ranked(tier, table, *top_rows(table, sought))
            return _Ranked(tier, table, *top_measured(table, sought, *self.measured(tier, table)))
        parts = self._parts(tier)
        totals = parts.totals
        above = totals > query.threshold_of(tier)
        if query.facets:
            above &= self._admitted(tier)
        best = best_of(np.flatnonzero(above), totals, table.ids, query.top_k)
        return _Ranked(tier, table, best, parts.taken(np.array(best, np.intp)))

    def _parts(self, tier: Tier) -> Parts:
        table, query = self.tables[tier], self.query
        relevancies, made_of = (
            (table.relevancies(self.cue), {}) if self.measured is None else self.measured(tier, self.held[tier])
        )
        importance, last_access = table.importance.copy(), table.last_access  # kept by an answer that is read later
        if tier is Tier.STATIC:  # always by relevancy alone
            importance = last_access = np.full(len(table), math.nan)
        return formulas.score(relevancies, importance, last_access, query.now, query.scoring, made_of)

    def _admitted(self, tier: Tier) -> NDArray[np.bool_]:
        table = self.tables[tier]
        return self.query.facets.admit(table) if self.query.facets else np.ones(len(table), np.bool_)

    def _guided(self, found: Sequence[Candidate]) -> tuple[Candidate, ...]:
        if not self.query.requery or len(found) >= self.query.top_k:
            return ()
        return second_round(self.query, found, self.tables)


def seats_of(query: Query, static: int, stm: int, ltm: int) -> dict[Tier, int]:
    """How many of those above their threshold each tier gives to the answer."""
    others = min(stm + ltm, query.top_k)
    of_static = min(static, max(query.static_seats, query.top_k - others))
    of_stm = min(stm, query.top_k - of_static)
    of_ltm = min(ltm, query.top_k - of_static - of_stm)
    return {Tier.STATIC: of_static, Tier.STM: of_stm, Tier.LTM: of_ltm}


def _one_line(text: str) -> str:
    return " ".join(text.split())
