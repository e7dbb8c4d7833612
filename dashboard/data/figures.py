"""DataFrames to figures. Imports no streamlit, so that every figure can be tested by itself."""

from __future__ import annotations

import dataclasses
import html
import math
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from memory_system import Score
from memory_system.conversation import TrustPoint
from memory_system.recall import Forecast

from .tables import short

PARTS = {
    "recency": ("#0072B2", "", "#0072B2"),
    "importance": ("#E69F00", "/", "#8a5f00"),
    "relevancy": ("#009E73", ".", "#d8fff2"),
}
"""Okabe-Ito colours, a pattern and its ink each, so that colour never carries the meaning alone; nothing else is drawn
in these three."""
_SHADES = {
    "meaning": ("#009E73", ".", "#d8fff2"),
    "words": ("#56bd9f", ".", "#e8fff8"),
    "names": ("#a3dccb", ".", "#4f8f7c"),
    "times": ("#005f45", ".", "#7fd8bb"),
}
"""The shades of relevancy, of one colour and one pattern."""
KINDS = {
    "observation": ("#56B4E9", "circle"),
    "conversation": ("#56B4E9", "circle-open"),
    "reflection": ("#D55E00", "diamond"),
    "summary": ("#9a6fc0", "square"),
    "plan": ("#CC79A7", "triangle-up"),
    "fact": ("#8c8c88", "cross"),
    "procedure": ("#8c8c88", "x"),
}
_GREY = "#888888"
_HOVER = 160
_NUDGE = 0.06
_ROW = 64
_REJECTED = 0.35
_LABEL = 56
"""Characters that fit on each of the two lines above a bar on a narrow screen."""


