"""Dates in a text as periods of time: "last Tuesday", "in May 2023", "yesterday evening", "two hours ago".

A small grammar of our own, since existing parsers return a point where a period is meant ("in May 2023" becomes
one day of May) and take milliseconds, and every memory is read too: what is described as "yesterday" happened
the day before it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from ...core.times import hour_of_day

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_SEASONS = {"winter": 12, "spring": 3, "summer": 6, "autumn": 9, "fall": 9}
_COUNTS = [
    *["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
    *["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"],
]
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SEVERAL = {"couple": 2, "few": 3, "several": 4}
_VAGUE = {"a": 1, "an": 1, **_SEVERAL}

_MONTH = "(?:" + "|".join([*_MONTHS, *(f"{name[:3]}\\b\\.?" for name in _MONTHS), r"sept\b\.?"]) + ")"
_DAY = "(?:" + "|".join(_DAYS) + ")"
_SEASON = "(?:" + "|".join(_SEASONS) + ")"
_YEAR = r"(?:19|20)\d\d"
_TEN = "(?:" + "|".join(_TENS) + ")(?:[-\\s](?:" + "|".join(_COUNTS[1:10]) + "))?"
_COUNT = r"(?:\d{1,3}|" + "|".join([_TEN, *_COUNTS, *_VAGUE]) + r")(?:\s+of)?"
_HALF_MORE = r"\s+and\s+a\s+half"
_AGO = r"(?:ago|back|earlier)\b"
_UNIT = "(?:day|week|weekend|month|year)"
_SHORT = "(?:hour|minute)"
_HOURS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30), "tonight": (17, 30)}
"""When parts of a day begin and end; night ends at six the next morning."""
_AROUND = 0.5
"""How many hours before and after a time on the clock are meant by it."""
_HALF = r"(?:[ap]\.?m\b\.?|o['’]clock)"
_NAMED_HOURS = {"noon": 12, "midday": 12, "midnight": 24}
_HOUR = r"(?:\d{1,2}|" + "|".join(_COUNTS[1:13]) + ")"
_ONE_CLOCK = (
    rf"(?P<named>{'|'.join(_NAMED_HOURS)})"
    r"|(?:(?P<past>half\s+past|(?:a\s+)?quarter\s+(?:past|to))\s+)?"
    rf"(?P<hour>{_HOUR})(?::(?P<minute>\d\d)(?::\d\d)?)?\s*(?P<half>{_HALF})?"
)
_CLOCK = "(?:" + re.sub(r"\?P<\w+>", "?:", _ONE_CLOCK) + ")"
_PART = "(?:morning|afternoon|evening|night)"
_BY_DAY = (6.5, 18.5)
"""Between which hours "half past three" and "three o'clock" are if nothing says which half of the day is meant."""
SMALL_HOURS = 4
"""The hour until which "tonight" began the day before."""
_JUST_OVER = frozenset({"this afternoon", "this evening", "this night", "tonight"})

_FORMS = (
    rf"(?P<iso>{_YEAR}-\d\d(?:-\d\d)?)(?!\d)",
    rf"(?P<day_first>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<month_after>{_MONTH})(?:,?\s+(?P<year_1>{_YEAR})\b)?",
    rf"(?P<month_before>{_MONTH})\s+(?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year_2>{_YEAR})\b)?",
    rf"(?P<month>{_MONTH})(?:,?\s+(?:of\s+)?(?P<year_3>{_YEAR})\b)?",
    rf"(?P<ago>{_COUNT})\s+(?P<ago_unit>{_UNIT})s?\s+{_AGO}",
    (
        rf"(?P<hours>half\s+an|{_COUNT})(?P<half_1>{_HALF_MORE})?"
        rf"\s+(?P<hours_unit>{_SHORT})s?(?P<half_2>{_HALF_MORE})?\s+{_AGO}"
    ),
    rf"(?:last|past|previous)\s+(?:(?P<recent>{_COUNT})\s+(?P<recent_unit>{_SHORT})s?|(?P<recent_hour>hour))\b(?!\s+of\b)",
    rf"(?:last|past|previous)\s+(?P<span>{_COUNT})\s+(?P<span_unit>{_UNIT})s\b",
    rf"(?P<which>last|past|previous|this|next)\s+(?P<what>{_UNIT}|{_DAY}|{_SEASON}|{_PART}|{_MONTH})\b",
    rf"(?P<season>{_SEASON})\s+(?:of\s+)?(?P<year_4>{_YEAR})\b",
    r"(?P<word>the\s+day\s+before\s+yesterday|yesterday|today|tonight|tomorrow)\b",
    rf"(?P<weekday>{_DAY})\b",
    rf"(?P<year>{_YEAR})(?![\d-])",
)
_RELATIVE = ("ago", "hours", "recent", "recent_hour", "span", "which")
_ASCII = re.IGNORECASE | re.ASCII
"""Without ASCII, i and s would match letters that lower() does not turn into them."""
_PART_AFTER = re.compile(rf"(?:,?\s+in\s+the|,?\s+at)?\s+(?P<part>{_PART})\b", _ASCII)
_CLOCK_AFTER = re.compile(
    rf"(?P<whole>(?:T|,?\s+(?:(?:(?P<at>at|around|about)|from|between)\s+)?)(?P<first>{_CLOCK})"
    rf"(?:\s*(?:to|until|till|-|–|and(?=\s*{_HOUR}(?::|\s*{_HALF})))\s*(?P<last>{_CLOCK}))?)(?!\w|:\d)"
    r"(?P<over>\s*(?:[.,;!?)]|$))?",
    _ASCII,
)
_CLOCK_BEFORE = re.compile(
    rf"\b(?P<whole>(?P<at>at|around|about)\s+(?P<first>{_CLOCK}))(?P<over>,?\s+(?:on\s+)?)$", _ASCII
)
_TIME = re.compile(_ONE_CLOCK, _ASCII)
_PART_BEFORE = re.compile(
    rf"\b(?:(?P<part>{_PART})\s+(?:of|on)\s+(?:the\s+)?|in\s+the\s+(?P<early>{_PART})\s+)$", _ASCII
)
_ANY = re.compile(r"(?<![\w-])(?:" + "|".join(_FORMS) + ")", _ASCII)
_HINT = re.compile(
    rf"{_YEAR}|{_MONTH}|{_DAY}|yesterday|today|tonight|tomorrow|\bago|last|past|previous|this|next",
    _ASCII,
)
_OF_TODAY = re.compile(rf"\b(?:last|past|previous|this|next)\s+(?:{_PART}|hour)\b", _ASCII)
_OF_HOURS = re.compile(rf"\b{_SHORT}", _ASCII)
_WORDS_TOO = re.compile(r"(?:may|march|mar|sun|sat|second|dec|jan|fall)", _ASCII)

_SAYS_WHEN = frozenset(
    {
        *_MONTHS,
        *_DAYS,
        *_SEASONS,
        *["yesterday", "today", "tonight", "tomorrow", "last", "next", "ago", "since", "recently"],
        *["week", "weeks", "weekend", "month", "months", "year", "years"],
    }
) - {"may", "march", "fall", "spring"}  # mostly other words
_PLAIN_WORD = re.compile(r"[a-z]+|\d+")

_LEAST_OF_A_DAY = 23 * 3600.0
"""Seconds of the shortest day, on which the clocks go forward."""
_NEAR = 40
"""Characters before a date in which "the evening of" is looked for."""
MOST_READ = 4000
"""Characters of a text to search for dates: dates far down a long text do not say when it happened."""


@dataclass(frozen=True)
class Stretch:
    """A period of time that a text names.

    Args:
        words: the words that name it.
        start: Unix seconds.
        end: Unix seconds, exclusive.
        place: the position of the words in the text, in characters; the end is exclusive.
        relative: whether it is relative to now, such as "one year ago": a memory may use the same words.
    """

    words: str
    start: float
    end: float
    place: tuple[int, int] = (0, 0)
    relative: bool = False
    part: tuple[float, float] | None = None
    """The part of it that is meant, such as the evening of a day, from and until; ``None`` for all of it."""

    @property
    def narrowed(self) -> Stretch:
        """Only the part that is meant."""
        start, end = self.part or (self.start, self.end)
        return replace(self, start=start, end=end, part=None)

    def overlaps(self, other: Stretch) -> bool:
        """Whether the two have a moment in common."""
        return self.start < other.end and other.start < self.end

    def covers(self, other: Stretch) -> bool:
        """Whether what happened in the other one counts as of this one.

        Of an evening, the whole day does not, nor of an hour the evening; and most of the shorter one has to be common
        to both: "tonight" is not of tomorrow, though it ends then.
        """
        length, others = self.end - self.start, other.end - other.start
        common, shorter = min(self.end, other.end) - max(self.start, other.start), min(length, others)
        if shorter >= _LEAST_OF_A_DAY:
            return common > 0
        too_long = length < _LEAST_OF_A_DAY and (others >= _LEAST_OF_A_DAY or others > 2 * length)
        return not too_long and 2 * common >= shorter


def stretches(text: str, now: datetime, *, hours: bool = True) -> tuple[Stretch, ...]:
    """The periods of time that a text names, in the order of the text; empty if there are none.

    Args:
        text: any text; its first 4,000 characters are searched.
        now: the time that "yesterday" refers to, timezone-aware; days begin at its zone's midnight. A month
            or weekday without a year or week is the last one that has begun.
        hours: whether parts of a day, times on the clock and hours before now are read; else only the days.
    """
    head = text[:MOST_READ]
    return tuple(_read(head, now, hours)) if _HINT.search(head) else ()


def names_a_part(text: str) -> bool:
    """Whether a text has a part of a day or an hour that counts from now, such as "this morning"."""
    return _OF_TODAY.search(text[:MOST_READ]) is not None


def names_hours(text: str) -> bool:
    """Whether the periods that a text names may depend on the minute: it has the word "hour" or "minute"."""
    return _OF_HOURS.search(text) is not None


def mentions_time(text: str) -> bool:
    """Whether a text says when: by a date, a weekday, "yesterday", "last week", "two years"; or just "recently"."""
    said = set(_PLAIN_WORD.findall(text[:MOST_READ].lower()))
    return not _SAYS_WHEN.isdisjoint(said) or any(len(word) == 4 and word[:2] in ("19", "20") for word in said)


def _read(text: str, now: datetime, hours: bool) -> Iterator[Stretch]:
    for found in _ANY.finditer(text):
        unit = found["hours_unit"] or found["recent_unit"] or found["recent_hour"]
        if unit and not hours:
            continue
        try:
            stretch = _short(found, unit, now) if unit else _of_days(found, now, hours)
        except (ValueError, OverflowError):  # 31 April, or a day before the year 1
            continue
        if stretch is not None:
            yield stretch


def _short(found: re.Match[str], unit: str, now: datetime) -> Stretch:
    """Some hours or minutes before now.

    "Two hours ago" is the middle of a period whose length grows with the number, and the more if it is vague. The
    minute counts, not the second, so that the same cue means the same for a minute.
    """
    count = (found["hours"] or found["recent"] or "one").lower()
    one = 3600.0 if unit.lower() == "hour" else 60.0
    half = 0.5 if found["half_1"] or found["half_2"] else 0.0
    before = one * (0.5 if count.startswith("half") else _count(count) + half)
    minute = now.timestamp() // 60 * 60
    if found["hours"] is None:
        return _stretch(found, minute - before, minute + 60, found.span())
    vague = count.split(maxsplit=1)[0] in _SEVERAL or one < 3600
    away = max(before / 2 if vague else before / 4, one / 2, 120.0)
    around = _stretch(found, minute - before - 2 * away, min(minute - before + 2 * away, minute + 60), found.span())
    return replace(around, part=(minute - before - away, min(minute - before + away, minute + 60)))


def _of_days(found: re.Match[str], now: datetime, hours: bool) -> Stretch | None:
    """Whole days, or a part of one; ``None`` if the match is no time."""
    days = _days(found, now.date())
    if days is None:
        return None
    (first, last), place, part = days, found.span(), None
    if hours and last - first == timedelta(1):
        part, place = _part(found)
    if part is None:
        return _stretch(found, _at(first, 0, now), _at(last, 0, now), place)
    if now.hour < SMALL_HOURS and " ".join(found.group().lower().split()) in _JUST_OVER:
        first -= timedelta(1)
    begins, ends = (_at(first, hour, now) for hour in part)
    if begins >= ends:  # an hour that was left out when the clocks went forward
        return _stretch(found, _at(first, 0, now), _at(last, 0, now), place)
    whole = _stretch(found, min(_at(first, 0, now), begins), max(_at(first, 24, now), ends), place)
    return replace(whole, part=(begins, ends))


def _part(found: re.Match[str]) -> tuple[tuple[float, float] | None, tuple[int, int]]:
    """The hours of a day that are meant, if only a part of it is, and where the text says so."""
    text, (start, end) = found.string, found.span()
    hours = _HOURS.get((found["what"] or found["word"] or "").lower())
    if hours is None and (after := _PART_AFTER.match(text, end)):
        hours, end = _HOURS[after["part"].lower()], after.end()
    if hours is None and (before := _PART_BEFORE.search(text, max(0, start - _NEAR), start)):
        hours, start = _HOURS[(before["part"] or before["early"]).lower()], before.start()
    for pattern, first, last in (
        (_CLOCK_AFTER.match, end, len(text)),
        (_CLOCK_BEFORE.search, max(0, start - _NEAR), start),
    ):
        if (clock := pattern(text, first, last)) and (within := _within(hours, clock)):
            return within, (min(start, clock.start("whole")), max(end, clock.end("whole")))
    return hours, (start, end)


def _within(part: tuple[float, float] | None, clock: re.Match[str]) -> tuple[float, float] | None:
    """The hours on the clock, as those of the part of the day if one is named; ``None`` if they are not of it."""
    named = (clock.groupdict().get(name) for name in ("first", "last"))
    times = [written for text in named if text and (written := _TIME.fullmatch(text))]
    alone = part is not None and clock["at"] is not None and clock["over"] is not None
    hours = _clock_hours(times, alone=alone)
    if hours is None:
        return None
    begins, ends = hours
    middle = (begins + ends) / 2
    spoken = any(one["past"] or (one["half"] or "").lower().startswith("o") for one in times)
    of_day = part or (_BY_DAY if spoken else None)
    if of_day is None:
        return hours
    shifts = (0, 12, 24) if middle < 13 else (0, 24)  # nine in the evening is 21:00
    later = next((shift for shift in shifts if of_day[0] <= middle + shift <= of_day[1]), None)
    if later is None:
        return None if part else hours
    return begins + later, ends + later


def _clock_hours(times: list[re.Match[str]], *, alone: bool) -> tuple[float, float] | None:
    """From when until when two times on the clock are, or about when one is; ``None`` if they are other numbers.

    Args:
        times: one or two matches of ``_TIME``.
        alone: whether a number by itself is a time.
    """
    first = _hour(times[0], alone=alone)
    if len(times) == 1:
        return None if first is None else (first - _AROUND, first + _AROUND)
    last, half = _hour(times[1], alone=alone), (times[1]["half"] or "").lower()
    if last is None:
        return None
    if first is None and half.startswith(("a", "p")):
        first = _hour(times[0], half=half)  # "from 3 to 5 pm"
        if first is not None and first > last:  # "from 11 to 1 pm"
            first += 12 if last < 12 else -12
    if first is None:
        return None
    return first, last if last > first else last + 24


def _hour(written: re.Match[str], *, half: str | None = None, alone: bool = False) -> float | None:
    """A time on the clock in hours, of 0 to 24; ``None`` if nothing says that the number is one, or it is none.

    Args:
        written: a match of ``_TIME``.
        half: which half of the day it is of, if it does not say so itself.
        alone: whether a number needs neither minutes nor "am", "pm", "o'clock" or "half past".
    """
    if written["named"]:
        return _NAMED_HOURS[written["named"].lower()]
    half, past = written["half"] or half, (written["past"] or "").lower()
    hour, minutes = _count(written["hour"].lower()), int(written["minute"] or 0)
    if not (alone or half or past or written["minute"]) or hour > 24 or minutes > 59:
        return None
    minutes += 30 if past.startswith("half") else -15 if past.endswith("to") else 15 if past else 0
    return hour_of_day(hour, half) + minutes / 60


def _stretch(found: re.Match[str], start: float, end: float, place: tuple[int, int]) -> Stretch:
    words = " ".join(found.string[slice(*place)].split())
    return Stretch(words, start, end, place, any(found[name] for name in _RELATIVE))


def _at(day: date, hour: float, now: datetime) -> float:
    """Unix seconds of an hour of a day, which may also be of the day before or after, on the clock of now's zone."""
    return (datetime.combine(day, time(), now.tzinfo) + timedelta(hours=hour)).timestamp()


