"""The world's clock: it follows the real time, or stands."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from . import session, widgets


def show() -> None:
    """What time it is in the world, and what sets it."""
    with st.container(border=True):
        st.header("World time", anchor=False)
        world = session.world()
        st.caption(widgets.plain(f"Now: {session.clock_words()}. All characters of this world share it."))
        modes = ["follows the real time", "stands"]
        mode = st.segmented_control("The clock", modes, default=modes[bool(world.standing)], required=True)
        at = (world.standing or world.clock()).astimezone(UTC)
        wanted: datetime | None = None
        if mode == modes[1]:
            left, right = st.columns(2)
            day = left.date_input("Day", at.date())
            wanted = datetime.combine(day, right.time_input("Time (UTC)", at.time()), UTC)
        if st.button("Set the clock", icon=":material/schedule:", disabled=wanted == world.standing):
            world.stand_at(wanted)
            widgets.say_next("The clock is set.")
            st.rerun()
