"""What migration forgot and would have answered: to show what forgetting costs, and to restore it."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, Query

from ... import words
from ...components import bulk, widgets
from ...data import tables

_MOST = 5


def show(agent: AgentMemory, query: Query) -> None:
    """The forgotten memories that would be recalled, with a button that restores them; nothing if there are none."""
    found = agent.would_have_answered(query)
    if not found:
        return
    count = tables.counted(len(found), "forgotten memory", "forgotten memories")
    with st.container(border=True):
        st.markdown(f":material/history: **{count} {words.WOULD_HAVE_BEEN_RECALLED}**")
        for candidate in found[:_MOST]:
            st.text(f"{candidate.score.total:.2f}  {tables.visible(candidate.entry.document)}")
        if len(found) > _MOST:
            st.caption(f"And {len(found) - _MOST} more.")
        what = "it. See in the bin why." if len(found) == 1 else "them. See in the bin why each."
        widgets.lead(f"Migration forgot {what}", "history", agent.name)
        if agent.read_only is not None:
            return
        if st.button(words.RESTORE_THEM, icon=":material/restore_from_trash:", help="In Python: AgentMemory.restore"):
            bulk.do(agent, lambda: agent.restore([candidate.entry.id for candidate in found]))
