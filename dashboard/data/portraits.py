"""Pictures of characters as they are shown: patterns made from names."""

from __future__ import annotations

import base64
from functools import cache

from memory_system.operations.exporting import pictures


@cache
def identicon(name: str) -> str:
    """A picture of a name as SVG: five by five cells, left like right, in one of the colours of the cast."""
    colour, cells = pictures.pattern(name)
    size, cell, edge = pictures.SIZE, pictures.CELL, pictures.EDGE
    square = f"h{cell}v{cell}h-{cell}z"
    drawn = "".join(f"M{edge + cell * column} {edge + cell * row}{square}" for row, column in cells)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}">'
        f'<rect width="{size}" height="{size}" rx="12" fill="{colour}" fill-opacity=".18"/>'
        f'<path fill="{colour}" d="{drawn}"/></svg>'
    )


@cache
def address(name: str) -> str:
    """The picture of a name as a data address."""
    return f"data:image/svg+xml;base64,{base64.b64encode(identicon(name).encode()).decode()}"
