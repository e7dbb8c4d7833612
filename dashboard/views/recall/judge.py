"""Judging an answer: thumbs up or down on each hit, stored, and what they say about every preset."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_system import AgentMemory, Candidate, MemorySystemError
from memory_system.recall import Recall, judgment_of

from ... import session
from ...components import widgets
from ...data import tables
from ...server import downloads

_THUMBS = {0: False, 1: True}


def show(agent: AgentMemory, found: Recall) -> None:
    """One row per hit with its thumbs, the precision of each preset for this cue, and a download of all judgments."""
    st.caption(
        "Is it a right answer to this cue? Your thumb is saved; you can take it back here or on the History page."
    )
    if not found.hits:
        widgets.empty("No memory was recalled, so there is nothing to judge.", "Lower the threshold or raise top-k.")
    cue = found.query.cue.strip()
    judgment = judgment_of(agent.judgments, cue)
    rows(agent, cue, found.hits)
    if judgment:
        st.caption("The share of each preset's answer to this cue that was judged right:")
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
        moment = session.moment()
        st.link_button(
            f"Download {tables.counted(len(agent.judgments), 'judged cue', 'judged cues')} (JSONL)",
            downloads.link(downloads.JUDGMENTS, agent=agent.name, **(moment.link() if moment else {})),
            icon=":material/download:",
            help="With the memories, so that 'python -m memory_system evaluate' can score every preset on it.",
        )


def rows(agent: AgentMemory, cue: str, hits: Sequence[Candidate], *, blind: bool = False) -> None:
    """One row per hit with its thumbs; ``blind`` leaves out what shows whose answer it is."""
    judgment = judgment_of(agent.judgments, cue)
    widgets.closed(agent)
    for hit in hits:
        _row(agent, cue, hit, judgment.verdict(hit.entry.id) if judgment else None, blind=blind)


def _row(agent: AgentMemory, cue: str, hit: Candidate, verdict: bool | None, *, blind: bool) -> None:
    entry = hit.entry
    key = f"thumb-{'blind-' if blind else ''}{agent.name}-{entry.id}-{cue}"
    shown = None if verdict is None else int(verdict)
    if key not in st.session_state or st.session_state[key] != shown:
        st.session_state[key] = shown
    with st.container(horizontal=True, vertical_alignment="center"):
        st.feedback(
            "thumbs", key=key, width="content", disabled=agent.read_only is not None,
            on_change=_judge, args=(agent, cue, entry.id, key),
        )  # fmt: skip
        with st.container(width="stretch", gap=None):
            widgets.text(entry.document)
            said = {None: "not judged", True: "right", False: "wrong"}[verdict]
            st.caption(said if blind else widgets.plain(f"{tables.tier(entry)} · score {hit.score.total:.2f} · {said}"))


def _judge(agent: AgentMemory, cue: str, entry_id: str, key: str) -> None:
    """Store a thumb for the memory it was given to, even if things have changed since the page was drawn."""
    thumb = st.session_state[key]
    try:
        agent.judge(cue, entry_id, None if thumb is None else _THUMBS[thumb])
    except MemorySystemError as error:
        widgets.problem(error)
