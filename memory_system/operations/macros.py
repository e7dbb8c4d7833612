"""Text of strangers in a character card: what would be a macro or decorator there is made text, and read back."""

from __future__ import annotations

import re

_JOINER = "\u2060"
"""A word joiner: it is not seen, has no width, and is no part of a macro."""
_NAMES = r"(?:user|char|bot|start)\b"
_SIGNS = re.compile(rf"(?<=\{{)(?=\{{)|(?<=<)(?={_NAMES})|^(?=@@)", re.IGNORECASE | re.MULTILINE)
_JOINED = re.compile(
    rf"(?<=\{{){_JOINER}(?=\{{)|(?<=<){_JOINER}(?={_NAMES})|^{_JOINER}(?=@@)", re.IGNORECASE | re.MULTILINE
)


def without_macros(text: str) -> str:
    """A text of which a program that reads cards replaces nothing: ``{{user}}`` and ``@@role`` are words in it."""
    return _SIGNS.sub(_JOINER, text)


def as_said(text: str) -> str:
    """The text that ``without_macros`` was given; any other as it is."""
    return _JOINED.sub("", text)
