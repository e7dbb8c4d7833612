"""The header of every page: the character's picture, the picker, a line about it, and the world's clock."""

from __future__ import annotations

from html import escape

import streamlit as st

from memory_system import MemorySystemError

from ... import session, words
from ...data import tables
from ...data.zone import stamp
from . import looking_back

_CLOCK_SECONDS = 5.0
_ROOM = "[data-testid='stHeader']:not(:has([data-testid='stExpandSidebarButton']))"
"""Streamlit's header without the button that reopens a closed sidebar, so while it is empty. Checked on the whole
page, which changes at every step, this would restyle all of it each time."""
_STYLE = (
    "<style>"
    ":root{--head-room:16px}"
    ".st-key-head{padding-bottom:.25rem;border-bottom:1px solid color-mix(in srgb,currentColor 14%,transparent)}"
    "[data-testid='stApp'] [data-testid='stMainBlockContainer']{padding-top:3.75rem}"
    f"{_ROOM}~[data-testid='stMain'] [data-testid='stMainBlockContainer']{{padding-top:.5rem}}"
    f"{_ROOM}{{background:none;pointer-events:none}}"
    f"{_ROOM} :is(button,a){{pointer-events:auto}}"
    ".st-key-head>*{min-width:0}"
    ".head-line{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;opacity:.75;font-size:var(--type-text)}"
    ".head-clock{white-space:nowrap;text-align:right;font-size:var(--type-small);line-height:var(--type-small-line);"
    "font-variant-numeric:tabular-nums}"
    ".head-clock b{display:block;font-size:var(--type-text);line-height:var(--type-text-line);font-weight:600}"
    "@media(max-width:640px){:root{--head-room:76px}.st-key-head{gap:.5rem!important}.head-clock span{display:none}"
    ".st-key-head .st-key-agent{flex:1 1 0!important;width:0!important}"
    ".st-key-head [data-testid='stElementContainer']:has(.head-line){display:none}"
    ".st-key-head [data-testid='stPopover'] button{padding-inline:.5rem}"
    ".st-key-head [data-testid='stPopover'] button p{position:absolute;width:1px;height:1px;overflow:hidden;"
    "clip-path:inset(50%)}}"
    "</style>"
)


def show(*, plain: bool = False) -> None:
    """Draw it, in one row of the same height on every page; ``plain`` = with nothing to choose."""
    names = session.in_turn()
    name = str(st.session_state["agent"])
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head", wrap=False):
        st.html(_STYLE + picture(name), width="content")
        if plain:
            st.html(f"<b>{escape(tables.visible(session.labels(names)[name]))}</b>", width="content")
        else:
            new = [] if session.viewing() else [session.NEW]
            st.selectbox(
                words.CHARACTER, [*names, *new], key="agent", format_func=session.labels(names).__getitem__,
                label_visibility="collapsed", width=230, on_change=session.picked,
            )  # fmt: skip
        st.html(f"<div class='head-line'>{escape(_line())}</div>", width="stretch")
        if session.moment() is None and session.world().speed > 1:
            st.fragment(_clock, run_every=_CLOCK_SECONDS)()
        else:
            _clock()
        if not plain:
            looking_back.control()


def picture(name: str, size: int = 36) -> str:
    """The picture of a character as HTML, that many pixels wide and high."""
    return (
        f"<img class='portrait' alt='' width='{size}' height='{size}' src='{session.picture(name)}' "
        "style='display:block;border-radius:20%'>"
    )


def _line() -> str:
    """Who the character is, in a line: age and profession, if they are known."""
    try:
        personality = session.agent().personality
    except MemorySystemError:  # the page says so
        return ""
    if personality is None:
        return ""
    known = [
        "" if personality.identity.age is None else str(personality.identity.age),
        personality.identity.profession or "",
    ]
    return tables.short(", ".join(filter(None, known)), 120)


def _clock() -> None:
    past = session.moment() is not None
    try:
        at = session.agent().now if past else session.world().clock()
    except MemorySystemError:  # the page says so
        at = session.world().clock()
    day, _, hour = stamp(at).partition(", ")
    says = "then" if past else session.clock_goes().removeprefix("is ")
    goes = f"<span> · {escape(says)}</span>" if says else ""
    label = f"{words.WORLD_TIME}{' then' if past else ''}: {stamp(at)}"
    st.html(
        f"<div class='head-clock' role='img' aria-label='{escape(label)}' title='{escape(label)}'>"
        f"<b>{escape(hour)}</b>{escape(day)}{goes}</div>",
        width="content",
    )
