"""The world's clock: it follows the real time, runs at its own pace, or is stopped; and its time zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import streamlit as st

from memory_system import World
from memory_system.core import city, in_zone, real_clock, zone_named

from ... import session, words
from ...components import bulk, drafts, widgets

_FOLLOWS = timedelta(seconds=1)
"""How close to the real time a clock that follows it is."""
_LANDS = tuple(
    f"{land}/"
    for land in (
        "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
    )
)  # fmt: skip
"""What the names of the zones that can be chosen begin with; the others are older names of these."""


def show() -> None:
    """The time in the world, its zone, and the fields that set them."""
    with st.container(border=True):
        st.header("World time", anchor=False)
        world = session.world()
        st.caption(widgets.plain(f"Now: {session.clock_words()}."))
        modes = [words.FOLLOWS_THE_REAL_TIME, "is stopped"]
        goes = modes[bool(world.standing)]
        if not world.standing and not _follows(world):
            goes = f"runs {world.speed:g} times as fast" if world.speed != 1 else "runs apart from the real time"
            modes.append(goes)
        place = drafts.Draft("zone", {"zone": world.zone or words.NO_TIME_ZONE}, {"zone": words.TIME_ZONE})
        named = _zone(world, place)
        stands = world.standing or world.clock()
        at = in_zone(stands, named or UTC)
        minute = at.replace(second=0, microsecond=0)
        now = {"mode": goes, "day": minute.date(), "time": minute.time()}
        # the clock goes on while somebody writes, which needs no choice: what was written counts
        draft = drafts.Draft("clock", now, {"mode": words.THE_CLOCK, "day": "Day", "time": "Time"})
        mode = st.segmented_control(
            words.THE_CLOCK, modes, key=draft.field("mode"), required=True, persist_state="session"
        )
        new_time: datetime | None = None
        if mode == modes[1]:
            left, right = st.columns(2)
            day = left.date_input("Day", None, key=draft.field("day"), persist_state="session") or minute.date()
            label = f"Time ({city(named.key) if named else 'UTC'})"
            hour = right.time_input(label, None, key=draft.field("time"), persist_state="session") or minute.time()
            same = (day, hour) == (minute.date(), minute.time())  # the fields have no seconds
            new_time = at if same and world.standing else datetime.combine(day, hour, named or UTC)
            if named is None and zone_named(stands) is None:
                new_time = new_time.astimezone(stands.tzinfo)  # the world keeps its distance from UTC
        chosen = named.key if named else None
        moves = mode != goes or new_time != world.standing
        if st.button(words.SET_THE_CLOCK, icon=":material/schedule:", disabled=not moves and chosen == world.zone):
            back = _back(world)
            world.use_zone(chosen)
            if moves:
                world.stand_at(new_time)
            draft.done()
            place.done()
            bulk.did(
                "The clock is set", back, "The clock runs as before.",
                holds=lambda: world.zone == chosen and (not moves or world.standing == new_time),
                where="World.stand_at",
            )  # fmt: skip
            st.rerun()


def _zone(world: World, draft: drafts.Draft) -> ZoneInfo | None:
    """The field for the world's zone, and what is chosen there; ``None`` = no named zone."""
    known = {world.zone or "UTC", "UTC", *(name for name in available_timezones() if name.startswith(_LANDS))}
    chosen = st.selectbox(
        words.TIME_ZONE, [words.NO_TIME_ZONE, *sorted(known)], key=draft.field("zone"), persist_state="session",
        help="The world's days begin in this zone, and its clocks change there in spring and autumn. "
             "In Python: World.use_zone",
    )  # fmt: skip
    return None if chosen in (None, words.NO_TIME_ZONE) else ZoneInfo(str(chosen))


def _follows(world: World) -> bool:
    """Whether the clock runs at the pace of the real time and shows the same."""
    return world.speed == 1 and abs(world.clock() - real_clock()) < _FOLLOWS


def _back(world: World) -> Callable[[], None]:
    """A function that restores the clock's present mode: stopped, following the real time, or at its own pace."""
    standing, speed, at, since, there = world.standing, world.speed, world.clock(), real_clock(), world.zone
    follows = _follows(world)

    def back() -> None:
        world.use_zone(there)
        world.stand_at(standing or (None if follows else at + speed * (real_clock() - since)))
        if standing is None and not follows:
            world.play(speed)

    return back
