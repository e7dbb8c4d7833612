"""Recall: which memories answer a cue, and for every other one why it does not.

The tiers are asked in the order static, STM, LTM, each while the answer is short. Two rules keep static
memory, which is asked first and never decays, from starving the others (**own threshold, reserved seats**):

1. Static memory has a threshold of its own, because it is scored by relevancy alone and an unrelated text
   already has a relevancy of 1/3.
2. Static memory takes at most ``static_share`` of the ``top_k`` seats (rounded up), and more only where STM
   and LTM together cannot fill the rest.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np

from . import scoring as formulas
from .entry import MemoryEntry, Tier
from .errors import InvalidParameter
from .memory import Vectors
from .scoring import Floats, Parts, Score, Scoring, in_range, whole
from .table import Table
from .times import ago, stamp

MAX_TOP_K = 10_000
MAX_CUE = 32_000


_NAMES = {Tier.STATIC: "static", Tier.STM: "short-term", Tier.LTM: "long-term"}


class Verdict(StrEnum):
    """What became of a candidate."""

    RECALLED = "recalled"
    BELOW_THRESHOLD = "below threshold"
    BEYOND_TOP_K = "beyond top-k"
    BEYOND_SEATS = "beyond static seats"
    NOT_REACHED = "not reached"
    NO_VECTOR = "no vector"


@dataclass(frozen=True)
class Query:
    """What is asked, and with which parameters.

    Args:
        cue: the prompt that memory is queried with, 1 to 32,000 characters.
        now: the world's time, aware of its zone.
        top_k: most memories to recall, 0 to 10,000.
        threshold: a memory of STM or LTM is recalled if its score is above this, 0 to 30.
        static_threshold: the same for static memory, 0 to 1.
        static_share: the share of ``top_k`` that static memory may take while others wait, 0 to 1.
        scoring: weights and decay.

    Raises:
        InvalidParameter: one is out of its range.
    """

    cue: str
    now: datetime
    top_k: int = 5
    threshold: float = 0.35
    static_threshold: float = 0.4
    static_share: float = 0.4
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        if not isinstance(self.cue, str) or not self.cue.strip():
            raise InvalidParameter("The cue is empty: ask something.")
        try:
            self.cue.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidParameter("The cue holds half of a surrogate pair, which is not text.") from error
        if len(self.cue) > MAX_CUE:
            raise InvalidParameter(f"The cue has {len(self.cue):,} characters; at most {MAX_CUE:,} are taken.")
        whole("top_k", self.top_k, 0, MAX_TOP_K)
        in_range("The threshold", self.threshold, 0, 30)
        in_range("The static threshold", self.static_threshold, 0, 1)
        in_range("The static share", self.static_share, 0, 1)
        if not isinstance(self.scoring, Scoring):
            raise InvalidParameter("'scoring' must be a Scoring(Weights(...), decay).")
        if not isinstance(self.now, datetime) or self.now.utcoffset() is None:
            raise InvalidParameter("'now' must be a time with a zone, like 2026-03-27T18:00:00+00:00.")

    @property
    def static_seats(self) -> int:
        """How many seats static memory may take while other memories wait for one."""
        return math.ceil(self.top_k * self.static_share - 1e-9)

    def threshold_of(self, tier: Tier) -> float:
        """The threshold that a memory of this tier has to exceed."""
        return self.static_threshold if tier is Tier.STATIC else self.threshold


@dataclass(frozen=True)
class Candidate:
    """One memory beside its score, its rank within its tier (1 = highest), its verdict, and the verdict in words."""

    entry: MemoryEntry
    score: Score
    rank: int
    verdict: Verdict
    because: str

    @property
    def recalled(self) -> bool:
        """Whether it is part of the answer."""
        return self.verdict is Verdict.RECALLED


@dataclass(frozen=True)
class Recall:
    """The answer to a query: iterate over it for the recalled candidates, in the order static, STM, LTM.

    ``candidates`` holds the recalled ones only after ``query_memory``, and every memory after ``explain``.
    """

    query: Query
    candidates: tuple[Candidate, ...]
    considered: int
    agent: str
    milliseconds: float

    @property
    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates, in the order static, STM, LTM, the highest score first in each."""
        return tuple(candidate for candidate in self.candidates if candidate.recalled)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def context(self) -> str:
        """The recalled memories as a text that can be put into a prompt; empty if nothing was recalled."""
        known = [hit.entry.document for hit in self.hits if hit.entry.tier is Tier.STATIC]
        happened = [hit.entry for hit in self.hits if hit.entry.tier is not Tier.STATIC]
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
class _Ranked:
    """One tier, scored: its parts, totals, and the rows above the threshold, best first, at most top-k."""

    tier: Tier
    table: Table
    parts: Parts
    totals: Floats
    best: list[int]


