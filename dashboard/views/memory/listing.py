"""The rows of the Memory page, as its list needs them. Imports no streamlit, to be tested on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memory_system import AgentMemory, Candidate, MemoryEntry, Query, Score
from memory_system.core import LIVED, ago
from memory_system.recall import Explanation

from ...data import tables

FORGOTTEN = "forgotten"
_TIERS = {tables.TIERS[tier]: tier for tier in LIVED}
_LONGEST = 400
"""The most characters of a memory in a row; two lines are visible."""
_EARLIEST = datetime.min.replace(tzinfo=UTC)


def newest_first(agent: AgentMemory) -> list[MemoryEntry]:
    """Every memory, the newest first, timeless ones last."""
    everything = [entry for tier in LIVED for entry in agent.entries(tier)]
    return sorted(everything, key=lambda entry: (entry.timestamp or _EARLIEST, entry.id), reverse=True)


def chips(entries: Iterable[MemoryEntry], forgotten: int) -> list[dict[str, Any]]:
    """Tiers and kinds with how many memories are of each, and the forgotten."""
    counted = Counter((entry.tier, entry.kind.value) for entry in entries)
    tiers, kinds = Counter[str](), Counter[str]()
    for (tier, kind), count in counted.items():
        tiers[tables.TIERS[tier]] += count
        kinds[kind] += count
    counts = [(name, tiers[name], False) for name in _TIERS]
    counts.append((FORGOTTEN, forgotten, False))
    counts += [(kind, count, place == 0) for place, (kind, count) in enumerate(kinds.most_common())]
    return [{"name": name, "label": name, "count": count, "apart": apart} for name, count, apart in counts]


class Shown:
    """Which memories are listed: those of the chosen tiers and kinds that contain all of the words."""

    def __init__(self, only: Collection[str], words: Collection[str]) -> None:
        self._tiers = {tier for name, tier in _TIERS.items() if name in only}
        self._kinds = set(only) - set(_TIERS) - {FORGOTTEN}
        self._words = words

    def __bool__(self) -> bool:
        return bool(self._tiers or self._kinds or self._words)

    def __contains__(self, entry: object) -> bool:
        if not isinstance(entry, MemoryEntry):
            return False
        if (self._tiers and entry.tier not in self._tiers) or (self._kinds and entry.kind.value not in self._kinds):
            return False
        return not self._words or all(word in entry.document.casefold() for word in self._words)


def bar(score: Score) -> list[tuple[str, float]]:
    """The weighted parts of a score, which add up to it; relevancy by its shades if it has any."""
    parts = score.parts
    return [("recency", parts["recency"]), ("importance", parts["importance"]), *tables.shades(score).items()]


def legend(query: Query | None) -> list[dict[str, str]]:
    """What the colours of the bars mean; empty if there are none."""
    if query is None:
        return []
    shades = tables.SHADES if query.scoring.measure.value == "hybrid" else ("relevancy",)
    return [{"name": name, "label": name} for name in ("recency", "importance", *shades)]


def row(entry: MemoryEntry, now: datetime) -> dict[str, Any]:
    """A memory as it is listed without a cue."""
    return {
        "id": entry.id,
        "text": tables.short(entry.document, _LONGEST),
        "kind": ", ".join([entry.kind.value, *tables.marks(entry)]),
        "tier": tables.tier(entry),
        "when": ago(entry.timestamp, now) if entry.timestamp else "",
    }


def scored(candidate: Candidate, rank: int, query: Query) -> dict[str, Any]:
    """A candidate as listed for a cue; ``rank`` is its position among all, 1 = the first."""
    parts = bar(candidate.score)
    return {
        **row(candidate.entry, query.now),
        "rank": rank,
        "recalled": candidate.recalled,
        "bar": parts,
        "score": 0.0 if candidate.score.total != candidate.score.total else candidate.score.total,
        "told": " + ".join(f"{value:.2f} {name}" for name, value in parts if value >= 0.005),
        "mark": None if candidate.score.confidence is not None else query.threshold_of(candidate.entry.tier),
    }


def candidates(found: Explanation, shown: Shown, most: int) -> tuple[list[dict[str, Any]], int, int]:
    """Rows of the candidates that are listed.

    Returns:
        The rows, at most ``most`` of them; how many of them were recalled; how many more may be listed.
    """
    rows: list[dict[str, Any]] = []
    left = 0
    for place, candidate in enumerate(found.candidates):
        if candidate.entry not in shown:
            continue
        if len(rows) == most:
            left = len(found.candidates) - place
            break
        rows.append(scored(candidate, place + 1, found.query))
    return rows, sum(row["recalled"] for row in rows), left


def line_of_seats(found: Explanation, query: Query) -> str:
    """The line between what was recalled and what was not."""
    if not len(found):
        return "Nothing passed the threshold"
    return f"Seats end here: {len(found)} of {query.top_k} taken"


def plain(entries: Sequence[MemoryEntry], shown: Shown, most: int, now: datetime) -> tuple[list[dict[str, Any]], int]:
    """Rows without scores, and how many more there are."""
    listed = [entry for entry in entries if entry in shown] if shown else entries
    return [row(entry, now) for entry in listed[:most]], max(0, len(listed) - most)


def breakdown(score: Score) -> list[Mapping[str, Any]]:
    """How a score comes about: the value of each part, its weight, and what it adds."""
    alone = score.recency is None or score.importance is None
    weights = score.weights
    parts = (
        []
        if alone
        else [("recency", score.recency, weights.recency), ("importance", score.importance, weights.importance)]
    )
    lines: list[Mapping[str, Any]] = [
        {"name": name, "is": value, "weight": weight, "adds": (value or 0.0) * weight} for name, value, weight in parts
    ]
    weight = 1.0 if alone else weights.relevancy
    for name, value in bar(score)[2:]:
        lines.append({"name": name, "is": value / weight if weight else 0.0, "weight": weight, "adds": value})
    return lines
