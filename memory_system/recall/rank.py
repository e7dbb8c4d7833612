"""Recall: which memories answer a cue, and for all others the reason why they do not.

A rule of the scoring assigns the seats (see ``seats``): tier by tier, or the best of all of them.
Static memory never decays and is scored by relevancy alone, so that it has a threshold of its own under both rules.

Re-query: the best hits become cues of a second round, for the seats that the first one left free.

The first round's answer stays unchanged, so a second one never removes a hit (recall at k cannot fall). A find of the
second round has the relevancy, and the confidence, of the hit times its cosine to the hit: a path is never stronger
than its first step. It is one step of spreading activation (Collins and Loftus 1975, Psychological Review 82).
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..core import scoring as formulas
from ..core.entry import DECAYING, LIVED, MemoryEntry, Tier
from ..core.known import known_to
from ..core.memory import Vectors
from ..core.scoring import Floats, Measure, Parts, Score, Seats, Weights
from ..core.times import ago, stamp
from .candidates import Candidates, Judged
from .expansion import Expanded, Measured, Relevancy, highest
from .hybrid import UNKNOWN, confidences, lowest, wording
from .query import Query
from .seats import Place, Synopses, Twins, behind, in_the_same_words, seated, synopses_of
from .table import Table
from .top_k import Sought, best_of, top_measured, top_rows
from .verdicts import Candidate, Verdict, because, below, gap, met_by, verdicts_of
from .what_if import WhatIf


def second_round(
    query: Query,
    found: Sequence[Candidate],
    tables: Mapping[Tier, Table],
    scored: Mapping[Tier, Parts],
    left_out: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """What the best hits lead to, at most as many as there are free seats, the highest score first.

    Args:
        query: what was asked; its ``requery`` best hits become cues.
        found: the hits of the first round.
        tables: one table per tier; static memory leads to others, but is not led to.
        scored: the parts of every tier as scaled in the first round; recency and importance are reused.
        left_out: what is not led to, by id: synopses whose turns are in the answer.

    Under the ranking, a memory is skipped if another of STM or LTM with the same words has a seat.
    """
    ids = {candidate.entry.id for candidate in found}.union(left_out)
    best: dict[str, tuple[float, Score, Candidate, Tier, int]] = {}
    admitted = {tier: query.admitted(tables[tier]) for tier in DECAYING}
    first = sorted(found, key=lambda hit: (-hit.score.total, hit.entry.id))[: query.requery]
    for hit in first:
        vector = tables[hit.entry.tier].vector(hit.entry.id)
        for tier in DECAYING:
            table = tables[tier]
            if not len(table):
                continue
            # for unit vectors 1 / (1 + distance) is 1 / (3 - 2 cos)
            cosines = 1.5 - 0.5 / formulas.relevancy(table.vectors, vector, table.columns["squares"][: len(table)])
            relevancies = hit.score.relevancy * np.clip(cosines, 0, 1)  # not scaled again, if parts are scaled
            sure = None if hit.score.confidence is None else hit.score.confidence * np.clip(cosines, 0, 1)
            parts = dataclasses.replace(scored[tier], relevancy=relevancies, sub_parts={}, confidence=sure)
            totals = parts.totals
            able = parts.passing > query.threshold
            if (allowed := admitted[tier]) is not None:
                able &= allowed
            for row in np.flatnonzero(able).tolist():
                entry_id = table.ids[row]
                if entry_id not in ids and (entry_id not in best or totals[row] > best[entry_id][0]):
                    best[entry_id] = float(totals[row]), parts.score_of(row), hit, tier, row
    ordered, free = sorted(best.items(), key=lambda item: (-item[1][0], item[0])), query.top_k - len(found)
    if query.scoring.seats is Seats.RANKING:
        wordings = {wording(candidate.entry.document) for candidate in found if candidate.entry.tier is not Tier.STATIC}
        several, ordered = ordered, []
        for item in several:
            *_, tier, row = item[1]
            words = wording(tables[tier].entries.document(row))
            if words not in wordings:
                wordings.add(words)
                ordered.append(item)
            if len(ordered) == free:
                break
    return tuple(
        Candidate(
            tables[tier].entries[row],
            score,
            rank,
            Verdict.RECALLED,
            f"Found by way of “{hit.entry.document[:60]}”, {gap(score.passing - query.threshold)} above the threshold.",
            hit.entry.id,
        )
        for rank, (_, (_, score, hit, tier, row)) in enumerate(ordered[:free], start=1)
    )


FEW = 512
"""Up to this many rows every score is computed; estimating them first would cost more."""

_NO_TOTALS = np.zeros(0)
_NEAR = 1e-4
"""How much lower a relevancy may be than another with the same confidence except for its last bits."""
_NOTHING = Parts(_NO_TOTALS, _NO_TOTALS, _NO_TOTALS, Weights())


def by_vectors(measure: Measure, table: Table, cue: Vectors) -> Relevancy:
    """The relevancies of a table's rows by vectors alone: by the cosine distance, or else the squared Euclidean one."""
    found = table.relevancies(cue)
    return Relevancy(formulas.by_cosine(found) if measure is Measure.COSINE else found, {}, UNKNOWN)


