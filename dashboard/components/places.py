"""Navigation: the places in the sidebar, and the line of links to the pages of a place."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from memory_system import MemorySystemError
from memory_system.core import DEFAULT_WORLD

from .. import session
from ..views import INSTALLATION, PLACES, WORLDS, PageOf, page_of, place_of
from . import compared, widgets

_LOOK = (
    "<style>"
    "[data-testid='stSidebarContent']{display:flex;flex-direction:column}"
    "[data-testid='stSidebarUserContent'],[data-testid='stSidebarUserContent']>div,"
    "[data-testid='stSidebarUserContent']>div>[data-testid='stVerticalBlock']"
    "{flex:1 0 auto;display:flex;flex-direction:column}"
    "[data-testid='stSidebarUserContent']{padding-bottom:1rem!important}"
    "[data-testid='stSidebarUserContent'] [data-testid='stLayoutWrapper']:has(>.st-key-foot){margin-top:auto}"
    "[data-testid='stSidebar'] [class*='st-key-place']{flex:none!important}"
    ":is(.st-key-places,.st-key-foot) a{margin:0;min-height:2rem}"
    ".st-key-place-here a{background:color-mix(in srgb,light-dark(#161513,#efeee8) 10%,transparent)!important}"
    ".st-key-place-here p{font-weight:600}"
    ".st-key-open-history button{padding:0 .5rem;min-height:2rem}"
    ".st-key-open-history button>div{justify-content:flex-start}"
    ".st-key-line{border-bottom:1px solid light-dark(#dcdcd6,#3a3a36);column-gap:1.25rem!important}"
    ".st-key-line a{padding:0;margin:0;min-height:2rem;background:none!important}"
    ".st-key-line a:is(:hover,:focus-visible) p{text-decoration:underline}"
    ":is(.st-key-places,.st-key-foot,.st-key-line) a:focus-visible"
    "{outline:2px solid light-dark(#005a8e,#4aa3d8)!important;outline-offset:1px}"
    ":is(.st-key-places,.st-key-foot,.st-key-line) :is([data-testid='stElementContainer'],"
    "[data-testid='stMarkdownContainer']){margin:0}"
    ".st-key-line :is(p,[aria-current]){font-size:var(--type-text);line-height:2rem;margin:0;white-space:nowrap}"
    ".st-key-line [aria-current]{display:block;font-weight:600;box-shadow:inset 0 -2px light-dark(#005a8e,#4aa3d8)}"
    "@media(max-width:640px){.st-key-line{column-gap:.75rem!important}"
    ".st-key-line :is(p,[aria-current]){font-size:var(--type-small)}}"
    "</style>"
)


def sidebar(room: DeltaGenerator) -> None:
    """The places, in their part of the sidebar; the current one is marked."""
    here = _here()
    place = place_of(here) if here else None
    st.html(_LOOK)
    count()
    with room:
        for target in PLACES:
            with st.container(key="place-here" if target is place else f"place-{target.first.name}", gap=None):
                st.page_link(
                    target.first.script,
                    label=target.title,
                    icon=target.first.icon,
                    width="stretch",
                    query_params=link(),
                )


def count() -> None:
    """Show how many decisions wait, next to the inbox; a page that has found more calls it again.

    With a plus if not all memories have been compared with each other yet. The page itself explains it.
    """
    if waits := _waits():
        st.html(
            f"<style>:is(.st-key-place-inbox,.st-key-place-here) a[href*='inbox']::after{{content:'{waits}'/'';"
            "margin-left:auto;padding:0 .5rem;font-size:var(--type-small);line-height:1.25rem;border-radius:1rem;"
            "font-variant-numeric:tabular-nums;color:light-dark(#161513,#efeee8);"
            "background:color-mix(in srgb,light-dark(#161513,#efeee8) 10%,transparent)}</style>"
        )


def _waits() -> str:
    """How many wait; empty in the past, and while the clock runs fast, so that it slows no page down."""
    if session.moment() is not None or not st.session_state.get("agent") or session.world().speed > 1:
        return ""
    try:
        found, complete = compared.waiting(session.present())
    except MemorySystemError:  # its pages say so
        return ""
    many = len(found.decisions)
    return f"{many}{'' if complete else '+'}" if many else ""


def foot() -> None:
    """The world that is open, with the way to the others; and to the settings for all characters."""
    with st.sidebar.container(key="foot", gap=None):
        st.page_link(
            WORLDS.script, label=widgets.plain(_called()), icon=WORLDS.icon, width="stretch",
            query_params=link(), help="The world that is open. Click to switch, copy or branch it.",
        )  # fmt: skip
        st.page_link(
            INSTALLATION.script, label=INSTALLATION.title, icon=INSTALLATION.icon, width="stretch",
            query_params=link(),
        )  # fmt: skip


def _called() -> str:
    """What the world is called: its title, and its name, too, if somebody chose it."""
    name, title = session.world().name, session.world().about.title
    if not title or name == DEFAULT_WORLD:
        return title or name
    return f"{title} · {name}"


def line() -> None:
    """Links to the other pages of the place that the page belongs to; nothing if it is the only one."""
    here = _here()
    place = place_of(here) if here else None
    if place is None or len(place.pages) < 2:
        return
    with st.container(key="line", horizontal=True, gap=None):
        for page in place.pages:
            label = page.label or page.title
            if page is here:
                st.html(f"<span aria-current='page'>{label}</span>", width="content")
            else:
                st.page_link(page.script, label=label, query_params=link())


def to_memory(name: str, **link: str) -> NoReturn:
    """Go to the page Memory of a character, with the question asked there or the open memory, if any."""
    said = {key: value for key, value in link.items() if value}
    st.switch_page("views/memory/memory.py", query_params={"agent": name, **said})


def _here() -> PageOf | None:
    """The current page; ``None`` if it is drawn without the others."""
    return page_of(str(st.session_state.get("page", "")))


def link() -> dict[str, str]:
    """The parameters of a link that say which character and which moment it is about."""
    then = session.moment()
    return {"agent": str(st.session_state.get("agent", "")), **({} if then is None else then.link())}
