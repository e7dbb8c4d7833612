"""Whisper: a thought planted in a character's memory, and what it becomes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemoryEntry, MemorySystemError
from memory_system.conversation import whisper

from ... import words
from ...components import bulk, card, change_set, drafts, widgets
from .talk_state import INTERVIEW

_MOST = 2000
_EXAMPLE = "I have a feeling that the key never left the mill."


def show(agent: AgentMemory) -> None:
    """The field for the thought, the last planted one, and what to do next."""
    if widgets.closed(agent):
        return
    form = f"whisper-{agent.name}"
    thought = st.text_area(
        words.THE_THOUGHT,
        key=drafts.turn(form),
        max_chars=_MOST,
        height=90,
        placeholder=_EXAMPLE,
        persist_state="session",
    )
    with st.container(horizontal=True):
        planted = st.button(
            "Whisper",
            type="primary",
            icon=":material/psychology:",
            key="whisper-do",
            help="In Python: whisper(agent, text)",
        )
        looked = st.button(
            "Preview", icon=":material/visibility:", key="whisper-preview", help="In Python: whisper(…, preview=True)"
        )
    st.caption("It is rated on arrival and kept in short-term memory, tagged “whisper”.")
    if (planted or looked) and not thought.strip():
        st.error("Write the thought first.", icon=":material/error:")
        return
    key = f"whispered-{agent.name}"
    try:
        if looked:
            with st.spinner("Rating …"):
                change_set.show(agent, whisper(agent, thought, preview=True))
        if planted:
            with st.spinner("Whispering …"):
                st.session_state[key] = done = whisper(agent, thought)
            drafts.next_turn(form)
            bulk.done(agent, done, "Planted")
            st.rerun()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    planted_last: ChangeSet | None = st.session_state.get(key)
    entries = [agent.find(change.entry_id) for change in planted_last.changes] if planted_last is not None else []
    if thoughts := [entry for entry in entries if entry is not None]:
        _planted(agent, thoughts)


def _planted(agent: AgentMemory, thoughts: Sequence[MemoryEntry]) -> None:
    """The thought as a memory, and the way to ask about it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Planted. The character believes it is its own.**", width="stretch")
        st.button(
            "Ask about it", icon=":material/chat:", key="whisper-ask", on_click=_ask,
            help="Goes on to the interview, which leaves no trace.",
        )  # fmt: skip
    for entry in thoughts:
        card.show(agent, entry)


def _ask() -> None:
    st.session_state["talk-mode"] = INTERVIEW