def breakdown(
    candidates: pd.DataFrame, threshold: float, static_threshold: float, ink: str = _GREY, most: float | None = None
) -> go.Figure:
    """Each candidate as a bar stacked from its weighted parts; the number at its end is their sum.

    Relevancy is split by shade where it is known by what. Rows come as given, the first on top. What was not recalled
    is drawn at 35 % opacity, below a line where the seats end. Each label says rank and tier, in ``ink``. The dashed
    line is the threshold, the dotted one static memory's own; there is none where a confidence has to pass, which then
    stands beside the number. ``most`` is the score at the right end: with it, the axis is the same for every cue.
    """
    figure = go.Figure()
    rows = list(range(len(candidates)))
    opacity = [1.0 if recalled else _REJECTED for recalled in candidates["recalled"]]
    records = candidates.to_dict("records")
    hover = [_hover(row) for row in records]
    split = [name for name in _SHADES if any(name in row["shades"] for row in records)]
    drawn = {name: PARTS[name] for name in ("recency", "importance")}
    drawn |= {name: _SHADES[name] for name in split} if split else {"relevancy": PARTS["relevancy"]}
    for part, (colour, pattern, dots) in drawn.items():
        figure.add_bar(
            y=rows,
            x=[row[part] if part in PARTS else _share(row["shades"], part, split) for row in records],
            name=part,
            orientation="h",
            width=0.42,
            marker={
                "color": colour,
                "opacity": opacity,
                "pattern": {"shape": pattern, "fillmode": "overlay", "size": 6, "solidity": 0.3, "fgcolor": dots},
                "line": {"width": 0},
            },
            customdata=candidates["id"],
            hovertext=hover,
            hovertemplate="%{hovertext}<extra></extra>",
        )
    marks = []
    if candidates["confidence"].isna().all():
        marks.append(_threshold(threshold, "dash", f"threshold {threshold:.2f}", row=1))
        if not candidates["tier"].isin(("short-term", "long-term")).all():
            marks.append(_threshold(static_threshold, "dot", f"static {static_threshold:.2f}", row=0))
    # as traces: each of them as an annotation would take the browser ten times as long to draw
    labels = [_label(place, one) for place, one in enumerate(records, start=1)]
    if 0 < (seats := int(candidates["recalled"].sum())) < len(rows):
        marks.append(_seats(seats))
    pale = [1.0 if recalled else 0.7 for recalled in candidates["recalled"]]
    _write(figure, [0.0] * len(rows), [row - 0.45 for row in rows], labels, _faded(ink, pale))
    numbers = [f" {one['score']:.2f}{_sure(one['confidence'])}" for one in records]
    _write(figure, list(candidates["score"]), [row + 0.02 for row in rows], numbers, [ink] * len(rows))
    figure.update_layout(
        shapes=[line for line, _ in marks],
        annotations=[words for _, words in marks],
        barmode="stack",
        height=max(1, len(rows)) * _ROW + 110,
        margin={"l": 4, "r": 34, "t": 72, "b": 30},
        legend={"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0, "traceorder": "normal"},
        xaxis={
            **({"rangemode": "tozero"} if most is None else {"range": [0, most]}),
            "fixedrange": True,
            "zeroline": False,
        },
        yaxis={"visible": False, "range": [len(rows) - 0.4, -0.9], "fixedrange": True},
        hoverlabel={"align": "left"},
    )
    return figure


def _share(shades: Mapping[str, float], part: str, split: Sequence[str]) -> float:
    """What a shade adds; relevancy that is not split counts as the first shade."""
    return shades.get(part, 0.0) + (shades.get("relevancy", 0.0) if part == split[0] else 0.0)


def _label(rank: int, one: Mapping[Any, Any]) -> str:
    """Rank, tier and the memory on two lines, which hold a whole sentence or two."""
    text = short(f"{rank} · {one['tier']} · {one['memory']}", 2 * _LABEL)
    lines = textwrap.wrap(text, _LABEL, max_lines=2, placeholder=" …")
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def _seats(count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The line below the last memory that was recalled."""
    at = count - 0.72
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at, "line": {"color": _GREY, "width": 2}}
    label = {
        "xref": "paper", "x": 1, "xanchor": "right", "y": at, "yanchor": "bottom", "text": "seats end here",
        "showarrow": False, "font": {"size": 11, "color": _GREY},
    }  # fmt: skip
    return line, label


def _write(figure: go.Figure, x: list[float], y: list[float], texts: list[str], colours: list[str]) -> None:
    """Texts that begin at these places."""
    figure.add_scatter(
        x=x,
        y=y,
        text=texts,
        mode="text",
        textposition="middle right",
        textfont={"size": 12, "color": colours},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def _faded(ink: str, shares: list[float]) -> list[str]:
    """A colour such as #161513 at these opacities."""
    red, green, blue = (int(ink[at : at + 2], 16) for at in (1, 3, 5))
    return [f"rgba({red},{green},{blue},{share})" for share in shares]


def waterfall(score: Score, threshold: float, ink: str = _GREY) -> go.Figure:
    """How the parts of one score add up to it, relevancy by its own parts where it has any; the line to exceed.

    There is no line where a confidence has to pass.
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
            decreasing={"marker": {"color": "#D55E00"}},
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


def forecast(told: Sequence[Forecast], ink: str = _GREY, *, compared: str = "score") -> go.Figure:
    """What is compared with the threshold as time passes; a cross where a memory falls out of the answer."""
    figure = go.Figure()
    for number, one in enumerate(told):
        colour = ["#56B4E9", "#CC79A7", "#8c8c88", "#9a6fc0"][number % 4]
        figure.add_scatter(
            x=[at for at, _ in one.curve],
            y=[score for _, score in one.curve],
            mode="lines",
            line={"color": colour, "width": 2},
            hovertemplate="%{y:.2f} on %{x|%d %b %Y, %H:%M}<extra></extra>",
        )
        if one.leaves:
            last = [score for at, score in one.curve if at <= one.leaves]
            figure.add_scatter(
                x=[one.leaves],
                y=last[-1:],
                mode="markers",
                marker={"symbol": "x", "size": 11, "color": "#D55E00"},
                hovertemplate="drops out on %{x|%d %b %Y, %H:%M}<extra></extra>",
            )
        figure.add_hline(y=one.threshold, line={"color": _GREY, "dash": "dash", "width": 1.5}, layer="below")
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
        now: where the line ends.
        ink: of what is written.
    """
    told = [one for one in points if one.trust is not None]
    ends = [*told, *(dataclasses.replace(one, at=max(now, one.at)) for one in told[-1:])]
    figure = go.Figure()
    figure.add_scatter(
        x=[one.at for one in ends],
        y=[one.trust for one in ends],
        mode="lines+markers",
        line={"color": "#56B4E9", "width": 2, "shape": "hv"},
        marker={"size": [9] * len(told) + [0]},
        customdata=["<br>".join(html.escape(line, quote=False) for line in textwrap.wrap(one.why, 60)) for one in ends],
        hovertemplate="%{y:.2f} on %{x|%d %b %Y, %H:%M}<br>%{customdata}<extra></extra>",
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


def _sure(confidence: float | None) -> str:
    return "" if confidence is None or math.isnan(confidence) else f" · confidence {confidence:.2f}"


def _threshold(at: float, dash: str, words: str, *, row: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A line and its label, in a row of its own above the bars, so that two thresholds that are near stay legible."""
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


def _hover(row: Mapping[Any, Any]) -> str:
    lines = [html.escape(line, quote=False) for line in textwrap.wrap(str(row["memory"]), 60)[:8]]
    return "<br>".join(
        [
            *lines,
            f"<br>{row['told'].replace(' · ', '<br>')}<br>score {row['score']:.2f}",
            html.escape(f"{row['verdict']}: {row['why']}"),
        ]
    )


def timeline(frame: pd.DataFrame, selected: str | None = None) -> go.Figure:
    """Memories by time and importance, a symbol a kind, over a strip that shows how many there were.

    Unrated ones lie at 0. The selected one is ringed. Drawn by WebGL, so that tens of thousands stay smooth.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.84, 0.16], vertical_spacing=0.03)
    for kind, (colour, symbol) in KINDS.items():
        some = frame[frame["kind"] == kind]
        if some.empty:
            continue
        figure.add_scattergl(
            x=some["when"],
            y=_spread(some),
            mode="markers",
            name=f"{kind} {len(some)}",
            customdata=some["id"],
            hovertext=[
                _point(text, importance, marks)
                for text, importance, marks in zip(some["memory"], some["importance"], some["marks"], strict=True)
            ],
            hovertemplate="%{hovertext}<br>%{x|%a %d %b %Y, %H:%M}<extra></extra>",
            marker={"color": colour, "symbol": symbol, "size": 11 if len(frame) < 2000 else 6, "opacity": 0.8},
            row=1,
            col=1,
        )
    chosen = frame[frame["id"] == selected]
    if not chosen.empty:
        figure.add_scattergl(
            x=chosen["when"],
            y=_spread(chosen),
            mode="markers",
            name="selected",
            showlegend=False,
            hoverinfo="skip",
            marker={"symbol": "circle-open", "size": 22, "color": "#D55E00", "line": {"width": 3}},
            row=1,
            col=1,
        )
    _density(figure, frame)
    figure.update_layout(
        height=470,
        margin={"l": 8, "r": 8, "t": 50, "b": 30},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        clickmode="event+select",
        dragmode="pan",  # while a drag selects, Streamlit takes no click
        modebar={"orientation": "v", "bgcolor": "rgba(0,0,0,0)"},
        bargap=0.15,
    )
    figure.update_yaxes(title_text="importance", range=[-0.05, 1.08], fixedrange=True, row=1, col=1)
    figure.update_xaxes(tickformat="%-d %b\n%Y")
    figure.update_yaxes(title_text="a day", fixedrange=True, nticks=3, row=2, col=1)
    return figure


def _spread(frame: pd.DataFrame) -> pd.Series:
    """Importance has ten steps, on which many would lie on one point: each a little off, always the same way."""
    nudges = [zlib.crc32(str(entry_id).encode()) / 2**32 - 0.5 for entry_id in frame["id"]]
    return frame["importance"] + pd.Series(nudges, index=frame.index, dtype=float) * _NUDGE


def _point(text: str, importance: float, marks: Sequence[str]) -> str:
    rated = f"importance {importance:.2f}" if importance else "unrated"
    lines = textwrap.wrap(short(text, _HOVER), 60)
    return "<br>".join([*(html.escape(line, quote=False) for line in lines), ", ".join([rated, *marks])])


def _density(figure: go.Figure, frame: pd.DataFrame) -> None:
    """How many memories each day holds."""
    days = frame["when"].dt.floor("D").value_counts().sort_index()
    figure.add_bar(
        x=days.index + pd.Timedelta(hours=12),
        y=days.to_numpy(),
        marker={"color": _GREY, "opacity": 0.55},
        hovertemplate="%{y} on %{x|%a %d %b %Y}<extra></extra>",
        showlegend=False,
        name="memories a day",
        row=2,
        col=1,
    )
