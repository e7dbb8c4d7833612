"""New character: who it is, what happened before, and a first cue; all of it becomes one change set."""

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, widgets
from dashboard.views.new_character import brought, happened, trying, who
from dashboard.views.new_character.life import Life
from memory_system import MemorySystemError

st.title(words.NEW_CHARACTER, anchor=False)
bulk.last()
if session.viewing():
    st.caption(f":material/lock: Nothing can be changed here. {words.A_VIEWER}.")
    st.stop()
if session.moment() is not None:
    widgets.closed(session.agent())
    st.stop()
life = Life.current()
kept = (*brought.KEPT, *who.KEPT, *happened.KEPT, *trying.KEPT)
life.keep(*kept)
if life.lost:
    st.info("What was written under this link is no longer kept: it became a character, or the server was restarted.")
st.header("1 Who", anchor=False)
came = brought.show(life, session.world().clock())
document = who.show(life)
st.header("2 What happened", anchor=False)
events = happened.show(life, session.world().clock())
st.header("3 Try it", anchor=False)
asked = trying.cue(life)
life.keep(*kept)
named = bool(str(document["identity"].get("name", "")).strip())
try:
    if asked and named:
        trying.answer(life, document, [*(came.lived if came else ()), *(events or [])], asked)
    with st.container(horizontal=True, vertical_alignment="center"):
        create = st.button(
            words.CREATE_IT, type="primary", icon=":material/person_add:", disabled=not named or events is None,
            help="In Python: World.create_with_events",
        )  # fmt: skip
        if st.button("Discard it", type="tertiary", icon=":material/delete:", help="Empties every field of this page."):
            life.end()
            st.rerun()
        if not named:
            st.caption("It needs a name: begin the paragraph with it, or write it into the form.")
        elif events is None:
            st.caption("What happened cannot be read yet: see above.")
    if create:
        trying.create(life, document, events or [], asked, came)
except MemorySystemError as error:
    widgets.problem(error)
