"""The settings of a talk: strategy, budget, levels of pressure, summaries; as fields in a popover."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from memory_system import MemorySystemError
from memory_system.conversation import LEAST_VIRTUAL, MAX_TEMPLATE, TRANSCRIPT, Remember, Strategy, TalkSettings

from ... import words
from ...components import widgets

STRATEGIES = {
    Strategy.VIRTUAL: "Virtual context",
    Strategy.SUMMARY: "Summary",
    Strategy.WINDOW: "Window",
    Strategy.BUFFER: "Buffer",
}
REMEMBER = {Remember.SYNOPSIS: "A synopsis", Remember.TURNS: "Each turn", Remember.NOTHING: "Nothing"}
ABOUT = {
    Strategy.VIRTUAL: "Core memory, the last messages and a running summary; the character edits and searches the rest "
    "by functions, so that the prompt never overflows (MemGPT).",
    Strategy.SUMMARY: "A summary of everything said so far, rewritten every few turns, and the messages since.",
    Strategy.WINDOW: "The last messages; older ones are not in the prompt.",
    Strategy.BUFFER: "Everything that was said, as far as the budget allows.",
}

_LONGEST = 7 * 24 * 60
"""The most minutes of ``TalkSettings.heartbeat``."""


def fields(key: str, settings: TalkSettings) -> TalkSettings | None:
    """The chosen settings; ``None``, with a sentence, if they do not fit together.

    Args:
        key: distinguishes these fields from others.
        settings: what the fields begin with.
    """
    names = list(STRATEGIES)
    strategy = st.segmented_control(
        "Strategy", names, default=settings.strategy, format_func=STRATEGIES.__getitem__, key=f"{key}-strategy",
        persist_state="session", required=True, help="In Python: TalkSettings.strategy",
    )  # fmt: skip
    strategy = Strategy(strategy or settings.strategy)
    st.caption(ABOUT[strategy])
    left, right = st.columns(2)
    least = LEAST_VIRTUAL if strategy is Strategy.VIRTUAL else 500
    budget = left.number_input(
        "Budget in tokens", least, 1_000_000, max(settings.budget, least), 500, key=f"{key}-budget-{least}",
        persist_state="session", help="No prompt exceeds it.",
    )  # fmt: skip
    recalled = right.number_input(
        "Memories that come to mind",
        0,
        50,
        settings.recalled,
        key=f"{key}-recalled",
        persist_state="session",
        help="At each message, at most.",
    )
    remember = st.segmented_control(
        "What a talk leaves in memory", list(REMEMBER), default=settings.remember, format_func=REMEMBER.__getitem__,
        key=f"{key}-remember", persist_state="session", required=True,
        help="An interview leaves nothing. In Python: TalkSettings.remember",
    )  # fmt: skip
    heartbeat = st.number_input(
        words.HEARTBEAT, 0, _LONGEST, settings.heartbeat, 10, key=f"{key}-heartbeat", persist_state="session",
        help="Minutes of the world's time without a word after which the character may speak by itself; 0 means never. "
             "In Python: TalkSettings.heartbeat",
    )  # fmt: skip
    chosen: dict[str, Any] = {"strategy": strategy, "budget": int(budget), "recalled": int(recalled)}
    chosen |= {"remember": remember or settings.remember, "heartbeat": int(heartbeat)}
    chosen |= _own(key, settings, strategy)
    try:
        return replace(settings, **chosen)
    except MemorySystemError as error:
        widgets.problem(error)
        return None


def _own(key: str, settings: TalkSettings, strategy: Strategy) -> dict[str, Any]:
    """The fields that only one strategy has."""
    if strategy is Strategy.VIRTUAL:
        left, right = st.columns(2)
        warn = left.slider(
            "Warn at",
            0.1,
            0.95,
            settings.warn_at,
            0.05,
            key=f"{key}-warn",
            persist_state="session",
            help="Share of the budget.",
        )
        evict = right.slider(
            "Evict at", 0.2, 1.0, settings.evict_at, 0.05, key=f"{key}-evict", persist_state="session",
            help="The oldest half of the messages then goes into the summary.",
        )  # fmt: skip
        most = st.number_input(
            "Functions in one turn, at most", 1, 100, settings.most_calls, key=f"{key}-most", persist_state="session"
        )
        return {"warn_at": warn, "evict_at": evict, "most_calls": int(most)}
    if strategy is Strategy.WINDOW:
        window = st.number_input(
            "Messages that stay", 1, 10_000, settings.window, key=f"{key}-window", persist_state="session"
        )
        return {"window": int(window)}
    if strategy is Strategy.SUMMARY:
        return summarising(key, settings)
    return {}


def summarising(key: str, settings: TalkSettings) -> dict[str, Any]:
    """How often to summarise, and with which prompt."""
    frequency = st.number_input(
        "Summarise every … turns", 1, 1000, settings.summary_frequency, key=f"{key}-frequency", persist_state="session",
        help="In Python: TalkSettings.summary_frequency",
    )  # fmt: skip
    template = st.text_area(
        "Prompt that summarises",
        settings.template,
        max_chars=MAX_TEMPLATE,
        key=f"{key}-template",
        persist_state="session",
        placeholder=f"The default. In your own, {TRANSCRIPT} stands for what is summarised.",
        height=90,
    )
    return {"summary_frequency": int(frequency), "template": template}


def named(settings: TalkSettings) -> str:
    """The strategy in a few words: "summary, every 3 turns"."""
    more = {
        Strategy.WINDOW: f", the last {settings.window}",
        Strategy.SUMMARY: f", every {settings.summary_frequency} turns",
    }
    return STRATEGIES[settings.strategy].lower() + more.get(settings.strategy, "")
