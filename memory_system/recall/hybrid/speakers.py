"""Who speaks in a text, and who is named in a cue."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...core.languages import JOINERS, MARKS
from .words import STOP_WORDS, Word, plain

_NAME = rf"[^\W\d_a-z][\w.’'{MARKS}{JOINERS}-]{{0,39}}"
_SPOKEN = re.compile(rf"\s*({_NAME}(?: (?:(?:de|da|van|von|der|den|la|le|bin|al) ){{0,2}}{_NAME}){{0,2}})\s?:\s+(?=\S)")
"""A name of up to three capitalised words and a colon, as in "Maria Lopez: good day"; not "Plan for Monday: ..."."""


_SAID = re.compile(
    rf"\s*({_NAME}(?: {_NAME}){{0,2}}) (?:said|says|asked|asks|told|tells|replied|replies|answered|answers|mentioned|"
    r"mentions|explained|explains|added|adds|admitted|admits|announced|announces|whispered|whispers|shouted|shouts)\b"
)


def heard(document: str) -> str:
    """Who seems to speak in a text, "Sam: ..." or "Sam said ..."; empty if nobody does."""
    name, _said = speaker_of(document)
    if not name and (found := _SAID.match(document)) is not None and plain(found.group(1)) not in STOP_WORDS:
        name = found.group(1)
    return name


def speaker_of(document: str) -> tuple[str, str]:
    """Who speaks and what is said; an empty name and the whole text if it does not begin with a name and a colon."""
    found = _SPOKEN.match(document)
    if found is None or found.group(1).endswith(("'s", "’s")):
        return "", document
    return found.group(1), document[found.end() :]


def named_in(words: Iterable[Word], names: Iterable[str]) -> tuple[frozenset[str], tuple[Word, ...]]:
    """The names (in lower case) that share a word with a cue, and those words.

    "Maria" names "maria lopez". A name that is also a common word, such as Will, has to be capitalised, and
    counts only after the cue's first word.
    """
    parts: dict[str, set[str]] = {}
    for name in names:
        for part in name.split():
            if len(part) > 1:
                parts.setdefault(plain(part), set()).add(name)
    found: set[str] = set()
    naming: list[Word] = []
    for place, word in enumerate(words):
        if word.plain not in parts:
            continue
        if word.plain in STOP_WORDS and (place == 0 or not word.written[0].isupper()):
            continue
        found |= parts[word.plain]
        naming.append(word)
    return frozenset(found), tuple(naming)
