"""What only a language model does well, said in one way wherever the offline rules stand in for it, with one button."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory
from memory_system.llm.offline import OfflineModel

from .. import words
from ..views import INSTALLATION

_PART = "model"
"""How a link says that the language model is to be chosen."""
WHY = {
    "reflect": "Without one, a reflection only quotes memories; it draws no conclusion.",
    "summarise": "Without one, a summary quotes the most telling memories.",
    "plan": "Without one, a plan is made of the appointments that memories name, and the routine.",
    "talk": "Without one, characters quote what they remember, and keep no secrets.",
    "narrative": "Without one, it quotes memories in the order of time.",
    "contradictions": "Without one, only negations, numbers, times and opposites are compared.",
}
"""By its task, what the offline rules make of it, in a sentence."""


def offline(agent: AgentMemory) -> bool:
    """Whether the offline rules stand in for a language model."""
    return agent.model.name == OfflineModel.name


def note(agent: AgentMemory, task: str) -> None:
    """Say that a task needs a language model, why, and where it is chosen; nothing where there is one.

    Args:
        agent: whose model it is.
        task: one of ``WHY``; anything else needs none.
    """
    if task not in WHY or not offline(agent):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"needs-model-{task}"):
        st.caption(f":material/smart_toy: **{words.NEEDS_A_LANGUAGE_MODEL}.** {WHY[task]}", width="content")
        if agent.read_only is None and st.button(
            words.CHOOSE_A_LANGUAGE_MODEL, type="tertiary", icon=":material/arrow_forward:", key=f"choose-model-{task}"
        ):
            st.switch_page(INSTALLATION.script, query_params={"agent": agent.name, "part": _PART})
