"""Sentences prepared for comparison: a fact split into its parts, and a memory into clauses. Pure.

The parts of a fact are its names, its verb, its other words, and its numbers, times and days. A clause is the text
between two full stops, semicolons or colons of a memory: who does something is next to it there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from ...recall.hybrid.dates import Stretch, stretches
from ...recall.hybrid.words import plain, stem, words

MOST_READ = 2000
"""The most characters read from a memory."""

_IRREGULAR = """
stole stolen steal | took taken take | broke broken break | gave given give | told tell | sold sell | made make
met meet | wrote written write | hid hidden hide | kept keep | left leave | lost lose | found find | bought buy
knew known know | saw seen see | heard hear | came come | went gone go | fell fallen fall | held hold | said say
paid pay | stood stand | swore sworn swear | threw thrown throw | tore torn tear | wore worn wear | won win | ran run
rode ridden ride | rose risen rise | sang sung sing | sank sunk sink | sat sit | shot shoot | slept sleep
spoke spoken speak | spent spend | stuck stick | struck strike | taught teach | thought think
understood understand | woke woken wake | began begun begin | bit bitten bite | blew blown blow | brought bring
built build | burnt burn | caught catch | chose chosen choose | dealt deal | drank drunk drink | drew drawn draw
drove driven drive | dug dig | ate eaten eat | felt feel | fought fight | flew flown fly | forgot forgotten forget
froze frozen freeze | got gotten get | grew grown grow | hung hang | laid lay | led lead | lent lend | lit light
meant mean | rang rung ring | sent send | shook shaken shake | shone shine | shown show | split split
sprang sprung spring | stung sting | swam swum swim | swept sweep | swung swing | became become
forgave forgiven forgive | born bear
betrayed betray | bound bind | bred breed | fled flee | clung cling | crept creep | fed feed | leapt leap
"""
_BASE = {
    form: group.split()[-1]
    for line in _IRREGULAR.strip().splitlines()
    for group in line.split(" | ")
    for form in group.split()
}
_ALWAYS_VERBS = frozenset("cast cut put set shut hit hurt let read owns own owes owe hides wants loves hates".split())  # noqa: SIM905
_ALIKE = """
steal rob pinch snatch pilfer theft thief | break smash shatter | hide conceal | own owner possess belong
buy purchase bought | kill murder slay | find discover | die dead death | leave depart | begin start
marry wed wife husband married | shut close lock bolt | big large great | child baby infant | see spot notice
tell inform | love adore | hate loathe despise | show signal | letter note | boy lad | girl lass | father dad da
mother mum mam | throw fling hurl | speak talk | sea ocean | ship vessel boat | big huge | small little
bear birth | build make construct | pay paid payment | promise swear vow | vanish disappear | party celebration
plan intend | invite invitation | run manage | ill sick sickness illness | rich wealthy | poison venom | lie lied
"""
_STOOD_FOR = {
    stem(word): number
    for number, group in enumerate(_ALIKE.replace("\n", " | ").split(" | "))
    for word in group.split()
}
_IMPLIED = {
    stem(word): implied
    for implied, group in {
        "take": "steal rob pinch snatch pilfer grab seize confiscate", "go": "walk drive ride sail run travel",
        "say": "whisper shout mutter confess admit", "hear": "overhear", "get": "buy inherit receive",
        "eat": "devour", "come": "arrive return", "kill": "murder drown strangle",
    }.items()
    for word in group.split()
}  # fmt: skip
"""Verbs that imply another, less specific one; the reverse need not be true."""
_COMING = re.compile(r"\b(?:be|is|was|are|were|been)\s+(?:here|back|due)\b", re.IGNORECASE)
"""Words that mean that somebody comes, without a verb for it."""
_NO_MATTER = frozenset(
    "someone somebody something anyone anybody anything everyone everybody there thing "  # noqa: SIM905
    "mr mrs miss ms dr father sir lady captain saint old".split()
)
"""Words that say little about who or what, including titles."""
_OWN = frozenset({"own", "owns", "owned", "last", "first"})
"""Stop words that a fact may be about."""
_BEFORE_VERBS = frozenset("someone somebody everybody nobody will would can could must".split())  # noqa: SIM905
_AUXILIARY = frozenset({"is", "was", "are", "were", "has", "had", "will"})
_WHEN = {
    "night": (20, 6), "midnight": (23, 1), "evening": (17, 22), "dusk": (16, 20), "morning": (5, 12), "dawn": (4, 8),
    "noon": (11, 13), "afternoon": (12, 18),
}  # fmt: skip
"""Times of day: from which hour, and up to but not including which."""
_NEAR = 6
"""The most characters between a weekday and its date."""
_DIGIT = re.compile(r"\d")
_END = re.compile(r"[.!?;:\n]+(?=\s|$|[”’'\"])|(?<=[^\d\s]):")
_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_COUNT = {name: number for number, name in enumerate(_UNITS)}
_COUNT |= {name: 10 * number for number, name in enumerate(_TENS, start=2)}
_COUNT |= {
    f"{tens}{joint}{unit}": 10 * number + _COUNT[unit]
    for number, tens in enumerate(_TENS, start=2)
    for unit in _UNITS[1:10]
    for joint in ("-", " ")
}
_NUMBER = r"\d[\d,]*(?:\.\d+)?|" + "|".join(sorted(_COUNT, key=len, reverse=True))
_SPANS = {"second": 1 / 60, "minute": 1, "hour": 60, "day": 1440, "week": 10080, "fortnight": 20160}
_HOUR = rf"(?P<hour>\d{{1,2}}|{'|'.join(_UNITS[1:13])})"


@cache
def _times() -> _Times:
    """The patterns of times and numbers: a twelfth of a program's start-up time, and it may not need them."""
    return _Times(
        span=re.compile(
            rf"\b(?:(?P<part>half|quarter)(?:\s+(?:of\s+)?an?)?|(?P<count>{_NUMBER}|an?))\s+"
            rf"(?P<unit>{'|'.join(_SPANS)})s?\b",
            re.IGNORECASE,
        ),
        spoken_clock=re.compile(
            rf"\b(?:a\s+)?(?P<minutes>half|quarter|{_NUMBER})(?:\s+minutes)?\s+(?P<side>past|to)\s+{_HOUR}\b",
            re.IGNORECASE,
        ),
        clock=re.compile(
            rf"\b(?P<hour>\d{{1,2}})[:.](?P<minute>[0-5]\d)(?:\s*[ap]\.?m\b)?|\b{_HOUR.replace('hour', 'plain')}\s*"
            rf"(?:o['’]clock|[ap]\.?m\b)|\bat\s+{_HOUR.replace('hour', 'at')}\b(?!\s+\w+s\b)|"
            r"\b(?P<word>noon|midnight)\b",
            re.IGNORECASE,
        ),
        plain=re.compile(rf"(?<![\w.])[£$€]?(?P<count>{_NUMBER})(?![\w-])(?:\s+(?P<unit>[^\W\d_]+))?", re.IGNORECASE),
    )


