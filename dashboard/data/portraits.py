"""Pictures of characters: a pattern of their own where nobody has given them one.

The colours of the cast are none of those that mean recency, importance and relevancy.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache

CAST = ("#8a5a94", "#b3566a", "#a3643c", "#7c7433", "#5f7f4f", "#4c7f86", "#5b72a8", "#77706a")
"""Plum, rose, clay, olive, moss, slate, dusk and stone: each can be told from white and from black."""
_CELLS = 5
_SIZE, _CELL, _EDGE = 64, 10, 7
"""Of the picture, a cell of it and the room around them, in units of the picture."""


@cache
def identicon(name: str) -> str:
    """A picture of a name as SVG: five by five cells, left like right, in one of the colours of the cast."""
    told = hashlib.sha256(name.casefold().encode("utf-8", "replace")).digest()
    colour, half = CAST[told[0] % len(CAST)], _CELLS // 2 + 1
    filled = [(row, column) for row in range(_CELLS) for column in range(half) if told[1 + row * half + column] & 1]
    filled = filled or [(_CELLS // 2, half - 1)]
    cells = sorted({(row, place) for row, column in filled for place in (column, _CELLS - 1 - column)})
    square = f"h{_CELL}v{_CELL}h-{_CELL}z"
    drawn = "".join(f"M{_EDGE + _CELL * column} {_EDGE + _CELL * row}{square}" for row, column in cells)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}">'
        f'<rect width="{_SIZE}" height="{_SIZE}" rx="12" fill="{colour}" fill-opacity=".18"/>'
        f'<path fill="{colour}" d="{drawn}"/></svg>'
    )


@cache
def address(name: str) -> str:
    """The picture of a name as an address that holds it whole."""
    return f"data:image/svg+xml;base64,{base64.b64encode(identicon(name).encode()).decode()}"
