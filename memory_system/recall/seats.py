"""Seats: which of the memories above their thresholds are the answer, and in which order they stand in it.

Two rules. Under the **cascade** the tiers are asked in the order static, STM, LTM, each while the answer is short.
Under the **ranking** the best of all tiers together get the seats, best first; equal scores stand in the order of their
ids. Under both, static memory takes at most ``static_share`` of the ``top_k`` seats (rounded up), and more only where
STM and LTM together cannot fill the rest.

Under the ranking a conversation's synopsis and its turns are one answer: while a turn that it rests on may be found and
passes, the synopsis takes no seat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..core.entry import DECAYING, LIVED, Tier
from ..core.scoring import Floats, Seats
from .query import Query
from .table import Table

SYNOPSIS = "synopsis"
"""The tag of what sums up a conversation; its evidence are the turns."""


@dataclass(frozen=True, eq=False)
class Seated:
    """Who has a seat.

    Args:
        of: how many of each tier are recalled: the best of it.
        numbers: for each tier, shape (seats of it,): the seat of its best, its second best ..., counted from 1.
        static: the most seats that static memory may take here.
        lowest: the score that the last seat went to, where every memory competed for it; minus infinity where a seat
            is free, infinity where there is none, NaN under the cascade.
    """

    of: Mapping[Tier, int]
    numbers: Mapping[Tier, NDArray[np.intp]]
    static: int
    lowest: float

    @property
    def order(self) -> list[tuple[Tier, int]]:
        """The answer: for each seat its tier, and the place in that tier's order by score, counted from 0."""
        found = [(int(seat), tier, place) for tier in LIVED for place, seat in enumerate(self.numbers[tier])]
        return [(tier, place) for _, tier, place in sorted(found, key=lambda one: one[0])]


def seated(query: Query, scores: Mapping[Tier, Floats], ids: Mapping[Tier, Sequence[str]]) -> Seated:
    """Give out the seats.

    Args:
        query: what is asked.
        scores: for each tier the scores above its threshold, the highest first, at most ``top_k``.
        ids: whose they are.
    """
    counts = [len(scores[tier]) for tier in LIVED]
    if query.scoring.seats is Seats.CASCADE:
        of = seats_of(query.top_k, query.static_seats, *counts)
        ends = accumulate(of[tier] for tier in LIVED)
        numbers = {tier: np.arange(end - of[tier] + 1, end + 1) for tier, end in zip(LIVED, ends, strict=True)}
        return Seated(of, numbers, static_most(query.top_k, query.static_seats, *counts[1:]), math.nan)
    most = static_most(query.top_k, query.static_seats, *counts[1:])
    able = {tier: most if tier is Tier.STATIC else query.top_k for tier in LIVED}
    competing = [
        (-float(score), name, tier)
        for tier in LIVED
        for score, name in zip(scores[tier][: able[tier]].tolist(), ids[tier], strict=False)
    ]
    best = sorted(competing, key=lambda one: one[:2])[: query.top_k]
    numbers = {
        tier: np.array([seat for seat, one in enumerate(best, start=1) if one[2] is tier], np.intp) for tier in LIVED
    }
    of = {tier: len(numbers[tier]) for tier in LIVED}
    last = -best[-1][0] if best else math.inf
    return Seated(of, numbers, most, last if len(best) == query.top_k else -math.inf)


Synopses = Mapping[tuple[Tier, int], Sequence[tuple[Tier, int]]]
"""Where each synopsis is, by tier and row, and where those of its turns are that are held."""


def synopses_of(tables: Mapping[Tier, Table], ids: Mapping[Tier, Iterable[str]] | None = None) -> Synopses:
    """The synopses of conversations that have a turn left.

    Args:
        tables: one table a tier.
        ids: the memories of each tier that are looked at; all if ``None``.
    """
    found: dict[tuple[Tier, int], list[tuple[Tier, int]]] = {}
    for tier in DECAYING:
        table = tables[tier]
        for entry_id in table.tags if ids is None else ids[tier]:
            if SYNOPSIS not in table.tags.get(entry_id, ()):
                continue
            row = table.row(entry_id)
            assert row is not None, "what has tags is held"
            turns = [
                (one, place)
                for turn in table.entries[row].evidence
                for one in DECAYING
                if (place := tables[one].row(turn)) is not None
            ]
            if turns:
                found[tier, row] = turns
    return found


def behind_turns(
    seats: Seats, synopses: Synopses, able: Mapping[Tier, NDArray[np.bool_]]
) -> dict[Tier, NDArray[np.bool_]]:
    """Which rows of each tier are synopses that take no seat, since a turn of theirs may have one.

    Args:
        seats: the rule; under the cascade there are none.
        synopses: see there.
        able: whether a row may be found and passes, shape (n,).
    """
    behind = {tier: np.zeros(len(rows), np.bool_) for tier, rows in able.items()}
    if seats is Seats.RANKING:
        for (tier, row), turns in synopses.items():
            behind[tier][row] = able[tier][row] and any(able[one][turn] for one, turn in turns)
    return behind


def static_most(top_k: int, static: int, stm: int, ltm: int) -> int:
    """The most of ``top_k`` seats that static memory may take beside so many of STM and LTM above the threshold.

    Args:
        top_k: see ``Query``.
        static: the seats that it may take while others wait.
        stm: how many of short-term memory exceed it.
        ltm: how many of long-term memory do.
    """
    return max(static, top_k - min(stm + ltm, top_k))


def seats_of(top_k: int, share: int, static: int, stm: int, ltm: int) -> dict[Tier, int]:
    """How many of those above their threshold each tier gives to the answer under the cascade.

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
