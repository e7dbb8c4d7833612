"""Pictures of characters: a pattern of their own for those who were given none, and either of them as a PNG.

The colours of the cast are none of those that mean recency, importance and relevancy.
"""

from __future__ import annotations

import base64
import hashlib
import io
import struct
import zlib
from functools import cache

CAST = ("#8a5a94", "#b3566a", "#a3643c", "#7c7433", "#5f7f4f", "#4c7f86", "#5b72a8", "#77706a")
"""Plum, rose, clay, olive, moss, slate, dusk and stone: each can be told from white and from black."""
CELLS, SIZE, CELL, EDGE = 5, 64, 10, 7
"""Cells a side; and of the picture, a cell of it and the room around them, in units of the picture."""
_SCALE = 8
"""Pixels of a PNG in a unit of the picture."""
_TINT = 0.18
"""How much of the colour the ground has."""
_MOST_SIDE = 1024
"""Pixels of a portrait's side; ours have 256."""
PNG = b"\x89PNG\r\n\x1a\n"


@cache
def pattern(name: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The colour of a name, and the cells (row, column) of its five by five that have it, left like right."""
    told = hashlib.sha256(name.casefold().encode("utf-8", "replace")).digest()
    colour, half = CAST[told[0] % len(CAST)], CELLS // 2 + 1
    filled = [(row, column) for row in range(CELLS) for column in range(half) if told[1 + row * half + column] & 1]
    filled = filled or [(CELLS // 2, half - 1)]
    return colour, tuple(sorted({(row, place) for row, column in filled for place in (column, CELLS - 1 - column)}))


def webp_size(raw: bytes) -> tuple[int, int]:
    """How large a WebP says that it is, since its decoder takes the room for that at once; 0 by 0 for other files."""
    if raw[:4] != b"RIFF" or raw[8:12] != b"WEBP":
        return 0, 0
    if raw[12:16] == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if raw[12:16] == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(raw[26:28], "little") & 0x3FFF, int.from_bytes(raw[28:30], "little") & 0x3FFF


def as_png(name: str, portrait: str | None = None) -> bytes:
    """The picture of a character as a PNG: the portrait, where there is one that can be read, else the pattern.

    Args:
        name: whose pattern.
        portrait: as it is kept, ``data:image/webp;base64,...``; read only where Pillow is installed.
    """
    return (None if portrait is None else _portrait(portrait)) or _drawn(name)


def with_texts(png: bytes, texts: dict[str, bytes]) -> bytes:
    """A PNG with texts of these names (Latin-1) right before its end; what it held under them is taken out."""
    found, place = [PNG], len(PNG)
    held = {name.encode("latin-1") for name in texts}
    while place + 12 <= len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        part = png[place : place + 12 + length]
        if part[4:8] == b"IEND":
            found += [_chunk(b"tEXt", name.encode("latin-1") + b"\0" + text) for name, text in texts.items()]
        if part[4:8] != b"tEXt" or part[8:].partition(b"\0")[0] not in held:
            found.append(part)
        place += len(part)
    return b"".join(found)


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
    full = bytes.fromhex(colour[1:])
    ground = bytes(round(255 - (255 - one) * _TINT) for one in full)
    filled, rows = set(cells), []
    for y in range(SIZE):
        row = (y - EDGE) // CELL
        line = bytes((row, (x - EDGE) // CELL) in filled for x in range(SIZE) for _ in range(_SCALE))
        rows += [b"\0" + line] * _SCALE
    side = SIZE * _SCALE
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 3, 0, 0, 0)),
        (b"PLTE", ground + full),
        (b"IDAT", zlib.compress(b"".join(rows), 9)),
        (b"IEND", b""),
    )
    return PNG + b"".join(_chunk(kind, body) for kind, body in parts)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
