"""Times: always timezone-aware; also the only place that reads the real clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timezone, tzinfo
from difflib import get_close_matches
from typing import Any, TypeGuard
from zoneinfo import ZoneInfo, available_timezones

from ..errors import InvalidParameter, kind_of, shown

Clock = Callable[[], datetime]
"""Returns the world's time, timezone-aware."""

LAST = datetime.max.replace(tzinfo=UTC)
"""The last possible time."""


def real_clock() -> datetime:
    """The real time, in UTC. Front ends and worlds pass it down; nothing below reads it by itself."""
    return datetime.now(UTC)


def parse_time(value: Any) -> datetime:
    """An aware datetime from a datetime, an ISO 8601 text with a zone, or Unix seconds (UTC by definition).

    Raises:
        ValueError: no zone, or not a time between the years 1 and 9999; the message is half a sentence.
    """
    if isinstance(value, bool):
        raise ValueError("must be a time, not true or false")
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("is not a finite number of seconds")
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError) as error:
            raise ValueError(f"is {shown(value)}, which is not a Unix time in seconds") from error
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise ValueError(f"is {value[:40]!r}; write it like 2026-03-27T18:00:00+00:00") from error
    if not _is_time(value):
        raise ValueError(f"must be a time, not {kind_of(value)}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError(f"is {value.isoformat()}, which has no zone; add one, like {value.isoformat()}+00:00")
    try:
        value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is outside the years 1 to 9999") from error
    return value


def _is_time(value: Any) -> TypeGuard[datetime]:
    """Whether a value is a datetime; pandas' "no time" (NaT) is one for Python, but not equal to itself."""
    return isinstance(value, datetime) and bool(value == value)  # noqa: PLR0124


def from_seconds(seconds: float) -> datetime:
    """The time at a number of Unix seconds; the last possible microsecond if a float was rounded past it."""
    return LAST if seconds >= LAST.timestamp() else datetime.fromtimestamp(seconds, UTC)


def ago(moment: datetime, now: datetime) -> str:
    """How long before ``now``, in words: "just now", "5 minutes ago", "in 2 days"."""
    seconds = (now - moment).total_seconds()
    size = abs(seconds)
    if size < 60:
        return "just now"
    unit, name = next(
        (unit, name)
        for limit, unit, name in (
            (3600, 60, "minute"),
            (86_400, 3600, "hour"),
            (14 * 86_400, 86_400, "day"),
            (math.inf, 7 * 86_400, "week"),
        )
        if size < limit
    )
    count = int(size // unit)
    words = f"{count} {name}{'s' if count != 1 else ''}"
    return f"{words} ago" if seconds > 0 else f"in {words}"


def time_given(name: str, value: Any) -> datetime:
    """The time that a caller passed for a parameter, as ``parse_time`` reads it.

    Raises:
        InvalidParameter: it is not a time; the message names the parameter.
    """
    try:
        return parse_time(value)
    except ValueError as error:
        raise InvalidParameter(f"{name} {error}.") from error


def naive(value: Any) -> datetime | None:
    """The time that a value represents if it has no zone; ``None`` for all others, and for what is not a time."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    return value if _is_time(value) and value.utcoffset() is None else None


def moment_given(name: str, at: object) -> datetime:
    """Like ``time_given``, for a parameter that accepts a datetime and nothing else.

    Raises:
        InvalidParameter: it is not one, or has no zone; the message names the parameter.
    """
    if not isinstance(at, datetime):
        raise InvalidParameter(f"{name} must be a time with a zone, not {shown(at)}.")
    return time_given(name, at)


def zone_given(name: object) -> ZoneInfo:
    """The time zone of this name in the IANA database, such as "Europe/Berlin".

    Raises:
        InvalidParameter: there is none; the message names those that are alike.
    """
    text = name.strip() if isinstance(name, str) else ""
    try:
        return ZoneInfo(text if text[:1].isupper() else "")  # "localtime" and "right/UTC" are files there as well
    except (KeyError, ValueError, OSError) as error:
        raise InvalidParameter(f"There is no time zone {shown(name)}. {_meant(text)}") from error


def _meant(text: str) -> str:
    zones = sorted(available_timezones())
    said, known = text.casefold(), {zone: (zone.casefold(), city(zone).casefold()) for zone in zones}
    near = get_close_matches(said, [short for _, short in known.values()], 1, 0.8)
    alike = [zone for zone, names in known.items() if said in names] or [
        zone for zone, (_, short) in known.items() if short in near
    ]
    return f"Do you mean {' or '.join(alike[:3])}?" if alike else 'Write it like "Europe/Berlin" or "UTC".'


def city(zone: str) -> str:
    """The short name of a zone: "New York" of "America/New_York"."""
    return zone.rpartition("/")[2].replace("_", " ")


def zone_named(moment: datetime) -> ZoneInfo | None:
    """The zone of a time, if it is one with a name and not a distance from UTC."""
    return moment.tzinfo if isinstance(moment.tzinfo, ZoneInfo) else None


def in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    """The same moment as the clocks of a zone show it; unchanged without one, and at the ends of time."""
    try:
        return moment if zone is None else moment.astimezone(zone)
    except OverflowError:
        return moment


def after(one: datetime, other: datetime) -> bool:
    """Whether a time is later than another, also in an hour that comes twice: what clocks show says less."""
    return one.astimezone(UTC) > other.astimezone(UTC)


def utc(moment: datetime) -> str:
    """A time in the journal's form: in UTC and always the same format, so that the later of two is the greater text."""
    return moment.astimezone(UTC).isoformat()


def stamp(moment: datetime, beside: datetime | None = None) -> str:
    """The exact time with its zone, for people: "Fri 27 Mar 2026, 18:00 UTC".

    Args:
        moment: the time.
        beside: another one that is shown with it, and in whose zone it is given.
    """
    if beside is not None:
        moment = in_zone(moment, beside.tzinfo)
    return f"{moment:%a} {moment.day} {moment:%b %Y, %H:%M} {zone_shown(moment)}"


def zone_shown(moment: datetime) -> str:
    """The short name of a time's zone, "CET"; where it has none but a number, its distance: "UTC-03:00"."""
    zone, ahead = moment.tzname() or "", moment.utcoffset()
    return zone if ahead is None or zone[:1].isalpha() else timezone(ahead).tzname(None)


def hour_of_day(hour: int, half: str | None) -> int:
    """An hour on the clock as one of 0 to 23 if ``half`` says which half of the day it is: ``am``, ``p.m.``, ``p``."""
    letter = (half or "")[:1].lower()
    return hour % 12 + 12 * (letter == "p") if letter in ("a", "p") else hour
