"""Pending decisions, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memory_system import MemoryEntry
from memory_system.world import Decision, Matter

CHIPS = {
    Matter.MIGRATE: "Would migrate",
    Matter.REFLECT: "Reflection due",
    Matter.PERSON: "Reflection on a person due",
    Matter.SUMMARISE: "Summary due",
    Matter.PLAN: "Plan due",
    Matter.RATE: "Unrated",
    Matter.STALE: "Stale",
    Matter.CUE: "Failing cues",
    Matter.CONTRADICTION: "Contradictions",
    Matter.DUPLICATE: "Duplicates",
}
"""The label of each kind in the choice of kinds, in the order of the list."""
SHORT = CHIPS | {Matter.CUE: "Failing cue", Matter.CONTRADICTION: "Contradiction", Matter.DUPLICATE: "Duplicate"}
"""What one of each kind is called."""


def counts(decisions: Iterable[Decision]) -> dict[Matter, int]:
    """How many there are of each kind that occurs, in the order of the list."""
    found = Counter(decision.kind for decision in decisions)
    return {kind: found[kind] for kind in CHIPS if found[kind]}


def counts_in_words(decisions: Iterable[Decision]) -> str:
    """How many there are of each kind, on one line."""
    return " · ".join(f"{CHIPS[kind]} {count:,}" for kind, count in counts(decisions).items())


def usual(entries: Iterable[MemoryEntry]) -> MemoryEntry:
    """Which of several memories stays if nobody says otherwise: a pinned one, else one by a person, else the newest."""

    def rank(entry: MemoryEntry) -> tuple[bool, bool, float]:
        newest = entry.timestamp.timestamp() if entry.timestamp else float("-inf")
        return entry.pinned or entry.protected, entry.authored, newest

    return max(entries, key=rank)
