"""The line about a character that was just made, with its undo: the whole character goes to the bin."""

from __future__ import annotations

import streamlit as st

from memory_system import MemorySystemError

from ... import session, words
from ...components import widgets

_MADE = "newcomer"
_BEGUN = 1
"""The revision of a character of whom nothing has been changed since."""


def made(name: str, told: str) -> None:
    """Let the next pages tell this of a character that was made, until something of it is changed."""
    st.session_state[_MADE] = name, told


def banner() -> None:
    """Say that the character that is looked at was just made, and offer to take it back; nothing for any other."""
    held: tuple[str, str] | None = st.session_state.get(_MADE)
    if held is None or held[0] != st.session_state["agent"] or session.moment() is not None:
        return
    name, told = held
    if session.present().revision != _BEGUN:
        st.session_state.pop(_MADE)
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="newcomer"):
        st.caption(f":material/check_circle: {widgets.plain(told)}.", width="content")
        undo = st.button("Undo", icon=":material/undo:", type="tertiary", help="In Python: World.delete_agent")
        st.button("Hide", icon=":material/close:", type="tertiary", on_click=st.session_state.pop, args=(_MADE,))
    if undo:
        try:
            session.world().delete_agent(name)
        except MemorySystemError as error:
            widgets.problem(error)
            return
        st.session_state.pop(_MADE)
        session.choose_next(None)
        widgets.say_next(f"{name} was taken back. It can be restored under “{words.CHARACTERS}”.")
        st.switch_page("views/overview/overview.py")
