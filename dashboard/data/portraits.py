"""Pictures of characters: what they were given, made small, or else a pattern of their own."""

from __future__ import annotations

import base64
import io
from functools import cache

from PIL import Image, ImageOps

from memory_system.errors import InvalidParameter
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
        _refuse_large(*pictures.webp_size(raw))
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