def _days(found: re.Match[str], today: date) -> tuple[date, date] | None:
    """The first day, and the day after the last one."""
    part = {name: value.lower() for name, value in found.groupdict().items() if value is not None}
    kind = next(iter(part))
    match kind:
        case "iso":
            numbers = [int(number) for number in part["iso"].split("-")]
            return _day(date(*numbers)) if len(numbers) == 3 else _month(numbers[0], numbers[1])
        case "day_first" | "month_before":
            number = int(part.get("day_first") or part["day_after"])
            month = _month_number(part.get("month_after") or part["month_before"])
            return _day(_with_year(month, number, part.get("year_1") or part.get("year_2"), today))
        case "month":
            return _named_month(found, part, today)
        case "ago":
            return _ago(_count(part["ago"]), part["ago_unit"], today)
        case "span":
            return _ago(_count(part["span"]), part["span_unit"], today)[0], today + timedelta(1)
        case "which":
            return _relative(part["which"], part["what"], today)
        case "season":
            return _season(part["season"], int(part["year_4"]))
        case "word":
            back = {"yesterday": 1, "tomorrow": -1}.get(part["word"], 2 if " " in part["word"] else 0)
            return _day(today - timedelta(back))
        case "weekday":
            return _day(today - timedelta((today.weekday() - _DAYS.index(part["weekday"])) % 7))
        case _:
            return date(int(part["year"]), 1, 1), date(int(part["year"]) + 1, 1, 1)


