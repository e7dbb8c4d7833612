"""The slider over the time of the world, which goes back in the story."""

from __future__ import annotations

from datetime import datetime, timedelta

import streamlit as st

from memory_system import World
from memory_system.world.knows import began

from ... import session, words
from ...components import widgets
from ...data import zone
from ...data.zone import stamp

_HELP = "Anything lived through later is left out."
_HOUR = timedelta(hours=1)
_EARLIEST, _LATEST = datetime(1700, 1, 1), datetime(2250, 1, 1)
"""The limits of Streamlit's slider over times."""


def slider(key: str) -> datetime | None:
    """The time of the world to view; ``None`` = now, which exists even if the story has not begun.

    It starts at the moment of the past that all pages show, and at now if they show none.
    """
    begin, end = _span(session.world())
    if begin >= end:
        return None
    start = end
    if (then := session.moment()) is not None:
        start = min(max(zone.plain(session.agent().now), begin), end)
        key = f"{key}-{'-'.join(then.link().values())}"
    if begin < _EARLIEST or end > _LATEST:
        return _hours(begin, start, end, key)
    moment: datetime = st.slider(
        zone.named(words.WORLD_TIME), begin, end, start, step=_HOUR, format="D MMM YYYY, HH:mm", key=key, help=_HELP
    )
    return None if moment >= end else zone.moment(moment.date(), moment.time())


def _hours(begin: datetime, start: datetime, end: datetime, key: str) -> datetime | None:
    """The same for a story in another age: a slider over its hours, with the time below it."""
    most = -(-(end - begin) // _HOUR)
    first = -(-(start - begin) // _HOUR)
    hours = st.slider(zone.named(words.WORLD_TIME), 0, most, first, format="hour %d", key=f"{key}-hours", help=_HELP)
    plain = begin + hours * _HOUR if hours < most else end
    moment = zone.moment(plain.date(), plain.time())
    st.caption(widgets.plain(stamp(moment)))
    return moment if hours < most else None


def _span(world: World) -> tuple[datetime, datetime]:
    """The beginning and end of the story without the zone, as the slider needs them."""
    end = zone.plain(world.clock())
    begin = zone.plain(began(world)).replace(minute=0, second=0, microsecond=0)
    return begin - _HOUR if begin - datetime.min >= _HOUR else begin, end