class _Times(NamedTuple):
    span: re.Pattern[str]
    spoken_clock: re.Pattern[str]
    clock: re.Pattern[str]
    plain: re.Pattern[str]


class Sort(StrEnum):
    """What a part of a fact is."""

    NAME = "name"
    VERB = "verb"
    WORD = "word"
    NUMBER = "number"
    CLOCK = "clock"
    DAY = "day"
    WHEN = "when"


@dataclass(frozen=True)
class Part:
    """One part of a fact.

    Args:
        sort: what it is.
        said: as written in the fact.
        forms: its equivalents: stems of words, or numbers as text.
        start: where it begins in the fact, in characters.
        end: after its last character.
        weight: how much it counts.
        day: the stretch of time, for a day.
        exact: whether its thing is distinguished from others, as by "the".
    """

    sort: Sort
    said: str
    forms: frozenset[str]
    start: int
    end: int
    weight: float = 1.0
    day: Stretch | None = None
    exact: bool = False


@dataclass(frozen=True)
class Claim:
    """A fact prepared for comparison.

    Args:
        text: as it was asked.
        parts: in the order of the text.
        subject: the name of who does it; ``None`` if nobody is named before the verb.
        denied: whether it says that something is not so.
    """

    text: str
    parts: tuple[Part, ...]
    subject: Part | None
    denied: bool

    @property
    def phrases(self) -> tuple[tuple[Part, ...], ...]:
        """Words right next to each other, such as "mill key"."""
        found: list[list[Part]] = []
        for part in self.of(Sort.WORD):
            if found and self.text[found[-1][-1].end : part.start] == " ":
                found[-1].append(part)
            else:
                found.append([part])
        return tuple(map(tuple, found))

    def of(self, *sorts: Sort) -> tuple[Part, ...]:
        """The parts of these sorts."""
        return tuple(part for part in self.parts if part.sort in sorts)


