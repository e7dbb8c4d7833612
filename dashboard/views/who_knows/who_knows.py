"""Who knows what: a grid of facts by characters, as of any time of the story, and tests of it."""

from datetime import UTC, timedelta

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, widgets
from dashboard.views.who_knows import grid, tests
from memory_system import MemorySystemError

agent, world = session.agent(), session.world()
widgets.heading("Who knows what", "Ask one fact of all characters at once. Looking touches nothing.")
bulk.last()
with st.container(horizontal=True, vertical_alignment="bottom"):
    st.text_input(
        words.A_FACT, placeholder="Juno stole the mill key.", max_chars=grid.MOST_LETTERS, key=grid.TYPED,
        persist_state="session", on_change=grid.ask,
    )  # fmt: skip
    st.button(words.ASK_EVERYBODY, type="primary", icon=":material/search:", on_click=grid.ask)
begin, end = grid.span(world)
at = None
if begin < end:
    moment = st.slider(
        f"{words.WORLD_TIME} (UTC)", begin, end, end, step=timedelta(hours=1), format="D MMM YYYY, HH:mm",
        key="who-knows-at", help="What was lived through later is not looked at.",
    )  # fmt: skip
    at = None if moment >= end else moment.replace(tzinfo=UTC)
facts = grid.facts(world)
if not facts:
    widgets.empty("No fact has been asked about yet.", "Type one above, such as who has the key.")
for number, fact in enumerate(facts):
    try:
        grid.row(agent, number, fact, at)
    except MemorySystemError as error:
        widgets.problem(error)
tests.show(agent)
