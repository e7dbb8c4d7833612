"""A conversation remembered whole: its turns, and a synopsis of what it shows."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError

from ... import words
from ...components import drafts, widgets, working
from ...data import tables

_MOST = 200_000


def show(agent: AgentMemory) -> None:
    """A field for the turns; nothing is stored before the preview has been accepted."""
    st.caption("One turn per line, as “Name: what was said”. A synopsis is written and linked to the turns.")
    text = st.text_area(
        words.THE_CONVERSATION, height=160, max_chars=_MOST, key=drafts.turn(f"talk-{agent.name}"),
        persist_state="session",
        placeholder="Mira: Who had the key last?\nTobias: I did, until Wednesday.",
    )  # fmt: skip
    held = f"talk-plan-{agent.name}"
    if st.button("Preview", key=f"talk-preview-{agent.name}", icon=":material/visibility:", disabled=not text.strip()):
        place = st.empty()
        try:
            plan = agent.remember_conversation(text, preview=True, progress=working.shown_in(place))
        except MemorySystemError as error:
            st.session_state.pop(held, None)
            widgets.problem(error)
        else:
            st.session_state[held] = text, plan
        place.empty()
    asked, plan = st.session_state.get(held, (None, None))
    if plan is None or asked != text:
        return
    st.markdown(f"**{widgets.plain(plan.title)}**")
    refused = widgets.change_set(plan, choose=True)
    synopsis = [change.entry_id for change in plan.changes if change.after and change.after.evidence]
    if refused and synopsis and not refused & set(synopsis):
        st.info("The synopsis was written from all turns; refuse it too, or leave turns out above and preview again.")
    if st.button(words.REMEMBER_IT, key=f"talk-apply-{agent.name}", type="primary", icon=":material/check:"):
        try:
            done = agent.apply(plan.without(refused))
        except MemorySystemError as error:
            widgets.problem(error)
        else:
            st.session_state.pop(held, None)
            drafts.next_turn(f"talk-{agent.name}")
            counted = tables.counted(len(done.changes), "memory", "memories")
            widgets.say_next(f"Remembered: {counted}. The History page can undo it.")
            st.rerun()
