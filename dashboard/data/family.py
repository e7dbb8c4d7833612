"""A lineage as a figure: a row a memory, a column a step. Imports no streamlit, so that it can be tested by itself."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Sequence

import plotly.graph_objects as go

from memory_system import MemoryEntry
from memory_system.operations import Kin, Lineage

from .figures import DOUBT, KINDS
from .tables import short

MOST = 24
"""Memories that one figure shows: those nearest to the one asked about."""
_GREY = "#888888"
_ROW = 60
_WIDE = 35
"""Characters of a line that fit beside the columns on a narrow screen."""
_PALE = 0.35


def drawn(found: Lineage) -> tuple[Kin, ...]:
    """The kin that the figure shows, what rests on the memory above it, what it rests on below it."""
    nearest = sorted(found.kin, key=lambda one: abs(one.level))[:MOST]
    kept = {one.entry.id for one in nearest}
    order = {one.entry.id: place for place, one in enumerate(found.kin)}
    return tuple(
        sorted((one for one in found.kin if one.entry.id in kept), key=lambda one: (-one.level, order[one.entry.id]))
    )


def tree(found: Lineage, ink: str = _GREY) -> go.Figure:
    """The memory in the middle of what it comes from and what came of it; the same each time it is drawn.

    Each memory has a row; a step towards its originals is a column to the right. A line leads from a memory to each
    that it rests on. What is forgotten is pale, struck through, and led to by a dotted line; what is stale is ringed.
    Points and their texts carry the id of their memory.
    """
    rows = drawn(found)
    place = {one.entry.id: row for row, one in enumerate(rows)}
    top = rows[0].level if rows else 0
    column = {one.entry.id: top - one.level for one in rows}
    span = max(column.values(), default=0)
    room = (span + 1) / min(0.4, 0.13 * (span + 1))
    figure = go.Figure()
    gone = {one.entry.id for one in rows if one.forgotten}
    links = [(source, one) for source, one in found.links if source in place and one in place]
    for dash, some in (
        ("solid", [link for link in links if link[0] not in gone]),
        ("dot", [link for link in links if link[0] in gone]),
    ):
        _lines(figure, some, place, column, dash)
    for kind, (colour, symbol) in KINDS.items():
        _points(figure, [one for one in rows if one.entry.kind.value == kind], kind, colour, symbol, column, place)
    _rings(figure, rows, found.entry_id, column, place)
    _labels(figure, rows, found.entry_id, span, place, ink)
    legend = 12 + 20 * math.ceil(
        sum(bool(trace.name) for trace in figure.data) / 2
    )  # two beside each other when narrow
    figure.update_layout(
        height=_ROW * len(rows) + legend + 8,
        margin={"l": 4, "r": 4, "t": legend, "b": 8},
        legend={"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0, "itemclick": False},
        xaxis={"visible": False, "fixedrange": True, "range": [-0.35, room]},
        yaxis={"visible": False, "fixedrange": True, "range": [len(rows) - 0.45, -0.55]},
        shapes=[_band(place[found.entry_id])] if found.entry_id in place else [],
        clickmode="event+select",
        dragmode=False,
        hoverlabel={"align": "left"},
    )
    return figure


def _band(row: int) -> dict[str, object]:
    return {
        "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": row - 0.47, "y1": row + 0.47, "layer": "below",
        "fillcolor": _GREY, "opacity": 0.13, "line": {"width": 0},
    }  # fmt: skip


def _lines(
    figure: go.Figure, links: Sequence[tuple[str, str]], place: dict[str, int], column: dict[str, int], dash: str
) -> None:
    """Each memory's lines run down a lane of its own between the columns, so that one sees whose they are."""
    if not links:
        return
    peers: dict[int, list[str]] = {}
    for one in place:
        peers.setdefault(column[one], []).append(one)
    x: list[float | None] = []
    y: list[float | None] = []
    for source, one in links:
        some = peers[column[one]]
        lane = column[one] + 0.25 + 0.5 * (some.index(one) + 1) / (len(some) + 1)
        x += [column[one], lane, lane, column[source], None]
        y += [place[one], place[one], place[source], place[source], None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": _GREY, "width": 1.5, "dash": dash},
        hoverinfo="skip",
        showlegend=False,
    )


