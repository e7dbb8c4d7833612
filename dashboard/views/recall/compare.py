"""Two presets side by side for one cue: who enters, who leaves, and how ranks move."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping

import streamlit as st

from memory_system import PRESETS, AgentMemory, Candidate, MemorySystemError, Preset, Query
from memory_system.agent_parts import OWN_SETTINGS
from memory_system.recall import MOST_JUDGED, Versus, versus

from ... import words
from ...components import widgets
from ...data import tables
from . import judge
from .controls import OWN, own_preset

NOW = "as set above"
NEITHER = "Neither recalls any memory."
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
    if st.toggle(words.BLIND_TEST, key="compare-blind", help="Judge both answers without seeing which is whose."):
        if left == right:
            st.caption(words.CHOOSE_TWO)
            return
        widgets.lead(words.OVER_A_TALK, "recall", agent.name, "forum", talk="last")
        _blind(agent, query, {hit.entry.id: hit for answer in answers for hit in answer})
        _ahead(agent, query, left, right, presets)
        return
    frame = tables.compared(*answers)
    if frame.empty:
        st.caption(NEITHER)
        return
    counts = frame["change"].value_counts()
    parts = [
        f"{counts[verb]} {verb if counts[verb] == 1 else plural}" for verb, plural in _VERBS.items() if verb in counts
    ]
    st.caption(f"From “{left}” to “{right}”: {', '.join(parts)}.")
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


def _blind(agent: AgentMemory, query: Query, hits: dict[str, Candidate]) -> None:
    """A thumb for each memory that either recalls, in an order that gives nothing away."""
    if not hits:
        st.caption(NEITHER)
    shuffled = sorted(hits.values(), key=lambda hit: zlib.crc32(f"{query.cue}{hit.entry.id}".encode()))
    judge.rows(agent, query.cue.strip(), shuffled, blind=True)


def _ahead(agent: AgentMemory, query: Query, left: str, right: str, presets: Mapping[str, Preset]) -> None:
    """What all thumbs say about the two, on request."""
    if not st.button(words.WHO_IS_AHEAD, icon=":material/balance:", help="In Python: AgentMemory.versus"):
        return
    try:
        if NOW in (left, right):
            found = _counted(agent, query, presets[left], presets[right])
        else:
            first, second = (OWN_SETTINGS if name == OWN else name for name in (left, right))
            found = agent.versus(first, second, now=query.now, top_k=query.top_k)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    tell(found, left, right, "cue")


def _counted(agent: AgentMemory, query: Query, first: Preset, second: Preset) -> Versus:
    """Like ``AgentMemory.versus``, which knows no sliders, with all other settings above for both."""

    def recalled(cue: str, preset: Preset) -> list[str]:
        asked = dataclasses.replace(query, cue=cue, instances=(), unexpanded="").by(preset)
        return [hit.entry.id for hit in agent.answer(asked).hits]

    judged = agent.judgments[-MOST_JUDGED:]
    return versus((judgment, recalled(judgment.cue, first), recalled(judgment.cue, second)) for judgment in judged)


def tell(found: Versus, left: str, right: str, what: str, few: str = "") -> None:
    """Show on how many judged cues or lines either is better, and whether that can be chance.

    Args:
        found: the result of the thumbs.
        left: the name of the first.
        right: the name of the second.
        what: what is judged, a "cue" or a "line".
        few: a sentence that there are too few of them, instead of how many are needed.
    """
    if judged := found.first + found.second + found.equal:
        counted = tables.counted(judged, f"judged {what}", f"judged {what}s")
        st.text(
            f"“{left}” is better on {found.first}, “{right}” on {found.second}, neither on {found.equal} of {counted}."
        )
        st.caption(_chance(found, what, few))
    else:
        st.text(f"No {what} has been judged to the end yet.")
    if found.unjudged:
        missing = tables.counted(found.unjudged, what, f"{what}s")
        st.caption(f"Not counted, because thumbs are missing: {missing}.")


def _chance(found: Versus, what: str, few: str) -> str:
    if not found.needed:
        return f"That is unlikely to be chance (p = {found.p_value:.3f})."
    more = tables.counted(found.needed, f"more {what}", f"more {what}s")
    needed = few or f"Judge about {more} on which one of them is better."
    return f"That can be chance (p = {found.p_value:.2f}). {needed}"
