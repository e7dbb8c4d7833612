"""Two presets side by side for one cue: who enters, who leaves, and how ranks move."""

from __future__ import annotations

import streamlit as st

from memory_system import PRESETS, AgentMemory, Preset, Query

from ...components import widgets
from ...data import tables
from .controls import OWN, own_preset

NOW = "as set above"
_VERBS = {"enters": "enter", "leaves": "leave", "moves": "move", "stays": "stay"}


def show(agent: AgentMemory, query: Query) -> None:
    """Choose two, and see what each recalls."""
    presets: dict[str, Preset] = {
        NOW: Preset(query.scoring, query.threshold, query.static_threshold, ""),
        OWN: own_preset(agent.settings),
        **PRESETS,
    }
    columns = st.columns(2)
    left = columns[0].selectbox("First", list(presets), index=0, key="compare-left")
    right = columns[1].selectbox("Second", list(presets), index=len(presets) - 1, key="compare-right")
    answers = [agent.answer(query.by(presets[name])).hits for name in (left, right)]
    frame = tables.compared(*answers)
    if frame.empty:
        st.caption("Neither recalls any memory.")
        return
    counts = frame["change"].value_counts()
    told = [
        f"{counts[verb]} {verb if counts[verb] == 1 else plural}" for verb, plural in _VERBS.items() if verb in counts
    ]
    st.caption(f"From “{left}” to “{right}”: {', '.join(told)}.")
    widgets.table(
        frame,
        hide_index=True,
        placeholder="–",
        column_order=["change", "first", "second", "memory", "first score", "second score"],
        column_config={
            "change": st.column_config.TextColumn("Change", width=90),
            "memory": st.column_config.TextColumn("Memory", width=400),
            "first": st.column_config.NumberColumn("First rank", width=90),
            "second": st.column_config.NumberColumn("Second rank", width=100),
            "first score": st.column_config.NumberColumn("First score", format="%.2f", width=95),
            "second score": st.column_config.NumberColumn("Second score", format="%.2f", width=105),
        },
    )
