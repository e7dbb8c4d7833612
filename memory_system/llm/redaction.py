"""Redaction: a key that a server echoes is taken out of all that it says, also as JSON escapes or cut in pieces."""

from __future__ import annotations

import re

_HIDDEN = "[key]"
_LEAST = 8
"""Characters: local servers take any key, and "local" need not be blotted out of every text."""
_QUOTED = 200
_LIKE_A_KEY = re.compile(r"\bsk-[\w-]{8,}")


class Redaction:
    """Takes one key out of texts.

    Args:
        key: the key; nothing is taken out if it is shorter than eight characters.
    """

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= _LEAST else ""
        self._written = re.compile("".join(map(_as_written, self._key)))

    def text(self, text: str) -> str:
        """The text without the key, however JSON may have it written."""
        return self._written.sub(_HIDDEN, text) if self._key else text

    def strict(self, text: str) -> str:
        """The text without the key, and without whatever else looks like one; for errors and traces."""
        return _LIKE_A_KEY.sub(_HIDDEN, self.text(text))

    def quoted(self, said: str) -> str:
        """What a server said, as the end of a sentence: 200 characters of it at most."""
        told = self.strict(said)[:_QUOTED].rstrip()
        return told if told.endswith((".", "!", "?")) else f"{told}."

    def stream(self) -> Stream:
        """Takes the key out of a text that arrives in pieces."""
        return Stream(self)

    def begun(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of the key."""
        most = min(len(self._key) - 1, len(text))
        return next((size for size in range(most, 0, -1) if self._key.startswith(text[-size:])), 0)


class Stream:
    """A text in pieces; what may be the beginning of the key waits for the next piece."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held = ""

    def more(self, piece: str) -> str:
        """What can be told of the text after this piece."""
        text = self._redaction.text(self._held + piece)
        told = len(text) - self._redaction.begun(text)
        self._held = text[told:]
        return text[:told]

    def rest(self) -> str:
        """What was held back, at the end."""
        held, self._held = self._held, ""
        return held


def _as_written(letter: str) -> str:
    """A pattern of a character, plain or as JSON escapes it."""
    code = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{ord(letter):04x}")
    plain = r"\\?/" if letter == "/" else re.escape(letter)
    return rf"(?:{plain}|\\u{code})"