def _day(day: date) -> tuple[date, date]:
    return day, day + timedelta(1)


def _count(text: str) -> int:
    """The number that words or digits are: "5", "a couple of", "twenty-five"."""
    word, *more = re.split(r"[\s-]+", text)
    if word.isdigit():
        return int(word)
    if word in _TENS:
        return _TENS[word] + (_COUNTS.index(more[0]) if more and more[0] in _COUNTS else 0)
    return _VAGUE[word] if word in _VAGUE else _COUNTS.index(word)


def _month_number(text: str) -> int:
    return next(number for number, name in enumerate(_MONTHS, start=1) if name[:3] == text[:3])


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _with_year(month: int, day: int, year: str | None, today: date) -> date:
    if year:
        return date(int(year), month, day)
    this = date(today.year, month, day)
    return this if this <= today else date(today.year - 1, month, day)


def _named_month(found: re.Match[str], part: dict[str, str], today: date) -> tuple[date, date] | None:
    number = _month_number(part["month"])
    if "year_3" in part:
        return _month(int(part["year_3"]), number)
    written = found.group()
    if len(written.rstrip(".")) < 4 and written.lower() != "may":  # "Jan" is a name too, "sun" is not a day
        return None
    if _WORDS_TOO.fullmatch(written) and not _after_preposition(found):
        return None  # "may" and "march" are verbs
    return _month(today.year if number <= today.month else today.year - 1, number)


