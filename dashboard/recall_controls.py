"""What is asked on the Recall page: the cue in the link, the sliders kept for the session, one set a character."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import streamlit as st

from memory_system import PRESETS, AgentMemory, Scoring, Weights

from . import session

OWN = "this character's"
_MOST = 2.0


@dataclass(frozen=True)
class Asked:
    """The query as it stands on the page, and which candidates are to be shown."""

    cue: str
    top_k: int
    threshold: float
    now: datetime
    scoring: Scoring
    static_threshold: float
    static_share: float
    shown: str


def cue() -> str:
    """The cue's field; it stands in the link, and a link that is followed fills it."""
    linked = session.from_link("cue")
    if linked and st.session_state.get("cue-linked") != linked:
        st.session_state["cue"] = linked
    with st.form("ask", border=False):
        left, right = st.columns([4, 1], vertical_alignment="bottom")
        text = left.text_input(
            "Cue", key="cue", placeholder="Who has the mill key?", max_chars=2000, persist_state="session"
        )
        right.form_submit_button(
            "Recall", type="primary", icon=":material/search:", width="stretch", shortcut="Ctrl+Enter"
        )
    session.to_link("cue", text)
    st.session_state["cue-linked"] = text
    return text


def controls(agent: AgentMemory, text: str) -> Asked:
    """The sliders, from the character's settings until they are moved."""
    settings = agent.settings

    def key(name: str) -> str:
        return f"{name}-{agent.name}"

    columns = st.columns(3, vertical_alignment="bottom")
    top_k = columns[0].number_input(
        "Top-k: most memories to recall", 0, 100, min(settings.top_k, 100), key=key("top_k"), persist_state="session"
    )
    threshold = columns[1].slider(
        "Threshold a score must exceed", 0.0, 1.5, min(settings.threshold, 1.5), 0.01, key=key("thr"),
        persist_state="session",
    )  # fmt: skip
    shown = columns[2].segmented_control(
        "Show", ["All", "Recalled", "Not recalled"], default="All", required=True, key=key("shown")
    )
    with st.expander("Weights, decay, static memory and time"):
        start = settings.scoring

        def take_preset() -> None:
            chosen = PRESETS.get(st.session_state[key("preset")], start)
            st.session_state[key("recency")] = min(chosen.weights.recency, _MOST)
            st.session_state[key("importance")] = min(chosen.weights.importance, _MOST)
            st.session_state[key("relevancy")] = min(chosen.weights.relevancy, _MOST)
            st.session_state[key("decay")] = max(0.5, min(chosen.decay, 0.999))

        st.segmented_control(
            "Preset", [OWN, *PRESETS], default=OWN, required=True, key=key("preset"), on_change=take_preset,
            help="Sets the sliders below.", persist_state="session",
        )  # fmt: skip
        sliders = st.columns(3)
        weights = [
            column.slider(
                f"Weight of {name}", 0.0, _MOST, min(getattr(start.weights, name), _MOST), 0.05, key=key(name),
                persist_state="session",
            )
            for column, name in zip(sliders, ("recency", "importance", "relevancy"), strict=True)
        ]  # fmt: skip
        decay = sliders[0].slider(
            "Recency kept per hour (decay k)", 0.5, 0.999, max(0.5, min(start.decay, 0.999)), 0.001, "%.3f",
            key=key("decay"), persist_state="session",
        )  # fmt: skip
        static_threshold = sliders[1].slider(
            "Static threshold", 0.0, 1.0, settings.static_threshold, 0.01, key=key("st"), persist_state="session"
        )
        static_share = sliders[2].slider(
            "Share of seats for static memory", 0.0, 1.0, settings.static_share, 0.1, key=key("ss"),
            persist_state="session",
        )  # fmt: skip
        now = _asked_at(agent)
    scoring = Scoring(Weights(*weights), decay)
    return Asked(text, int(top_k), threshold, now, scoring, static_threshold, static_share, str(shown))


def _asked_at(agent: AgentMemory) -> datetime:
    """The time at which it is asked: the world's, or another that is chosen to see what decays until then."""
    world_now = agent.now.astimezone(UTC)
    minute = world_now.replace(second=0, microsecond=0)
    days = st.columns(3)
    day = days[0].date_input("Ask on this day", minute.date(), help="The world's time; later, recency has decayed.")
    hour = days[1].time_input("At this time (UTC)", minute.time())
    asked_at = datetime.combine(day, hour, UTC)
    return world_now if asked_at == minute else asked_at
