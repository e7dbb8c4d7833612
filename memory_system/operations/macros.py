"""Text of strangers in a character card: macros and decorators are made plain text, and read back."""

from __future__ import annotations

import re

_JOINER = "\u2060"
"""A word joiner: it is invisible, has no width, and is not part of a macro."""
_NAMES = r"(?:user|char|bot|start)\b"
_SIGNS = re.compile(rf"(?<=\{{)(?=\{{)|(?<=<)(?={_NAMES})|^(?=@@)", re.IGNORECASE | re.MULTILINE)
_JOINED = re.compile(
    rf"(?<=\{{){_JOINER}(?=\{{)|(?<=<){_JOINER}(?={_NAMES})|^{_JOINER}(?=@@)", re.IGNORECASE | re.MULTILINE
)


def without_macros(text: str) -> str:
    """A text in which a program that reads cards replaces nothing: ``{{user}}`` and ``@@role`` are words in it."""
    return _SIGNS.sub(_JOINER, text)


def as_said(text: str) -> str:
    """The text that ``without_macros`` was given; any other as it is."""
    return _JOINED.sub("", text)