def _by_cosine(cue: Vectors, _tier: Tier, table: Table) -> Relevancy:
    return by_vectors(Measure.COSINE, table, cue)


@dataclass(frozen=True)
class Recall:
    """The answer to a query: iterate over it for the recalled candidates.

    Under the ranking they are in order of score; under the cascade in the order static, STM, LTM, best first in each.

    ``candidates`` holds the recalled ones only after ``query_memory``, and every memory after ``explain``, which
    returns an ``Explanation``.
    """

    query: Query
    candidates: Sequence[Candidate]
    considered: int
    agent: str
    milliseconds: float
    nearest: Candidate | None = None
    """The nearest miss if nothing passed a threshold; its ``because`` says by how much it missed."""

    @property
    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates, in the order of the answer."""
        return tuple(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def context(self) -> str:
        """The recalled memories as a text for use in a prompt; empty if nothing was recalled."""
        hits = [hit.entry for hit in self.hits]
        known = [entry.document for entry in hits if entry.tier is Tier.STATIC and not known_to(entry)]
        of_world = [entry.document for entry in hits if known_to(entry)]
        happened = [entry for entry in hits if entry.tier is not Tier.STATIC]
        lines = []
        if known:
            lines += [f"What is always true of {self.agent}:", *(f"- {_one_line(text)}" for text in known)]
        if of_world:
            lines += [f"What {self.agent} knows of the world:", *(f"- {_one_line(text)}" for text in of_world)]
        if happened:
            lines += [f"What {self.agent} remembers (now: {stamp(self.query.now)}):"]
            lines += [f"- {self._dated(entry)}{_one_line(entry.document)}" for entry in happened]
        return "\n".join(lines)

    def _dated(self, entry: MemoryEntry) -> str:
        if entry.timestamp is None:
            return ""
        return f"[{stamp(entry.timestamp, self.query.now)}; {ago(entry.timestamp, self.query.now)}] "


@dataclass(frozen=True)
class Explanation(Recall):
    """The answer to a query with every memory as a candidate, recalled or not."""

    candidates: Candidates

    @property
    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates, in the order of the answer."""
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
    """The exact top-k of every tier by score; changes nothing.

    Args:
        query: what is asked.
        cue_vector: the cue's vector, shape (d,).
        tables: one table per tier; those of ``LIVED`` are searched.
        agent: the name used in the context text.
        explain: whether to return every candidate with its verdict, or only the recalled ones.
        measured: how relevancy is measured if not by vectors alone.
        what_if: a memory to treat as if it had another rating.

    Raises:
        ValueError: the measure is hybrid, and ``measured`` is missing.
    """
    if measured is None and query.scoring.measure is Measure.COSINE:
        measured = partial(_by_cosine, cue_vector)
    if measured is None and query.scoring.measure is Measure.HYBRID:
        raise ValueError("The hybrid measure has to be handed in.")
    started = time.perf_counter()
    asked = _Asked(query, cue_vector, what_if.over(tables) if what_if else tables, measured, tables)
    considered = sum(len(tables[tier]) for tier in LIVED)
    if explain:
        everyone = asked.every_candidate()
        nearest = None if everyone.hits else asked.nearest()
        return Explanation(query, everyone, considered, agent, (time.perf_counter() - started) * 1000, nearest)
    hits = asked.hits()
    nearest = None if hits else asked.nearest()
    return Recall(query, hits, considered, agent, (time.perf_counter() - started) * 1000, nearest)


