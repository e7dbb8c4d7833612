"""One notice and button wherever the offline rules replace a language model and do less well."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory
from memory_system.llm.offline import OfflineModel

from .. import words
from ..views import INSTALLATION

_PART = "model"
"""The part of a link that opens the choice of the language model."""
WHY = {
    "reflect": "Without one, a reflection only quotes memories; it draws no conclusion.",
    "summarise": "Without one, a summary quotes the most telling memories.",
    "plan": "Without one, a plan is made of the appointments that memories name, and the routine.",
    "talk": "Without one, characters quote what they remember, and keep no secrets.",
    "narrative": "Without one, it quotes memories in the order of time.",
    "contradictions": "Without one, only negations, numbers, times and opposites are compared.",
}
"""What the offline rules do for each task, in a sentence."""


def offline(agent: AgentMemory) -> bool:
    """Whether the offline rules replace a language model."""
    return agent.model.name == OfflineModel.name


def note(agent: AgentMemory, task: str) -> None:
    """Say that a task needs a language model, why, and where to choose one; nothing if there is one.

    Args:
        agent: whose model it is.
        task: one of ``WHY``; other tasks need none.
    """
    if task not in WHY or not offline(agent):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"needs-model-{task}"):
        st.caption(f":material/smart_toy: **{words.NEEDS_A_LANGUAGE_MODEL}.** {WHY[task]}", width="content")
        if agent.read_only is None and st.button(
            words.CHOOSE_A_LANGUAGE_MODEL, type="tertiary", icon=":material/arrow_forward:", key=f"choose-model-{task}"
        ):
            st.switch_page(INSTALLATION.script, query_params={"agent": agent.name, "part": _PART})
