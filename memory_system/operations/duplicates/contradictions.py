"""What speaks for two texts contradicting each other: a negation, a number, a time or an opposite. Pure.

Few rules, each of which says in a sentence what it saw. They look at sentences of the two that tell of the same things,
and raise a suspicion, no more: what was so yesterday may be otherwise today, and who says it in other words is
not found. A language model reads better, where there is one.

Words that mean the opposite of each other, as far as memories of a character need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product

from ...core.times import hour_of_day
from ...recall.hybrid.dates import Stretch, stretches
from ...recall.hybrid.speakers import speaker_of
from ...recall.hybrid.words import Word, plain, stem, words

_PAIRS = """
open opened unlocked : closed close shut locked
alive living lives : dead died dies killed
love loves loved likes liked adores : hate hates hated dislikes disliked loathes despises
trust trusts trusted trustworthy : distrust distrusts distrusted mistrust mistrusts mistrusted untrustworthy
friend friends ally allies : enemy enemies rival rivals foe
accept accepted accepts agreed agree agrees : refuse refused refuses declined rejected disagreed
admitted admits confessed confirmed : denied denies
remember remembered remembers : forgot forget forgets forgotten
succeeded succeeds managed : failed fails
won win wins : lost lose loses
found find finds : lost lose loses missing
gave give gives given : took take takes taken
lent lend lends : borrowed borrow borrows
bought buy buys : sold sell sells
arrived arrive arrives came come comes : left leave leaves departed
began begin begins started start starts : ended end ends stopped stop stops finished
kept keep keeps : broke break breaks broken
always : never rarely seldom
everybody everyone all : nobody none
everything : nothing
everywhere : nowhere
with : without
before : after
inside in : outside out
on : off
up : down
above over : below under
more : less fewer
most : least
true truth : false lie lied lies
guilty : innocent
honest : dishonest liar
safe : dangerous unsafe
healthy well : ill sick
happy glad : sad unhappy miserable
rich wealthy : poor
old : young
new : old
early : late
hot warm : cold
big large : small little
tall : short
strong : weak
full : empty
light bright : dark
high : low
long : short
easy : difficult hard
cheap : expensive dear
good : bad
right : wrong left
north northern : south southern
east eastern : west western
married : unmarried divorced single
allowed : forbidden banned
possible : impossible
visible : hidden invisible
morning dawn sunrise : evening dusk sunset
day : night
real genuine : fake forged
won : lost
increased rose : decreased fell
"""


def _read() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _PAIRS.strip().splitlines():
        sides = [side.split() for side in line.split(" : ")]
        # a stop word has no stem
        one, other = ({stem(word) or word for word in side} for side in sides)
        for word in one:
            found.setdefault(word, set()).update(other - one)
        for word in other:
            found.setdefault(word, set()).update(one - other)
    return {word: frozenset(against) for word, against in found.items()}


OPPOSITES: Mapping[str, frozenset[str]] = _read()
"""By stem (a stop word by itself, lowered): the words against it."""

MOST_READ = 2000
"""Characters of a text that are compared."""
MOST_SENTENCES = 12
SAME_THING = 0.6
"""Twice the shared words over all words, from which on two sentences tell of the same thing; 0 to 1."""

_SENTENCE = re.compile(r"[^.!?;\n]+(?:[.:]\d+[^.!?;\n]*)*[.!?;]*")
"""A full stop or colon between digits ends no sentence."""
_IDIOMS = re.compile(
    r"\bno (?:problem|worr(?:y|ies)|doubts?|way|wonder|matter|need|thanks|idea|kidding|pressure|rush)\b|"
    r"\blong time,? no \w+|\bcan(?:no|['’])t (?:wait|believe|imagine|thank|agree more|help but)\b|\bdon['’]t worry\b|"
    r"\bnot (?:only|just|to mention|bad|at all)\b|\bnever mind\b|\bdon['’]t (?:forget|stop|give up|hesitate)\b|"
    r"^\W*(?:no|nope|yes|yeah|yep)\b\W",
    re.IGNORECASE,
)
"""What says no, and denies nothing."""
_KIND_WORDS = """
hey hi hello thank thanks wow great awesome amaz nice cool good glad happi love sound look see later bye talk chat hear
catch time long week day life thing lot realli alway feel know think mean way mayb well oh yeah yes sure absolut definit
totalli congrat appreci support friend enjoy fun hope excit special inspir incred cute beauti worth care help make take
get go keep share proud journey moment luck
"""
_SMALL_TALK = frozenset(_KIND_WORDS.split())
"""Stems of what is said to be kind, whatever a talk is about."""
_SHARED = 3
"""Words, but for those of small talk, that two sentences of a talk share at least if they tell of the same thing."""
_NEGATIONS = frozenset(
    "not no never none nobody nothing nowhere neither nor cannot hardly barely".split()  # noqa: SIM905
)
_NOT = re.compile(r"n['’]t$", re.IGNORECASE)
_COUNTS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SCALES = {"hundred": 100, "thousand": 1000, "dozen": 12}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS: Mapping[str, str] = (
    {word: str(number) for number, word in enumerate(_COUNTS) if word != "one"}  # which mostly counts nothing
    | {word: str(number) for word, number in (_TENS | _SCALES).items()}
    | {word: f"{number}." for number, word in enumerate(_ORDINALS, start=1) if word != "second"}
)
_CLOCK = re.compile(
    r"\b(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?:\s*(?P<half>[ap])\.?m\b)?"
    r"|\b(?P<plain>\d{1,2})(?:\s*(?P<half_2>[ap])\.?m\b|\s+o['’]clock)"
    r"|\b(?P<word>noon|midnight)\b",
    re.IGNORECASE,
)

_RELATIVE = re.compile(
    r"day\b.*before|yesterday|today|tonight|tomorrow|ago|back|earlier|last|past|previous|this|next", re.IGNORECASE
)
_CALENDAR = re.compile(r"\d|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
_YEAR_NAMED = re.compile(r"\d{4}")
_YEAR = 365.2425 * 86_400
_LEAP = 1.5 * 86_400
"""Seconds by which the same day of two years may miss a whole number of years."""


@dataclass(frozen=True)
class _Said:
    """One sentence: what it is about, and what could stand against another."""

    about: frozenset[str]
    marks: Mapping[str, str]
    negation: str
    denied: str
    numbers: Mapping[str, frozenset[tuple[str, str]]]
    clock: frozenset[tuple[int, str]]
    days: tuple[Stretch, ...]


@dataclass(frozen=True)
class Statement:
    """A text as it is compared; make it with ``statement``."""

    sentences: tuple[_Said, ...]
    speaker: str = ""

    @property
    def says_something(self) -> bool:
        """Whether it tells of anything: a turn of a talk may only be kind."""
        return not self.speaker or any(len(sentence.about) >= _SHARED for sentence in self.sentences)

    def same_fact(self, other: Statement) -> bool:
        """Whether both may tell of the same thing; turns of a talk those of one speaker, in words that they share."""
        if not (self.speaker or other.speaker):
            return True
        return self.speaker == other.speaker and any(
            _same_thing(sentence.about, another.about, _SHARED)
            for sentence, another in product(self.sentences, other.sentences)
        )


def statement(text: str, at: datetime | None, *, talk: bool = False) -> Statement:
    """A text made ready to be compared with others; questions tell nothing.

    Args:
        text: any text; its first 2,000 characters, and of these twelve sentences, are read.
        at: when it was told, aware of its zone: "yesterday" counts from it. Days are not compared if it is not known.
        talk: whether it is a turn of a talk, "Sam: ...", and begins with who speaks.
    """
    speaker, said = speaker_of(text) if talk else ("", text)
    found = (match.group().strip() for match in _SENTENCE.finditer(said[:MOST_READ]))
    sentences = (_IDIOMS.sub(" ", sentence).strip() for sentence in found if not sentence.endswith("?"))
    read = [_said(sentence, at) for sentence in list(filter(None, sentences))[:MOST_SENTENCES]]
    return Statement(tuple(map(_of_talk, read)) if speaker else tuple(read), plain(speaker))


def _of_talk(said: _Said) -> _Said:
    """A sentence that was said to somebody: without what is said to be kind, and what people do again and again.

    "I won last week" and "I won on Friday", weeks apart, are two victories, and so are a first and a fourth one.
    """
    numbers = {
        unit: frozenset(value for value in values if not value[0].endswith("."))
        for unit, values in said.numbers.items()
    }
    days = tuple(stretch for stretch in said.days if not stretch.relative and _CALENDAR.search(stretch.words))
    left = {unit: values for unit, values in numbers.items() if values}
    return replace(said, about=said.about - _SMALL_TALK, numbers=left, clock=frozenset(), days=days)


def against(first: Statement, second: Statement) -> list[str]:
    """What speaks for a contradiction, in sentences; empty if nothing does."""
    if first.speaker != second.speaker:  # what one says of themselves denies nothing that another says of themselves
        return []
    least = _SHARED if first.speaker else 1
    reasons = [
        reason
        for sentence, other in product(first.sentences, second.sentences)
        if _same_thing(sentence.about, other.about, least)
        for reason in _reasons(sentence, other, talk=bool(first.speaker))
    ]
    return list(dict.fromkeys(reasons))


def _same_thing(about: frozenset[str], other: frozenset[str], least: int) -> bool:
    return len(about & other) >= least and 2 * len(about & other) >= SAME_THING * (len(about) + len(other))


def _reasons(sentence: _Said, other: _Said, *, talk: bool) -> Iterator[str]:
    opposed = [
        (sentence.marks[mark], other.marks[against_it])
        for mark in sentence.marks
        for against_it in OPPOSITES.get(mark, frozenset())
        if against_it in other.marks and mark not in other.marks and against_it not in sentence.marks
    ]
    negation = "" if sentence.negation and other.negation else sentence.negation or other.negation
    both = (sentence.about | sentence.marks.keys()) & (other.about | other.marks.keys())
    if talk and (sentence if sentence.negation else other).denied not in both:
        negation = ""  # it denies something else than what both tell of
    if negation and not opposed:
        yield f"One says “{negation}”, the other does not."
    if negation:  # "not open" and "closed" say the same; "nobody" and "everybody" do not
        opposed = [pair for pair in opposed if negation in pair]
    if opposed:
        yield _says(*opposed[0])
    for unit in sentence.numbers.keys() & other.numbers.keys():
        ours, theirs = dict(sentence.numbers[unit]), dict(other.numbers[unit])
        if ours.keys().isdisjoint(theirs):
            yield _says(min(ours.values()), min(theirs.values()))
    if sentence.clock and other.clock and not any(_same_hour(*pair) for pair in product(sentence.clock, other.clock)):
        yield _says(min(sentence.clock)[1], min(other.clock)[1])
    if sentence.days and other.days and not any(_agree(*pair) for pair in product(sentence.days, other.days)):
        yield _says(*_days(sentence.days[0], other.days[0]))


def _says(phrase: str, other: str) -> str:
    return f"One says “{phrase}”, the other “{other}”."


def _days(span: Stretch, other: Stretch) -> tuple[str, str]:
    """Two stretches of time in their words; where those are the same, such as "yesterday", with their days."""
    if span.words.casefold() != other.words.casefold():
        return span.words, other.words
    begins = (datetime.fromtimestamp(stretch.start, UTC) for stretch in (span, other))
    first, second = (f"{span.words} ({day.day} {day:%B %Y})" for day in begins)
    return first, second


def _agree(span: Stretch, other: Stretch) -> bool:
    """Whether two stretches of time may mean the same: a day without its year may be of any, a weekday of any week."""
    if span.overlaps(other):
        return True
    if span.words.casefold() == other.words.casefold() and not _RELATIVE.search(span.words):
        return True
    if any(_YEAR_NAMED.search(stretch.words) for stretch in (span, other)):
        return False
    apart = abs(span.start - other.start)
    years = round(apart / _YEAR)
    return years > 0 and abs(apart - years * _YEAR) < _LEAP


def _same_hour(hour: tuple[int, str], other: tuple[int, str]) -> bool:
    """Whether two times of day may be the same: "6 o'clock" is six in the morning or in the evening."""
    unsure = any("clock" in words for _, words in (hour, other))
    return (hour[0] - other[0]) % (720 if unsure else 1440) == 0


# -- one sentence --------------------------------------------------------------------------------------


@lru_cache(maxsize=50_000)
def _said(sentence: str, at: datetime | None) -> _Said:
    days = stretches(sentence, at, hours=False) if at is not None else ()
    clock = list(_CLOCK.finditer(sentence))
    taken = [stretch.place for stretch in days] + [match.span() for match in clock]
    left = [word for word in words(sentence) if not any(start < word.end and word.start < end for start, end in taken)]
    negations = [word for word in left if word.plain in _NEGATIONS or _NOT.search(word.written)]
    marks = {form: word.written for word in left for form in (word.plain, word.stem) if form in OPPOSITES}
    numbers: dict[str, set[tuple[str, str]]] = {}
    for begin, end in _runs(left, sentence):
        unit, shown = _unit(left, begin, end, sentence)
        numbers.setdefault(unit, set()).add((_value(left[begin:end]), shown))
    about = {
        word.stem
        for word in left
        if word.stem
        and word.plain not in _NEGATIONS
        and _number(word) is None
        and OPPOSITES.keys().isdisjoint((word.plain, word.stem))
    }
    return _Said(
        frozenset(about),
        marks,
        negations[0].written if negations else "",
        next((word.stem for word in left if negations and word.start > negations[0].start and word.stem), ""),
        {unit: frozenset(values) for unit, values in numbers.items()},
        frozenset((_minutes(match), " ".join(match.group().split())) for match in clock),
        days,
    )


def _number(word: Word) -> str | None:
    return word.plain.lstrip("0") or "0" if word.plain.isdecimal() else _NUMBERS.get(word.plain)


def _runs(left: list[Word], sentence: str) -> Iterator[tuple[int, int]]:
    """Where numbers stand among the words, each from its first word to after its last: "a hundred and sixty-three"."""
    place = 0
    while place < len(left):
        begin = place
        while place < len(left) and _number(left[place]) is not None:
            place += 1
            joined = sentence[left[place - 1].end : left[place].start].strip() if place < len(left) else ","
            if joined not in {"", "-"} or left[begin].plain.isdecimal():
                break
            if left[place].plain == "and" and place + 1 < len(left) and left[place - 1].plain in _SCALES:
                place += _number(left[place + 1]) is not None
        if place > begin:
            yield begin, place
        else:
            place += 1


def _value(some: list[Word]) -> str:
    """What a number is that may be spelled in several words; an ordinal ends with a full stop."""
    if len(some) == 1:
        return _number(some[0]) or ""
    total, part = 0, 0
    for word in some:
        number = int((_number(word) or "0").rstrip("."))
        if word.plain in _SCALES:
            part = max(part, 1) * number
            total, part = (total + part, 0) if number == 1000 else (total, part)
        else:
            part += number
    return str(total + part)


def _unit(left: list[Word], begin: int, end: int, sentence: str) -> tuple[str, str]:
    """What is counted, or else the word before; and the number as it is written, with what is counted."""
    written = sentence[left[begin].start : left[end - 1].end]
    after = left[end] if end < len(left) else None
    if after is not None and after.stem and sentence[left[end - 1].end : after.start].isspace():
        return after.stem, f"{written} {after.written}"
    return f"{left[begin - 1].plain if begin else ''} ", written


def _minutes(found: re.Match[str]) -> int:
    if found["word"]:
        return 720 if found["word"].lower() == "noon" else 0
    hour, minute = int(found["hour"] or found["plain"]), int(found["minute"] or 0)
    return hour_of_day(hour, found["half"] or found["half_2"]) % 24 * 60 + minute
