"""Pictures of characters: what they were given, made small, or else a pattern of their own.

The colours of the cast are none of those that mean recency, importance and relevancy.
"""

from __future__ import annotations

import base64
import hashlib
import io
from functools import cache

from PIL import Image, ImageOps

from memory_system.errors import InvalidParameter

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


LARGEST = 2_000_000
"""Bytes of a file that is taken as a portrait."""
_PIXELS, _SIDE, _QUALITY = 40_000_000, 256, 82
_FORMATS = ("PNG", "JPEG", "WEBP")


def portrait(raw: bytes) -> str:
    """A picture from elsewhere as a portrait: decoded, cut to a square of 256 by 256 pixels, and written anew.

    Args:
        raw: the file: PNG, JPEG or WebP.

    Raises:
        InvalidParameter: it is too large, or no such picture.
    """
    if len(raw) > LARGEST:
        raise InvalidParameter(f"The picture has {len(raw):,} bytes; at most {LARGEST:,} are taken.")
    try:
        _refuse_large(*_webp_size(raw))
        with Image.open(io.BytesIO(raw), formats=_FORMATS) as found:
            _refuse_large(*found.size)
            upright = ImageOps.exif_transpose(found).convert("RGBA")
        small = ImageOps.fit(upright, (_SIDE, _SIDE))
        written = io.BytesIO()
        small.save(written, "WEBP", quality=_QUALITY)
    except InvalidParameter:
        raise
    except Exception as error:  # decoders raise types of their own for whatever is no picture
        raise InvalidParameter("This is not a picture that can be read. A portrait is a PNG, JPEG or WebP.") from error
    return f"data:image/webp;base64,{base64.b64encode(written.getvalue()).decode()}"


def _refuse_large(wide: int, high: int) -> None:
    if wide * high > _PIXELS:
        raise InvalidParameter(f"The picture has {wide:,} by {high:,} pixels; at most {_PIXELS:,} in all are taken.")


def _webp_size(raw: bytes) -> tuple[int, int]:
    """How large a WebP says that it is, since its decoder takes the room for that at once; 0 by 0 for other files."""
    if raw[:4] != b"RIFF" or raw[8:12] != b"WEBP":
        return 0, 0
    if raw[12:16] == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if raw[12:16] == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(raw[26:28], "little") & 0x3FFF, int.from_bytes(raw[28:30], "little") & 0x3FFF