@dataclass(frozen=True)
class Clause:
    """A clause of a memory.

    Args:
        text: what it says.
        start: where it begins in the memory, in characters.
        words: each word: its bare form, its stem and its position; in order.
        stems: all stems, including what each may stand for.
        numbers: value and unit of each number that counts something; the unit may be empty.
        spans: lengths of time, in minutes.
        clocks: times of day, in minutes after midnight or noon.
        days: the days it names.
        names: capitalised words in bare form, with their positions.
        runs: the same, adjacent ones together; and whether they only say whose something is.
    """

    text: str
    start: int
    words: tuple[tuple[str, str, int], ...]
    stems: frozenset[str]
    numbers: frozenset[tuple[str, str]]
    spans: frozenset[str]
    clocks: frozenset[str]
    days: tuple[Stretch, ...]
    names: tuple[tuple[str, int], ...]
    runs: tuple[tuple[tuple[str, ...], int, bool], ...]

    def begins_with(self, place: int) -> bool:
        """Whether a word at a position begins the clause, in the past tense: "Stole the key", said of oneself."""
        if not self.words or self.words[0][2] != place:
            return False
        bare = self.words[0][0]
        return bare.endswith("ed") or _BASE.get(bare, bare) != bare


@lru_cache(maxsize=65_536)
def forms_of(word: str) -> frozenset[str]:
    """The stems that stand for a word: its own, that of its base form, and those of its synonyms."""
    bare = plain(word)
    found = {stem(bare) or bare, stem(_BASE.get(bare, bare)) or bare}
    found |= {f"={_STOOD_FOR[form]}" for form in tuple(found) if form in _STOOD_FOR}
    return frozenset(found)


def says_of(word: str) -> frozenset[str]:
    """The stems of everything a word of a memory says: its equivalents, and what it implies."""
    bare = plain(word)
    verbs = (_IMPLIED.get(stem(form)) for form in {bare, _BASE.get(bare, bare)})
    return forms_of(word).union(*(forms_of(verb) for verb in verbs if verb))


def hours_of(word: str) -> tuple[int, int] | None:
    """The hours of a time of day: from which, and up to but not including which; ``None`` for any other word."""
    return _WHEN.get(plain(word))


def claim(fact: str, now: datetime, known: Collection[str]) -> Claim:
    """A fact, split into its parts.

    Args:
        fact: one sentence.
        now: the world's time, from which "yesterday" counts.
        known: words that are names anywhere, in lower case.
    """
    cut = _Cut(fact)
    cut.take_times(now)
    cut.take_names(known)
    cut.take_numbers()
    cut.take_words()
    parts = tuple(sorted(cut.parts, key=lambda part: part.start))
    verb = next((part.start for part in parts if part.sort is Sort.VERB), len(fact))
    subject = next((part for part in parts if part.sort is Sort.NAME and part.start < verb), None)
    return Claim(fact, parts, subject, _denies(fact))


