"""Seats: which of the memories above their thresholds form the answer, and in what order.

Two rules. Under the **cascade** the tiers are searched in the order static, STM, LTM, each while the answer is short.
Under the **ranking** the best of all tiers together get the seats, best first; equal scores are in the order of their
ids. Under both, static memory takes at most ``static_share`` of the ``top_k`` seats (rounded up), and more only if
STM and LTM together cannot fill the rest.

Under the ranking the same content is one answer. While a turn of a conversation may be found and passes, the synopsis
that rests on it gets no seat; and of memories of STM and LTM in the same words, only the highest score gets one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ..core.entry import DECAYING, LIVED, Tier
from ..core.scoring import Floats, Seats
from .hybrid import wording
from .query import Query
from .table import Table

SYNOPSIS = "synopsis"
"""The tag of summaries of conversations; their evidence is the turns."""


@dataclass(frozen=True, eq=False)
class Seated:
    """The assignment of seats.

    Args:
        order: the answer: for each seat its tier, and the position in that tier's order by score, counted from 0.
        static: the most seats that static memory may take here.
        lowest: the score of the last seat, if every memory competed for it; minus infinity if a seat is free, infinity
            if there are no seats, NaN under the cascade.
    """

    order: Sequence[tuple[Tier, int]]
    static: int
    lowest: float

    @cached_property
    def of(self) -> Mapping[Tier, int]:
        """How many of each tier are recalled, best first."""
        return {tier: len(seats) for tier, seats in self.numbers.items()}

    @cached_property
    def numbers(self) -> Mapping[Tier, NDArray[np.intp]]:
        """For each tier, shape (seats of it,): the seat of its best, its second best ..., counted from 1."""
        seats = {tier: [seat for seat, (taker, _) in enumerate(self.order, start=1) if taker is tier] for tier in LIVED}
        return {tier: np.array(taken, np.intp) for tier, taken in seats.items()}


def seated(query: Query, scores: Mapping[Tier, Floats], ids: Mapping[Tier, Sequence[str]]) -> Seated:
    """Assign the seats.

    Args:
        query: what is asked.
        scores: for each tier the scores above its threshold, the highest first, at most ``top_k``.
        ids: of the same memories.
    """
    static, stm, ltm = (len(scores[tier]) for tier in LIVED)
    most = static_most(query.top_k, query.static_seats, stm, ltm)
    if query.scoring.seats is Seats.CASCADE:
        of = seats_of(query.top_k, query.static_seats, static, stm, ltm)
        return Seated([(tier, place) for tier in LIVED for place in range(of[tier])], most, math.nan)
    able = {tier: most if tier is Tier.STATIC else query.top_k for tier in LIVED}
    competing = [
        (-score, name, tier, place)
        for tier in LIVED
        if ids[tier]
        for place, (score, name) in enumerate(zip(scores[tier][: able[tier]].tolist(), ids[tier], strict=False))
    ]
    best = sorted(competing, key=itemgetter(0, 1))[: query.top_k]
    last = -best[-1][0] if best else math.inf
    order = [(tier, place) for _, _, tier, place in best]
    return Seated(order, most, last if len(best) == query.top_k else -math.inf)


Place = tuple[Tier, int]
"""A memory's tier and row."""
WordingAt = Callable[[Tier, int], str]
Synopses = Mapping[Place, Sequence[Place]]
"""The place of each synopsis, and the places of its turns that still exist."""


@dataclass(frozen=True)
class Behind:
    """Which rows of each tier get no seat, since the same content may have one, shape (n,) each.

    Args:
        turns: synopses.
        twins: the same words have a higher score elsewhere.
    """

    turns: Mapping[Tier, NDArray[np.bool_]]
    twins: Mapping[Tier, NDArray[np.bool_]]

    def of(self, tier: Tier) -> NDArray[np.bool_]:
        """All of a tier."""
        rows: NDArray[np.bool_] = self.turns[tier] | self.twins[tier]
        return rows


def synopses_of(tables: Mapping[Tier, Table], ids: Mapping[Tier, Iterable[str]] | None = None) -> Synopses:
    """The synopses of conversations that still have a turn.

    Args:
        tables: one table per tier.
        ids: the memories of each tier to check; all if ``None``.
    """
    found: dict[Place, list[Place]] = {}
    for tier in DECAYING:
        table = tables[tier]
        for entry_id in table.tags if ids is None else ids[tier]:
            if SYNOPSIS not in table.tags.get(entry_id, ()):
                continue
            row = table.row(entry_id)
            assert row is not None, "what has tags is held"
            turns = [
                (tier, place)
                for turn in table.entries[row].evidence
                for tier in DECAYING
                if (place := tables[tier].row(turn)) is not None
            ]
            if turns:
                found[tier, row] = turns
    return found