def answer(query: Query, cue_vector: Vectors, tables: Mapping[Tier, Table], agent: str, *, explain: bool) -> Recall:
    """The exact top-k of every tier by score; touches nothing.

    Args:
        query: what is asked.
        cue_vector: the cue's vector, shape (d,).
        tables: one table a tier.
        agent: the name used in the context text.
        explain: whether every candidate is answered, with its verdict, or the recalled ones only.
    """
    started = time.perf_counter()
    ranked = [_rank(tier, tables[tier], query, cue_vector) for tier in Tier]
    seats = _seats(query, *(len(tier.best) for tier in ranked))
    candidates = [candidate for tier in ranked for candidate in _judge(tier, seats, query, every=explain)]
    if explain:  # the recalled ones stay in the order of the answer, the others follow by score
        others = [one for one in candidates if not one.recalled]
        others.sort(key=lambda one: (-_sortable(one.score.total), one.entry.id))
        candidates = [one for one in candidates if one.recalled] + others
    return Recall(
        query,
        tuple(candidates),
        sum(len(tier.table) for tier in ranked),
        agent,
        (time.perf_counter() - started) * 1000,
    )


def _rank(tier: Tier, table: Table, query: Query, cue_vector: Vectors) -> _Ranked:
    relevancies = formulas.relevancy(table.vectors, cue_vector)
    importance, last_access = table.importance, table.last_access
    if tier is Tier.STATIC:  # always by relevancy alone
        importance = last_access = np.full(len(table), math.nan)
    parts = formulas.score(relevancies, importance, last_access, query.now, query.scoring)
    totals = parts.totals
    threshold = query.threshold_of(tier)
    with np.errstate(invalid="ignore"):
        above = np.flatnonzero(totals > threshold)
    return _Ranked(tier, table, parts, totals, _best(above, totals, table, query.top_k))


def _best(rows: np.ndarray, totals: Floats, table: Table, top_k: int) -> list[int]:
    """The ``top_k`` rows of the highest totals; equal totals stand in the order of their ids."""
    if top_k == 0:
        return []
    if len(rows) > top_k:
        kth = np.partition(totals[rows], len(rows) - top_k)[len(rows) - top_k]
        rows = rows[totals[rows] >= kth]  # all that tie for the last seat, so that their ids decide
    ordered = sorted(rows.tolist(), key=lambda row: (-totals[row], table.entries[row].id))
    return ordered[:top_k]


def _seats(query: Query, static: int, stm: int, ltm: int) -> dict[Tier, int]:
    """How many of those above their threshold each tier gives to the answer."""
    others = min(stm + ltm, query.top_k)
    of_static = min(static, max(query.static_seats, query.top_k - others))
    of_stm = min(stm, query.top_k - of_static)
    of_ltm = min(ltm, query.top_k - of_static - of_stm)
    return {Tier.STATIC: of_static, Tier.STM: of_stm, Tier.LTM: of_ltm}


def _judge(tier: _Ranked, seats: Mapping[Tier, int], query: Query, *, every: bool) -> Iterator[Candidate]:
    rows = tier.best[: seats[tier.tier]]
    if every:
        entries, totals = tier.table.entries, [_sortable(total) for total in tier.totals.tolist()]
        rows = sorted(range(len(entries)), key=lambda row: (-totals[row], entries[row].id))
    for rank, row in enumerate(rows, start=1):
        score = tier.parts.one(row)
        verdict, because = _verdict(tier.tier, score, rank, seats, query)
        yield Candidate(tier.table.entries[row], score, rank, verdict, because)


def _verdict(tier: Tier, score: Score, rank: int, seats: Mapping[Tier, int], query: Query) -> tuple[Verdict, str]:
    total, threshold = score.total, query.threshold_of(tier)
    if math.isnan(total):
        return Verdict.NO_VECTOR, "It has no vector, so nothing can be said of its relevancy."
    if total <= threshold:
        return Verdict.BELOW_THRESHOLD, _below(tier, score, threshold)
    if rank <= seats[tier]:
        return (
            Verdict.RECALLED,
            f"Number {rank} of {_NAMES[tier]} memory, {_gap(total - threshold)} above the threshold.",
        )
    if tier is Tier.STATIC and rank <= query.top_k:
        return Verdict.BEYOND_SEATS, (
            f"Number {rank} of static memory, which takes {seats[tier]} of {query.top_k} seats "
            "while short-term and long-term memories wait."
        )
    taken = sum(seats[earlier] for earlier in Tier if list(Tier).index(earlier) < list(Tier).index(tier))
    if tier is not Tier.STATIC and taken >= query.top_k > 0:
        return (
            Verdict.NOT_REACHED,
            f"Earlier tiers filled all {query.top_k} seats before {_NAMES[tier]} memory was asked.",
        )
    return Verdict.BEYOND_TOP_K, f"Number {rank} of {_NAMES[tier]} memory, and {seats[tier]} had a seat."


def _gap(size: float) -> str:
    return f"{size:.2f}" if size >= 0.005 else "less than 0.01"


def _below(tier: Tier, score: Score, threshold: float) -> str:
    lacking = threshold - score.total
    kind = "static threshold" if tier is Tier.STATIC else "threshold"
    if lacking == 0:
        return f"Its score is the {kind} of {threshold:.2f} exactly; it has to be above."
    amount = _gap(lacking)
    if score.recency is None:
        return f"{amount} below the {kind} of {threshold:.2f}; it is scored by relevancy alone."
    limits = {
        "recency": score.weights.recency,
        "importance": score.weights.importance,
        "relevancy": score.weights.relevancy,
    }
    weakest = min(limits, key=lambda part: score.parts[part] - limits[part])
    return f"{amount} below the {kind} of {threshold:.2f}; weakest part: {weakest}."


def _sortable(total: float) -> float:
    return -math.inf if math.isnan(total) else total


def _one_line(text: str) -> str:
    return " ".join(text.split())
