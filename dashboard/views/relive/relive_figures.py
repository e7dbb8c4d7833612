"""A recall of then beside now, as a figure. Imports no streamlit."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from memory_system import Query

from ...data.tables import short

_THEN, _NOW, _GREY = "#CC79A7", "#56B4E9", "#888888"
_ROW = 50
_LABEL = 40
"""Characters of a memory that fit above its line on a narrow screen."""


def shifted(frame: pd.DataFrame, then: Query, now: Query, ink: str = _GREY) -> go.Figure:
    """Each memory's score then (open) and now (filled) on a line, the first row on top; a cross was not recalled.

    Args:
        frame: as ``relive_tables.shifted`` makes it.
        then: the query of then, for its threshold.
        now: the query of now.
        ink: the colour of what is written.
    """
    figure = go.Figure()
    records = frame.to_dict("records")
    between: dict[str, list[Any]] = {"x": [], "y": []}
    for row, one in enumerate(records):
        between["x"] += [one["then"], one["now"], None]
        between["y"] += [row, row, None]
    figure.add_scatter(**between, mode="lines", line={"color": _GREY, "width": 2}, hoverinfo="skip", showlegend=False)
    for name, colour, symbol, size in (("then", _THEN, "circle-open", 15), ("now", _NOW, "circle", 9)):
        for recalled, mark, words in ((True, symbol, name), (False, "x-thin", f"{name}, not recalled")):
            rows = [(row, one) for row, one in enumerate(records) if _drawn(one, name, recalled)]
            figure.add_scatter(
                x=[one[name] for _, one in rows],
                y=[row for row, _ in rows],
                name=words,
                mode="markers",
                marker={"symbol": mark, "size": size, "color": colour, "line": {"width": 3, "color": colour}},
                hovertext=[_hover(one) for _, one in rows],
                hovertemplate="%{hovertext}<extra></extra>",
                showlegend=bool(rows),
            )
    figure.add_scatter(
        x=[0.0] * len(records),
        y=[row - 0.4 for row in range(len(records))],
        text=[html.escape(f"{one['shift']} · {short(one['memory'], _LABEL)}", quote=False) for one in records],
        mode="text",
        textposition="middle right",
        textfont={"size": 12, "color": ink},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
    greatest = max([one[name] for one in records for name in ("then", "now") if pd.notna(one[name])], default=1.0)
    figure.update_layout(
        **_thresholds(then, now),
        height=max(1, len(records)) * _ROW + 120,
        margin={"l": 4, "r": 34, "t": 80, "b": 30},
        legend={"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0},
        xaxis={
            "range": [0, 1.06 * max(greatest, then.threshold, now.threshold)],
            "fixedrange": True,
            "zeroline": False,
            "title": {"text": "score", "standoff": 4},
        },
        yaxis={"visible": False, "range": [len(records) - 0.5, -0.8], "fixedrange": True},
        hoverlabel={"align": "left"},
    )
    return figure


def _drawn(one: dict[Any, Any], name: str, recalled: bool) -> bool:
    return bool(pd.notna(one[name])) and one[f"recalled {name}"] is recalled


def _hover(one: dict[Any, Any]) -> str:
    told = []
    for name in ("then", "now"):
        score = "not there" if pd.isna(one[name]) else f"{one[name]:.2f}"
        told.append(f"{name} {score}{'' if one[f'recalled {name}'] or pd.isna(one[name]) else ', not recalled'}")
    return html.escape(short(one["memory"], 120), quote=False) + f"<br>{one['tier']} · {' · '.join(told)}"


def _thresholds(then: Query, now: Query) -> dict[str, Any]:
    """The line that a score had to exceed, and the one that it has to."""
    marks = [(now.threshold, "dash", f"threshold {now.threshold:.2f}")]
    if then.threshold != now.threshold:
        marks = [
            (then.threshold, "dot", f"then {then.threshold:.2f}"),
            (now.threshold, "dash", f"now {now.threshold:.2f}"),
        ]
    upright = {"type": "line", "yref": "paper", "y0": 0, "y1": 1}
    return {
        "shapes": [
            {**upright, "x0": at, "x1": at, "line": {"color": _GREY, "width": 2, "dash": dash}} for at, dash, _ in marks
        ],
        "annotations": [
            {
                "x": at, "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 14 * number,
                "text": words, "showarrow": False, "font": {"size": 12},
            }
            for number, (at, _, words) in enumerate(marks)
        ],
    }  # fmt: skip