def in_the_same_words(wording_at: WordingAt, rows: Mapping[Tier, Iterable[int]]) -> dict[str, list[Place]]:
    """Those of the given rows of STM and LTM that have the same words as another.

    Args:
        wording_at: the ``wording`` of the row of a tier.
        rows: the rows of each tier to check.
    """
    found: dict[str, list[Place]] = {}
    for tier in DECAYING:
        for row in rows[tier]:
            found.setdefault(wording_at(tier, row), []).append((tier, row))
    return {words: places for words, places in found.items() if len(places) > 1}


@dataclass(frozen=True, eq=False)
class Twins:
    """Memories of STM and LTM in the same words.

    Args:
        places: where they are, shape (m,), numbered over the rows of STM and then those of LTM; those in the same words
            are adjacent, in the order of their ids.
        words: a number for the words of each, shape (m,).
    """

    places: NDArray[np.intp]
    words: NDArray[np.intp]

    @classmethod
    def among(
        cls,
        words: Mapping[Tier, Sequence[str]],
        ids: Mapping[Tier, Sequence[str]],
        rows: Mapping[Tier, Iterable[int]],
    ) -> Twins:
        """Twins among the given rows, with these case-folded words and these ids."""
        several = in_the_same_words(lambda tier, row: wording(words[tier][row]), rows).values()
        before = {Tier.STM: 0, Tier.LTM: len(ids[Tier.STM])}
        ordered = [sorted(places, key=lambda at: ids[at[0]][at[1]]) for places in several]
        counted = [before[tier] + row for places in ordered for tier, row in places]
        numbers = np.repeat(np.arange(len(ordered)), [len(places) for places in ordered])
        return cls(np.array(counted, np.intp), numbers)

    def outdone(self, able: NDArray[np.bool_], totals: Floats) -> NDArray[np.bool_]:
        """Which rows could get a seat but are behind another in the same words.

        Args:
            able: shape (n,), over STM and then LTM.
            totals: their scores, shape (n,); among equal ones the lowest id wins.
        """
        competing = able[self.places]
        order = np.lexsort((np.where(competing, -totals[self.places], np.inf), self.words))  # ids decide: it is stable
        first = np.ones(len(order), np.bool_)
        first[1:] = self.words[order][1:] != self.words[order][:-1]
        competing[order[first]] = False
        found = np.zeros(len(able), np.bool_)
        found[self.places[competing]] = True
        return found


def behind(
    seats: Seats,
    synopses: Synopses,
    twins: Twins,
    able: Mapping[Tier, NDArray[np.bool_]],
    totals: Mapping[Tier, Floats],
) -> Behind:
    """Which rows get no seat, since the same content may have one.

    Args:
        seats: the rule; under the cascade there are none.
        synopses: see there.
        twins: see there.
        able: whether a row of a tier may be found and passes, shape (n,).
        totals: the scores of a tier, shape (n,).
    """
    turns = {tier: np.zeros(len(rows), np.bool_) for tier, rows in able.items()}
    same = {tier: np.zeros(len(rows), np.bool_) for tier, rows in able.items()}
    if seats is Seats.RANKING:
        for (tier, row), places in synopses.items():
            turns[tier][row] = able[tier][row] and any(able[tier][turn] for tier, turn in places)
        if len(twins.places):
            competing = np.concatenate([able[tier] & ~turns[tier] for tier in DECAYING])
            found = twins.outdone(competing, np.concatenate([totals[tier] for tier in DECAYING]))
            same |= zip(DECAYING, np.split(found, [len(able[Tier.STM])]), strict=True)
    return Behind(turns, same)


def static_most(top_k: int, static: int, stm: int, ltm: int) -> int:
    """The most of ``top_k`` seats that static memory may take, given how many of STM and LTM are above the threshold.

    Args:
        top_k: see ``Query``.
        static: the seats that it may take while others wait.
        stm: how many of short-term memory exceed it.
        ltm: how many of long-term memory do.
    """
    return max(static, top_k - min(stm + ltm, top_k))


def seats_of(top_k: int, share: int, static: int, stm: int, ltm: int) -> dict[Tier, int]:
    """How many memories above their threshold each tier contributes to the answer under the cascade.

    Args:
        top_k: see ``Query``.
        share: the seats that static memory may take while others wait.
        static: how many of static memory exceed the threshold.
        stm: how many of short-term memory do.
        ltm: how many of long-term memory do.
    """
    of_static = min(static, static_most(top_k, share, stm, ltm))
    of_stm = min(stm, top_k - of_static)
    of_ltm = min(ltm, top_k - of_static - of_stm)
    return {Tier.STATIC: of_static, Tier.STM: of_stm, Tier.LTM: of_ltm}
