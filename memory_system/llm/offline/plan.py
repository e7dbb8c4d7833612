"""The offline model's day plan: appointments that memories mention, and the routine around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from ..extractive import quote
from ..tasks import Action, DayPlan
from .voice import is_digest

_HOURS = ("twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLOCK = re.compile(
    r"\b(?:at|by|before|about|around)\s+(?P<half>half past\s+)?"
    rf"(?P<hour>\d{{1,2}}(?!\d)|(?:{'|'.join(_HOURS)})\b)(?:[:.](?P<minute>\d\d))?\s*(?P<half_day>[ap]\.?m\b)?",
    re.IGNORECASE,
)
_EVENING = re.compile(r"\b(tonight|this evening|evening|night)\b", re.IGNORECASE)
_TODAY = re.compile(r"\b(tonight|today|this (?:morning|afternoon|evening))\b", re.IGNORECASE)
_APPOINTMENT = timedelta(minutes=30)
_SHORTEST = 10
"""Minutes below which the rest of a routine item is not worth planning."""
_DAY_END = 24 * 60 - 1

Span = tuple[int, int]
"""Minutes since midnight: begin, end."""

_Planned = tuple[Span, str, str, list[int]]
"""When, what, where, and the numbers of the records that it rests on."""


def plan(data: Mapping[str, Any]) -> DayPlan:
    """The rest of today: first the appointments, then as much of the routine as fits between them."""
    now = datetime.fromisoformat(data["now"])
    earliest = now.hour * 60 + now.minute + 1
    actions: list[_Planned] = []
    for record in data["records"]:
        begin = _appointment(record, now)
        if begin is not None and earliest <= begin < _DAY_END:
            span = (begin, min(begin + int(_APPOINTMENT.total_seconds() // 60), _DAY_END))
            if _free(span, actions):
                actions.append((span, f"Keep the appointment: {quote(record['text'])}", "", [record["number"]]))
    for item in data["routine"]:
        span = (
            _minutes(item["time"]),
            _minutes(item["until"]) if item.get("until") else _minutes(item["time"]) + 30,
        )
        ahead = (max(span[0], earliest), min(span[1], _DAY_END))
        free = [part for part in _left_over(ahead, actions) if part[1] - part[0] >= _SHORTEST]
        actions += [(part, item["activity"], item.get("place") or "", []) for part in free]
    actions.sort()
    return DayPlan(
        actions=[
            Action(start=_clock(begin), end=_clock(end), activity=activity, place=place, because_of=numbers)
            for (begin, end), activity, place, numbers in actions[:50]
        ]
    )


def _appointment(record: Mapping[str, Any], now: datetime) -> int | None:
    """The minute of today at which a memory says something is to happen, or ``None``."""
    if record["when"] == "always" or is_digest(str(record["text"])):
        return None
    said = datetime.fromisoformat(record["when"]).astimezone(now.tzinfo)
    match = _CLOCK.search(record["text"])
    if match is None or _day_meant(record["text"], said.date()) != now.date():
        return None
    hour_text = match["hour"].lower()
    hour = int(hour_text) if hour_text.isdigit() else _HOURS.index(hour_text) or 12
    minute = 30 if match["half"] else int(match["minute"] or 0)
    if hour > 23 or minute > 59:
        return None
    half_day = (match["half_day"] or "").lower()
    if hour == 12 and half_day.startswith("a"):
        return minute
    if hour < 12 and (half_day.startswith("p") or (not half_day and _is_afternoon(record["text"], hour, said))):
        hour += 12
    return hour * 60 + minute


def _is_afternoon(text: str, hour: int, said: datetime) -> bool:
    return bool(_EVENING.search(text)) or hour < 6 or (bool(_TODAY.search(text)) and hour <= said.hour)


def _day_meant(text: str, said: date) -> date | None:
    lowered = text.lower()
    if _TODAY.search(lowered):
        return said
    if "tomorrow" in lowered:
        return said + timedelta(days=1)
    for number, name in enumerate(_DAYS):
        if re.search(rf"\b(on|by|until|this|come)\s+{name}\b", lowered):
            return said + timedelta(days=(number - said.weekday()) % 7 or 7)
    return None


def _free(span: Span, actions: Iterable[_Planned]) -> bool:
    return all(span[1] <= begin or end <= span[0] for (begin, end), *_ in actions)


def _left_over(span: Span, actions: Iterable[_Planned]) -> list[Span]:
    """The parts of a span that no action uses."""
    parts = [span] if span[0] < span[1] else []
    for (begin, end), *_ in sorted(actions):
        cut: list[Span] = []
        for first, last in parts:
            cut += [(first, min(last, begin)), (max(first, end), last)]
        parts = [(first, last) for first, last in cut if first < last]
    return parts


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