@dataclass(frozen=True)
class _Asked:
    """A query over the tables in their present state."""

    query: Query
    cue: Vectors
    tables: Mapping[Tier, Table]
    measured: Measured | None
    held: Mapping[Tier, Table]
    """The original tables, if the query assumes another rating of a memory."""
    _passed: dict[Tier, tuple[NDArray[np.intp], Floats]] = field(default_factory=dict, init=False)

    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates only."""
        ranked = {tier: self._ranked(tier) for tier in LIVED}
        left_out: dict[Tier, set[int]] = {Tier.STM: set(), Tier.LTM: set()}
        synopses, swept = set[Place](), set[str]()
        while self.query.scoring.seats is Seats.RANKING:
            turns = self._behind_turns(ranked)
            synopses.update(turns)
            new = turns or self._behind_twins(ranked, swept)
            if not new:
                break
            for tier, row in new:
                left_out[tier].add(row)
            ranked |= {tier: self._ranked(tier, left_out[tier]) for tier in {tier for tier, _ in new}}
        named = self.query.scoring.seats is Seats.RANKING
        ids = {tier: [top.table.ids[row] for row in top.best] if named else () for tier, top in ranked.items()}
        totals = {tier: top.parts.totals if top.best else _NO_TOTALS for tier, top in ranked.items()}
        seats = seated(self.query, totals, ids)
        found = []
        for seat, (tier, place) in enumerate(seats.order, start=1):
            score, rank = ranked[tier].parts.score_of(place), place + 1
            words = because(Verdict.RECALLED, tier, score, rank, seats, self.query, seat)
            row = ranked[tier].best[place]
            entry, by = ranked[tier].table.entries[row], ""
            if self.query.instances:
                by = self._instance(tier, row)
                words = met_by(words, by)
            found.append(Candidate(entry, score, rank, Verdict.RECALLED, words, instance=by))
        return (*found, *self._guided(found, synopses))

    def _behind_turns(self, ranked: Mapping[Tier, _Ranked]) -> list[Place]:
        """The synopses among the best of each tier that get no seat, since one of their turns may have one."""
        if not any(top.table.tags for top in ranked.values()):
            return []
        among = {tier: [top.table.ids[row] for row in top.best] for tier, top in ranked.items()}
        synopses = synopses_of(self.tables, among).items()
        return [at for at, turns in synopses if any(self._able[tier][row] for tier, row in turns)]

    def _behind_twins(self, ranked: Mapping[Tier, _Ranked], swept: set[str]) -> set[Place]:
        """Memories that get no seat, since one among the best of each tier scores higher with the same words.

        That one is the highest of all in its tier, so that the others need not come up one by one: they are
        searched by their vectors, which are mostly identical, and once that has been done, by their words.

        Args:
            ranked: the best of each tier.
            swept: the words that were searched before.
        """

        def ahead(at: Place) -> tuple[float, str]:
            top = ranked[at[0]]
            return -float(top.parts.totals[top.best.index(at[1])]), top.table.ids[at[1]]

        def wording_at(tier: Tier, row: int) -> str:
            return wording(ranked[tier].table.entries.document(row))

        found = set[Place]()
        for words, places in in_the_same_words(wording_at, {tier: top.best for tier, top in ranked.items()}).items():
            found.update(sorted(places, key=ahead)[1:])
            for tier in {tier for tier, _ in places}:
                table, (_, best) = ranked[tier].table, min((place for place in places if place[0] is tier), key=ahead)
                if words in swept:
                    begins = words.partition(" ")[0]
                    same = [row for row, said in enumerate(table.folded) if begins in said and wording(said) == words]
                else:
                    lengths = table.columns["squares"][: len(table)]
                    near = np.flatnonzero(lengths == lengths[best]).tolist()
                    same = [row for row in near if wording_at(tier, row) == words]
                found.update((tier, row) for row in same if row != best)
            swept.add(words)
        return found

    @cached_property
    def _able(self) -> dict[Tier, NDArray[np.bool_]]:
        """Which rows of STM and LTM may be found and pass, shape (n,)."""
        scored = self._all_parts() if self.query.scoring.normalise and not self.query.scoring.confident else None
        found = {}
        for tier in DECAYING:
            if self.query.scoring.confident:
                found[tier] = np.zeros(len(self.tables[tier]), np.bool_)
                found[tier][self._passing(tier)[0]] = True
                continue
            sure = (scored[tier] if scored else self._parts(tier)).passing
            found[tier] = (sure > self.query.threshold_of(tier)) & self._admitted(tier)
        return found

    def _passing(self, tier: Tier) -> tuple[NDArray[np.intp], Floats]:
        """Which rows of a tier may be found and have enough confidence, in order, and their confidences.

        Confidence grows with relevancy, so that only rows near the threshold, and above, have to be computed.
        """
        if tier not in self._passed:
            found, allowed = self._found(tier), self._allowed[tier]
            threshold = self.query.threshold_of(tier)
            rows = found.reaching(lowest(found.odds, self._best, threshold))
            if allowed is not None:
                rows = rows[allowed[rows]]
            sure = confidences(found.odds, found.values[rows], self._best)
            self._passed[tier] = rows[sure > threshold], sure[sure > threshold]
        return self._passed[tier]

    def nearest(self) -> Candidate | None:
        """The memory closest to passing its threshold; ``None`` if something passes, or nothing can be found."""
        found: list[tuple[float, str, Tier, int]] = []
        plain = self.query.scoring.confident and not self.query.scoring.normalise
        scored = {} if plain else self._all_parts()
        for tier in LIVED:
            rows, passing = self._surest(tier) if plain else (None, scored[tier].passing)
            lacking = self.query.threshold_of(tier) - passing
            if rows is None:
                lacking[~self._admitted(tier)] = np.nan
            if len(lacking) and not np.isnan(least := np.fmin.reduce(lacking)):
                places = np.flatnonzero(lacking == least)
                places = places if rows is None else rows[places]
                found.append(min((float(least), self.tables[tier].ids[row], tier, row) for row in places.tolist()))
        if not found or min(found)[0] < 0:
            return None
        _, _, tier, row = min(found)
        score = self._parts(tier, slice(row, row + 1)).score_of(0) if plain else scored[tier].score_of(row)
        table = self.tables[tier]
        missed = below(tier, score, self.query.threshold_of(tier))
        why = self._found(tier).odds.lacking(self._best) if self.query.scoring.confident else ""
        words = f"It came nearest: {missed[0].lower()}{missed[1:]} {why}".rstrip()
        return Candidate(table.entries[row], score, 1, Verdict.BELOW_THRESHOLD, words)

    def every_candidate(self) -> Candidates:
        """Every memory with its verdict."""
        scored = self._all_parts()
        admitted = {tier: self._admitted(tier) for tier in LIVED}
        totals = {tier: scored[tier].totals for tier in LIVED}
        above = {tier: scored[tier].passing > self.query.threshold_of(tier) for tier in LIVED}
        able = {tier: admitted[tier] & above[tier] for tier in LIVED}
        ranking = self.query.scoring.seats is Seats.RANKING
        synopses: Synopses = synopses_of(self.tables) if ranking else {}
        words = {tier: self.tables[tier].folded if ranking else () for tier in DECAYING}
        lived = {tier: np.flatnonzero(able[tier]).tolist() if ranking else () for tier in DECAYING}
        twins = Twins.among(words, {tier: self.tables[tier].ids for tier in DECAYING}, lived)
        left_out = behind(self.query.scoring.seats, synopses, twins, able, totals)
        orders, best = {}, {}
        for tier in LIVED:
            by_score = np.where(np.isnan(totals[tier]), np.inf, -totals[tier])
            places = self.tables[tier].id_ranks
            orders[tier] = np.lexsort((places, by_score, left_out.of(tier), ~above[tier], ~admitted[tier]))
            competing = int((able[tier] & ~left_out.of(tier)).sum())
            best[tier] = orders[tier][: min(competing, self.query.top_k)]
        ids = {tier: [self.tables[tier].ids[row] for row in rows.tolist()] for tier, rows in best.items()}
        seats = seated(self.query, {tier: totals[tier][rows] for tier, rows in best.items()}, ids)
        judged = []
        for tier in LIVED:
            table = self.tables[tier]
            ranks = np.empty(len(table), np.intp)
            ranks[orders[tier]] = np.arange(1, len(table) + 1)
            passed = admitted[tier], above[tier], left_out
            verdicts = verdicts_of(tier, totals[tier], ranks, *passed, seats, self.query)
            met_by_row = partial(self._instance, tier) if self.query.instances else None
            columns = scored[tier], totals[tier], ranks, verdicts, met_by_row
            judged.append(Judged(tier, table.entries.copied(), list(table.ids), list(words.get(tier, ())), *columns))
        everyone = Candidates(judged, seats, self.query, synopses)
        turns = ((tier, row) for tier, rows in left_out.turns.items() for row in np.flatnonzero(rows).tolist())
        guided = self._guided(everyone.hits, turns) if self.query.requery else ()
        return Candidates(judged, seats, self.query, synopses, guided) if guided else everyone

    def _ranked(self, tier: Tier, behind: Collection[int] = ()) -> _Ranked:
        """The best of a tier, except these rows."""
        table, query, admitted = self.tables[tier], self.query, self._allowed[tier]
        if not len(table):
            return _Ranked(tier, table, [], _NOTHING)
        sure = self._passing(tier) if query.scoring.confident and not query.scoring.normalise else None
        if sure is not None and not len(sure[0]):
            return _Ranked(tier, table, [], _NOTHING)
        if behind:
            admitted = self._admitted(tier).copy()
            admitted[list(behind)] = False
        if tier is not Tier.STATIC and not query.scoring.normalise and len(table) > FEW and table is self.held[tier]:
            sought = Sought(self.cue, query.now, query.scoring, query.threshold_of(tier), query.top_k, admitted)
            if self.measured is None:
                return _Ranked(tier, table, *top_rows(table, sought))
            found = self._found(tier)
            return _Ranked(tier, table, *top_measured(table, sought, found.values, found.parts, sure))
        parts = self._all_parts()[tier] if query.scoring.normalise else self._parts(tier)
        totals = parts.totals
        above = parts.passing > query.threshold_of(tier)
        if admitted is not None:
            above &= admitted
        best = best_of(np.flatnonzero(above), totals, table.ids, query.top_k)
        return _Ranked(tier, table, best, parts.taken(np.array(best, np.intp)))

    def _surest(self, tier: Tier) -> tuple[NDArray[np.intp], Floats]:
        """The rows that may have the highest confidence among those that may be found, and their confidences."""
        found, allowed = self._found(tier), self._allowed[tier]
        rows = found.reaching(self._peaks[tier] - _NEAR)
        if allowed is not None:
            rows = rows[allowed[rows]]
        return rows, confidences(found.odds, found.values[rows], self._best)

    def _parts(self, tier: Tier, rows: slice = slice(None)) -> Parts:
        found = self._found(tier)
        importance, last_access, happened = (column[rows] for column in self._aged(tier))
        some = {name: values[rows] for name, values in found.parts.items()}
        now, scoring, sure = self.query.now, self.query.scoring, self._sure(tier, rows)
        return formulas.score(found.values[rows], importance, last_access, happened, now, scoring, some, sure)

    def _found(self, tier: Tier) -> Relevancy:
        """The relevancies of a tier's rows, and their components."""
        if self.measured is None:
            return by_vectors(Measure.SIMILARITY, self.tables[tier], self.cue)
        return self.measured(tier, self.held[tier])

    def _instance(self, tier: Tier, row: int) -> str:
        """The instance of the cue that met a row better than the cue; empty if none did."""
        return self.measured.lender(tier, row) if isinstance(self.measured, Expanded) else ""

    def _sure(self, tier: Tier, rows: slice) -> Floats | None:
        """The confidences of rows of a tier, shape (n,); ``None`` if the scores have to pass."""
        if not self.query.scoring.confident:
            return None
        found = self._found(tier)
        return confidences(found.odds, found.values[rows], self._best)

    @cached_property
    def _best(self) -> float:
        """The highest relevancy of all that the facets admit; 0 if there is none."""
        return max(0.0, *self._peaks.values())

    @cached_property
    def _peaks(self) -> dict[Tier, float]:
        """The same for each tier; minus infinity if there is none."""
        peaks = {}
        for tier in LIVED:
            found, allowed = self._found(tier), self._allowed[tier]
            peaks[tier] = found.peak if allowed is None else highest(found.values[allowed])
        return peaks

    def _aged(self, tier: Tier) -> tuple[Floats, Floats, Floats]:
        """The importance, last accesses and times of a tier's rows."""
        table = self.tables[tier]
        importance, last_access = table.importance.copy(), table.last_access  # an answer is read later, so keep a copy
        if tier is Tier.STATIC:  # always by relevancy alone
            importance = last_access = np.full(len(table), math.nan)
        return importance, last_access, table.happened

    def _all_parts(self) -> dict[Tier, Parts]:
        """The parts of every tier; under the ranking they are scaled over STM and LTM together."""
        found = {tier: self._parts(tier) for tier in LIVED}
        query = self.query
        if not query.scoring.normalise or query.scoring.seats is Seats.CASCADE:
            return found
        stm, ltm = ((self._found(tier).values, *self._aged(tier)) for tier in DECAYING)
        relevancies, importance, last_access, happened = map(np.concatenate, zip(stm, ltm, strict=True))
        both = formulas.score(relevancies, importance, last_access, happened, query.now, query.scoring)
        rows, split = np.arange(len(relevancies)), len(stm[0])
        for tier, some in ((Tier.STM, rows[:split]), (Tier.LTM, rows[split:])):
            parts = found[tier]
            found[tier] = dataclasses.replace(both.taken(some), sub_parts=parts.sub_parts, confidence=parts.confidence)
        return found

    @cached_property
    def _allowed(self) -> dict[Tier, NDArray[np.bool_] | None]:
        """Which rows of each tier may be found; ``None`` = all of them."""
        return {tier: self.query.admitted(self.tables[tier]) for tier in LIVED}

    def _admitted(self, tier: Tier) -> NDArray[np.bool_]:
        allowed = self._allowed[tier]
        return np.ones(len(self.tables[tier]), np.bool_) if allowed is None else allowed

    def _guided(self, found: Sequence[Candidate], synopses: Iterable[Place]) -> tuple[Candidate, ...]:
        if not self.query.requery or len(found) >= self.query.top_k:
            return ()
        left_out = {self.tables[tier].ids[row] for tier, row in synopses}
        return second_round(self.query, found, self.tables, self._all_parts(), left_out)


def _one_line(text: str) -> str:
    return " ".join(text.split())
