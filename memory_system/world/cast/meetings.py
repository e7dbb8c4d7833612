"""One event in two heads: memories of two characters that are close in time, and each name the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations

from ...core.entry import MemoryEntry
from ...core.kinds import Kind
from ...core.languages import JOINERS, MARKS

SAME_EVENT = timedelta(minutes=20)
"""How far apart in time two people's memories of one event may be."""
_SHORTEST_NAME = 3
_WORD = re.compile(rf"\w[\w{MARKS}{JOINERS}]*")


@dataclass(frozen=True)
class Life:
    """What one character experienced, or a part of it.

    Args:
        name: the character's name.
        called: what people call it.
        entries: its memories.
    """

    name: str
    called: str
    entries: tuple[MemoryEntry, ...]


_Mark = tuple[str, str]


def meetings(lives: Sequence[Life]) -> Iterator[tuple[_Mark, _Mark]]:
    """Each event that two of a cast remember, by the character and the id of both memories; each memory in one only."""
    named = _names([life.called for life in lives])
    for (first, by_first), (second, by_second) in combinations(list(zip(lives, named, strict=True)), 2):
        near = sorted(
            (abs(at - then), (first.name, entry.id), (second.name, other.id))
            for at, entry in _lived(first, by_second)
            for then, other in _lived(second, by_first)
            if abs(at - then) <= SAME_EVENT
        )
        used: set[_Mark] = set()
        for _, mark, other in near:
            if not used.intersection((mark, other)):
                used.update((mark, other))
                yield mark, other


def _lived(life: Life, other: re.Pattern[str] | None) -> list[tuple[datetime, MemoryEntry]]:
    """The memories of a life that name somebody, with their times."""
    kinds = (Kind.OBSERVATION, Kind.CONVERSATION)
    return [
        (entry.timestamp, entry)
        for entry in life.entries
        if entry.timestamp and entry.kind in kinds and _says(entry, other)
    ]


def _names(labels: Sequence[str]) -> list[re.Pattern[str] | None]:
    """The words that name each of them in a text: words of the name that nobody else has."""
    words = [[word for word in _WORD.findall(label) if len(word) >= _SHORTEST_NAME] for label in labels]
    shared = Counter(word for own in words for word in set(own))
    alone = [[re.escape(word) for word in own if shared[word] == 1] for own in words]
    return [re.compile(rf"(?<!\w)(?:{'|'.join(own)})(?![\w{MARKS}])") if own else None for own in alone]


def _says(entry: MemoryEntry, name: re.Pattern[str] | None) -> bool:
    return name is not None and bool(name.search(entry.document) or any(map(name.search, entry.people)))
