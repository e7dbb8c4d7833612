"""How many decisions are pending, in a thin line that leads to the inbox."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory

from ... import session, words
from ...components import compared, widgets
from ...data import deciding, tables


def line(agent: AgentMemory) -> None:
    """The number of a character's pending decisions; nothing if there are none, or in the past."""
    if session.moment() is not None or not (waits := compared.waiting(agent)[0].decisions):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="waiting"):
        many = tables.counted(len(waits), "decision waits", "decisions wait")
        st.caption(widgets.plain(f"{many}: {deciding.counts_in_words(waits)}"), width="content")
        if st.button(words.OPEN_THE_INBOX, icon=":material/inbox:", type="tertiary", help="In Python: World.inbox"):
            st.switch_page("views/inbox/inbox.py", query_params={"agent": agent.name})
