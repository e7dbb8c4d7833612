"""Who knows what: a grid of facts by characters, as of any time of the story, and tests of it."""

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, mounting, tabs, widgets
from dashboard.views.who_knows import grid, moment, spread, tests
from memory_system import MemorySystemError

agent, world = session.agent(), session.world()
widgets.heading("Who knows what", "Ask about one fact of all characters at once. Looking changes nothing.")
bulk.last()
spread.follow()
with st.container(horizontal=True, vertical_alignment="bottom"):
    st.text_input(
        words.A_FACT, placeholder=f"{agent.display_name} has the key.", max_chars=grid.MOST_LETTERS, key=grid.TYPED,
        persist_state="session", on_change=grid.ask,
    )  # fmt: skip
    pressed = st.button(words.ASK_EVERYBODY, type="primary", icon=":material/search:", on_click=grid.ask)
if grid.nothing_to_ask(pressed):
    st.error("Write a fact first.", icon=":material/error:")
mounting.keep_unsent(grid.TYPED, grid.TYPED)
at = moment.slider("who-knows-at")
view = tabs.segments("Shown as", {"cells": "Who knows it", "spread": "How it spread"}, "as")
facts = grid.facts(world)
if not facts:
    widgets.empty("No fact has been asked about yet.", "Type one above, as a whole sentence.")
for number, fact in enumerate(facts):
    try:
        if view == "spread":
            spread.show(number, fact, at)
        else:
            grid.row(agent, number, fact, at)
    except MemorySystemError as error:
        widgets.problem(error)
tests.show(agent)
