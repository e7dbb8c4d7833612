"""Leaving a talk: a synopsis of what it showed, to be accepted, so that the character remembers the talk."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemorySystemError
from memory_system.conversation import Conversation
from memory_system.errors import EntryNotFound

from ... import words
from ...components import bulk, change_set, widgets
from ...data import tables
from .talk_state import OpenTalk


def show(agent: AgentMemory, open_talk: OpenTalk) -> None:
    """A button that ends the talk with a synopsis; the synopsis, memory by memory, once it is there."""
    conversation, talk = open_talk.source, open_talk.talk
    assert isinstance(conversation, Conversation), "only those are left with a synopsis"
    key = f"synopsis-{talk.id}"
    new = talk.next_number - talk.remembered
    if not new:
        if talk.remembered:
            _remembered(agent, talk.synopsis_id)
        return
    if st.button(
        words.LEAVE_AND_REMEMBER,
        icon=":material/waving_hand:",
        key=f"leave-{talk.id}",
        help="A synopsis replaces the notes of the talk; you see it first. In Python: Conversation.synopsis",
    ):
        try:
            with st.spinner("Writing the synopsis …"):
                st.session_state[key] = talk.next_number, conversation.synopsis(preview=True)
        except MemorySystemError as error:
            st.session_state.pop(key, None)
            widgets.problem(error)
    until, plan = st.session_state.get(key, (None, None))
    if plan is not None and until == talk.next_number:
        _accept(agent, plan, key)


def _remembered(agent: AgentMemory, synopsis: str) -> None:
    if agent.find(synopsis) is not None:
        st.caption("The character remembers this talk by its synopsis.")
        return
    st.caption("The synopsis of this talk is no longer among the character's memories.")
    with suppress(EntryNotFound):  # a synopsis that was not accepted never was
        agent.last_version(synopsis)
        widgets.lead("See what became of it", "memory", agent.name, memory=synopsis)


def _accept(agent: AgentMemory, plan: ChangeSet, key: str) -> None:
    st.markdown(f"**{widgets.plain(plan.title)}**")

    def remember(accepted: ChangeSet) -> None:
        counted = tables.counted(len(accepted.of("add")), "memory", "memories")
        bulk.apply(agent, key, accepted, f"Remembered: {counted}")

    change_set.offer(agent, plan, remember, label=words.REMEMBER_IT, leave=lambda: st.session_state.pop(key, None))
