"""Cue: one reading of what memory is asked."""

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
"""Stems that ask for whatever it was, in a cue that names a time."""


@dataclass(frozen=True)
class Cue:
    """A cue as it was read.

    Args:
        text: the cue.
        words: its words that count, in their order: neither stop words nor parts of a name or of a calendar date.
        naming: its words that are parts of a known name.
        names: who is named, of the names that were known, lowered.
        asked: the stretches of time that it names.
        asks_when: whether it asks for a time.
        asks_of_a_time: whether it asks for nothing but what there was in a time that it names.
    """

    text: str
    words: tuple[Word, ...]
    naming: tuple[Word, ...]
    names: frozenset[str]
    asked: tuple[Stretch, ...]
    asks_when: bool
    asks_of_a_time: bool

    @classmethod
    def read(cls, text: str, now: datetime, names: Iterable[str] = ()) -> Self:
        """Read a cue.

        Args:
            text: the cue.
            now: the world's time, aware of its zone, from which "yesterday" counts.
            names: who may be named: the speakers of all the indices that will be asked.
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
        """The different stems of the words, in their order."""
        return tuple(dict.fromkeys(word.stem for word in self.words))


def _in_one_of(places: Iterable[tuple[int, int]], word: Word) -> bool:
    return any(first <= word.start < last for first, last in places)
