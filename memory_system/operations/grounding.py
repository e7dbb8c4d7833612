"""Whether a sentence rests on the memories that it cites: they exist, and it adds no names, numbers or dates.

It drops only what deserves it, but does not prove that the rest is true. Checked are

- numbers in digits, which must be in a source, in digits or words; and in words from eleven on, since smaller
  ones also count what is told ("the two of them"),
- dates, years and clock times, which must be in a source or be the time of one,
- words with a capital within the sentence, if it is English: other languages capitalise more than names. The first
  word always has a capital; it counts if it is a name elsewhere among the memories, or a weekday.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from ..core.entry import MemoryEntry
from ..core.languages import word_of
from ..core.times import in_zone
from ..errors import shown

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)})\b\.?"
_DATE = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:T\d\d)?|\b\d{1,2}[:.]\d\d(?:[:.]\d\d)?\b|\b\d{1,2}\s*[ap]\.?m\b|\b\d{1,2}\s+o['’]clock"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}|\b{_MONTH}\s+(?:the\s+)?\d{{1,2}}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)\b|\b(?:1\d|20)\d\d\b",
    re.IGNORECASE,
)
"""Days, years and times of day that contain digits."""
_WORD = re.compile(word_of(r"[^\W\d_]"))
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CUT = re.compile(r"\S*…")
"""A word that a quotation cut off."""
_BEGINS = re.compile(r"(?:^|[.!?:;…“”\"‘(\[«»—–-]|(?<!\w)['’])\s*$")
"""What precedes a word that has a capital only because of its position."""
_GENITIVE = re.compile(r"['’]s?$")
_PLURAL = re.compile(r"(?:(?<=\w{3})es|s)$")

_CALENDAR = {*_DAYS, *_MONTHS} - {"march", "may"}
"""Words that are dates wherever they occur."""

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ROUND = {"dozen": "12", "hundred": "100", "thousand": "1000", "noon": "12", "half": "30"}
_SPELLED = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[- ]({'|'.join(_UNITS[1:10])}))?|({'|'.join(_UNITS)}))\b", re.IGNORECASE
)
_COUNTED = 10
"""Number words up to this may count what is told."""

_ENGLISH = frozenset({"the", "and", "of", "to", "with", "that", "by", "his", "she", "he", "had", "from", "on", "at"})
_SMALL = """
    a an as but for if in into it its is was were are be been i i'm i've i'd i'll me my we us our you your they them
    their her him this these those there then when while where who what why how which not no so or nor yet after
    before since until later also both each all some one did do does has have will would can could may might must
    am pm utc gmt mr mrs ms miss dr
