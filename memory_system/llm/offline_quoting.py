"""What the offline model quotes: which sources are about a question, and how they are cited."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from ..memory import Vectors
from .extractive import quote, short
from .offline_listening import only_asks, words
from .offline_prompt import Source

Embed = Callable[[list[str]], Vectors]

_MOST_LOOKED_AT = 40
"""Candidates for a quotation that are embedded; of more, those that share words with the question or are the last."""
_ANSWERS = 0.30
"""How much a text must be about the question, as a cosine, to be quoted as an answer to it."""
_SHARED = 0.15
"""What each word is worth that a text shares with the question."""
_ASKED = 0.3
"""What a text is worth less that only asks, too."""
_WRITTEN = 0.1
"""What core memory is worth less than what was said, since it has neither time nor speaker."""
CORE = "(core memory)"
KIN = {"mother": ("mother", "mom"), "father": ("father", "dad")}
"""What mothers and fathers are called."""
_QUOTATION = 200
_BEGINNING = 60
"""Characters by which a quotation is known again, however its end was cut."""
_MARKS = re.compile("[“”‘’\"']")


def best(asked: str, group: Sequence[Source], embed: Embed, count: int) -> list[Source]:
    """The sources that are most about a question, the best first; none where none is about it."""
    about = {stem(word) for word in words(asked)}
    seen = {source.text: source for source in group if source.text.strip()}
    shared = {text: len(about & {stem(word) for word in words(text)}) for text in seen}
    places = {text: place for place, text in enumerate(seen)}
    near = sorted(seen, key=lambda text: (-shared[text], -places[text]))[:_MOST_LOOKED_AT]
    if not near:
        return []
    vectors = embed([asked, *(short(text, 1000) for text in near)])
    worth = np.asarray(vectors[1:] @ vectors[0], np.float64) + _SHARED * np.array(
        [min(3, shared[text]) for text in near]
    )
    worth -= np.array([_ASKED * only_asks(text) + _WRITTEN * (seen[text].cited == CORE) for text in near])
    rows = [int(row) for row in np.argsort(-worth, kind="stable")[:count] if worth[row] >= _ANSWERS]
    rows = [row for row in rows if worth[row] >= 0.6 * worth[rows[0]]]
    return [seen[near[row]] for row in rows]


def unquoted(group: Sequence[Source], texts: Sequence[str]) -> list[Source]:
    """The sources that these texts do not quote already, so that nobody says the same over and over."""
    told = "\n".join(_plain(text) for text in texts)
    return [source for source in group if _plain(source.text)[:_BEGINNING].rstrip(" .…") not in told]


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def stem(word: str) -> str:
    """A word without its ending, and mothers and fathers by one name."""
    small = word.lower()
    for name, others in KIN.items():
        if small.removesuffix("s") in (name, *others):
            return name
    return re.sub(r"(?:ing|ed|es|s|e)$", "", small) if len(small) > 4 else small


def cite(source: Source) -> str:
    """A quotation with who said it and when, or with the number of the memory."""
    text = source.text
    if source.cited:
        return f"{quote(_cut(text))}{_day(source.when)} {source.cited}"
    when = _day(source.when)
    return f"{source.who}{when}: {quote(_cut(text))}" if source.who else f"{quote(_cut(text))}{when}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    if line.startswith("“") and line.endswith("”") and line.count("“") == 1:
        line = line[1:-1]
    if len(line) <= _QUOTATION:
        return line
    return f"{line[:_QUOTATION].rpartition(' ')[0] or line[:_QUOTATION]}…"


def _day(when: str) -> str:
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        return f" ({when})" if when and when != "always" else ""
    return f" ({moment.day} {moment:%B %Y, %H:%M})"
