"""Words of a text: found, lower-cased, without stop words, stemmed by Snowball's stemmer of the text's language.

Words in Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese cannot be separated without a dictionary: there every
two adjacent signs count as a word, which finds as much (Nie et al. 2000,
"On the use of words and n-grams for Chinese information retrieval"). A letter with its marks is one sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from ...core.languages import COMMON, ENGLISH, JOINERS, MARKS, WORD, rules_of, same_words

_SPACELESS = (
    r"\u3041-\u30ff\uff66-\uff9d\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\uac00-\ud7a3\u1100-\u115f"
    r"\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1780-\u17d3\u17d7\u17dc\u17dd\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    r"\uaa60-\uaa7f\ua9e0-\ua9ef\ua9fa-\ua9fe"
)
"""Chinese signs, kana, hangul, Thai, Lao, Khmer and Burmese; their digits are joined to adjacent signs."""
_BESIDE = rf"{MARKS}{JOINERS}\u1160-\u11ff"
"""Characters that belong to the letter before them: marks, and the vowel and final of a decomposed hangul syllable."""
_SIGNS = re.compile(rf"[{_SPACELESS}][{_SPACELESS}{_BESIDE}]*")
_MARK = re.compile(rf"[{_BESIDE}]")
_SIGN = re.compile(rf".(?:[{_BESIDE}]|(?<=[\u17d2\u1039]).)*", re.DOTALL)
"""One sign with its marks; in Khmer and Burmese with the letter that is written below it."""
_JOINERS = str.maketrans("", "", JOINERS)
_ENDING = re.compile(r"'(?:s|m|re|ve|d|ll|t)?$")
_QUESTION = re.compile(r"[?\uff1f\u061f][^\w?]*$")
_LONGEST = 64
"""Characters of a word that count: anything longer is not a word, but two such texts may still share its start."""

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


_STEMMERS = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Snowball's name of each language that it stems; words of other languages are compared as written."""
_ELIDED = {"fr", "it"}
"""Languages in which the part before an apostrophe is a word of its own: l'eau, dell'acqua."""


@dataclass(frozen=True)
class Word:
    """A word of a text as written, its position (in characters, end exclusive), and its stem.

    ``stem`` is empty for a stop word.
    """

    written: str
    start: int
    end: int
    stem: str

    @property
    def plain(self) -> str:
        """In lower case, and without an ending such as 's."""
        return plain(self.written)


def words(text: str) -> Iterator[Word]:
    """The words of a text in order, including stop words."""
    language = rules_of(text)
    for found in WORD.finditer(text):
        for start, end in _cut(found.group()):
            written = found.group()[start:end]
            yield Word(written, found.start() + start, found.start() + end, stem(written, language))


def stems(text: str, language: str = "") -> list[str]:
    """The stems of a text's words in order, without stop words, by the rules of ``language`` or of the text's own."""
    found, language = WORD.findall(text), language or rules_of(text)
    if not text.isascii():
        found = [word[start:end] for word in found for start, end in _cut(word)]
    return list(filter(None, map(_stems_of(language), found)))


def wording(text: str) -> str:
    """The text in a form that ignores case, spaces and final punctuation; a question remains one."""
    said = same_words(text)
    return said.rstrip(".!\u2026 ") or said


def asks(text: str) -> bool:
    """Whether a text ends with a question, in quotes or not."""
    return _QUESTION.search(text[-_LONGEST:]) is not None


def _cut(word: str) -> Iterator[tuple[int, int]]:
    """Where the words are in text written without spaces: each from its first sign to after its last."""
    last = 0
    if not word.isascii():
        for run in _SIGNS.finditer(word):
            if run.start() > last:
                yield last, run.start()
            last = run.end()
            starts: Sequence[int] = range(run.start(), last)
            if _MARK.search(word):
                starts = [sign.start() for sign in _SIGN.finditer(word, run.start(), last)]
            yield from zip(starts[:-1] or starts, [*starts[2:], last], strict=True)
    if last < len(word):
        yield last, len(word)


@lru_cache(maxsize=65_536)
def plain(word: str) -> str:
    """A word in lower case, in one Unicode form, without joiners, and without an ending such as 's."""
    lowered = unicodedata.normalize("NFKC", word[:_LONGEST].translate(_JOINERS)).casefold().replace("’", "'")
    return _ENDING.sub("", lowered.replace("i\u0307", "i"))  # the lower case of the capital Turkish dotted i


def stem(word: str, language: str = ENGLISH) -> str:
    """A word's stem by the rules of a language, by its code; empty for a stop word of it."""
    return _stems_of(language)(word)


@lru_cache
def _stems_of(language: str) -> Callable[[str], str]:
    """A function that returns the stems of a language's words, and caches them."""
    stop_words = STOP_WORDS if language == ENGLISH else frozenset(map(plain, COMMON.get(language, ())))
    stemmer = _stemmer(language)

    @lru_cache(maxsize=65_536)
    def stem_of(word: str) -> str:
        bare = plain(word)
        if language in _ELIDED:
            bare = bare.rpartition("'")[2]
        if bare in stop_words:
            return ""
        if bare.isdigit():  # the stemmer would not change it, but is slow on a hundred thousand of them
            return bare
        return bare if stemmer is None else str(stemmer().stemWord(bare))  # a new one: it has a state

    return stem_of


def _stemmer(language: str) -> Any:
    """The class of a language's stemmer; ``None`` if there is none."""
    name = _STEMMERS.get(language)
    module = name and import_module(f"snowballstemmer.{name}_stemmer")
    return getattr(module, f"{name.title()}Stemmer") if name else None
