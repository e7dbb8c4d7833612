"""The memory that is open on the Recall page: its verdict, and how its score came about."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory
from memory_system.recall import Explanation

from . import figures, widgets

OPEN = "recall-open"


def open_memory(entry_id: str | None) -> None:
    """Open a memory above the chart, or close it; chart and table begin anew, with nothing selected."""
    st.session_state[OPEN] = entry_id
    st.session_state["recall-round"] = st.session_state.get("recall-round", 0) + 1
    st.rerun(scope="fragment")


def opened(agent: AgentMemory, found: Explanation) -> None:
    """Show the memory that is open, if it is a candidate."""
    candidate = found.candidates.of(st.session_state[OPEN]) if st.session_state.get(OPEN) else None
    if candidate is None:
        return
    widgets.verdict(candidate)
    st.plotly_chart(
        figures.waterfall(candidate.score, found.query.threshold_of(candidate.entry.tier), widgets.ink()),
        config={"displayModeBar": False},
        key="waterfall",
        alt="How the parts of the score add up, beside the threshold",
    )
    widgets.memory_card(agent, candidate.entry)
    if st.button("Close this memory", icon=":material/close:"):
        open_memory(None)