"""
_NO_NAMES = _ENGLISH | frozenset(_SMALL.split())


def checked(
    text: str,
    numbers: Sequence[int],
    given: Sequence[MemoryEntry],
    *,
    known: Iterable[str],
    among: Collection[str],
    now: datetime | None = None,
) -> tuple[list[MemoryEntry], str]:
    """The memories that a sentence rests on, and why it cannot be kept; empty if it can.

    Args:
        text: one sentence that a language model wrote.
        numbers: the records that it cites, from 1.
        given: the memories behind the records.
        known: names that may be in any sentence, such as the character's own.
        among: what ``names`` finds in everything that was given.
        now: the world's time, in whose zone the model was told when each happened; in UTC if not given.
    """
    sources = [given[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(given)]
    if not numbers:
        return sources, "It rests on no memory."
    if strange := [number for number in numbers if not 1 <= number <= len(given)]:
        return sources, f"It rests on number {shown(strange[0])}, which was not given."
    return sources, _made_up(text, sources, known, among, now)


def _made_up(
    sentence: str,
    sources: Sequence[MemoryEntry],
    known: Iterable[str],
    among: Collection[str],
    now: datetime | None,
) -> str:
    """What a sentence says but none of its sources does, in words; empty if there is nothing."""
    said = _plain(_CUT.sub(" ", sentence))
    texts = [_plain(source.document) for source in sources]
    zone = None if now is None else now.tzinfo
    times = [in_zone(source.timestamp, zone) for source in sources if source.timestamp is not None]
    numbers = {number for text in texts for number in _numbers(text)}
    dates = numbers | {number for moment in times for number in _numbers_of(moment)}
    figures = [*_digits(_DATE.sub(" ", said)), *(n for n in _spelled(said) if int(n) > _COUNTED and n not in dates)]
    years = {str(moment.year) for moment in times}  # a story may be set in 284 or in 2145
    if strange := [number for number in figures if number not in numbers | years]:
        return f"It gives the number {strange[0][:40]}, which none of the memories it rests on gives."
    if strange := [date for date in _DATE.findall(said) if not set(_digits(date)) <= dates]:
        return f"It gives the time “{strange[0]}”, which none of the memories it rests on gives."
    words = {form for text in (*texts, *map(_plain, known)) for word in _WORD.findall(text) for form in _forms(word)}
    words |= {name for moment in times for name in _calendar_of(moment)}
    if strange := [name for name in _names(said, among) if not words & _forms(name)]:
        return f"It names “{strange[0][:80]}”, which none of the memories it rests on does."
    return ""


def names(texts: Iterable[str]) -> frozenset[str]:
    """The words, in lower case, that have a capital within a sentence somewhere and are never in lower case."""
    capital: set[str] = set()
    small: set[str] = set()
    for text in map(_plain, texts):
        for match in _WORD.finditer(text):
            if match[0][0].islower():
                small.add(match[0])
            elif not _begins(text, match.start()):
                capital.add(_GENITIVE.sub("", match[0].casefold()))
    return frozenset(capital - small - _NO_NAMES)


def _names(said: str, among: Collection[str]) -> Iterator[str]:
    """The words of a sentence that are names by their capital; none in a language other than English."""
    if not _ENGLISH & {word.casefold() for word in _WORD.findall(said)}:
        return
    for match in _WORD.finditer(said):
        word = match[0].casefold()
        if not match[0][0].isupper() or word in _NO_NAMES or word.replace("’", "'") in _NO_NAMES:
            continue
        if not _begins(said, match.start()) or _GENITIVE.sub("", word) in among or word in _CALENDAR:
            yield match[0]


def _begins(text: str, place: int) -> bool:
    return _BEGINS.search(text[max(0, place - 8) : place]) is not None if place else True


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _forms(word: str) -> set[str]:
    """A word in small letters, as it is and without an ending of the genitive or the plural."""
    bare = _GENITIVE.sub("", word.casefold())
    return {bare, _PLURAL.sub("", bare)}


def _numbers(text: str) -> Iterator[str]:
    yield from _digits(text)
    yield from _spelled(text)
    for word in _WORD.findall(text.casefold()):
        if word in _ROUND:
            yield _ROUND[word]
        elif word in _ORDINALS:
            yield str(_ORDINALS.index(word) + 1)


def _digits(text: str) -> list[str]:
    return [digits.lstrip("0") or "0" for digits in re.findall(r"\d+", _THOUSANDS.sub("", text))]


def _spelled(text: str) -> Iterator[str]:
    for tens, unit, alone in _SPELLED.findall(text):
        if tens:
            value = 20 + 10 * _TENS.index(tens.casefold())
            yield str(value + (_UNITS.index(unit.casefold()) if unit else 0))
        else:
            yield str(_UNITS.index(alone.casefold()))


def _numbers_of(moment: datetime) -> set[str]:
    hours = {moment.hour, moment.hour % 12 or 12}
    return {str(n) for n in (moment.year, moment.month, moment.day, *hours, moment.minute, moment.second)}


def _calendar_of(moment: datetime) -> set[str]:
    month, day = _MONTHS[moment.month - 1], _DAYS[moment.weekday()]
    return {month, month[:3], day, day[:3]}
