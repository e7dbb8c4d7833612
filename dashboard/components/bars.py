"""Memories as bars, each stacked from the weighted parts of its score, which add up to the number at its end.

Relevancy is split by shade if its parts are known. The axis is the same for every cue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from memory_system import Query

from .. import words
from ..data.tables import SHADES, axis, short
from . import mounting

_PLAIN = ("recency", "importance")
_LABEL, _TOLD = 200, 600


def show(frame: pd.DataFrame, query: Query, opened: Callable[[str], None] | None = None, *, key: str) -> None:
    """Draw candidates in the given order, the first on top; those not recalled are pale.

    Args:
        frame: as made by ``tables.candidates``.
        query: what was asked.
        opened: called with the id of the memory that was clicked, before the next run; without it, none can be clicked.
        key: distinguishes these from others on the same page.
    """

    def acted(act: Mapping[str, Any]) -> None:
        if opened is not None and (memory := mounting.text(act, "memory")):
            opened(memory)

    mounting.show("bars", {**drawn(frame, query), "opens": opened is not None}, acted, key=key, painted=True)


def drawn(frame: pd.DataFrame, query: Query) -> dict[str, Any]:
    """What is drawn.

    A dashed line is the threshold, the dotted one static memory's own; there is none if a confidence has to pass,
    which is then shown next to the number.
    """
    found = frame.to_dict("records")
    rows = [_row(rank, record) for rank, record in enumerate(found, start=1)]
    marks: list[dict[str, Any]] = []
    sure = not frame["confidence"].isna().all()
    if not sure:
        marks.append({"at": query.threshold, "label": f"threshold {query.threshold:.2f}"})
        if not frame["tier"].isin(("short-term", "long-term")).all():
            marks.append({"at": query.static_threshold, "label": f"static {query.static_threshold:.2f}"})
    most = axis(query)
    seats = int(frame["recalled"].sum())
    split = any(name in record["shades"] for record in found for name in SHADES)
    return {
        "label": words.BY_THEIR_SCORES,
        "rows": rows,
        "sure": sure,
        "parts": [*_PLAIN, *(SHADES if split else ("relevancy",))],
        "axis": most,
        "marks": [mark for mark in marks if mark["at"] <= most],
        "seats": seats % len(rows) if rows else 0,
        "seatsLabel": words.SEATS_END_HERE,
    }


def _row(rank: int, record: Mapping[Any, Any]) -> dict[str, Any]:
    sure = (
        ""
        if record["confidence"] is None or math.isnan(record["confidence"])
        else f" · confidence {record['confidence']:.2f}"
    )
    return {
        "id": record["id"],
        "label": f"{rank} · {record['tier']} · {short(record['memory'], _LABEL)}",
        "bar": [*((part, float(record[part])) for part in _PLAIN), *record["shades"].items()],
        "score": f"{record['score']:.2f}{sure}",
        "recalled": bool(record["recalled"]),
        "said": f"Score {record['score']:.2f}{sure}, {record['verdict']}",
        "told": short(f"{record['told']}; score {record['score']:.2f}. {record['verdict']}: {record['why']}", _TOLD),
    }
