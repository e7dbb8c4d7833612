"""Suspicions: memories that may say the same, and memories that may contradict each other. Nothing is changed here.

By vectors, which are compared pair by pair, and by the rules of ``contradictions``; ``second_opinion`` asks a language
model. A suspicion says why it is one, and what speaks against it: a person decides.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np

from ...core.change_set import ModelCall, so_many
from ...core.dismissed import Dismissed, fingerprint, of_texts
from ...core.entry import MemoryEntry
from ...core.kinds import Kind
from ...core.memory import Vectors
from ...core.times import ago
from ...recall.hybrid.speakers import speaker_of
from ...recall.hybrid.words import plain
from ...recall.table import Rows
from ..context import Progress
from .contradictions import Statement, against, statement
from .pairs import NearPairs, near_pairs

OF_TALKS = (
    "Of turns of talks, only statements of one speaker that share three words or more are compared: questions, thanks "
    "and greetings are left out, and what is said in other words is not found. A language model reads better."
)
ALMOST_THE_SAME = "Almost the same in meaning."
THRESHOLD = 0.85
"""The cosine from which on two memories may be duplicates: paraphrases lie above it, other talk of a subject below."""
RELATED = 0.7
"""The cosine from which on two memories are read for a contradiction."""
MOST_PAIRS = 20_000
"""Pairs that are read; of more, the most alike."""
_OFTEN = 2
"""How often somebody has to speak to be taken for a speaker."""
_APART = 12 * 3600
"""Seconds between two memories, from which on it may have happened twice, or changed."""


class Sort(StrEnum):
    """What memories are suspected of."""

    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"


@dataclass(frozen=True)
class Suspicion:
    """Memories that may say the same, or contradict each other.

    Args:
        sort: which of the two.
        entries: two memories, or more of exactly the same text; the oldest first.
        similarity: their cosine, -1 to 1; 1 for the same text.
        reasons: what speaks for it, in sentences.
        doubts: what speaks against it.
    """

    sort: Sort
    entries: tuple[MemoryEntry, ...]
    similarity: float
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its memories."""
        return tuple(entry.id for entry in self.entries)

    @property
    def mark(self) -> Dismissed:
        """What dismissing it would keep."""
        return of_texts(entry.document for entry in self.entries)


@dataclass(frozen=True)
class Look:
    """What was found when an agent's memories were looked through.

    Args:
        suspicions: contradictions before duplicates, of each sort the surest first.
        compared: how many memories were compared.
        dismissed: how many suspicions are left out, since a person has dismissed them.
        notes: what was not looked at, and why, in sentences.
        calls: what the language model was asked.
        related: pairs that are near to each other and no suspicion, for a language model to read; the nearest first.
    """

    suspicions: tuple[Suspicion, ...]
    compared: int
    dismissed: int
    notes: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    related: tuple[Suspicion, ...] = dataclasses.field(default=(), repr=False)

    def of(self, sort: Sort) -> tuple[Suspicion, ...]:
        """The suspicions of one sort."""
        return tuple(suspicion for suspicion in self.suspicions if suspicion.sort is sort)


@dataclass(frozen=True)
class MemoryTable:
    """Memories as they stood when the look began.

    Args:
        entries: by row.
        vectors: shape (n, d), a row of NaN for one without.
        kinds: the kind of each row.
    """

    entries: Rows
    vectors: Vectors
    kinds: Sequence[Kind]


def look(
    tables: Sequence[MemoryTable],
    dismissed: Collection[Dismissed],
    *,
    threshold: float,
    now: datetime,
    limit: int,
    progress: Progress,
) -> Look:
    """Compare all memories with each other, but for plans, which are alike by nature.

    A memory is not compared with those that it rests on: a summary is meant to say what they say.

    Args:
        tables: what is compared; the memories of all of these with each other.
        dismissed: what is left out.
        threshold: the cosine from which on two are called duplicates, ``RELATED`` to 1.
        now: the time from which "yesterday" counts in a memory that has no time of its own.
        limit: how many suspicions of each sort, at most.
        progress: called with the progress so far; it may raise to cancel.
    """
    progress(0.0, "Reading the memories")
    rows = [(memories, row) for memories in tables for row, kind in enumerate(memories.kinds) if kind is not Kind.PLAN]
    groups: dict[str, list[int]] = {}
    for place, (memories, row) in enumerate(rows):
        groups.setdefault(fingerprint(memories.entries.document(row)), []).append(place)
    known = {dismissal.texts for dismissal in dismissed}
    reader = _Reader(rows, now)
    same = [
        reader.group(places)
        for mark, places in groups.items()
        if len(places) > 1 and (mark,) not in known and reader.says_something(places[0])
    ]
    hidden = sum(len(places) > 1 and (mark,) in known for mark, places in groups.items())
    marks, first = list(groups), [places[0] for places in groups.values()]
    pairs = _pairs(rows, first, progress)
    contradictions: list[Suspicion] = []
    duplicates: list[Suspicion] = []
    related: list[Suspicion] = []
    for number, (index, other, cosine) in enumerate(zip(pairs.first, pairs.second, pairs.cosines, strict=True)):
        if number % 500 == 0:
            progress(0.9 + 0.1 * number / len(pairs.first), "Reading the similar pairs")
        found = reader.pair(first[index], first[other], float(cosine), threshold)
        if found is None:
            continue
        if tuple(sorted((marks[index], marks[other]))) in known:
            hidden += found.sort is Sort.CONTRADICTION or ALMOST_THE_SAME in found.reasons
        elif found.sort is Sort.CONTRADICTION:
            contradictions.append(found)
        else:
            (duplicates if ALMOST_THE_SAME in found.reasons else related).append(found)
    progress(1.0, "Done")
    without = sum(int(np.isnan(memories.vectors).any(axis=1).sum()) for memories in tables) if tables else 0
    shown = (*_surest(contradictions, limit), *_surest([*same, *duplicates], limit))
    left = len(contradictions) + len(same) + len(duplicates) - len(shown)
    notes = [*_notes(pairs, without, left), *([OF_TALKS] if reader.reads_talk else [])]
    return Look(shown, len(rows), hidden, tuple(notes), related=tuple(related[:limit]))


