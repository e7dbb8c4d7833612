"""Whisper: a thought planted in a character's memory, with what it becomes, and the way back."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemorySystemError
from memory_system.conversation import whisper

from ... import words
from ...components import card, change_set, drafts, widgets
from .talk_state import INTERVIEW

_MOST = 2000
_EXAMPLE = "I have a feeling that the key never left the mill."


def show(agent: AgentMemory) -> None:
    """The field for the thought, what was planted last, and what to do next."""
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
                st.session_state[key] = whisper(agent, thought)
            drafts.next_turn(form)
            st.rerun()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    done: ChangeSet | None = st.session_state.get(key)
    if done is not None and done.revision is not None:
        _planted(agent, done, key)


def _planted(agent: AgentMemory, done: ChangeSet, key: str) -> None:
    """The thought as a memory, with the way back, and the way to ask about it."""
    assert done.revision is not None, "it was applied"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Planted. The character believes it is its own.**", width="stretch")
        widgets.undo_button(agent, done.revision, done.title, key)
        st.button(
            "Ask about it", icon=":material/chat:", key="whisper-ask", on_click=_ask,
            help="Goes on to the interview, which leaves no trace.",
        )  # fmt: skip
    for change in done.changes:
        if change.after is not None:
            card.show(agent, agent.find(change.entry_id) or change.after)


def _ask() -> None:
    st.session_state["talk-mode"] = INTERVIEW
