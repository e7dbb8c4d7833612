"""The slider over the time of the world, which goes back in the story."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import streamlit as st

from memory_system import World
from memory_system.world.knows import began

from ... import session, words


def slider(key: str) -> datetime | None:
    """At which time of the world is looked; ``None`` = now, which also a story has that has not begun."""
    begin, end = _span(session.world())
    if begin >= end:
        return None
    moment: datetime = st.slider(
        f"{words.WORLD_TIME} (UTC)", begin, end, end, step=timedelta(hours=1), format="D MMM YYYY, HH:mm", key=key,
        help="What was lived through later is not looked at.",
    )  # fmt: skip
    return None if moment >= end else moment.replace(tzinfo=UTC)


def _span(world: World) -> tuple[datetime, datetime]:
    """From when to when the story goes, in UTC, without the zone: as the slider has it."""
    end = world.clock().astimezone(UTC).replace(tzinfo=None)
    begin = began(world).astimezone(UTC).replace(tzinfo=None)
    return begin.replace(minute=0, second=0, microsecond=0) - timedelta(hours=1), end
