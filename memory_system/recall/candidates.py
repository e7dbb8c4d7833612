"""Candidates: every memory with its score and verdict, each made only when it is accessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..core.entry import LIVED, Tier
from ..core.scoring import Floats, Parts
from .query import Query
from .seats import Seated, Synopses
from .table import Rows
from .verdicts import VERDICTS, Candidate, Verdict, because, met_by

TIERS = LIVED


@dataclass(frozen=True)
class Judged:
    """One tier, judged: entries, parts, totals, ranks (1 = highest) and verdicts (numbers of ``VERDICTS``) by row.

    ``words`` are the documents of STM and LTM under the ranking, case-folded. ``instance`` returns which instance of
    the cue met a row better than the cue, if the query has instances.
    """

    tier: Tier
    entries: Rows
    ids: list[str]
    words: list[str]
    parts: Parts
    totals: Floats
    ranks: NDArray[np.intp]
    verdicts: NDArray[np.uint8]
    instance: Callable[[int], str] | None = None


class Candidates(Sequence[Candidate]):
    """All candidates of a query: the recalled in the order of the answer, then the others by score.

    Whatever is needed of all of them at once is available as columns, without making any.

    Args:
        tiers: the tiers in the order in which they were searched.
        given: the seats.
        query: what was asked.
        synopses: the synopses of conversations that compete with their turns, if any do.
        guided: what a second round found, in its order.
    """

    def __init__(
        self,
        tiers: Sequence[Judged],
        given: Seated,
        query: Query,
        synopses: Synopses | None = None,
        guided: Sequence[Candidate] = (),
    ) -> None:
        self._tiers = tuple(tiers)
        self.synopses: Synopses = synopses or {}
        self._seating = given
        self._query = query
        self._guided = tuple(guided)
        numbers = np.repeat(np.arange(len(tiers)), [len(tier.ids) for tier in tiers])
        rows = np.concatenate([np.arange(len(tier.ids)) for tier in tiers])
        totals = np.concatenate([tier.totals for tier in tiers])
        ranks = np.concatenate([tier.ranks for tier in tiers])
        recalled = np.concatenate([tier.verdicts for tier in tiers]) == VERDICTS.index(Verdict.RECALLED)
        by_score = np.where(np.isnan(totals), np.inf, -totals)
        by_score[recalled] = -np.inf
        seat = np.full(len(ranks), len(ranks), np.intp)
        for number, judged in enumerate(tiers):
            seats = given.numbers[judged.tier]
            here = np.flatnonzero(recalled & (numbers == number))
            seat[here] = seats[ranks[here] - 1]
        order = np.lexsort((ranks, numbers, by_score, seat))
        self._seat = seat
        if guided:
            numbered = (self._number(candidate.entry.id) for candidate in guided)
            apart = [number for number in numbered if number is not None]
            order = order[~np.isin(order, apart)]
        self._place = np.stack([numbers, rows], axis=1)
        self._order = order
        self._recalled = int(recalled.sum())

    def __len__(self) -> int:
        return len(self._order) + len(self._guided)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("there are no more candidates")
        if self._recalled <= index < self._recalled + len(self._guided):
            return self._guided[index - self._recalled]
        return self._made(self._order[index if index < self._recalled else index - len(self._guided)])

    def _made(self, number: int) -> Candidate:
        place, row = self._place[number].tolist()
        tier = self._tiers[place]
        verdict, rank, score = VERDICTS[tier.verdicts[row]], int(tier.ranks[row]), tier.parts.score_of(row)
        words = because(verdict, tier.tier, score, rank, self._seating, self._query, int(self._seat[number]))
        instance = tier.instance(row) if tier.instance else ""
        return Candidate(tier.entries[row], score, rank, verdict, met_by(words, instance), instance=instance)

    @property
    def hits(self) -> tuple[Candidate, ...]:
        """The recalled ones."""
        return tuple(self[: self._recalled + len(self._guided)])

    @property
    def tiers(self) -> tuple[Judged, ...]:
        """The tiers in the order in which they were searched, as columns, without the finds of a second round."""
        return self._tiers

    def of(self, entry_id: str) -> Candidate | None:
        """The candidate of an id, or ``None``."""
        for candidate in self._guided:
            if candidate.entry.id == entry_id:
                return candidate
        number = self._number(entry_id)
        return None if number is None else self._made(number)

    def _number(self, entry_id: str) -> int | None:
        """The position of a memory among all, tier by tier and row by row."""
        start = 0
        for tier in self._tiers:
            if entry_id in tier.ids:
                return start + tier.ids.index(entry_id)
            start += len(tier.ids)
        return None

    def best(self, count: int) -> list[Candidate]:
        """The candidates with the highest scores, of any tier and verdict; those without a vector are left out."""
        totals = np.concatenate([tier.totals for tier in self._tiers])
        order = np.argsort(np.where(np.isnan(totals), np.inf, -totals), kind="stable")[:count]
        return [self._made(int(number)) for number in order if not np.isnan(totals[number])]

    def which(self, *verdicts: Verdict) -> list[int]:
        """The positions in this sequence of the candidates with one of these verdicts."""
        indexes = [VERDICTS.index(verdict) for verdict in verdicts]
        numbers = np.concatenate([tier.verdicts for tier in self._tiers])[self._order]
        places = np.flatnonzero(np.isin(numbers, indexes))
        places = np.where(places < self._recalled, places, places + len(self._guided))
        guided = range(self._recalled, self._recalled + len(self._guided)) if Verdict.RECALLED in verdicts else ()
        return sorted([*places.tolist(), *guided])
