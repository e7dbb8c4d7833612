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
    nearest = sorted(found.kin, key=lambda kin: abs(kin.level))[:MOST]
    kept = {kin.entry.id for kin in nearest}
    order = {kin.entry.id: place for place, kin in enumerate(found.kin)}
    return tuple(
        sorted((kin for kin in found.kin if kin.entry.id in kept), key=lambda kin: (-kin.level, order[kin.entry.id]))
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
    for entry_id in place:
        peers.setdefault(column[entry_id], []).append(entry_id)
    gone = {row.entry.id for row in rows if row.forgotten}
    links = []
    for source, entry_id in found.links:
        if source in place and entry_id in place:
            some = peers[column[entry_id]]
            lane = column[entry_id] + 0.25 + 0.5 * (some.index(entry_id) + 1) / (len(some) + 1)
            links.append({"from": place[entry_id], "to": place[source], "lane": lane, "dotted": source in gone})
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


def _row(kin: Kin, column: int, *, here: bool) -> dict[str, Any]:
    colour, shape = KINDS[kin.entry.kind.value]
    return {
        "id": kin.entry.id, "column": column, "colour": colour, "shape": shape, "here": here, "stale": kin.stale,
        "forgotten": kin.forgotten, "text": short(kin.entry.document, _LONGEST), "about": _about(kin),
    }  # fmt: skip


def _about(kin: Kin) -> str:
    words = [kin.entry.kind.value, _day(kin.entry)]
    words += ["forgotten"] * kin.forgotten + ["⚠ stale"] * kin.stale
    return " · ".join(filter(None, words))


def _day(entry: MemoryEntry) -> str:
    return f"{entry.timestamp.day} {entry.timestamp:%b %Y}" if entry.timestamp else ""
