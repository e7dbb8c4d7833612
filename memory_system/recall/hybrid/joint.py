"""Joint: the texts of several tiers read as one, row after row, so that every tier is measured on one scale.

A word is as rare as it is in everything remembered, and the turns of a conversation help each other in whatever tier
they are. So neither its tier nor the size of the others makes a difference to a memory's relevancy.

Plain events that are a conversation are read like a conversation:

* **Who speaks** is read from "Sam: ..." and "Sam said ...", for names that do so at least twice: "Market: prices are
  rising" does not make the market a speaker.
* **What came just before** is what was said within ``PAUSE``: events in which such a speaker speaks, and which have no
  place in a conversation, are numbered by their times, and a longer silence begins a new sequence. What was only seen
  or done does not help its neighbours: that cost 9 points of recall@10 on Smallville.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ...core.entry import MemoryEntry
from .cue import Cue
from .dates import Stretch
from .index import Floats, TextIndex, rarity
from .neighbours import Pairing

PAUSE = 600.0
"""Seconds of silence after which an event no longer belongs to what came before."""
_LAST_BITS = 0xFFFF
_OFTEN = 2
"""How often somebody has to speak in plain events to count as a speaker."""


class Joint:
    """A reading of indices in their present state; it is made again when one of them changes.

    Args:
        static: the index of static memory, which is part of no conversation.
        others: the indices of memories of events.
    """

    def __init__(self, static: TextIndex, *others: TextIndex) -> None:
        self._parts = (static, *others)
        self.ends = list(accumulate(len(part) for part in self._parts))
        """Where the rows of each index end."""
        spoken: frozenset[str] = frozenset().union(*(part.speakers for part in self._parts))
        heard: Counter[str] = Counter()
        for part in others:
            heard.update(part.heard_of)
        self.speakers = spoken | {name for name, often in heard.items() if often >= _OFTEN}
        """Who speaks, lowered."""
        self._heard = self.speakers - spoken
        self._told_elsewhere = _told_elsewhere(self._parts)
        self._texts = sum(part.texts for part in self._parts) - sum(map(len, self._told_elsewhere.values()))
        self.neighbours = _Rows(self._parts, self.speakers)
        self.entries: Sequence[MemoryEntry] = _Entries([part.entries for part in self._parts], self.ends)

    def __len__(self) -> int:
        return self.ends[-1]

    def rarity(self, stem: str) -> float:
        """How significant a stem is, over all texts together."""
        count = sum(part.texts_with(stem) for part in self._parts)
        for number, rows in self._told_elsewhere.items():
            count -= len(np.intersect1d(self._parts[number].holders(stem), rows, assume_unique=True))
        return rarity(count, self._texts)

    def words(self, cue_stems: Sequence[str]) -> Floats:
        """As ``TextIndex.words``."""
        weights = {stem: self.rarity(stem) for stem in cue_stems}
        mean = sum(part.length for part in self._parts) / max(len(self), 1)
        return np.concatenate([part.weighed(weights, mean) for part in self._parts])

    def named(self, names: frozenset[str]) -> Floats:
        """As ``TextIndex.named``, but the more facts contain a name, the less each counts for it.

        Everything known about Mira names Mira, so that her name does not distinguish between them.
        """
        static, *others = self._parts
        found = np.zeros(len(static))
        for name in names:
            holding = static.named(frozenset([name]))
            found = np.maximum(found, holding * (1 - holding.mean()) if len(static) else holding)
        return np.concatenate([found, *(part.named(names, self._heard) for part in others)])

    def of_fields(self, cue: Cue) -> Floats:
        """As ``TextIndex.of_fields``."""
        return np.concatenate([part.of_fields(cue) for part in self._parts])

    def within(self, asked: Sequence[Stretch]) -> Floats:
        """As ``TextIndex.within``."""
        return np.concatenate([part.within(asked) for part in self._parts])

    def telling_times(self) -> Floats:
        """As ``TextIndex.telling_times``."""
        return np.concatenate([part.telling_times() for part in self._parts])

    def mentions(self, row: int) -> tuple[Stretch, ...]:
        """As ``TextIndex.mentions``."""
        part, own = _within(self.ends, row)
        return self._parts[part].mentions(own)

    def document(self, row: int) -> str:
        """As ``TextIndex.document``."""
        part, own = _within(self.ends, row)
        return self._parts[part].document(own)


Texts = TextIndex | Joint
"""What relevancy is measured over: one index, or several read as one."""


def meant(asked: Sequence[Stretch], index: Texts) -> tuple[Stretch, ...]:
    """The same periods, each narrowed to the part that is meant, unless nothing happened in that part.

    So "yesterday evening" also finds what is known to the day alone, with noon for its time.
    """
    narrowed = ((stretch, stretch.narrowed) for stretch in asked)
    return tuple(part if stretch.part and index.within([part]).any() else stretch for stretch, part in narrowed)


def _within(ends: Sequence[int], row: int) -> tuple[int, int]:
    """The part that a row is in, and its row there, given where the parts end."""
    part = bisect_right(ends, row)
    return part, row - (ends[part - 1] if part else 0)


def _told_elsewhere(parts: Sequence[TextIndex]) -> dict[int, NDArray[np.intp]]:
    """By number of an index, the rows whose words a larger index contains as well, one row per wording."""
    largest, *others = sorted(range(len(parts)), key=lambda number: -len(parts[number]))
    known, found = [parts[largest].wordings], dict[int, NDArray[np.intp]]()
    for number in others:
        wordings = parts[number].wordings
        elsewhere = np.isin(wordings, np.concatenate([_likely(array, wordings) for array in known])) & (wordings != 0)
        rows = np.flatnonzero(elsewhere)
        if len(rows):
            found[number] = rows[np.unique(wordings[rows], return_index=True)[1]]
        known.append(wordings)
    return found


def _likely(wordings: NDArray[np.int64], sought: NDArray[np.int64]) -> NDArray[np.int64]:
    """A superset of the wordings that are among a few others: all with matching last bits."""
    bits = np.zeros(_LAST_BITS + 1, np.bool_)
    bits[sought & _LAST_BITS] = True
    likely: NDArray[np.int64] = wordings[bits[wordings & _LAST_BITS]]
    return likely


class _Entries(Sequence[MemoryEntry]):
    """Several sequences as one, without copying them."""

    def __init__(self, parts: Sequence[Sequence[MemoryEntry]], ends: Sequence[int]) -> None:
        self._parts = parts
        self._ends = ends

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, row: int) -> MemoryEntry: ...
    @overload
    def __getitem__(self, row: slice) -> list[MemoryEntry]: ...
    def __getitem__(self, row: int | slice) -> MemoryEntry | list[MemoryEntry]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        part, own = _within(self._ends, row)
        return self._parts[part][own]


class _Rows:
    """Which rows of all indices are neighbours, in a conversation or in time."""

    def __init__(self, parts: Sequence[TextIndex], speakers: frozenset[str]) -> None:
        names: dict[str, int] = {}
        talks, turns = [], []
        for part in parts:
            conversations, numbers = part.neighbours.places(names)
            talks.append(conversations)
            turns.append(numbers)
        self._talks, self._turns = np.concatenate(talks), np.concatenate(turns)
        times = np.concatenate([np.full(len(parts[0]), np.nan), *(part.times for part in parts[1:])])
        spoken = np.concatenate([part.speaks(speakers) for part in parts])
        loose = np.flatnonzero((self._talks < 0) & ~np.isnan(times) & spoken)
        if len(loose):
            self._number(loose, times[loose], len(names))
        self.pairing = Pairing.of(self._talks, self._turns)

    def _number(self, rows: NDArray[np.intp], times: Floats, first: int) -> None:
        """Number events without a place in a conversation by their time; simultaneous ones share a number."""
        order = np.argsort(times, kind="stable")
        rows, times = rows[order], times[order]
        steps = np.diff(times)
        self._talks[rows] = first + np.concatenate([[0], np.cumsum(steps > PAUSE)])
        self._turns[rows] = np.concatenate([[0], np.cumsum(steps > 0)])

    def among(self, rows: NDArray[np.intp]) -> Pairing:
        """The pairing of some rows, as if there were no others; it refers to positions in ``rows``."""
        return Pairing.of(self._talks[rows], self._turns[rows])

    def place(self, row: int) -> tuple[int, int] | None:
        """The number of a row's conversation or time sequence, and its turn there; ``None`` if it has no neighbours."""
        talk = int(self._talks[row])
        return (talk, int(self._turns[row])) if talk >= 0 else None