class _Cut:
    """A fact while it is split: what was read as one part is not read as another."""

    def __init__(self, fact: str) -> None:
        self.parts: list[Part] = []
        self._fact = fact
        self._taken: list[tuple[int, int]] = []

    def take_times(self, now: datetime) -> None:
        dated = [
            day
            for day in stretches(self._fact, now, hours=False)
            if not day.relative or not _times().span.search(day.words)
        ]
        for day in dated:
            if any(0 <= stretch.place[0] - day.place[1] <= _NEAR and _DIGIT.search(stretch.words) for stretch in dated):
                self._taken.append(day.place)  # the weekday adds nothing to the date after it
            else:
                self._take(Sort.DAY, *day.place, (), day=day)
        for start, end, value in _clocks(self._fact):
            self._take(Sort.CLOCK, start, end, (value,))

    def take_names(self, known: Collection[str]) -> None:
        for start, end in _names(self._fact, known):
            self._take(Sort.NAME, start, end, [bare_name(word.written) for word in words(self._fact[start:end])])

    def take_numbers(self) -> None:
        for start, end, value in _spans(self._fact):
            self._take(Sort.NUMBER, start, end, (f"span:{value}",))
        for start, end, value, unit in _numbers(self._fact):
            self._take(Sort.NUMBER, start, end, (f"{value} {unit}".strip(),))

    def take_words(self) -> None:
        has_verb = False
        for word in words(self._fact):
            bare = word.plain
            if bare in _NO_MATTER or (not word.stem and bare not in _OWN) or not self._free(word.start, word.end):
                continue
            if bare in _WHEN:
                self._take(Sort.WHEN, word.start, word.end, forms_of(bare))
                continue
            is_verb = not has_verb and _is_verb(self._fact, word.start, word.written, self.parts)
            has_verb = has_verb or is_verb
            before = self._fact[: word.start].casefold().split()[-3:]
            exact = bool({"the", "my", "his", "her", "their"} & set(before)) or any("'s" in other for other in before)
            sort, weight = (Sort.VERB, 2.0) if is_verb else (Sort.WORD, 1.0)
            self._take(sort, word.start, word.end, forms_of(word.written), weight=weight, exact=exact)

    def _free(self, start: int, end: int) -> bool:
        return all(end <= first or last <= start for first, last in self._taken)

    def _take(
        self,
        sort: Sort,
        start: int,
        end: int,
        forms: Collection[str],
        *,
        weight: float = 1.0,
        day: Stretch | None = None,
        exact: bool = False,
    ) -> None:
        if self._free(start, end):
            self._taken.append((start, end))
            self.parts.append(Part(sort, self._fact[start:end], frozenset(forms), start, end, weight, day, exact))


def clauses(text: str, at: datetime | None) -> tuple[Clause, ...]:
    """The clauses of a memory, in order.

    Args:
        text: what it says; its first 2,000 characters are read.
        at: its time, aware of its zone; days are not read without one.
    """
    return _clauses(text[:MOST_READ], at)


@lru_cache(maxsize=50_000)
def _clauses(text: str, at: datetime | None) -> tuple[Clause, ...]:
    found, start = [], 0
    for match in (*_END.finditer(text), None):
        end = len(text) if match is None else match.end()
        if text[start:end].strip():
            found.append(_clause(text[start:end], start, at))
        start = end
    return tuple(found)


def _clause(text: str, start: int, at: datetime | None) -> Clause:
    tokens = [(word.plain, word.stem, word.start) for word in words(text)]
    stems = frozenset(form for bare, found, _ in tokens if found or bare in _OWN for form in says_of(bare))
    stems |= forms_of("come") if _COMING.search(text) else frozenset()
    names = tuple((bare_name(text[match.start() : match.end()]), match.start()) for match in _CAPITAL.finditer(text))
    return Clause(
        text,
        start,
        tuple(tokens),
        stems,
        frozenset((value, unit) for _, _, value, unit in _numbers(text)),
        frozenset(value for _, _, value in _spans(text)),
        frozenset(value for _, _, value in _clocks(text)),
        stretches(text, at, hours=False) if at is not None else (),
        names,
        tuple(_runs(text)),
    )


def _runs(text: str) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    run: list[re.Match[str]] = []
    for match in (*_CAPITAL.finditer(text), None):
        if run and (match is None or text[run[-1].end() : match.start()] != " " or _OWNS.search(run[-1][0])):
            yield tuple(bare_name(word[0]) for word in run), run[0].start(), _OWNS.search(run[-1][0]) is not None
            run = []
        if match is not None:
            run.append(match)


_OWNS = re.compile(r"['’]s?$")
_CAPITAL = re.compile(r"[A-Z][\w’']*")


def bare_name(word: str) -> str:
    """A word of a name for comparison: in lower case, without a genitive or plural ending."""
    bare = plain(word)
    return bare[:-1] if len(bare) > 4 and bare.endswith("s") and not bare.endswith("ss") else bare


def name_words(name: str) -> frozenset[str]:
    """The words of somebody's name for comparison, without titles."""
    return frozenset(bare_name(word.written) for word in words(name) if word.plain not in _NO_MATTER)


