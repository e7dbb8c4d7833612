"""Dates that leave something out, as in diaries, and which days they mean at the world's time.

A date without a year ("1 March:"), a weekday ("Mon 9:00 -"), a counted day ("Day 2, 14:00"), today, yesterday,
and a time of day alone ("14:30"). Each counts only with a time of day, before a sign such as a colon, or alone
on its line: "May 5 people come?" is not a date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum

from .dates import CLOCK, END, MONTH, NOON, WEEKDAY, Order, Written, number_of_month, time_of_day

_PARTIAL = re.compile(
    rf"""
    (?P<open>[\[(]\s*)?
    (?P<date>
        (?:{WEEKDAY}\.?,?\s+)?
        (?: (?P<day_named>\d{{1,2}}) (?:st|nd|rd|th|\.)? (?:\s+of)? \s+ (?P<name>{MONTH})\.?
          | (?P<named>{MONTH})\.? \s+ (?P<day_after>\d{{1,2}}) (?:st|nd|rd|th)? )
      | (?P<weekday>{WEEKDAY})\.?
      | day \s+ (?P<count>\d{{1,4}})
      | (?P<word>today|yesterday)
    ) (?!\w)
    {CLOCK}
    {END}
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_ALONE = re.compile(rf"(?P<open>[\[(]\s*)?(?P<date>){CLOCK}{END}", re.VERBOSE | re.IGNORECASE | re.ASCII)
_SIGNS = re.compile(r"[:;,|–—\])-]")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK, _DAY = 7, timedelta(days=1)
_FIRST, _LAST = date(2, 1, 1), date(9998, 12, 31)
_LEAP = 9
"""Years among which every day of the calendar occurs at least once, as a rule."""


class Leaves(StrEnum):
    """What a date leaves out, named after what it has."""

    YEAR = "day and month"
    WEEKDAY = "weekday"
    COUNT = "count"
    WORD = "word"
    DAY = "time of day"


@dataclass(frozen=True)
class Partly:
    """A date that leaves something out, as written.

    Args:
        text: the words of the date.
        leaves: what kind it is.
        number: of the weekday (0 = Monday), of the counted day, or of the days before today; else 0.
        month: of a date without a year, with ``number`` as the day; else 0.
        clock: the time of day; ``None`` = not written.
        zone: ``None`` = not written.
        rest: the text after it.
        problem: why it cannot be used, in half a sentence.
    """

    text: str
    leaves: Leaves
    number: int
    month: int
    clock: time | None
    zone: tzinfo | None
    rest: str
    problem: str | None = None

    @property
    def leans(self) -> bool:
        """Whether its day depends on the dates around it."""
        return self.leaves in (Leaves.WEEKDAY, Leaves.DAY)


def at_start(text: str) -> Partly | None:
    """The incomplete date at the beginning of a text; ``None`` if there is none."""
    text = text.lstrip()
    found = _PARTIAL.match(text)
    if found is None and (opened := re.match(r"[\[(]?\s{0,9}(?=\d)", text)):  # a time of day follows a space elsewhere
        text = f"{opened[0].strip()} {text[opened.end() :]}"
        found = _ALONE.match(text) if opened[0].strip() else _ALONE.match(f" {text.lstrip()}")
    if found is None or bool(found["close"]) != bool(found["open"]):
        return None
    parts = found.groupdict()
    words = (found["date"] + (found["clock"] or "")).strip()
    rest = found.string[found.end() :]
    behind = found[0][found.end("clock" if found["clock"] else "date") - found.start() :]
    if not found["clock"] and rest.strip() and not _SIGNS.search(behind):
        return None
    if not words:
        return None
    clock, zone, problem = time_of_day(found, words)
    leaves, number, month = _meaning(parts)
    if problem is None and leaves is Leaves.YEAR and not _is_day(month, number):
        problem = f"{words!r} is not a date"
    return Partly(words, leaves, number, month, clock, zone, rest, problem)


def _meaning(parts: Mapping[str, str | None]) -> tuple[Leaves, int, int]:
    if name := parts.get("name") or parts.get("named"):
        return Leaves.YEAR, int(parts["day_named"] or parts["day_after"] or 0), number_of_month(name)
    if weekday := parts.get("weekday"):
        return Leaves.WEEKDAY, _DAYS.index(weekday[:3].lower()), 0
    if count := parts.get("count"):
        return Leaves.COUNT, int(count), 0
    if word := parts.get("word"):
        return Leaves.WORD, int(word.lower() == "yesterday"), 0
    return Leaves.DAY, 0, 0


def _is_day(month: int, day: int) -> bool:
    try:
        date(2000, month, day)  # which has a 29 February
    except ValueError:
        return False
    return True


def first_day(found: Mapping[int, Written | Partly], now: datetime) -> date | None:
    """The day from which counted days start, so that the last of them is today; ``None`` if there are none."""
    counts = [when.number for when in found.values() if isinstance(when, Partly) and when.leaves is Leaves.COUNT]
    return now.date() - (max(counts) - 1) * _DAY if counts else None


def settle(
    found: Mapping[int, Written | Partly], order: Order, now: datetime, day_one: date | None
) -> dict[int, datetime]:
    """The moment of each date, by its line; dates with a problem, or outside the years 2 to 9998, have none.

    A day without a year is the one nearest to the date above, or else the last one before now. A weekday is the first
    on or after the date above; those at the beginning lead up to the date that follows them, or to now. A time of day
    belongs to the day above, or else to the last day on which that time has passed.

    Args:
        found: the dates, by the number of their line, in order.
        order: the order of the numbers in complete dates.
        now: the world's time; today is its day.
        day_one: the day that "Day 1" is.
    """
    days: dict[int, date] = {}
    above: date | None = None
    leading: list[tuple[int, Partly]] = []
    for number, when in found.items():
        if when.problem is not None:
            continue
        if isinstance(when, Written):
            day: date | None = when.moment(order).date()
        elif when.leans and above is None and (when.leaves is Leaves.WEEKDAY or leading):
            leading.append((number, when))
            continue
        else:
            day = _day(when, above, now, day_one)
        if day is None or not _FIRST <= day <= _LAST:
            continue
        days[number] = above = day
        days |= _lead_up(leading, day)
        leading = []
    if leading:
        days |= _lead_up(leading, _latest(leading[-1][1], leading, now))
    return {number: _moment(found[number], day, order) for number, day in days.items()}


def _day(when: Partly, above: date | None, now: datetime, day_one: date | None) -> date | None:
    today = now.date()
    try:
        if when.leaves is Leaves.COUNT:
            return (day_one or today) + (when.number - 1) * _DAY
        if when.leaves is Leaves.WORD:
            return today - when.number * _DAY
        if when.leaves is Leaves.YEAR:
            return _nearest(when.month, when.number, above) if above else _last(when.month, when.number, today)
        if when.leaves is Leaves.WEEKDAY and above is not None:
            return above + ((when.number - above.weekday()) % _WEEK) * _DAY
        return above or today - _has_yet_to_be(when, now) * _DAY
    except OverflowError:
        return None


def _has_yet_to_be(when: Partly, now: datetime) -> bool:
    """Whether its time of day is still to come today."""
    return when.clock is not None and datetime.combine(now.date(), when.clock, when.zone or UTC) > now


def _nearest(month: int, day: int, above: date) -> date | None:
    there = [found for year in range(above.year - _LEAP, above.year + _LEAP) if (found := _date(year, month, day))]
    return min(there, key=lambda found: abs(found - above), default=None)


def _last(month: int, day: int, today: date) -> date | None:
    there = [found for year in range(today.year - _LEAP, today.year + 1) if (found := _date(year, month, day))]
    return max((found for found in there if found <= today), default=None)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _latest(last: Partly, leading: list[tuple[int, Partly]], now: datetime) -> date:
    """The last day that weekdays may lead up to: today, or yesterday if the last is today but still to come."""
    weekday = next(when.number for _, when in reversed(leading) if when.leaves is Leaves.WEEKDAY)
    return now.date() - (weekday == now.weekday() and _has_yet_to_be(last, now)) * _DAY


def _lead_up(leading: list[tuple[int, Partly]], bound: date) -> dict[int, date]:
    """The days of weekdays, and of times of day beneath them; the last is on the bound or before it."""
    weekdays: list[int] = []
    for _, when in leading:
        weekdays.append(when.number if when.leaves is Leaves.WEEKDAY else weekdays[-1])
    days: dict[int, date] = {}
    for (number, _), weekday in zip(reversed(leading), reversed(weekdays), strict=True):
        if bound - _FIRST < _WEEK * _DAY:
            break
        days[number] = bound = bound - ((bound.weekday() - weekday) % _WEEK) * _DAY
    return days


def _moment(when: Written | Partly, day: date, order: Order) -> datetime:
    if isinstance(when, Written):
        return when.moment(order)
    return datetime.combine(day, when.clock or NOON, when.zone or UTC)
