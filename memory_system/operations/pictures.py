"""Pictures of characters: portraits, or a pattern of their own for those without one, and either as a PNG.

The colours of the cast differ from those that mean recency, importance and relevancy.
"""

from __future__ import annotations

import base64
import hashlib
import io
import struct
import zlib
from collections.abc import Iterator
from functools import cache

from ..core.extras import needs
from ..errors import InvalidParameter

CAST = ("#8a5a94", "#b3566a", "#a3643c", "#7c7433", "#5f7f4f", "#4c7f86", "#5b72a8", "#77706a")
"""Plum, rose, clay, olive, moss, slate, dusk and stone: each is distinct from white and from black."""
CELLS, SIZE, CELL, EDGE = 5, 64, 10, 7
"""Cells a side; and of the picture, a cell of it and the room around them, in units of the picture."""
_SCALE = 8
"""Pixels of a PNG in a unit of the picture."""
_TINT = 0.18
"""How much of the colour the ground has."""
_MOST_SIDE = 1024
"""Pixels of a portrait's side; ours have 256."""
PNG = b"\x89PNG\r\n\x1a\n"
LARGEST = 2_000_000
"""How many bytes a file for a portrait may have."""
_PIXELS, _SIDE, _QUALITY = 40_000_000, 256, 82
_FORMATS = ("PNG", "JPEG", "WEBP")
_TOLD = frozenset({b"tEXt", b"zTXt", b"iTXt", b"iCCP", b"eXIf"})
"""Parts of a PNG with text, which are not visible and may unpack to more than the picture."""


@cache
def pattern(name: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The colour of a name, and the cells (row, column) of its five by five that have it, symmetric left and right."""
    digest = hashlib.sha256(name.casefold().encode("utf-8", "replace")).digest()
    colour, half = CAST[digest[0] % len(CAST)], CELLS // 2 + 1
    filled = [(row, column) for row in range(CELLS) for column in range(half) if digest[1 + row * half + column] & 1]
    filled = filled or [(CELLS // 2, half - 1)]
    return colour, tuple(sorted({(row, place) for row, column in filled for place in (column, CELLS - 1 - column)}))


def webp_size(raw: bytes) -> tuple[int, int]:
    """How large a WebP says that it is, since its decoder reserves memory for that at once; 0 by 0 for other files."""
    if raw[:4] != b"RIFF" or raw[8:12] != b"WEBP":
        return 0, 0
    if raw[12:16] == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if raw[12:16] == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(raw[26:28], "little") & 0x3FFF, int.from_bytes(raw[28:30], "little") & 0x3FFF


def portrait(raw: bytes, most: int = LARGEST) -> str:
    """A picture from elsewhere as a portrait: decoded, cut to a square of 256 by 256 pixels, and encoded again.

    Args:
        raw: the file: PNG, JPEG or WebP.
        most: how many bytes it may have.

    Raises:
        InvalidParameter: it is too large, or not such a picture.
        ExtraMissing: Pillow is not installed, which comes with the dashboard.
    """
    with needs("dashboard", "A portrait"):
        from PIL import Image, ImageOps
    if len(raw) > most:
        raise InvalidParameter(f"The picture has {len(raw):,} bytes; at most {most:,} are allowed.")
    try:
        _refuse_large(*webp_size(raw))
        with Image.open(io.BytesIO(raw), formats=_FORMATS) as found:
            _refuse_large(*found.size)
            upright = ImageOps.exif_transpose(found).convert("RGBA")
        small = ImageOps.fit(upright, (_SIDE, _SIDE))
        written = io.BytesIO()
        small.save(written, "WEBP", quality=_QUALITY)
    except InvalidParameter:
        raise
    except Exception as error:  # decoders raise types of their own for what is not a picture
        raise InvalidParameter("This is not a picture that can be read. A portrait is a PNG, JPEG or WebP.") from error
    return f"data:image/webp;base64,{base64.b64encode(written.getvalue()).decode()}"


def _refuse_large(wide: int, high: int) -> None:
    if wide * high > _PIXELS:
        raise InvalidParameter(f"The picture has {wide:,} by {high:,} pixels; at most {_PIXELS:,} in all are allowed.")


def bare(png: bytes) -> bytes:
    """A PNG without its texts, such as the card in it."""
    parts = (part for part in _parts(png) if part[4:8] not in _TOLD)
    return b"".join((PNG, *parts))


def is_pattern(png: bytes) -> bool:
    """Whether a PNG is the pattern of a name as this program draws it, and so not a portrait."""
    side = struct.pack(">II", SIZE * _SCALE, SIZE * _SCALE)
    chunks = {part[4:8]: part[8:-4] for part in _parts(png)}
    return chunks.get(b"IHDR", b"")[:8] == side and chunks.get(b"PLTE") in {_palette(colour) for colour in CAST}


def as_png(name: str, portrait: str | None = None) -> bytes:
    """The picture of a character as a PNG: the portrait, if there is one that can be read, else the pattern.

    Args:
        name: whose pattern.
        portrait: as it is stored, ``data:image/webp;base64,...``; read only if Pillow is installed.
    """
    return (None if portrait is None else _portrait(portrait)) or _drawn(name)


def with_texts(png: bytes, texts: dict[str, bytes]) -> bytes:
    """A PNG with texts of these names (Latin-1) right before its end; former ones of these names are removed."""
    found = [PNG]
    names = {name.encode("latin-1") for name in texts}
    for part in _parts(png):
        if part[4:8] == b"IEND":
            found += [_chunk(b"tEXt", name.encode("latin-1") + b"\0" + text) for name, text in texts.items()]
        if part[4:8] != b"tEXt" or part[8:].partition(b"\0")[0] not in names:
            found.append(part)
    return b"".join(found)


def _parts(png: bytes) -> Iterator[bytes]:
    place = len(PNG)
    while place + 12 <= len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        yield png[place : place + 12 + length]
        place += 12 + length


def _portrait(address: str) -> bytes | None:
    try:
        from PIL import Image  # comes with the dashboard, which is where portraits are given
    except ModuleNotFoundError:
        return None
    raw = base64.b64decode(address.partition(",")[2])
    wide, high = webp_size(raw)
    if not 0 < wide <= _MOST_SIDE or not 0 < high <= _MOST_SIDE:
        return None
    written = io.BytesIO()
    try:
        with Image.open(io.BytesIO(raw), formats=("WEBP",)) as found:
            found.convert("RGBA").save(written, "PNG")
    except Exception:  # noqa: BLE001 - decoders raise types of their own for whatever is no picture
        return None
    return written.getvalue()


@cache
def _drawn(name: str) -> bytes:
    """The pattern, in two colours."""
    colour, cells = pattern(name)
    filled, rows = set(cells), []
    for y in range(SIZE):
        row = (y - EDGE) // CELL
        line = bytes((row, (x - EDGE) // CELL) in filled for x in range(SIZE) for _ in range(_SCALE))
        rows += [b"\0" + line] * _SCALE
    side = SIZE * _SCALE
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 3, 0, 0, 0)),
        (b"PLTE", _palette(colour)),
        (b"IDAT", zlib.compress(b"".join(rows), 9)),
        (b"IEND", b""),
    )
    return PNG + b"".join(_chunk(kind, body) for kind, body in parts)


def _palette(colour: str) -> bytes:
    full = bytes.fromhex(colour[1:])
    return bytes(round(255 - (255 - channel) * _TINT) for channel in full) + full


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
