"""What is in a prompt, and how prompts grow, as figures. Imports no streamlit."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from ... import words

_GREY = "#888888"
SECTIONS = {
    "instructions": ("#8c8c88", "", "#8c8c88"),
    "functions": ("#b9b9b4", "+", "#5c5c58"),
    "core memory": ("#CC79A7", "/", "#7d3a5c"),
    "summary": ("#9a6fc0", "\\", "#4d2f6b"),
    words.CAME_TO_MIND: ("#c89be0", ".", "#5b2d73"),
    "earlier messages": ("#d8d4cc", "-", "#6b675f"),
    "this turn": ("#6b7a99", "", "#6b7a99"),
}
"""A colour, a pattern and its ink for each section of a prompt; not those of a score's parts."""
_OTHER = ("#d1495b", "x", "#ffd3d9")
_LINES = {
    "buffer": ("#d1495b", "solid", "x"),
    "window": ("#8c8c88", "dot", "circle-open"),
    "summary": ("#9a6fc0", "dash", "diamond"),
    "otherwise": ("#CC79A7", "dashdot", "square"),
    "virtual": ("#6b7a99", "solid", "circle"),
}


def gauge(
    sections: pd.DataFrame, budget: int, warn_at: float | None, evict_at: float | None, ink: str = _GREY
) -> go.Figure:
    """How full a prompt is: a bar stacked from its sections, with its budget and the levels of memory pressure.

    Args:
        sections: with the columns ``section`` and ``tokens``, in the order of the prompt.
        budget: the most tokens in the prompt.
        warn_at: the share of the budget at which the model is warned; ``None`` if it is not.
        evict_at: the share at which messages are evicted; ``None`` if none are.
        ink: the colour of the text.
    """
    figure = go.Figure()
    used = int(sections["tokens"].sum())
    longest = max(budget, used, 1)
    figure.add_bar(
        x=[longest],
        y=[0],
        base=[0],
        orientation="h",
        width=0.9,
        marker={"color": "rgba(136,136,136,.16)", "line": {"width": 0}},
        hoverinfo="skip",
        showlegend=False,
    )
    start = 0
    for row in sections.to_dict("records"):
        colour, pattern, dots = SECTIONS.get(str(row["section"]), _OTHER)
        tokens = int(row["tokens"])
        name = html.escape(str(row["section"]), quote=False)
        figure.add_bar(
            x=[tokens],
            y=[0],
            base=[start],
            name=f"{name} {tokens:,}",
            orientation="h",
            width=0.62,
            marker={
                "color": colour,
                "pattern": {"shape": pattern, "fillmode": "overlay", "size": 6, "solidity": 0.3, "fgcolor": dots},
                "line": {"width": 0},
            },
            hovertemplate=f"{name}: {tokens:,} tokens, {tokens / longest:.0%} of the budget<extra></extra>",
            showlegend=tokens > 0,
        )
        start += tokens
    levels = [(warn_at, "dot", "warning"), (evict_at, "dash", "eviction")]
    marks = [_level(share, budget, longest, dash, words) for share, dash, words in levels if share is not None]
    figure.update_layout(
        shapes=[line for line, _ in marks],
        annotations=[label for _, label in marks],
        barmode="overlay",
        height=174,
        margin={"l": 6, "r": 14, "t": 26, "b": 96},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "font": {"color": ink}},
        xaxis={
            "range": [0, longest * 1.005],
            "fixedrange": True,
            "zeroline": False,
            "showgrid": False,
            "nticks": 5,
            "tickfont": {"color": ink},
        },
        yaxis={"visible": False, "fixedrange": True, "range": [-0.5, 0.5]},
        hoverlabel={"align": "left"},
    )
    return figure


def _level(share: float, budget: int, longest: int, dash: str, words: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The line of a level of memory pressure, and its label left of it."""
    at = share * budget
    line = {
        "type": "line",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": _GREY, "dash": dash, "width": 2},
    }
    label = {
        "x": at,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if at > longest / 3 else "left",
        "text": f"{words} {share:.0%}",
        "showarrow": False,
        "font": {"size": 11, "color": _GREY},
    }
    return line, label


def tokens_per_turn(frame: pd.DataFrame, budget: int | None = None, ink: str = _GREY) -> go.Figure:
    """How long the prompt of each turn is, one line per strategy.

    Args:
        frame: with the columns ``turn``, ``strategy`` and ``tokens``.
        budget: drawn as a dashed line, if given.
        ink: the colour of the text.
    """
    figure = go.Figure()
    for strategy, some in frame.groupby("strategy", sort=False):
        colour, dash, symbol = _LINES.get(str(strategy).split(",")[0], ("#8c8c88", "longdash", "cross"))
        name = html.escape(str(strategy), quote=False)
        figure.add_scatter(
            x=some["turn"],
            y=some["tokens"],
            name=name,
            mode="lines+markers" if len(some) <= 60 else "lines",
            line={"color": colour, "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 8, "color": colour},
            hovertemplate=f"{name}, turn %{{x}}: %{{y:,}} tokens<extra></extra>",
        )
    if budget is not None:
        figure.add_hline(
            y=budget,
            line={"color": _GREY, "dash": "dash", "width": 1.5},
            annotation={"text": f"budget {budget:,}", "font": {"size": 11, "color": _GREY}},
            layer="below",
        )
    figure.update_layout(
        height=300,
        margin={"l": 8, "r": 8, "t": 40, "b": 40},
        legend={"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0, "font": {"color": ink}},
        xaxis={"fixedrange": True, "title": {"text": "turn", "standoff": 4}, "tickfont": {"color": ink}},
        yaxis={"fixedrange": True, "rangemode": "tozero", "title": "tokens in the prompt", "tickfont": {"color": ink}},
    )
    return figure
