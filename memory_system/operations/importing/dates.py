"""Dates as people write them, at the beginning of a line or in a cell: what each means, and what it leaves open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from enum import StrEnum

from ...core.times import hour_of_day

_TURN = 69
"""The first year of two digits that is one of the last century, as in POSIX."""
NOON = time(12)
"""The time of day of a date without one."""
READ_AS_UTC = "Times without a zone are read as UTC."


class Order(StrEnum):
    """Which comes first in a date written in numbers with the year last: 03/04/2026."""

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?"
)
WEEKDAY = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
CLOCK = r"""
    (?P<clock>
        (?: (?P<iso>T) | ,?\s+ (?:at\s+)? )
        (?P<hour>\d{1,2})
        (?: : (?P<minute>\d{2}) (?: : (?P<second>\d{2}) (?:[.,](?P<fraction>\d+))? )?
              (?:\s*(?P<half>[ap])\.?m\b\.?)?
          | \s*(?P<half_alone>[ap])\.?m\b\.? )
        (?: \s* (?P<utc>Z|UTC|GMT)(?![A-Za-z]) (?P<beside>[+-]\d{1,2}(?::?\d{2})?(?!\d))?
          | (?P<offset>(?: [+-]\d{2}(?::?\d{2})? | \s[+-]\d{2}:?\d{2} )(?!\d)) )?
    )?
"""
"""A time of day and its zone, as a part of a pattern written with spaces, like the others here."""
END = r"""
    (?= $ | [\s\])>:;,|–—-] )
    \s* (?P<close>[\])])? \s* (?: [:;,|–—-]+ (?:\s+|$) | [:;|–—]+ )? \s*
