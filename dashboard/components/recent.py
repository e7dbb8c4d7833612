"""The last changes of a character, each with its Undo: on the first page, and in a drawer over every page."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory
from memory_system.core import ago, real_clock

from .. import session, words
from ..data import tables
from ..views import HISTORY
from . import widgets

_MOST = 12


def listed(agent: AgentMemory, most: int, key: str, entry_id: str = "") -> None:
    """The last changes, the newest first.

    Args:
        agent: whose changes.
        most: how many at most.
        key: distinguishes this list from another on the same page.
        entry_id: lists only those that changed this memory.
    """
    records = session.history(agent, most, entry_id=entry_id)
    if not records:
        widgets.empty(words.NOTHING_HAS_HAPPENED, "Add an event.", agent, to="short_term")
    now = real_clock()
    for record in records:
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(width="stretch", gap=None):
                st.text(record.change_set.title)
                changed = len(record.change_set.changes)
                many = tables.counted(changed, "memory", "memories") if changed else ""
                by = record.change_set.author, many, ago(record.applied_at, now)
                st.caption(widgets.plain(", ".join(filter(None, by))))
            if record.undone_by:
                st.badge("undone", color="gray")
            else:
                widgets.undo_button(agent, record.revision, record.change_set.title, key=key)


@st.dialog(HISTORY.title, position="right")
def _drawer() -> None:
    agent = session.agent()
    link = {"agent": agent.name}
    st.page_link(HISTORY.script, label="All of history", icon=":material/arrow_forward:", query_params=link)
    listed(agent, _MOST, "drawer")


def opener() -> None:
    """The button that opens the drawer; call it where the button is to be.

    It is not a fragment: what a fragment opens replaces the style at the beginning of a page.
    """
    if st.button(HISTORY.title, icon=HISTORY.icon, key="open-history", type="tertiary", width="stretch"):
        _drawer()