def _names(fact: str, known: Collection[str]) -> Iterator[tuple[int, int]]:
    """Where names are: adjacent capitalised words."""
    run: list[re.Match[str]] = []
    for match in (*_CAPITAL.finditer(fact), None):
        goes_on = match is not None and run and fact[run[-1].end() : match.start()] == " " and "'" not in run[-1][0]
        if run and not goes_on:
            kept = [word for word in run if plain(word[0]) not in _NO_MATTER]
            if kept and not (len(kept) == 1 and not kept[0].start() and not _is_name(kept[0], fact, known)):
                yield kept[0].start(), kept[-1].end()
            run = []
        if match is not None and (not _stops(match, known)):
            run.append(match)


def _stops(match: re.Match[str], known: Collection[str]) -> bool:
    """Whether a capitalised word is not a name: a stop word, or "I"."""
    bare = plain(match[0])
    return (not stem(bare) and bare not in known) or len(bare) < 2 or (not match.start() and bare in _COUNT)


def _is_name(match: re.Match[str], fact: str, known: Collection[str]) -> bool:
    """Whether the first word of a sentence is a name."""
    rest = fact[match.end() :]
    return bare_name(match[0]) in known or bool(re.match(r"['’]s\b| and [A-Z]", rest)) or match[0][-2:] in ("'s", "’s")


def _is_verb(fact: str, start: int, written: str, parts: Sequence[Part]) -> bool:
    bare = plain(written)
    if bare in _BASE and bare not in {"light", "lay", "spring", "show", "run", "sink", "ring", "drink", "sting"}:
        return True
    if bare in _ALWAYS_VERBS or (bare.endswith("ed") and len(bare) > 4):
        return True
    before = fact[:start].rstrip()
    follows_name = any(
        part.sort is Sort.NAME and fact[part.start : part.end] == before[-(part.end - part.start) :] for part in parts
    )
    then = fact[start + len(written) :].split()[:1]
    if follows_name and not before.endswith(("'s", "’s")) and not set(then) & _AUXILIARY:
        return True
    last = before.split()[-1].casefold() if before else ""
    return last in _BEFORE_VERBS


_DENYING = re.compile(r"\b(?:not|never|nobody|no one|no longer|none)\b|n['’]t\b", re.IGNORECASE)


def _denies(text: str) -> bool:
    return _DENYING.search(text) is not None


def denies_before(text: str, place: int) -> bool:
    """Whether there is a denial within four words before a position in a text, or right after it."""
    before = " ".join(text[:place].split()[-4:])
    after = " ".join(text[place:].split()[1:2])
    return _denies(before) or _denies(after)


def _value(said: str) -> str:
    bare = " ".join(said.casefold().split())
    if bare in _COUNT:
        return str(_COUNT[bare])
    number = bare.replace(",", "").rstrip(".")
    return number.lstrip("0") or "0"


def _clocks(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _times().spoken_clock.finditer(text):
        said = match["minutes"].casefold()
        minutes = {"half": 30, "quarter": 15}.get(said) or int(float(_value(said)))
        hour = int(_value(match["hour"]))
        minute = hour * 60 + (minutes if match["side"].casefold() == "past" else -minutes)
        yield match.start(), match.end(), str(minute % 720)
    for match in _times().clock.finditer(text):
        if match["word"]:
            yield match.start(), match.end(), "0"
            continue
        hour = int(_value(match["hour"] or match["plain"] or match["at"]))
        if hour < 25:
            yield match.start(), match.end(), str((hour * 60 + int(match["minute"] or 0)) % 720)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _times().span.finditer(text):
        said = (match["count"] or "1").casefold()
        count = {"half": 0.5, "quarter": 0.25}.get((match["part"] or "").casefold()) or (
            1.0 if said in ("a", "an") else float(_value(said))
        )
        yield match.start(), match.end(), f"{count * _SPANS[match['unit'].casefold()]:g}"


def _numbers(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Numbers that count something: "one" mostly does not."""
    for match in _times().plain.finditer(text):
        if match["count"].casefold() == "one":
            continue
        sign = text[match.start()]
        unit = "pound" if sign == "£" else stem(match["unit"] or "")
        yield match.start(), match.start("count") + len(match["count"]), _value(match["count"]), unit
