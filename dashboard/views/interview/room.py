"""The talk itself: its mode, its settings, the chat, and next to it what is in the prompt."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory
from memory_system.conversation import Step

from ... import session, words
from ...components import widgets
from . import chat, inspector, play, talk_settings, talk_state, whispering
from .live import Live
from .talk_state import INTERVIEW, MODES, PLAY


def show(agent: AgentMemory) -> None:
    """The mode, explained, and its content."""
    mode = talk_state.mode()
    _, what, leaves = MODES[mode]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Mode", list(MODES), key="talk-mode", required=True, label_visibility="collapsed",
            format_func=lambda option: f"{MODES[option][0]} {option}",
        )  # fmt: skip
        st.caption(f"**{what}.** {leaves}", width="stretch")
        if mode == INTERVIEW:
            _settings(agent)
    session.to_link("mode", None if mode == INTERVIEW else mode.lower())
    if mode != PLAY:
        session.to_link("talk", None)
    if mode == INTERVIEW:
        _interview(agent)
    elif mode == PLAY:
        play.show(agent)
    else:
        whispering.show(agent)


def _settings(agent: AgentMemory) -> None:
    """The settings of the interview; another strategy restarts it."""
    with st.popover("Settings", icon=":material/tune:"):
        chosen = talk_settings.fields(f"interview-{agent.name}", talk_state.interview(agent).talk.settings)
        if st.button(
            "Start over with these", type="primary", icon=":material/restart_alt:", disabled=chosen is None,
            help="In Python: Interview(agent, TalkSettings(…))",
        ):  # fmt: skip
            assert chosen is not None, "the button is not disabled"
            talk_state.want_settings(agent, chosen)
            talk_state.start_over()
            st.rerun()


def _interview(agent: AgentMemory) -> None:
    open_talk = talk_state.interview(agent)
    left, right = st.columns([1.15, 1], gap="medium")

    def ask(text: str, live: Live) -> Step:
        return open_talk.source.step(text, heard=live.receive_piece, told=live.receive_call)

    with left:
        chat.show(agent, INTERVIEW, open_talk, ask)
        if open_talk.messages(1) and st.button(
            words.START_OVER,
            icon=":material/restart_alt:",
            help="The interview is discarded. In Python: Interview(agent)",
        ):
            talk_state.start_over()
            st.rerun()
        if open_talk.messages(1):
            widgets.lead(words.OVER_THIS_TALK, "recall", agent.name, "balance", talk=talk_state.LINK)
    with right:
        inspector.show(agent, open_talk, open_talk.talk.settings)
