"""Words of a text: found, lowered, stop words left out, stemmed by Snowball's English stemmer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ENDING = re.compile(r"'(?:s|m|re|ve|d|ll|t)?$")
_LONGEST = 64
"""Characters of a word that count: what is longer is no word, but two such texts may still share its start."""

_STOP_WORDS = """
i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves what which who whom whose this that these those am is are was were
be been being have has had having do does did doing will would shall should can could may might must ought a an the
and but if or because as until while of at by for with about against between into through during before after above
below to from up down in out on off over under again further then once here there when where why how all any both
each few more most other some such no nor not only own same so than too very don won isn aren wasn weren hasn haven
hadn doesn didn wouldn shouldn couldn mustn let cannot
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Snowball's English list (snowballstem.org/algorithms/english/stop.txt, BSD), and the forms with 'll and n't."""


@dataclass(frozen=True)
class Word:
    """A word of a text as it is written, where it stands (characters, end after the last), and its stem.

    ``stem`` is empty for a stop word.
    """

    written: str
    start: int
    end: int
    stem: str

    @property
    def plain(self) -> str:
        """Lowered, and without an ending such as 's."""
        return plain(self.written)


def words(text: str) -> Iterator[Word]:
    """The words of a text in their order, stop words included."""
    for found in _WORD.finditer(text):
        yield Word(found.group(), found.start(), found.end(), stem(found.group()))


def stems(text: str) -> list[str]:
    """The stems of a text's words in their order, stop words left out."""
    return [one for one in map(stem, _WORD.findall(text)) if one]


@lru_cache(maxsize=65_536)
def plain(word: str) -> str:
    """A word lowered, in one Unicode form, and without an ending such as 's."""
    lowered = unicodedata.normalize("NFKC", word[:_LONGEST]).casefold().replace("’", "'")
    return _ENDING.sub("", lowered)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word's stem; empty for a stop word."""
    bare = plain(word)
    if bare in STOP_WORDS:
        return ""
    if bare.isdigit():  # the stemmer would leave it, and takes its time over each of a hundred thousand
        return bare
    return str(EnglishStemmer().stemWord(bare))  # of its own: a stemmer holds the word it works on
