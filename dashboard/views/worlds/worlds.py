"""Worlds: save slots to create, copy, branch, rename, compare, delete and switch."""

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, widgets
from dashboard.data import saved
from dashboard.views.worlds import comparing, doing
from memory_system import MemorySystemError

widgets.heading("Worlds", "Save slots: each world has its own characters, memories and clock, and one is open here.")
bulk.last()
if session.viewing():
    st.caption(f":material/lock: Only those who can change something see other worlds. {words.A_VIEWER}.")
    st.stop()
try:
    worlds = session.switchable().worlds
    saved_worlds = worlds.all()
except MemorySystemError as error:
    widgets.problem(error)
    st.stop()
widgets.table(
    saved.rows(saved_worlds),
    hide_index=True,
    column_config={**saved.COLUMNS, "changed": st.column_config.DatetimeColumn("Last changed", format="distance")},
)
for world in saved_worlds:
    if world.problem:
        st.warning(widgets.plain(f"{world.name}: {world.problem}"), icon=":material/warning:")
if doing.goes_on():
    st.stop()
if session.moment() is not None:
    widgets.closed(session.agent())
    st.stop()
doing.with_one(worlds, saved_worlds)
doing.new(worlds)
comparing.show(worlds, [world.name for world in saved_worlds])
doing.deleted(worlds)
