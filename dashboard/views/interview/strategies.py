"""The strategies on the same transcript: tokens per turn, what is kept and what is lost, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.conversation import (
    LEAST_VIRTUAL,
    MAX_MESSAGES,
    Compared,
    Conversation,
    Fate,
    Message,
    Strategy,
    TalkSettings,
    compare,
)
from memory_system.operations import Progress

from ... import session
from ...components import widgets, working
from ...data import tables
from . import talk_figures, talk_settings, talk_tables

WORK = "talk-strategies"
_SAMPLE, _PASTED = "A sample talk", "Lines of your own"
_MOST = 400_000
_LISTED = 60


@dataclass(frozen=True)
class Tried:
    """The result of a comparison: each strategy under its name."""

    names: tuple[str, ...]
    found: tuple[Compared, ...]
    budget: int


def show(agent: AgentMemory) -> None:
    """The transcript and the strategies, and the result of each."""
    st.caption("The same talk under every strategy. Nothing is stored; the language model is only asked for summaries.")
    work = working.of(WORK)
    if work is not None and work.running:
        working.bar(WORK)
        return
    if work is not None:
        working.put_away(WORK)
        if work.problem is not None:
            widgets.problem(work.problem)
        elif work.result is not None:
            st.session_state[f"strategies-{session.place()}"] = work.result
    transcript = _transcript(agent)
    chosen = _chosen()
    if st.button(
        "Compare", type="primary", icon=":material/compare_arrows:", disabled=not (transcript and chosen),
        key="strategies-compare", help="In Python: compare(agent, transcript, settings)",
    ):  # fmt: skip
        _begin(agent, transcript, chosen)
    tried: Tried | None = st.session_state.get(f"strategies-{session.place()}")
    if tried is None or not tried.found:
        widgets.empty("Nothing compared yet.", "Compare shows tokens per turn, and what is kept or lost.")
        return
    _shown(tried)


def _transcript(agent: AgentMemory) -> list[Message]:
    """The talk to replay: a sample, typed lines, or a stored one."""
    talks = {conversation.id: conversation.head for conversation in Conversation.all(agent)}
    source = st.selectbox(
        "Which talk", [_SAMPLE, _PASTED, *talks], key=f"strategies-source-{session.place()}", persist_state="session",
        format_func=lambda option: tables.short(talks[option].title, 80) if option in talks else option,
    )  # fmt: skip
    if source in talks:
        found = list(Conversation.open(agent, str(source)).messages(-MAX_MESSAGES, MAX_MESSAGES))
        count = tables.counted(sum(bool(message.said) for message in found), "message", "messages")
        st.caption(f"{count} of what was said.")
        return found
    sample = (session.SAMPLES / "talk.txt").read_text(encoding="utf-8") if source == _SAMPLE else ""
    with st.expander("The lines", expanded=source == _PASTED):
        text = st.text_area(
            "One message per line, as “Name: what was said”; the first speaker is the person", sample, height=220,
            max_chars=_MOST, key=f"strategies-text-{source}", persist_state="session",
        )  # fmt: skip
    return talk_tables.transcript(text, agent.now)


def _chosen() -> dict[str, TalkSettings]:
    """The settings of each strategy, two of them summaries, so that two templates can be compared."""
    with st.container(horizontal=True):
        budget = st.number_input(
            "Budget in tokens", LEAST_VIRTUAL, 1_000_000, 2000, 100, key="strategies-budget", persist_state="session"
        )
        window = st.number_input(
            "Messages of the window", 1, 10_000, 8, key="strategies-window", persist_state="session"
        )
    left, right = st.columns(2, gap="medium")
    first, second = TalkSettings(Strategy.SUMMARY), TalkSettings(Strategy.SUMMARY, summary_frequency=1)
    try:
        with left, st.container(border=True):
            st.markdown("**Summary**")
            one = talk_settings.summarising("strategies-a", first)
        with right, st.container(border=True):
            st.markdown("**Summary, otherwise**")
            two = talk_settings.summarising("strategies-b", second)
        size = int(budget)
        return {
            "buffer": TalkSettings(Strategy.BUFFER, size),
            f"window, last {window}": TalkSettings(Strategy.WINDOW, size, window=int(window)),
            f"summary, every {one['summary_frequency']}": TalkSettings(Strategy.SUMMARY, size, **one),
            f"otherwise, every {two['summary_frequency']}": TalkSettings(Strategy.SUMMARY, size, **two),
            "virtual": TalkSettings(Strategy.VIRTUAL, size),
        }
    except MemorySystemError as error:
        widgets.problem(error)
        return {}


def _begin(agent: AgentMemory, transcript: list[Message], chosen: dict[str, TalkSettings]) -> None:
    human = transcript[0].speaker or "You"

    def do(tell: Progress, stopped: Callable[[], bool]) -> Tried:
        settings = list(chosen.values())
        found = compare(agent, transcript, settings, human=human, progress=tell, cancelled=stopped)
        return Tried(tuple(chosen)[: len(found)], found, settings[0].budget)

    working.begin(WORK, do)
    if (work := working.of(WORK)) is not None:
        work.wait(1.5)
    st.rerun()


def _shown(tried: Tried) -> None:
    st.plotly_chart(
        talk_figures.tokens_per_turn(talk_tables.growth(tried.names, tried.found), tried.budget, widgets.ink()),
        config={"displayModeBar": False},
        key="strategies-growth",
        alt="Tokens in the prompt of each turn, one line per strategy",
    )
    _fates(tried)
    _summaries(tried)
    _lost(tried)


def _fates(tried: Tried) -> None:
    """Where each strategy has how many messages at the end."""
    frame: pd.DataFrame = talk_tables.fates(tried.names, tried.found)
    numbers = {fate.value: st.column_config.NumberColumn(fate.value.capitalize(), width=130) for fate in Fate}
    widgets.table(
        frame,
        hide_index=True,
        column_config={
            "strategy": st.column_config.TextColumn("Strategy", width=150),
            "last": st.column_config.NumberColumn("Tokens at the end", width=130),
            "most": st.column_config.NumberColumn("At most", width=90),
            **numbers,
        },
    )


def _summaries(tried: Tried) -> None:
    """What each summary says after a turn, side by side."""
    pairs = [(name, run) for name, run in zip(tried.names, tried.found, strict=True) if any(run.summaries)]
    if not pairs:
        return
    most = max(len(run.summaries) for _, run in pairs)
    st.markdown("**What the summaries say**")
    turn = st.slider("After turn", 1, most, most, key=f"strategies-turn-{most}") if most > 1 else 1
    for column, (name, run) in zip(st.columns(len(pairs), gap="small"), pairs, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{widgets.plain(name)}**")
            text = run.summaries[min(turn, len(run.summaries)) - 1]
            st.text(talk_tables.spoken(text) or "(none yet)")
    for name, run in pairs:
        for note in run.notes:
            st.caption(widgets.plain(f"{name}: {note}"))


def _lost(tried: Tried) -> None:
    """What was said and is no longer in the prompt, strategy by strategy."""
    for name, run in zip(tried.names, tried.found, strict=True):
        for fate in (Fate.LOST, Fate.SEARCH):
            if not (gone := run.of(fate)):
                continue
            counted = tables.counted(len(gone), "message", "messages")
            with st.expander(f"{widgets.plain(name.capitalize())}: {counted} {fate.value}"):
                for message in gone[:_LISTED]:
                    st.text(f"{message.number + 1}. {tables.short(f'{message.speaker}: {message.text}', 300)}")
                if len(gone) > _LISTED:
                    st.caption(f"And {len(gone) - _LISTED:,} more.")
