"""Ablation: a question with everything and with something muted, side by side, and what changed in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from memory_system import AgentMemory, MemoryEntry, MemorySystemError
from memory_system.conversation import CORE, INSTRUCTIONS, SUMMARY, Context, Interview, Step, Strategy, TalkSettings
from memory_system.core import ago

from ... import session, words
from ...components import mounting, widgets
from ...data import diffs, tables
from . import chat, talk_state, talk_tables

BLOCKS = {"persona": words.PERSONA_BLOCK, "human": "Core block: human"}
_MOST = 2000


@dataclass(frozen=True)
class Asked:
    """A question with its answers: with everything and, once asked again, without what was muted."""

    question: str
    whole: Step
    muted: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    again: Step | None = None


def show(agent: AgentMemory) -> None:
    """The question, what can be muted, and both answers."""
    key = f"ablation-{session.place()}"
    st.caption(
        "Ask once, mute a memory that came to mind or a block of core memory, and ask again. "
        "Neither question leaves a trace."
    )
    asked: Asked | None = st.session_state.get(key)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        question = st.text_input(
            "Question",
            asked.question if asked else _first(agent),
            max_chars=_MOST,
            key=f"{key}-question",
            persist_state="session",
            width="stretch",
        )
        sent = st.button(
            "Ask", type="primary", icon=":material/chat:", key=f"{key}-ask",
            help="In Python: Interview(agent).step(text)",
        )  # fmt: skip
    mounting.keep_unsent(f"{key}-question", f"{key}-question", asked.question if asked else _first(agent))
    if sent and not question.strip():
        st.error("Write the question first.", icon=":material/error:")
    elif sent:
        asked = _ask(key, agent, question.strip())
    if asked is None:
        widgets.empty("Nothing has been asked yet.", "Ask, then choose which of the recalled memories to mute.")
        return
    first = st.container()
    muted, without = _choices(agent, key, asked)
    nothing = not (muted or without)
    if st.button(
        words.ASK_AGAIN_WITHOUT_THEM,
        type="primary",
        icon=":material/volume_off:",
        disabled=nothing,
        key=f"{key}-again",
        help="Mute something first." if nothing else "In Python: Interview(agent).step(text, muted=…, without=…)",
    ):
        asked = _again(key, agent, asked, muted, without)
    if asked.again is not None:
        _beside(agent, asked, asked.again)
        return
    with first:
        _answer(words.WITH_EVERYTHING, asked.whole)


def _first(agent: AgentMemory) -> str:
    """The question to begin with: the last one of the interview, or an example."""
    open_talk = talk_state.interview(agent)
    said = [message.text for message in open_talk.last.messages[:1]] if open_talk.last else []
    return said[0] if said else session.example_cues(agent.name)[0]


def _settings(agent: AgentMemory) -> TalkSettings:
    return talk_state.wanted_settings(agent)


def _ask(key: str, agent: AgentMemory, question: str) -> Asked | None:
    try:
        with st.spinner("Asking …"):
            asked = Asked(question, Interview(agent, _settings(agent)).step(question))
    except MemorySystemError as error:
        widgets.problem(error)
        return None
    st.session_state[key] = asked
    for name in [name for name in st.session_state if str(name).startswith(f"{key}-mute-")]:
        del st.session_state[name]
    return asked


def _again(key: str, agent: AgentMemory, asked: Asked, muted: frozenset[str], without: frozenset[str]) -> Asked:
    try:
        with st.spinner("Asking again …"):
            step = Interview(agent, _settings(agent)).step(asked.question, muted=tuple(muted), without=tuple(without))
    except MemorySystemError as error:
        widgets.problem(error)
        return asked
    again = Asked(asked.question, asked.whole, muted, without, step)
    st.session_state[key] = again
    return again


def _choices(agent: AgentMemory, key: str, asked: Asked) -> tuple[frozenset[str], frozenset[str]]:
    """Boxes to mute what came to mind, and the blocks of core memory."""
    st.markdown("**What is muted**")
    muted, without = set[str](), set[str]()
    hits = asked.whole.recalled.hits
    for number, hit in enumerate(hits, start=1):
        details = [tables.tier(hit.entry), f"score {hit.score.total:.2f}"]
        details += [ago(hit.entry.timestamp, agent.now)] if hit.entry.timestamp else []
        words = f"[{number}] {tables.short(hit.entry.document, 160)} · {' · '.join(details)}"
        if st.checkbox(widgets.plain(words), key=f"{key}-mute-{hit.entry.id}"):
            muted.add(hit.entry.id)
    if not hits:
        st.caption("No memory came to mind.")
    if _settings(agent).strategy is Strategy.VIRTUAL:
        with st.container(horizontal=True):
            for block, words in BLOCKS.items():
                if st.checkbox(words, key=f"{key}-mute-block-{block}"):
                    without.add(block)
    return frozenset(muted), frozenset(without)


def _answer(title: str, step: Step) -> None:
    """An answer in a frame, with its cost."""
    with st.container(border=True, height="stretch"):
        st.markdown(f"**{title}**")
        st.text(talk_tables.spoken(step.answer) or "(nothing was said)")
        st.caption(f"{step.context.tokens:,} tokens · {tables.counted(len(step.functions), 'function', 'functions')}")


def _beside(agent: AgentMemory, asked: Asked, again: Step) -> None:
    """Both answers, and what changed: which memories came to mind, and the sections of the prompt."""
    count = len(asked.muted) + len(asked.without)
    for column, title, step in zip(
        st.columns(2, gap="medium"),
        (words.WITH_EVERYTHING, f"Without {tables.counted(count, 'thing', 'things')} that you muted"),
        (asked.whole, again),
        strict=True,
    ):
        with column:
            _answer(title, step)
    for sentence in still_said(
        [hit.entry for hit in asked.whole.recalled if hit.entry.id in asked.muted], again.context
    ):
        st.caption(f":material/info: {widgets.plain(sentence)}")
    st.markdown("**What changed in what came to mind**")
    first, second = (step.recalled.hits for step in (asked.whole, again))
    frame = tables.compared(first, second)
    frame.insert(
        0,
        "what",
        [
            "muted" if entry_id in asked.muted else change
            for entry_id, change in zip(frame["id"], frame["change"], strict=True)
        ],
    )
    picked = widgets.table(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"ablation-changed-{hash((asked.muted, asked.without))}-{st.session_state.get('talk-round', 0)}",
        column_order=["what", "memory", "first", "second", "first score", "second score"],
        column_config={
            "what": st.column_config.TextColumn("Change", width=100),
            "memory": st.column_config.TextColumn("Memory", width=380),
            "first": st.column_config.NumberColumn("Rank", width=70),
            "second": st.column_config.NumberColumn("Rank without", width=110),
            "first score": st.column_config.NumberColumn("Score", format="%.2f", width=80),
            "second score": st.column_config.NumberColumn("Score without", format="%.2f", width=120),
        },
    )
    for row in picked["selection"]["rows"]:
        if row < len(frame):
            st.session_state["talk-round"] = st.session_state.get("talk-round", 0) + 1
            chat.open_card(agent, str(frame.iloc[row]["id"]))
    _prompts(asked, again)


def still_said(muted: Sequence[MemoryEntry], context: Context) -> list[str]:
    """Which muted memories a prompt still has elsewhere: core memory, too, says who a character is."""
    sentences = []
    for name in (CORE, INSTRUCTIONS, SUMMARY):
        section = context.section(name)
        said = " ".join(section.text.split()) if section else ""
        for entry in muted:
            if " ".join(entry.document.split()) in said:
                more = "; mute its block as well" if name == CORE else ""
                sentences.append(
                    f"“{tables.short(entry.document, 80)}” still stands in {talk_tables.TITLES[name]}{more}."
                )
    return sentences


def _prompts(asked: Asked, again: Step) -> None:
    """The sections of both prompts, and their texts word by word where they differ."""
    st.markdown("**What changed in the prompt**")
    frame = talk_tables.changed_sections(asked.whole.context, again.context)
    frame["told"] = ["changed" if changed else "the same" for changed in frame["changed"]]
    widgets.table(
        frame,
        hide_index=True,
        column_order=["section", "told", "first", "second", "difference"],
        column_config={
            "section": st.column_config.TextColumn("Section", width=170),
            "told": st.column_config.TextColumn("Text", width=100),
            "first": st.column_config.NumberColumn("Tokens", width=90),
            "second": st.column_config.NumberColumn("Tokens without", width=130),
            "difference": st.column_config.NumberColumn("Difference", format="%+d", width=110),
        },
    )
    for row in frame[frame["changed"]].to_dict("records"):
        with st.expander(f"{widgets.plain(row['section'].capitalize())}, word by word"):
            st.html(diffs.markup(row["before"], row["after"]))
