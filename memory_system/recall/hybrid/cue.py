"""Cue: the analysis of a query's cue."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from .dates import Stretch, stretches
from .speakers import named_in
from .words import Word, stem, words

_ASKS_WHEN = re.compile(
    r"\s*(?:when|since when|how long|what (?:year|month|date|day|time)|which (?:year|month|date|day)|"
    r"in (?:what|which) (?:year|month))\b",
    re.IGNORECASE | re.ASCII,
)

_HAPPENS = frozenset(
    map(stem, ("happen", "occur", "take", "took", "place", "go", "went", "day", "event", "anything", "something"))
)
"""Stems that ask for anything that happened, in a cue that names a time."""


@dataclass(frozen=True)
class Cue:
    """An analysed cue.

    Args:
        text: the cue.
        words: its significant words, in order: neither stop words nor parts of a name or of a calendar date.
        naming: its words that are parts of a known name.
        names: the people it names, among the known names, in lower case.
        asked: the periods of time that it names.
        asks_when: whether it asks for a time.
        asks_of_a_time: whether it only asks what happened in a time that it names.
        addressed: whether somebody says it to the character, and does not mean the character by "I".
        fields: the field of a personality that it asks for by its vector, at most one.
    """

    text: str
    words: tuple[Word, ...]
    naming: tuple[Word, ...]
    names: frozenset[str]
    asked: tuple[Stretch, ...]
    asks_when: bool
    asks_of_a_time: bool
    addressed: bool = False
    fields: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str, now: datetime, names: Iterable[str] = ()) -> Self:
        """Analyse a cue.

        Args:
            text: the cue.
            now: the world's time, timezone-aware, which "yesterday" refers to.
            names: the known names: the speakers in all indices that will be searched.
        """
        found = tuple(words(text))
        named, naming = named_in(found, names)
        asked = stretches(text, now)
        dated, names_too = [stretch.place for stretch in asked if not stretch.relative], set(naming)
        counting = tuple(word for word in found if word.stem and word not in names_too and not _in_one_of(dated, word))
        timed = [stretch.place for stretch in asked]
        of_a_time = bool(asked) and all(word.stem in _HAPPENS or _in_one_of(timed, word) for word in counting)
        return cls(text, counting, naming, named, asked, _ASKS_WHEN.match(text) is not None, of_a_time)

    @property
    def stems(self) -> tuple[str, ...]:
        """The distinct stems of the words, in order."""
        return tuple(dict.fromkeys(word.stem for word in self.words))


def _in_one_of(places: Iterable[tuple[int, int]], word: Word) -> bool:
    return any(first <= word.start < last for first, last in places)
