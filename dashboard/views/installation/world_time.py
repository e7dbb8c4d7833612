"""The world's clock: it follows the real time, runs at its own pace, or is stopped."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import streamlit as st

from memory_system import World
from memory_system.core import real_clock

from ... import session, words
from ...components import bulk, drafts, widgets

_FOLLOWS = timedelta(seconds=1)
"""How close to the real time a clock that follows it is."""


def show() -> None:
    """The time in the world, and the fields that set it."""
    with st.container(border=True):
        st.header("World time", anchor=False)
        world = session.world()
        st.caption(widgets.plain(f"Now: {session.clock_words()}."))
        modes = [words.FOLLOWS_THE_REAL_TIME, "is stopped"]
        goes = modes[bool(world.standing)]
        if not world.standing and not _follows(world):
            goes = f"runs {world.speed:g} times as fast" if world.speed != 1 else "runs apart from the real time"
            modes.append(goes)
        stands = world.standing or world.clock()
        at = stands.astimezone(UTC)
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
            hour = (
                right.time_input("Time (UTC)", None, key=draft.field("time"), persist_state="session") or minute.time()
            )
            same = (day, hour) == (minute.date(), minute.time())  # the fields have no seconds
            new_time = at if same and world.standing else datetime.combine(day, hour, UTC)
            new_time = new_time.astimezone(stands.tzinfo)  # the world stays in its zone
        if st.button(
            words.SET_THE_CLOCK, icon=":material/schedule:", disabled=mode == goes and new_time == world.standing
        ):
            back = _back(world)
            world.stand_at(new_time)
            draft.done()
            bulk.did(
                "The clock is set", back, "The clock runs as before.", holds=lambda: world.standing == new_time,
                where="World.stand_at",
            )  # fmt: skip
            st.rerun()


def _follows(world: World) -> bool:
    """Whether the clock runs at the pace of the real time and shows the same."""
    return world.speed == 1 and abs(world.clock() - real_clock()) < _FOLLOWS


def _back(world: World) -> Callable[[], None]:
    """A function that restores the clock's present mode: stopped, following the real time, or at its own pace."""
    standing, speed, at, since = world.standing, world.speed, world.clock(), real_clock()
    follows = _follows(world)

    def back() -> None:
        world.stand_at(standing or (None if follows else at + speed * (real_clock() - since)))
        if standing is None and not follows:
            world.play(speed)

    return back
