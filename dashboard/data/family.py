"""A lineage as a picture: one row per memory, one column per step. Imports no streamlit, for tests on their own."""

from __future__ import annotations

from typing import Any

from memory_system import MemoryEntry
from memory_system.operations import Kin, Lineage

from .figures import DOUBT, KINDS
from .tables import short

MOST = 24
"""The most memories in one picture: those nearest to the one in question."""
_LONGEST = 480
"""The most characters of a text in the picture; how many lines are visible depends on its width."""


def drawn(found: Lineage) -> tuple[Kin, ...]:
    """The kin in the picture: what rests on the memory above it, and what it rests on below it."""
    nearest = sorted(found.kin, key=lambda one: abs(one.level))[:MOST]
    kept = {kin.entry.id for kin in nearest}
    order = {kin.entry.id: place for place, kin in enumerate(found.kin)}
    return tuple(
        sorted((kin for kin in found.kin if kin.entry.id in kept), key=lambda one: (-one.level, order[one.entry.id]))
    )


def tree(found: Lineage) -> dict[str, Any]:
    """The memory between what it comes from and what came of it; the same each time it is drawn.

    Each memory has a row; a step towards its originals is a column to the right. A line leads from a memory to each
    that it rests on, in the memory's own lane between the columns, so that its start is clear. Forgotten memories are
    pale, struck through, and reached by a dotted line; stale ones are ringed.

    Returns:
        ``rows`` from top to bottom, with their ``column``; ``links``, each with the rows from and to which it leads
        and its ``lane`` in columns; and the ``legend``: which of these occur.
    """
    rows = drawn(found)
    place = {kin.entry.id: row for row, kin in enumerate(rows)}
    top = rows[0].level if rows else 0
    column = {row.entry.id: top - row.level for row in rows}
    peers: dict[int, list[str]] = {}
    for one in place:
        peers.setdefault(column[one], []).append(one)
    gone = {row.entry.id for row in rows if row.forgotten}
    links = []
    for source, one in found.links:
        if source in place and one in place:
            some = peers[column[one]]
            lane = column[one] + 0.25 + 0.5 * (some.index(one) + 1) / (len(some) + 1)
            links.append({"from": place[one], "to": place[source], "lane": lane, "dotted": source in gone})
    kinds = {row.entry.kind.value for row in rows}
    legend = [{"label": kind, "colour": KINDS[kind][0], "shape": KINDS[kind][1]} for kind in KINDS if kind in kinds]
    legend += [{"label": "forgotten", "shape": "struck"}] if gone else []
    legend += [{"label": "stale", "colour": DOUBT, "shape": "ring"}] if any(row.stale for row in rows) else []
    return {
        "label": "The memories that this one is based on, below it, and those based on it, above it: arrow keys walk, "
        "Enter opens one",
        "columns": max(column.values(), default=0) + 1,
        "rows": [_row(row, column[row.entry.id], here=row.entry.id == found.entry_id) for row in rows],
        "links": links,
        "legend": legend,
        "doubt": DOUBT,
    }


def _row(one: Kin, column: int, *, here: bool) -> dict[str, Any]:
    colour, shape = KINDS[one.entry.kind.value]
    return {
        "id": one.entry.id, "column": column, "colour": colour, "shape": shape, "here": here, "stale": one.stale,
        "forgotten": one.forgotten, "text": short(one.entry.document, _LONGEST), "about": _about(one),
    }  # fmt: skip


def _about(one: Kin) -> str:
    words = [one.entry.kind.value, _day(one.entry)]
    words += ["forgotten"] * one.forgotten + ["⚠ stale"] * one.stale
    return " · ".join(filter(None, words))


def _day(entry: MemoryEntry) -> str:
    return f"{entry.timestamp.day} {entry.timestamp:%b %Y}" if entry.timestamp else ""
