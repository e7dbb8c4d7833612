"""The last day of a cast side by side: what each lived, and where two remember the same event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_system import Kind, MemoryEntry
from memory_system.world.cast import Life
from memory_system.world.cast import meetings as joined

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Lane:
    """What one character lived on a day, the earliest first."""

    name: str
    label: str
    entries: tuple[MemoryEntry, ...]


def last_day(lives: Iterable[tuple[str, str, Iterable[MemoryEntry]]], now: datetime) -> tuple[datetime, list[Lane]]:
    """The last day on which anything happened, given by its end, as a lane for each character.

    Args:
        lives: the name, the name for people and the memories of each character.
        now: later memories, such as plans, are left out.
    """
    lived = [(name, label, [entry for entry in entries if _lived(entry, now)]) for name, label, entries in lives]
    latest = max((entry.timestamp for *_, entries in lived for entry in entries if entry.timestamp), default=now)
    end = now if latest > now - DAY else latest
    lanes = [
        Lane(name, label, tuple(sorted((entry for entry in entries if _at(entry) >= end - DAY), key=_at)))
        for name, label, entries in lived
    ]
    return end, lanes


def mark(lane: Lane, entry: MemoryEntry) -> str:
    """What distinguishes a memory from all others of a cast: ids are unique within a character only."""
    return f"{lane.name}/{entry.id}"


def meetings(lanes: Sequence[Lane]) -> list[tuple[str, str]]:
    """The marks of two characters' memories of one event: close in time, and each names the other."""
    lives = [Life(lane.name, lane.label, lane.entries) for lane in lanes]
    return [(f"{name}/{entry_id}", f"{other}/{another}") for (name, entry_id), (other, another) in joined(lives)]


def _lived(entry: MemoryEntry, now: datetime) -> bool:
    return entry.kind is not Kind.PLAN and entry.timestamp is not None and entry.timestamp <= now


def _at(entry: MemoryEntry) -> datetime:
    assert entry.timestamp is not None, "a lane holds only what has its time"
    return entry.timestamp