def _pairs(rows: Sequence[tuple[MemoryTable, int]], first: Sequence[int], progress: Progress) -> NearPairs:
    """The pairs of texts that are related, each text standing for all memories that hold it."""
    width = max((memories.vectors.shape[1] for memories, _ in rows), default=0)
    vectors = np.full((len(first), width), np.nan, np.float32)
    for place, number in enumerate(first):
        memories, row = rows[number]
        if memories.vectors.shape[1] == width:
            vectors[place] = memories.vectors[row]
    words = f"Comparing {so_many(len(first))}"
    return near_pairs(vectors, RELATED, MOST_PAIRS, lambda done: progress(0.05 + 0.85 * done, words))


def _surest(found: Sequence[Suspicion], limit: int) -> list[Suspicion]:
    return sorted(found, key=lambda suspicion: (len(suspicion.doubts), -suspicion.similarity, suspicion.ids))[:limit]


def _notes(pairs: NearPairs, without: int, left: int) -> list[str]:
    notes = []
    if pairs.cut:
        notes.append(f"Only the {MOST_PAIRS:,} most similar pairs were read, down to {pairs.cosines[-1]:.2f}.")
    if without:
        notes.append(f"{without:,} have no vector yet, and were compared by their exact words alone.")
    if left:
        notes.append(f"{left:,} more suspicions are not listed; settle some of these first.")
    return notes


class _Reader:
    """Reads pairs of memories, each memory once."""

    def __init__(self, rows: Sequence[tuple[MemoryTable, int]], now: datetime) -> None:
        self._rows = rows
        self._now = now
        spoken = Counter(plain(speaker_of(memories.entries.document(row))[0]) for memories, row in rows)
        self._speakers = frozenset(name for name, often in spoken.items() if name and often >= _OFTEN)
        self._statements: dict[int, Statement] = {}

    def _entry(self, place: int) -> MemoryEntry:
        memories, row = self._rows[place]
        return memories.entries[row]

    @property
    def reads_talk(self) -> bool:
        """Whether there are turns of a talk among the memories."""
        return bool(self._speakers)

    def says_something(self, place: int) -> bool:
        """Whether a memory tells of anything, and is not only kind."""
        return self._text(place).says_something

    def group(self, places: Sequence[int]) -> Suspicion:
        """Memories of one text."""
        entries = _by_age([self._entry(place) for place in places])
        reason = f"The same words, {len(entries):,} times."
        return Suspicion(Sort.DUPLICATE, entries, 1.0, (reason,), _twice(entries, "it may have happened each time"))

    def pair(self, place: int, other: int, cosine: float, threshold: float) -> Suspicion | None:
        """Two memories that are alike; ``None`` if one rests on the other."""
        entries = _by_age([self._entry(place), self._entry(other)])
        if entries[0].id in entries[1].evidence or entries[1].id in entries[0].evidence:
            return None
        if reasons := against(self._text(place), self._text(other)):
            doubts = _twice(entries, "each may have been true in its time")
            return Suspicion(Sort.CONTRADICTION, entries, cosine, tuple(reasons), doubts)
        same = cosine >= threshold and self._text(place).same_fact(self._text(other))
        reason = ALMOST_THE_SAME if same else "They are about the same things."
        return Suspicion(Sort.DUPLICATE, entries, cosine, (reason,), _twice(entries, "it may have happened twice"))

    def _text(self, place: int) -> Statement:
        if place not in self._statements:
            entry = self._entry(place)
            turn = plain(speaker_of(entry.document)[0]) in self._speakers
            self._statements[place] = statement(entry.document, entry.timestamp or self._now, talk=turn)
        return self._statements[place]


def _by_age(entries: Sequence[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: (str(entry.metadata.get("timestamp", "")), entry.id)))


def _twice(entries: Sequence[MemoryEntry], so: str) -> tuple[str, ...]:
    """What the time between the first and the last speaks for."""
    times = [entry.timestamp for entry in entries if entry.timestamp is not None]
    if len(times) < 2 or (max(times) - min(times)).total_seconds() < _APART:
        return ()
    apart = ago(min(times), max(times)).removesuffix(" ago")
    return (f"They are {apart} apart: {so}.",)
