"""The time zone in which times are shown and read: the world's, if it has a named one, or UTC."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo

from memory_system.core import city, in_zone, zone_named
from memory_system.core import stamp as stamped

_ZONE: ContextVar[tzinfo] = ContextVar("zone", default=UTC)


def use(clock: datetime) -> None:
    """Show and read times in the zone of the world's time from now on, in this run of the page; in UTC without one."""
    _ZONE.set(zone_named(clock) or UTC)


def name() -> str:
    """Its name, such as "Europe/Berlin" or "UTC"."""
    zone = _ZONE.get()
    return str(zone.key) if isinstance(zone, ZoneInfo) else "UTC"


def named(label: str) -> str:
    """A label with the zone of its times: "When (UTC)", "When (Berlin)"."""
    return f"{label} ({city(name())})"


def here(moment: datetime) -> datetime:
    """A moment in the zone."""
    return in_zone(moment, _ZONE.get())


def named_here(moment: datetime) -> datetime:
    """The same if the zone is a named one; else it stays at its own distance from UTC."""
    return here(moment) if _ZONE.get() is not UTC else moment


def plain(moment: datetime) -> datetime:
    """A moment in the zone without it, for fields that have none."""
    return here(moment).replace(tzinfo=None)


def moment(day: date, hour: time) -> datetime:
    """The moment of a day and a time of day in the zone."""
    return datetime.combine(day, hour, _ZONE.get())


def stamp(at: datetime) -> str:
    """The exact time with the short name of its zone: "Fri 27 Mar 2026, 19:00 CET"."""
    return stamped(named_here(at))
