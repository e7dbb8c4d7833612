"""The map of memories as a figure: a point for each memory, and the names of its clusters.

Imports no streamlit.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence

import plotly.graph_objects as go

from memory_system import Tier
from memory_system.world.cast import Chart, Cluster, Point

from . import tables

_SMALLEST, _LARGEST, _HEIGHT, _HOVER = 5.0, 13.0, 560, 180
_TALL, _LINE = 480, 22
"""Pixels from the lowest point to the highest, and from one name to the next."""
_SYMBOLS = {Tier.STM: "circle-open", Tier.LTM: "circle"}


def mark(point: Point) -> str:
    """What tells a memory from all others of the world."""
    return f"{point.agent}/{point.memory}"


def label(cluster: Cluster) -> str:
    """A cluster by its name, and how many memories it has."""
    return f"{tables.visible(cluster.name) or 'other words'} {cluster.count:,}"


def figure(chart: Chart, ink: str, paper: str, *, named: bool) -> go.Figure:
    """Memories on a plane, hollow where they are short-term, larger with importance; clusters by their words.

    Args:
        chart: where they lie.
        ink: the colour of text.
        paper: the colour on which the names of clusters stand.
        named: whether a point says whose memory it is.
    """
    drawn = go.Figure()
    for tier, symbol in _SYMBOLS.items():
        some = [one for one in chart.points if one.tier is tier]
        if not some:
            continue
        drawn.add_scattergl(
            x=[one.x for one in some],
            y=[one.y for one in some],
            mode="markers",
            name=f"{tables.TIERS[tier]} {len(some):,}",
            customdata=[mark(one) for one in some],
            hovertext=[_hover(one, named=named) for one in some],
            hovertemplate="%{hovertext}<extra></extra>",
            marker={
                "symbol": symbol, "color": ink, "opacity": 0.55, "line": {"width": 1.5, "color": ink},
                "size": [_SMALLEST + (_LARGEST - _SMALLEST) * (one.importance or 0.0) for one in some],
            },
        )  # fmt: skip
    shifts = apart(chart.clusters)
    for one in chart.clusters:
        drawn.add_annotation(
            x=one.x, y=one.y, yshift=shifts[one.number],
            text=f"<b>{html.escape(tables.visible(one.name), quote=False)}</b>", showarrow=False,
            font={"color": ink, "size": 13}, bgcolor=paper, borderpad=3,
        )  # fmt: skip
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False, "title": ""}
    drawn.update_layout(
        height=_HEIGHT, margin={"l": 0, "r": 0, "t": 8, "b": 0}, dragmode="lasso", xaxis=bare,
        yaxis=bare, legend={"orientation": "h", "y": -0.02}, hoverlabel={"align": "left"},
        uirevision="map",
    )  # fmt: skip
    return drawn


def apart(clusters: Sequence[Cluster]) -> dict[int, float]:
    """By the numbers of clusters, how many pixels up their names move, so that none covers another on any width."""
    upwards = sorted(clusters, key=lambda one: one.y)
    found: list[float] = []
    for one in upwards:
        at = (one.y + 1) / 2 * _TALL
        found.append(max(at, found[-1] + _LINE) if found else at)
    over = max(0.0, found[-1] - _TALL) if found else 0.0  # what would leave the top: all move down by half of it
    return {
        one.number: round(at - over / 2 - (one.y + 1) / 2 * _TALL, 1) for one, at in zip(upwards, found, strict=True)
    }


def _hover(point: Point, *, named: bool) -> str:
    who = f"{point.agent}: " if named else ""
    wrapped = textwrap.wrap(tables.short(f"{who}{point.text}", _HOVER), 60)
    return "<br>".join(html.escape(line, quote=False) for line in wrapped)
