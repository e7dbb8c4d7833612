"""The last day of a cast side by side: what each lived, and where two remember the same event."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations

from memory_system import Kind, MemoryEntry

DAY = timedelta(days=1)
SAME_EVENT = timedelta(minutes=20)
"""How far apart two people may have noted what they lived together."""
_SHORTEST_NAME = 3


@dataclass(frozen=True)
class Lane:
    """What one character lived on a day, the earliest first."""

    name: str
    label: str
    entries: tuple[MemoryEntry, ...]


def last_day(lives: Iterable[tuple[str, str, Iterable[MemoryEntry]]], now: datetime) -> tuple[datetime, list[Lane]]:
    """The last day on which anything happened, by its end, as a lane for each character.

    Args:
        lives: the name, the name for people and the memories of each character.
        now: what lies later, as a plan does, is left out.
    """
    lived = [(name, label, [one for one in entries if _lived(one, now)]) for name, label, entries in lives]
    latest = max((one.timestamp for *_, entries in lived for one in entries if one.timestamp), default=now)
    end = now if latest > now - DAY else latest
    lanes = [
        Lane(name, label, tuple(sorted((one for one in entries if _at(one) >= end - DAY), key=_at)))
        for name, label, entries in lived
    ]
    return end, lanes


def mark(lane: Lane, entry: MemoryEntry) -> str:
    """What tells a memory from all others of a cast: ids are unique within a character only."""
    return f"{lane.name}/{entry.id}"


def meetings(lanes: Sequence[Lane]) -> list[tuple[str, str]]:
    """The marks of memories of two characters that are of one event: close in time, and each names the other."""
    named = _names([lane.label for lane in lanes])
    found: list[tuple[str, str]] = []
    for (first, by_first), (second, by_second) in combinations(list(zip(lanes, named, strict=True)), 2):
        near = sorted(
            (abs(_at(one) - _at(other)), mark(first, one), mark(second, other))
            for one in first.entries
            if _told_together(one) and _says(one, by_second)
            for other in second.entries
            if abs(_at(one) - _at(other)) <= SAME_EVENT and _told_together(other) and _says(other, by_first)
        )
        used: set[str] = set()
        for _, *both in near:
            if not used.intersection(both):
                used.update(both)
                found.append((both[0], both[1]))
    return found


def _lived(entry: MemoryEntry, now: datetime) -> bool:
    return entry.kind is not Kind.PLAN and entry.timestamp is not None and entry.timestamp <= now


def _told_together(entry: MemoryEntry) -> bool:
    return entry.kind in (Kind.OBSERVATION, Kind.CONVERSATION)


def _at(entry: MemoryEntry) -> datetime:
    assert entry.timestamp is not None, "a lane holds only what has its time"
    return entry.timestamp


def _names(labels: Sequence[str]) -> list[re.Pattern[str] | None]:
    """What names each of them in a text: a word of the name that no other one shares."""
    words = [[word for word in re.findall(r"\w+", label) if len(word) >= _SHORTEST_NAME] for label in labels]
    shared = Counter(word for own in words for word in set(own))
    alone = [[re.escape(word) for word in own if shared[word] == 1] for own in words]
    return [re.compile(rf"\b(?:{'|'.join(own)})\b") if own else None for own in alone]


def _says(entry: MemoryEntry, name: re.Pattern[str] | None) -> bool:
    return name is not None and bool(name.search(entry.document) or any(map(name.search, entry.people)))
