"""Inbox: pending decisions, each with what accepting it would change, and a way to postpone it."""

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, compared, places, widgets
from dashboard.data import deciding
from dashboard.views.inbox import lines
from memory_system.world import Matter

_STYLE = (
    "<style>[class*='st-key-inbox-line-']{border-bottom:1px solid light-dark(#e4e4de,#33332f);padding:.5rem 0}"
    ".inbox-why{font-size:var(--type-text);line-height:var(--type-text-line);color:light-dark(#5c5c56,#a9a9a1);overflow-wrap:anywhere}"
    ".inbox-why b{font-weight:600;color:light-dark(#161513,#efeee8)}"
    ".st-key-inbox-plan{margin:.5rem 0}"
    ".st-key-inbox-list{gap:0!important}"
    "@media(max-width:640px){[data-testid='stLayoutWrapper']:has(>[class*='st-key-inbox-what-']){"
    "flex:1 1 100%!important;min-width:100%}"
    "[class*='st-key-inbox-line-']{flex-wrap:wrap!important;row-gap:.25rem!important}}</style>"
)
_EVERYBODY = "inbox-everybody"


def _choose() -> None:
    """Put the chosen kinds into the link."""
    session.to_link("kind", ",".join(st.session_state["inbox-kinds"]))
    st.session_state["inbox-linked"] = session.from_link("kind")


agent = session.agent()
widgets.heading("Inbox", "What needs your decision. Accept first shows what would change.", agent)
if session.moment() is not None:
    widgets.empty("Decisions can only be made in the present.", "", agent)
    st.stop()
st.html(_STYLE)
widgets.closed(agent)
st.session_state[_EVERYBODY] = st.session_state.pop(f"{_EVERYBODY}-next", st.session_state.get(_EVERYBODY, False))
if len(session.world().characters()) > 1 and st.toggle(words.EVERYBODY, key=_EVERYBODY):
    with st.container(key="inbox-list"):
        lines.everybody()
    st.stop()

head, listed = st.container(), st.container(key="inbox-list")  # above the progress of comparing
compared.found(agent)
found, complete = compared.waiting(agent)
places.count()  # now including what comparing has found
counts = deciding.counts(found.decisions)
linked = session.from_link("kind")
if linked != st.session_state.get("inbox-linked", ""):
    st.session_state["inbox-kinds"] = [kind for kind in Matter if kind in linked.split(",")]
    st.session_state["inbox-linked"] = linked
chosen: list[Matter] = st.session_state.get("inbox-kinds", [])
offered = [kind for kind in deciding.CHIPS if kind in counts or kind in chosen]
if offered:
    head.pills(
        "Kinds", offered, selection_mode="multi", key="inbox-kinds", label_visibility="collapsed", on_change=_choose,
        format_func=lambda kind: f"{deciding.CHIPS[kind]} {counts.get(kind, 0):,}", persist_state="session",
    )  # fmt: skip
with listed:
    lines.show(agent, found, chosen)
    if not counts and complete:
        widgets.empty(words.NOTHING_WAITS, "Let the world advance a day.", agent, to="overview")
    elif counts and chosen and not any(kind in counts for kind in chosen):
        widgets.empty("Nothing of this kind is waiting.", "Choose another kind above.")
lines.later(agent, found.put_off)
bulk.last()
