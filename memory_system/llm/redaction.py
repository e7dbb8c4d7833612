"""Redaction: a key that a server echoes is removed from all its output, however it is written or split.

It may be written plainly, as JSON escapes, percent-encoded, or as base64 alone or within something else, such as a
whole header.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

_HIDDEN = "[key]"
_LEAST = 8
"""Characters: local servers accept any key, and "local" need not be blotted out of every text."""
_NESTED = 4
"""Backslashes before an escape: one, two in JSON within JSON, four in that within JSON."""
_LONGEST = _NESTED + 5
"""The most characters of one of the key's when it is written as an escape."""
_QUOTED = 200
_LIKE_A_KEY = re.compile(r"\bsk-[\w-]{8,}")


class Redaction:
    """Removes one key from texts.

    Args:
        key: the key; nothing is removed if it is shorter than eight characters.
    """

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= _LEAST else ""
        self._letters = [(letter, *_escaped(letter)) for letter in self._key]
        self._encoded = tuple(_encoded(self._key)) if self._key else ()
        self._first = {way[0] for way in (*self._encoded, *(self._letters[0] if self._letters else ()))}
        letters = "".join(f"(?:{'|'.join(map(_in_any_case, ways))})" for ways in self._letters)
        self._written = re.compile("|".join((letters, *map(re.escape, self._encoded))))

    def text(self, text: str) -> str:
        """The text without the key, however it is written there."""
        return self._written.sub(_HIDDEN, text) if self._key else text

    def strict(self, text: str) -> str:
        """The text without the key, and without anything else that looks like one; for errors and traces."""
        return _LIKE_A_KEY.sub(_HIDDEN, self.text(text))

    def quoted(self, said: str) -> str:
        """What a server said, as the end of a sentence: 200 characters at most."""
        text = self.strict(said)[:_QUOTED].rstrip()
        return text if text.endswith((".", "!", "?")) else f"{text}."

    def stream(self) -> Stream:
        """Removes the key from a text that arrives in pieces."""
        return Stream(self)

    def begun(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of the key."""
        sizes = range(min(len(self._key) * _LONGEST, len(text)), 0, -1)
        return next((size for size in sizes if text[-size] in self._first and self._begins(text[-size:])), 0)

    def _begins(self, text: str) -> bool:
        """Whether the key may continue where this text ends."""
        if any(form.startswith(text) for form in self._encoded):
            return True
        places = {0}  # a character such as % may be literal, or begin an escape
        for letter, *escapes in self._letters:
            reached = set[int]()
            for place in places:
                ahead = text[place : place + _LONGEST]
                if any(way.startswith(ahead.lower()) for way in escapes):
                    return True
                reached |= {place + len(way) for way in escapes if ahead.lower().startswith(way)}
                reached |= {place + 1} if ahead.startswith(letter) else set()
            if len(text) in reached:
                return True
            places = reached
        return False


class Stream:
    """A text in pieces; what may be the beginning of the key waits for the next piece."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._tail = ""

    def more(self, piece: str) -> str:
        """What can be released of the text after this piece."""
        text = self._redaction.text(self._tail + piece)
        end = len(text) - self._redaction.begun(text)
        self._tail = text[end:]
        return text[:end]

    def rest(self) -> str:
        """What was held back, at the end."""
        text, self._tail = self._tail, ""
        return text


def _escaped(letter: str) -> Iterator[str]:
    """A character as addresses and JSON escape it, including JSON within JSON, which escapes the backslash too."""
    if ord(letter) < 0x80:
        yield f"%{ord(letter):02x}"
    for slashes in range(1, _NESTED + 1):
        yield "\\" * slashes + f"u{ord(letter):04x}"
        if letter == "/":
            yield "\\" * slashes + letter


def _in_any_case(way: str) -> str:
    """A pattern of a character, or of an escape, whose digits may be in upper or lower case."""
    return re.escape(way) if len(way) == 1 else f"(?i:{re.escape(way)})"


def _encoded(key: str) -> Iterator[str]:
    """The base64 forms of a key, alone and within something else, in both alphabets.

    Base64 characters encode six bits, the key's have eight, so it depends on where the key begins: there are three
    ways, each without the characters at both ends that also encode something else.
    """
    data = key.encode("utf-8", "replace")
    for before in range(3):
        whole = base64.b64encode(bytes(before) + data).decode()
        inner = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield inner
        yield inner.translate(str.maketrans("+/", "-_"))
