"""DataFrames to figures. Imports no streamlit, so that every figure can be tested on its own."""

from __future__ import annotations

import dataclasses
import html
import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import plotly.graph_objects as go

from memory_system import Score
from memory_system.conversation import TrustPoint
from memory_system.core import stamp
from memory_system.recall import Forecast

KINDS = {
    "observation": ("#8c8c88", "circle"),
    "conversation": ("#8c8c88", "circle-open"),
    "reflection": ("#9a6fc0", "diamond"),
    "summary": ("#9a6fc0", "square"),
    "plan": ("#CC79A7", "triangle-up"),
    "fact": ("#8c8c88", "cross"),
    "procedure": ("#8c8c88", "x"),
}
"""A colour and a symbol for each kind; not blue, orange or green, which are the parts of a score."""
DOUBT = "#d1495b"
"""The colour of what removes something, ends it or casts doubt on it."""
_GREY = "#888888"


def waterfall(score: Score, threshold: float, ink: str = _GREY) -> go.Figure:
    """How the parts of one score add up to it, with relevancy's own parts if it has any; and the threshold line.

    There is no line if a confidence has to pass.
    """
    steps = [(name, value) for name, value in score.parts.items() if name != "relevancy"]
    weight = 1.0 if score.recency is None else score.weights.relevancy
    made_of = {f"relevancy: {name}": weight * value for name, value in score.sub_parts.items()}
    steps += made_of.items() or [("relevancy", score.parts["relevancy"])]
    if made_of:  # its parts are measured before it is scaled by its min and max
        steps.append(("relevancy: scaling", score.parts["relevancy"] - sum(made_of.values())))
    steps = [(name, value) for name, value in steps if abs(value) >= 0.0005] or steps[-1:]
    names = [name for name, _ in steps]
    figure = go.Figure(
        go.Waterfall(
            orientation="h",
            y=[*names, "score"],
            x=[*(value for _, value in steps), 0],
            measure=[*("relative" for _ in steps), "total"],
            text=[*(f"{value:+.2f}" for _, value in steps), f"{score.total:.2f}"],
            textposition="outside",
            textfont={"color": ink},
            cliponaxis=False,
            connector={"line": {"color": _GREY, "width": 1}},
            increasing={"marker": {"color": "#8c8c88"}},
            decreasing={"marker": {"color": DOUBT}},
            totals={"marker": {"color": ink}},
            hoverinfo="skip",
        )
    )
    marks = [_threshold(threshold, "dash", f"threshold {threshold:.2f}", row=0)] if score.confidence is None else []
    figure.update_layout(
        shapes=[line for line, _ in marks],
        annotations=[label for _, label in marks],
        height=34 * (len(steps) + 1) + 60,
        margin={"l": 4, "r": 48, "t": 26, "b": 24},
        xaxis={"rangemode": "tozero", "fixedrange": True, "zeroline": False},
        yaxis={"autorange": "reversed", "fixedrange": True, "automargin": True, "tickfont": {"color": ink}},
        showlegend=False,
    )
    return figure


def forecast(forecasts: Sequence[Forecast], ink: str = _GREY, *, compared: str = "score") -> go.Figure:
    """What is compared with the threshold as time passes; a cross where a memory falls out of the answer."""
    figure = go.Figure()
    for number, prediction in enumerate(forecasts):
        colour = ["#9a6fc0", "#CC79A7", "#8c8c88", "#6b7a99"][number % 4]
        figure.add_scatter(
            x=[at for at, _ in prediction.curve],
            y=[score for _, score in prediction.curve],
            mode="lines",
            line={"color": colour, "width": 2},
            customdata=[stamp(at) for at, _ in prediction.curve],
            hovertemplate="%{y:.2f} on %{customdata}<extra></extra>",
        )
        if prediction.leaves:
            last = [score for at, score in prediction.curve if at <= prediction.leaves]
            figure.add_scatter(
                x=[prediction.leaves],
                y=last[-1:],
                mode="markers",
                marker={"symbol": "x", "size": 11, "color": DOUBT},
                hovertemplate=f"drops out on {stamp(prediction.leaves)}<extra></extra>",
            )
        figure.add_hline(y=prediction.threshold, line={"color": _GREY, "dash": "dash", "width": 1.5}, layer="below")
    figure.update_layout(
        height=190,
        margin={"l": 8, "r": 8, "t": 8, "b": 24},
        showlegend=False,
        yaxis={"rangemode": "tozero", "fixedrange": True, "title": compared, "tickfont": {"color": ink}},
        xaxis={"fixedrange": True, "tickfont": {"color": ink}},
    )
    return figure


def trust(points: Sequence[TrustPoint], now: datetime, ink: str = _GREY) -> go.Figure:
    """Trust in a person, 0 to 1, as steps over the world's time; a point where it changed, to its last value now.

    Args:
        points: the changes, at least one, the oldest first.
        now: where the line ends; all times are in its zone.
        ink: the colour of the text.
    """
    trust_points = [point for point in points if point.trust is not None]
    ends = [
        *trust_points,
        *(dataclasses.replace(trust_point, at=max(now, trust_point.at)) for trust_point in trust_points[-1:]),
    ]
    figure = go.Figure()
    figure.add_scatter(
        x=[end.at.astimezone(now.tzinfo) for end in ends],
        y=[end.trust for end in ends],
        mode="lines+markers",
        line={"color": "#9a6fc0", "width": 2, "shape": "hv"},
        marker={"size": [9] * len(trust_points) + [0]},
        customdata=[
            "<br>".join(
                (
                    stamp(end.at, now),
                    *(html.escape(line, quote=False) for line in textwrap.wrap(end.why, 60)),
                )
            )
            for end in ends
        ],
        hovertemplate="%{y:.2f} on %{customdata}<extra></extra>",
    )
    figure.add_hline(y=0.5, line={"color": _GREY, "dash": "dash", "width": 1.5}, layer="below")
    figure.update_layout(
        height=170,
        margin={"l": 8, "r": 8, "t": 8, "b": 24},
        showlegend=False,
        yaxis={"range": [-0.04, 1.04], "fixedrange": True, "title": "trust", "tickfont": {"color": ink}},
        xaxis={"fixedrange": True, "tickfont": {"color": ink}},
    )
    return figure


def _threshold(at: float, dash: str, words: str, *, row: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A line and its label, in a row of its own above the bars, so that two nearby thresholds stay legible."""
    pen = {"color": _GREY, "dash": dash, "width": 1.5}
    line = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": pen, "layer": "below"}
    label = {
        "x": at,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "yshift": 13 * row,
        "xanchor": "right",
        "text": words,
        "showarrow": False,
        "font": {"size": 11, "color": _GREY},
    }
    return line, label