def _after_preposition(found: re.Match[str]) -> bool:
    before = found.string[: found.start()].split()
    return bool(before) and before[-1].lower() in {"in", "since", "during", "of", "until", "early", "late", "mid"}


def _ago(count: int, unit: str, today: date) -> tuple[date, date]:
    """A count of units before today, rounded to the unit: "two weeks ago" is that day's week."""
    match unit:
        case "day":
            return _day(today - timedelta(count))
        case "week" | "weekend":
            middle = today - timedelta(7 * count)
            return middle - timedelta(3), middle + timedelta(4)
        case "month":
            months = today.year * 12 + today.month - 1 - count
            return _month(months // 12, months % 12 + 1)
        case _:
            return date(today.year - count, 1, 1), date(today.year - count + 1, 1, 1)


def _relative(which: str, what: str, today: date) -> tuple[date, date]:
    step = {"this": 0, "next": 1}.get(which, -1)
    monday = today - timedelta(today.weekday())
    if what in _DAYS:
        return _weekday(step, _DAYS.index(what), today)
    if what in _SEASONS:
        start, end = _season(what, today.year)
        if step == -1 and start <= today:  # the last season that has ended
            return (start, end) if end <= today else _season(what, today.year - 1)
        return _season(what, today.year + (step if step == 1 else -(start > today and step == -1)))
    match what:
        case "week":
            return monday + timedelta(7 * step), monday + timedelta(7 * step + 7)
        case "weekend":
            return monday + timedelta(7 * step + 4), monday + timedelta(7 * step + 7)
        case "day":
            return _day(today + timedelta(step))
        case "morning" | "afternoon" | "evening" | "night":
            return _day(today + timedelta(step))
        case "month":
            months = today.year * 12 + today.month - 1 + step
            return _month(months // 12, months % 12 + 1)
        case "year":
            return date(today.year + step, 1, 1), date(today.year + step + 1, 1, 1)
        case _:
            number = _month_number(what)
            past = today.year if number < today.month else today.year - 1
            return _month(past if step == -1 else past + 1 if step == 1 else today.year, number)


def _weekday(step: int, index: int, today: date) -> tuple[date, date]:
    if step == 0:
        return _day(today - timedelta(today.weekday() - index))
    away = (today.weekday() - index) % 7 or 7
    return _day(today - timedelta(away) if step == -1 else today + timedelta((index - today.weekday()) % 7 or 7))


def _season(name: str, year: int) -> tuple[date, date]:
    first = _SEASONS[name]
    return date(year, first, 1), _month(year + (first + 1) // 12 - (first == 10), (first + 1) % 12 + 1)[1]