def _points(
    figure: go.Figure,
    some: Sequence[Kin],
    kind: str,
    colour: str,
    symbol: str,
    column: dict[str, int],
    place: dict[str, int],
) -> None:
    if not some:
        return
    figure.add_scatter(
        x=[column[one.entry.id] for one in some],
        y=[place[one.entry.id] for one in some],
        mode="markers",
        name=kind,
        marker={
            "color": colour,
            "symbol": symbol,
            "size": 14,
            "opacity": [_PALE if one.forgotten else 1.0 for one in some],
            "line": {"width": 2 if symbol.endswith("open") else 0, "color": colour},
        },
        customdata=[one.entry.id for one in some],
        hovertext=[_hover(one) for one in some],
        hovertemplate="%{hovertext}<extra></extra>",
        unselected={"marker": {"opacity": 1}},
    )


def _rings(figure: go.Figure, rows: Sequence[Kin], centre: str, column: dict[str, int], place: dict[str, int]) -> None:
    """What tells some from the others, each with a place in the legend."""
    middle = [one for one in rows if one.entry.id == centre]
    for name, some, marker in (
        ("forgotten", [one for one in rows if one.forgotten], {"symbol": "line-ne-open", "size": 20, "color": _GREY}),
        ("stale", [one for one in rows if one.stale], {"symbol": "circle-open", "size": 25, "color": DOUBT}),
        (
            "this memory",
            middle,
            {"symbol": "square", "size": 12, "color": _GREY},
        ),
    ):
        if some:
            here = name == "this memory"  # drawn as a band; the legend needs a sign
            figure.add_scatter(
                x=[None if here else column[one.entry.id] for one in some],
                y=[None if here else place[one.entry.id] for one in some],
                mode="markers",
                name=name,
                marker={**marker, "opacity": 0.3 if here else 1.0, "line": {"width": 2.5}},
                hoverinfo="skip",
            )


def _labels(figure: go.Figure, rows: Sequence[Kin], centre: str, span: int, place: dict[str, int], ink: str) -> None:
    """Beside all columns, so that no line runs through a word."""
    red, green, blue = (int(ink[at : at + 2], 16) for at in (1, 3, 5))
    for shift, size, pale, write in ((-0.16, 12.5, 1.0, _said), (0.28, 11, 0.72, _about)):
        figure.add_scatter(
            x=[span + 0.5] * len(rows),
            y=[place[one.entry.id] + shift for one in rows],
            mode="text",
            text=[f"<b>{write(one)}</b>" if one.entry.id == centre and pale == 1 else write(one) for one in rows],
            textposition="middle right",
            textfont={
                "size": size,
                "color": [f"rgba({red},{green},{blue},{0.6 if one.forgotten else pale})" for one in rows],
            },
            customdata=[one.entry.id for one in rows],
            hovertext=[_hover(one) for one in rows],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
            cliponaxis=False,
        )


def _said(one: Kin) -> str:
    lines = textwrap.wrap(short(one.entry.document, 4 * _WIDE), _WIDE, max_lines=2, placeholder=" …")
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def _about(one: Kin) -> str:
    words = [one.entry.kind.value, _day(one.entry)]
    words += ["forgotten"] * one.forgotten + ["⚠ stale"] * one.stale
    return " · ".join(filter(None, words))


def _day(entry: MemoryEntry) -> str:
    return f"{entry.timestamp.day} {entry.timestamp:%b %Y}" if entry.timestamp else ""


def _hover(one: Kin) -> str:
    lines = [html.escape(line, quote=False) for line in textwrap.wrap(short(one.entry.document, 480), 60)]
    state = ["It is no longer in recall."] * one.forgotten + ["What it rests on has changed since."] * one.stale
    return "<br>".join([*lines, _about(one), *state])