"""
"""What may follow a date, and is skipped."""
_DATE = re.compile(
    rf"""
    (?P<open>[\[(]\s*)?
    (?:{WEEKDAY}\.?,?\s+)?
    (?P<date>
        (?P<year>\d{{4}}) (?P<sign>[-/.]) (?P<month>\d{{1,2}}) (?P=sign) (?P<day>\d{{1,2}})
      | (?P<one>\d{{1,2}}) (?P<between>[-/.]) (?P<two>\d{{1,2}}) (?P=between)
        (?P<year_last>\d{{4}} | \d{{2}} (?: (?<=/\d\d) | (?<=\d\d\.\d\d\.\d\d) ))
      | (?P<day_named>\d{{1,2}}) (?:st|nd|rd|th|\.)? (?:\s+of)? \s+ (?P<name>{MONTH})\.?,? \s+ (?P<year_named>\d{{4}})
      | (?P<named>{MONTH})\.? \s+ (?P<day_after>\d{{1,2}}) (?:st|nd|rd|th)?,? \s+ (?P<year_after>\d{{4}})
    ) (?!\d)
    {CLOCK}
    {END}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ISO = re.compile(r"(?:\d{4}-\d{2}-\d{2}|\d{8})(?P<clock>[T ]\d{2}.*)?", re.IGNORECASE | re.ASCII)
"""What Python reads; on its own it would accept any digits, weeks, and any sign before the time."""
_EPOCH = re.compile(r"\d{10}|\d{13}|\d{16}|\d{10}\.\d+", re.ASCII)
_NAMED_ZONE = re.compile(
    r"\s*(ACST|AEDT|AEST|AKST|AKDT|AST|ADT|BST|CDT|CEST|CET|CST|EDT|EEST|EET|EST|HST|IST|JST|KST|MDT|MSK|MST|NZDT|NZST|"
    r"PDT|PST|WEST|WET)\b"
)
"""Abbreviations of zones, several of which mean more than one."""
_ZONE_OF_PLACE = re.compile(
    r"\s*((?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|Pacific|"
    r"US)/[A-Za-z][\w+-]*(?:/[A-Za-z][\w+-]*)?)"
)
"""Zones named after a place; their offset from UTC changes with the season and with laws."""


@dataclass(frozen=True)
class Written:
    """A date as written.

    Args:
        text: the words of the date, without brackets.
        day_first: the day that it means if the day comes first; ``None`` = there is no such day.
        month_first: the same if the month comes first; equal to ``day_first`` unless its numbers are ambiguous.
        clock: the time of day; ``None`` = not written.
        zone: ``None`` = not written.
        rest: the text after it.
        problem: why it cannot be used, in half a sentence.
    """

    text: str
    day_first: date | None
    month_first: date | None
    clock: time | None
    zone: tzinfo | None
    rest: str
    problem: str | None = None

    @property
    def ambiguous(self) -> bool:
        """Whether it means two days."""
        return self.day_first is not None and self.month_first is not None and self.day_first != self.month_first

    @property
    def shows(self) -> Order | None:
        """The order that its numbers show, if they mean a day in only one."""
        if self.day_first is not None and self.month_first is None:
            return Order.DAY_FIRST
        return Order.MONTH_FIRST if self.day_first is None and self.month_first is not None else None

    def moment(self, order: Order) -> datetime:
        """The moment: in UTC if no zone is written, at noon if no time is."""
        meant = (self.day_first, self.month_first)
        first, other = meant if order is Order.DAY_FIRST else meant[::-1]
        day = first or other
        assert day is not None, "a date without a problem means a day"
        return datetime.combine(day, self.clock or NOON, self.zone or UTC)


def said_of_zone(zone: tzinfo | None) -> str:
    """A sentence on how times without a zone are read in a world of this zone."""
    return READ_AS_UTC if str(zone or UTC) == "UTC" else f"Times without a zone are read in the world's, {zone}."


def at_start(text: str) -> Written | None:
    """The date at the beginning of a text; ``None`` if there is none."""
    text = text.lstrip()
    found = _DATE.match(text)
    if found is None or (found["close"] and not found["open"]):
        return None
    parts = found.groupdict()
    day_first, month_first = _days(parts)
    words = (found["date"] + (found["clock"] or "")).strip()
    clock, zone, problem = time_of_day(found, words)
    if day_first is None and month_first is None:
        problem = f"{words!r} is not a date"
    elif problem is None and _beyond(day_first, month_first):
        problem = f"{words!r} is outside the years 2 to 9998"
    return Written(words, day_first, month_first, clock, zone, text[found.end() :], problem)


def time_of_day(found: re.Match[str], words: str) -> tuple[time | None, tzinfo | None, str | None]:
    """The time of day and the zone of a date, as far as they are written, and why they cannot be used."""
    parts = found.groupdict()
    if not parts["hour"]:
        return None, None, None
    try:
        clock, zone = _clock(parts), _zone(parts)
    except ValueError:
        return None, None, f"{words!r} is not a time of day"
    after = found.string[found.end("clock") :]
    problem = None
    if (parts["offset"] or "").startswith("-") and not parts["iso"] and not parts["second"]:
        problem = f"{words!r} may be a span of time or hold a zone; write a zone as UTC-05:00"
    elif named := _NAMED_ZONE.match(after):
        problem = f"its zone is {named[1]!r}, which may mean several; write it as +01:00"
    elif named := _ZONE_OF_PLACE.match(after):
        problem = f"its zone is {named[1][:60]!r}; write it in hours, as +01:00"
    return clock, zone, problem


def in_cell(text: str) -> Written:
    """The date in a cell that holds nothing else; one with a problem if there is none."""
    found = at_start(text)
    if found is not None and (found.problem or not found.rest):
        return found
    text = text.strip()
    if _EPOCH.fullmatch(text):
        problem = f"{text!r} is a number, perhaps of seconds since 1970; write the time like 2026-03-27 18:00"
        return Written(text, None, None, None, None, "", problem)
    iso = _ISO.fullmatch(text)
    try:
        at = datetime.fromisoformat(text) if iso is not None else None
    except ValueError:
        at = None
    if iso is None or at is None:
        problem = f"{text[:40]!r} is not a date; write it like 2026-03-27 18:00"
        return Written(text, None, None, None, None, "", problem)
    wrong = f"{text!r} is outside the years 2 to 9998" if _beyond(at.date()) else None
    if wrong is None and abs(at.utcoffset() or timedelta()) >= timedelta(hours=15):
        wrong = f"{text!r} is not a time of day"
    return Written(text, at.date(), at.date(), at.time() if iso["clock"] else None, at.tzinfo, "", wrong)


def order_of(found: Sequence[Written], asked: Order | None = None) -> tuple[Order, str | None]:
    """The order in which the numbers of these dates are read, and a sentence that says so if it was open.

    The order is the one that was asked for, else the one that other dates of the text show, else the day first.
    """
    shown: dict[Order, Written] = {}
    for when in found:
        if when.problem is None and when.shows is not None:
            shown.setdefault(when.shows, when)
    shows = next(iter(shown)) if len(shown) == 1 else None
    order = asked or shows or Order.DAY_FIRST
    open_ = next((when for when in found if when.problem is None and when.ambiguous), None)
    if open_ is None:
        return order, None
    meant = open_.moment(order)
    note = f"“{open_.text}” is read as {meant.day} {meant:%B %Y}, the {order.value.removesuffix('-first')} first"
    as_chosen = ", as chosen" if asked is not None else ""
    if len(shown) > 1:
        day, month = (shown[order].text for order in (Order.DAY_FIRST, Order.MONTH_FIRST))
        return order, f"{note}{as_chosen}; the text shows both, the day first in “{day}” and the month in “{month}”."
    if asked is not None:
        return order, f"{note}{as_chosen}."
    if shows is not None:
        return order, f"{note}, as in “{shown[shows].text}”."
    return order, f"{note}; nothing in the text shows which is meant."


def _days(parts: dict[str, str | None]) -> tuple[date | None, date | None]:
    """What it means with the day first, and with the month first."""

    def day_of(year: str | None, month: int, day: str | None) -> date | None:
        try:
            return date(int(year or 0), month, int(day or 0))
        except ValueError:
            return None

    if parts["year"]:
        meant = day_of(parts["year"], int(parts["month"] or 0), parts["day"])
    elif parts["year_last"]:
        one, two, year = parts["one"], parts["two"], _whole_year(parts["year_last"])
        day_first, month_first = day_of(year, int(two or 0), one), day_of(year, int(one or 0), two)
        if parts["between"] != "." or day_first is None:
            return day_first, month_first
        meant = day_first  # dots, if written at all, follow the day
    elif parts["name"]:
        meant = day_of(parts["year_named"], number_of_month(parts["name"]), parts["day_named"])
    else:
        meant = day_of(parts["year_after"], number_of_month(parts["named"] or ""), parts["day_after"])
    return meant, meant


def _whole_year(year: str) -> str:
    """The year that is meant by its last two digits, from 1969 to 2068; a longer one is returned as it is."""
    return year if len(year) > 2 else f"{20 if int(year) < _TURN else 19}{year}"


def number_of_month(month: str) -> int:
    """The number of a month by its name, 1 to 12."""
    return _MONTHS.index(month[:3].lower()) + 1


def _clock(parts: dict[str, str | None]) -> time:
    """The time of day.

    Raises:
        ValueError: it is not a time of day.
    """
    hour, half = int(parts["hour"] or 0), (parts["half"] or parts["half_alone"] or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError("no hour of half a day")
    fraction = (parts["fraction"] or "")[:6].ljust(6, "0")
    return time(hour_of_day(hour, half), int(parts["minute"] or 0), int(parts["second"] or 0), int(fraction))


def _zone(parts: dict[str, str | None]) -> tzinfo | None:
    """The zone; ``None`` if none is written.

    Raises:
        ValueError: it is not a zone.
    """
    offset = (parts["offset"] or parts["beside"] or "").strip()
    if not offset:
        return UTC if parts["utc"] else None
    hours, minutes = int(offset[1:3].rstrip(":")), int(offset[-2:]) if len(offset) > 3 else 0
    if hours > 14 or minutes > 59:
        raise ValueError("no zone is so far from UTC")
    size = timedelta(hours=hours, minutes=minutes)
    return timezone(-size if offset[0] == "-" else size)


def _beyond(*days: date | None) -> bool:
    """Whether a zone could move a day out of the calendar."""
    return any(day is not None and not 2 <= day.year <= 9998 for day in days)
