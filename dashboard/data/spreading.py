"""How a fact spread as a picture: a row per character involved, the moments of the story from left to right.

Imports no streamlit. Moments are side by side in order, equally far apart: weeks in which nobody told it need no
space.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from memory_system.core import zone_shown
from memory_system.world.knows import Cell, Spread, Telling, Verdict

from . import tables
from .zone import here, stamp

ROW, COLUMN, SIDES = 44, 72, 56
"""Pixels of a row's height, of the least distance between moments, and of the margin at both sides."""
_LOOKS = {Verdict.KNOWS: "knows", Verdict.HALF: "half", Verdict.WRONG: "wrong"}
_ALWAYS, _OPEN = float("-inf"), float("inf")
_LONGEST = 400


def picture(spread: Spread, opens: str, portrait: Callable[[str], str], name: Callable[[str], str]) -> dict[str, Any]:
    """The data of the graph: rows, moments, points and arrows, in the order of the story.

    Args:
        spread: how the fact spread.
        opens: the label of the button that opens a memory.
        portrait: returns the picture of a character.
        name: returns what a character is called.
    """
    rows = {knower.cell.agent: False for knower in spread.knowers}
    for telling in spread.tellings:
        rows.setdefault(telling.by, telling.outside)
    moments = sorted(
        {*(_begin(knower.cell) for knower in spread.knowers), *(_at(telling) for telling in spread.tellings)}
    )
    height, least = ROW * len(rows), COLUMN * (len(moments) - 1) + SIDES
    y = {who: (number + 0.5) / len(rows) for number, who in enumerate(rows)}
    x = {moment: number / max(len(moments) - 1, 1) for number, moment in enumerate(moments)}
    starts = {knower.cell.agent: _begin(knower.cell) for knower in spread.knowers}
    items: list[tuple[float, int, dict[str, Any]]] = []
    for knower in spread.knowers:
        cell, at = knower.cell, _begin(knower.cell)
        point = {"kind": "point", "id": cell.agent, "x": x[at], "y": y[cell.agent], "look": _LOOKS[cell.verdict]}
        items.append((at, 1, point | _description(cell, name(cell.agent), opens)))
    for number, telling in enumerate(spread.tellings):
        teller = tables.visible(telling.by) if telling.outside else name(telling.by)
        at, start = _at(telling), starts.get(telling.by, _OPEN)
        begin = min(at, start)
        if begin == at and start != at:  # the source of the teller's knowledge at that time is unknown
            source = {"kind": "point", "id": f"source-{number}", "x": x[at], "y": y[telling.by], "look": "source"}
            items.append((at, -1, source | _source(telling, teller)))
        arrow = {
            "kind": "arrow", "id": f"telling-{number}", "from": [x[begin], y[telling.by]],
            "to": [x[at], y[telling.to]], "look": "again" if telling.again else "", "beside": [telling.to],
            "title": f"{teller} told {name(telling.to)}{' again' if telling.again else ''}, {_when(telling.at)}:",
            "text": f"“{tables.short(telling.text, _LONGEST)}”", "opens": _opens(telling.to, telling.memory, opens),
        }  # fmt: skip
        items.append((at, 0, arrow))
    items.sort(key=lambda item: item[:2])
    return {
        "label": "How it spread: arrow keys walk, Enter opens a memory",
        "height": height, "least": least,
        "rows": [
            {
                "label": tables.short(who if outside else name(who), 40), "y": y[who], "outside": outside,
                "picture": "" if outside else portrait(who), "from": x[starts[who]] if who in starts else None,
            }
            for who, outside in rows.items()
        ],
        "ticks": [{"x": x[moment], "lines": _lines(moment)} for moment in moments],
        "items": [item for *_, item in items],
        "legend": [{"shape": look, "label": str(verdict)} for verdict, look in _LOOKS.items()],
        "none": "",
    }  # fmt: skip


def _description(cell: Cell, who: str, opens: str) -> dict[str, Any]:
    if not cell.memory:
        return {"title": f"{who} {cell.verdict}.", "text": cell.why, "opens": None}
    by = f" by {tables.visible(cell.told_by)}" if cell.told_by else ""
    return {
        "title": f"{who} {cell.verdict}, {_when(cell.since)}, {cell.how}{by}:",
        "text": f"“{tables.short(cell.text, _LONGEST)}”",
        "opens": _opens(cell.agent, cell.memory, opens),
    }


def _source(telling: Telling, who: str) -> dict[str, Any]:
    why = "Not a character of this world." if telling.outside else "How it knew this is not remembered."
    return {"title": f"{who} told it.", "text": why, "opens": None}


def _opens(agent: str, memory: str, label: str) -> dict[str, str]:
    return {"name": agent, "memory": memory, "label": label}


def _begin(cell: Cell) -> float:
    if not cell.memory:
        return _OPEN
    return _ALWAYS if cell.since is None else cell.since.timestamp()


def _at(telling: Telling) -> float:
    return _ALWAYS if telling.at is None else telling.at.timestamp()


def _lines(moment: float) -> list[str]:
    if moment == _ALWAYS:
        return ["always"]
    if moment == _OPEN:
        return ["not dated"]
    at = here(datetime.fromtimestamp(moment, UTC))
    return [f"{at.day} {at:%b}", f"{at:%H:%M} {zone_shown(at)}"]


def _when(moment: datetime | None) -> str:
    return "always" if moment is None else stamp(moment)
