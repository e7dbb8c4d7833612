"""What a tool call says, read from its arguments' JSON while that is still arriving."""

from __future__ import annotations

import re

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_OPENING = 200
"""Characters to keep until the argument begins: more than its name needs."""
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{4}")


class Spoken:
    """The value of one text argument, piece by piece; the first of that name in the JSON.

    Args:
        name: of the argument.
    """

    def __init__(self, name: str) -> None:
        self._opening = re.compile(rf'"{re.escape(name)}"\s*:\s*"')
        self._tail = ""
        self._open = False
        self._closed = False

    def more(self, piece: str) -> str:
        """What another piece of the JSON adds to the value; an incomplete escape waits for the next piece."""
        if self._closed:
            return ""
        self._tail += piece
        if not self._open:
            opening = self._opening.search(self._tail)
            if opening is None:
                self._tail = self._tail[-_OPENING:]
                return ""
            self._open, self._tail = True, self._tail[opening.end() :]
        return self._read()

    def _read(self) -> str:
        said, place, text = list[str](), 0, self._tail
        while place < len(text):
            letter = text[place]
            if letter == '"':
                self._closed = True
                break
            if letter != "\\":
                said.append(letter)
                place += 1
                continue
            taken, value = _escape(text, place)
            if not taken:
                break
            said.append(value)
            place += taken
        self._tail = text[place:]
        return "".join(said)


def _escape(text: str, place: int) -> tuple[int, str]:
    """The length of the escape at this position, and its meaning; 0 if it is not complete."""
    if place + 1 >= len(text):
        return 0, ""
    if text[place + 1] != "u":
        return 2, _ESCAPES.get(text[place + 1], text[place + 1])
    high = text[place + 2 : place + 6]
    if len(high) < 4:
        return 0, ""
    if not _HEXADECIMAL.fullmatch(high):
        return 2, "u"
    code = int(high, 16)
    if not 0xD800 <= code < 0xDC00:
        return 6, "" if 0xDC00 <= code < 0xE000 else chr(code)
    if len(text) < place + 12 and '"' not in text[place + 6 :]:
        return 0, ""
    low = text[place + 8 : place + 12]
    if text[place + 6 : place + 8] != "\\u" or not _HEXADECIMAL.fullmatch(low) or not 0xDC00 <= int(low, 16) < 0xE000:
        return 6, ""
    return 12, chr(0x10000 + ((code - 0xD800) << 10) + int(low, 16) - 0xDC00)
