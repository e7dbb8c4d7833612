"""Judging an answer: thumbs up or down on each hit, kept, and what they say of every preset."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, Candidate
from memory_system.cues import judgment_of
from memory_system.recall import Recall

from . import tables, widgets

_THUMBS = {0: False, 1: True}


def show(agent: AgentMemory, found: Recall) -> None:
    """A row a hit with its thumbs, the precision of each preset for this cue, and a download of all judgments."""
    st.caption("Is it a right answer to this cue? A thumb is kept, and can be taken back here or on the History page.")
    if not found.hits:
        widgets.empty("Nothing was recalled, so there is nothing to judge.", "Lower the threshold or raise top-k.")
    cue = found.query.cue.strip()
    held = judgment_of(agent.judgments, cue)
    widgets.closed(agent)
    for hit in found.hits:
        verdict = held.verdict(hit.entry.id) if held else None
        _row(agent, cue, hit, verdict)
    if held:
        st.caption("How much of what each preset recalls for this cue was judged right:")
        frame = tables.precisions(agent.precision(cue, now=found.query.now, top_k=found.query.top_k))
        widgets.table(
            frame,
            hide_index=True,
            placeholder="–",
            column_config={
                "preset": st.column_config.TextColumn("Preset", width=150),
                "precision": st.column_config.NumberColumn("Precision", format="percent", width=90),
                "right": st.column_config.NumberColumn("Right", width=70),
                "wrong": st.column_config.NumberColumn("Wrong", width=70),
                "not judged": st.column_config.NumberColumn("Not judged", width=95),
            },
        )
    if agent.judgments:
        st.download_button(
            f"Download {tables.counted(len(agent.judgments), 'judged cue', 'judged cues')} (JSONL)",
            lambda: agent.judgments_jsonl(memories=True),
            f"{agent.name}-judgments.jsonl",
            "application/x-ndjson",
            icon=":material/download:",
            on_click="ignore",
            help="With the memories, so that 'python -m memory_system evaluate' can score every preset on it.",
        )


def _row(agent: AgentMemory, cue: str, hit: Candidate, verdict: bool | None) -> None:
    entry = hit.entry
    with st.container(horizontal=True, vertical_alignment="center"):
        key = f"thumb-{agent.stamp[0]}-{entry.id}-{cue}"
        default = None if verdict is None else int(verdict)
        locked = agent.read_only is not None
        thumb = st.feedback("thumbs", default=default, key=key, width="content", disabled=locked)
        with st.container(width="stretch", gap=None):
            st.text(tables.visible(entry.document))
            said = {None: "not judged", True: "right", False: "wrong"}[verdict]
            st.caption(widgets.plain(f"{tables.TIERS[entry.tier]} · score {hit.score.total:.2f} · {said}"))
    now = None if thumb is None else _THUMBS[thumb]
    if now != verdict and not locked:
        agent.judge(cue, entry.id, now)
        st.rerun(scope="fragment")
