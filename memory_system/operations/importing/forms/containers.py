"""Files that hold others: the card within a picture, and archives; nothing in them is unpacked to disk."""

from __future__ import annotations

import base64
import binascii
import io
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator

from .material import refusal

PNG = b"\x89PNG\r\n\x1a\n"
ZIP = b"PK\x03\x04"
MAX_CARD = 20_000_000
"""The most bytes in a card's text."""
_PIXELS = 40_000_000
_CHUNKS = 10_000
_MEMBERS, _UNPACKED = 60_000, 500_000_000
_PIECE = 1_000_000
_ENCRYPTED = 1
_CARDS = ("ccv3", "chara")
"""The names under which pictures hold a card, in order of preference."""


def card_of_picture(raw: bytes) -> bytes:
    """The JSON of the character card in a PNG; the picture itself is not decoded.

    Raises:
        InvalidFile: there is no card, the file is damaged, or it would become too large.
    """
    found: dict[str, bytes] = {}
    for kind, body in _chunks(raw):
        if kind == b"IHDR" and len(body) >= 8:
            width, height = struct.unpack(">II", body[:8])
            if width * height > _PIXELS:
                problem = f"its picture has {width:,} by {height:,} pixels; at most {_PIXELS:,} in all are allowed"
                raise refusal(problem)
        elif kind in (b"tEXt", b"zTXt", b"iTXt"):
            name, text = _text(kind, body)
            if name.lower() in _CARDS:
                found.setdefault(name.lower(), text)
    card = next((found[name] for name in _CARDS if name in found), None)
    if card is None:
        raise refusal("this picture holds no character card: it has no text named 'chara' or 'ccv3'")
    try:
        return base64.b64decode(b"".join(card.split()), validate=True)
    except binascii.Error as error:
        raise refusal(f"the card in this picture is not base64: {error}") from error


def _chunks(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    place, count = len(PNG), 0
    while place + 12 <= len(raw):
        length, kind = struct.unpack(">I4s", raw[place : place + 8])
        end = place + 12 + length
        if end > len(raw):
            raise refusal("the picture is cut off")
        body = raw[place + 8 : end - 4]
        if zlib.crc32(kind + body) != int.from_bytes(raw[end - 4 : end], "big"):
            raise refusal(f"the picture is damaged: its part {kind.decode('latin-1')!r} is not as it was written")
        yield kind, body
        place, count = end, count + 1
        if kind == b"IEND":
            return
        if count > _CHUNKS:
            raise refusal(f"the picture has more than {_CHUNKS:,} parts")


def _text(kind: bytes, body: bytes) -> tuple[str, bytes]:
    """A named text of a picture, which may be compressed."""
    name, _, rest = body.partition(b"\x00")
    compressed = kind == b"zTXt"
    if kind == b"zTXt":
        rest = rest[1:]
    elif kind == b"iTXt":
        compressed, rest = rest[:1] == b"\x01", rest[2:].split(b"\x00", 2)[-1]
    if compressed and name.decode("latin-1").lower() in _CARDS:
        unpacking = zlib.decompressobj()
        try:
            rest = unpacking.decompress(rest, MAX_CARD + 1)
        except zlib.error as error:
            raise refusal(f"the card in this picture cannot be unpacked: {error}") from error
    if len(rest) > MAX_CARD:
        raise refusal(f"the card in this picture has more than {MAX_CARD:,} bytes")
    return name.decode("latin-1"), rest


class Archive:
    """A ZIP in memory, checked as a whole before anything in it is read.

    Raises:
        InvalidFile: it is not a ZIP, is encrypted, would become too large, or has a name twice or that leads out.
    """

    def __init__(self, raw: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(raw))
        except (zipfile.BadZipFile, OSError, struct.error, ValueError, NotImplementedError, EOFError) as error:
            raise refusal(f"it is not a complete ZIP: {error}") from error
        infos = self._zip.infolist()
        if len(infos) > _MEMBERS:
            raise refusal(f"the archive holds {len(infos):,} files; at most {_MEMBERS:,} are allowed")
        for info in infos:
            name = info.filename.replace("\\", "/")
            if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
                raise refusal(f"the archive contains the name {info.filename[:100]!r}, which leads out of it")
            if info.flag_bits & _ENCRYPTED:
                raise refusal("the archive is encrypted; unpack it and import what is in it")
        if (whole := sum(info.file_size for info in infos)) > _UNPACKED:
            raise refusal(f"the archive would unpack to {whole:,} bytes; at most {_UNPACKED:,} are allowed")
        self.names = [info.filename for info in infos if not info.is_dir()]
        if twice := sorted(name for name, count in Counter(self.names).items() if count > 1):
            raise refusal(f"the archive contains {twice[0][:100]!r} more than once; pack it again with the right one")

    def named(self, *endings: str) -> list[str]:
        """The files with these names, in any folder, those nearest to the top first."""
        found = [name for name in self.names if name.replace("\\", "/").rpartition("/")[2].lower() in endings]
        return sorted(found, key=lambda name: (name.count("/"), name))

    def read(self, name: str, most: int = MAX_CARD) -> bytes:
        """One file, of at most so many bytes.

        Raises:
            InvalidFile: it is larger, or is damaged.
        """
        found = io.BytesIO()
        try:
            with self._zip.open(name) as file:
                while piece := file.read(_PIECE):
                    found.write(piece)
                    if found.tell() > most:
                        raise refusal(f"{name[:100]} in the archive has more than {most:,} bytes")
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise refusal(f"{name[:100]} in the archive cannot be read: {error}") from error
        return found.getvalue()
