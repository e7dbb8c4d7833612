"""The tour and presenter mode: a bar at the foot of real pages leads from step to step, and hides distractions.

The one change that either makes is undone when it ends, even if it ends because the browser is closed, and at the
next start if the program ended first.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from memory_system import AgentMemory, MemorySystemError, World

from ... import session, words
from ...data import showing as steps_of
from ...data.showing import Found, Kind, Scene, Step
from ...views import PAGES
from .. import mounting, widgets

_HELD, _LINKED, _ACT, _OFFER = "showing-now", "showing-linked", "showing-act", "showing-offer"
_AUTHORS = {Kind.TOUR: "tour", Kind.PRESENT: "presenter"}
_SCRIPTS = {page.name: page.script for page in PAGES}
_FIRST = PAGES[0]
_LARGEST = 4
"""The most digits of a step's number in an address."""
_ROOM = (
    "<style>:root{--show-foot:112px}[data-testid='stLayoutWrapper']:has(>.st-key-showing-bar){position:absolute;height:0}"
    ".st-key-showing-bar{position:fixed;left:0;right:0;bottom:0;z-index:1050;width:auto!important}"
    "[data-testid='stMain'] [data-testid='stMainBlockContainer']{padding-bottom:var(--show-foot)!important}"
    ".st-key-last-act{bottom:6.5rem!important}</style>"
)
_LARGE = (
    "<style>:root{--show:1;--show-foot:160px}html{font-size:clamp(16px,.75rem + .6vw,24px)!important}"
    "@media(min-width:1000px){:root{--show:1.2}}@media(min-width:1800px){:root{--show:1.4}}"
    "[data-testid='stSidebar'],[data-testid='stHeader'],[data-testid='stExpandSidebarButton'],.st-key-look-open,"
    ".st-key-line,.st-key-memory-acts,.st-key-lines-ways,.st-key-news{display:none!important}"
    "[data-testid='stApp'] [data-testid='stMainBlockContainer']{padding-top:1rem!important}"
    "</style>"
)


@dataclass(frozen=True)
class _Showing:
    """What is shown, and at which step; ``made`` is the agent and revision of the change until it is undone."""

    kind: Kind
    number: int = 1
    made: tuple[str, int] | None = None


class _Standing:
    """The change of a browser session that is yet to be undone."""

    def __init__(self) -> None:
        self.change: tuple[World, str, str, int] | None = None

    def take_back(self) -> None:
        """Undo it, since nobody else can any more; not in the server's thread, which must not wait for the store."""
        if self.change is not None:
            threading.Thread(target=_take_back, args=self.change).start()
            self.change = None


@st.cache_resource(scope="session", on_release=_Standing.take_back, show_spinner=False)
def _standing() -> _Standing:
    return _Standing()


@st.cache_resource(show_spinner=False)
def _swept(folder: str) -> str:
    """Undo what a program that ended in the middle of a tour left behind; once, before anybody begins another."""
    world = session.opened()
    for name in world.agents():
        for author in _AUTHORS.values():
            with suppress(MemorySystemError):  # the pages of the character say so
                for record in world.agent(name).history(1, author=author):
                    if record.undone_by is None and record.change_set.undoes is None:
                        _take_back(world, name, author, record.revision)
    return folder


def _take_back(world: World, name: str, author: str, revision: int) -> None:
    """Undo a change if nobody has; if it cannot be undone, it stays in the history, with its author."""
    with suppress(MemorySystemError):
        agent = world.agent(name).acting_as(author)
        if agent.change(revision).undone_by is None:
            agent.undo(revision)


def presenting() -> bool:
    """Whether a presenter is showing the pages, so that nothing else is offered."""
    showing = _current_showing()
    return showing is not None and showing.kind is Kind.PRESENT


def scene() -> Scene | None:
    """The part of the World page that is shown on its own; ``None`` = all of it."""
    if not presenting():
        return None
    return Scene.ASKED if session.from_link("scene") == Scene.ASKED else Scene.DAY


def begin(kind: Kind) -> None:
    """Show the first step, in the present."""
    session.look_at(None)
    _end()
    st.session_state.pop(_found_key(), None)
    st.session_state[_HELD] = _Showing(kind)
    _go(1)


def settle() -> None:
    """Apply the address and what was pressed in the bar; call it before anything is drawn."""
    _swept(str(session.world().folder))
    _follow()
    act = st.session_state.pop(_ACT, None)
    showing = _current_showing()
    if showing is None:
        return
    if act is not None:
        _do(showing, act)
    _link(_current_showing() or showing)


def bar() -> None:
    """The bar, if there is a showing."""
    showing = _current_showing()
    if showing is None:
        return
    agent, steps = session.present(), _steps(showing.kind)
    step = steps[showing.number - 1]
    st.html(_ROOM + (_LARGE if presenting() else ""))
    last = showing.number == len(steps)
    act, text = _offered(showing, step, agent)
    with st.container(key="showing-bar"):
        mounting.show(
            "showing",
            {
                "label": words.TAKE_THE_TOUR if showing.kind is Kind.TOUR else words.PRESENTER_MODE,
                "at": f"{showing.number} of {len(steps)}", "number": showing.number, "title": step.title, "told": text,
                "act": act, "back": showing.number > 1, "next": "" if last and presenting() else
                words.FINISH if last else words.NEXT, "last": last, "keys": presenting(), "leave": "Leave",
            },
            _acted,
        )  # fmt: skip


def offer() -> None:
    """Offer the tour to newcomers, until it was taken or declined."""
    world = session.world()
    if _current_showing() is not None or session.moment() is not None or world.welcomed or st.session_state.get(_OFFER):
        return
    viewing = session.viewing()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tour-offer"):
        st.caption(
            f":material/waving_hand: New here? Five steps{'; the last one undoes what you changed' * (not viewing)}.",
            width="content",
        )
        if st.button(words.TAKE_THE_TOUR, type="tertiary", icon=":material/explore:", key="tour-take"):
            begin(Kind.TOUR)
        if st.button("No, thanks", type="tertiary", icon=":material/close:", key="tour-no"):
            _welcomed()
            st.rerun()


def opener() -> None:
    """The buttons that begin either, on the page of settings."""
    with st.container(horizontal=True, gap="small", key="showing-open"):
        for kind, label, icon in (
            (Kind.TOUR, words.TAKE_THE_TOUR, ":material/explore:"),
            (Kind.PRESENT, words.PRESENTER_MODE, ":material/present_to_all:"),
        ):
            if st.button(label, type="tertiary", icon=icon, key=f"open-{kind.value}"):
                begin(kind)


def _current_showing() -> _Showing | None:
    found: _Showing | None = st.session_state.get(_HELD)
    return found


def _follow() -> None:
    """Begin, or go to the step, that a followed address names."""
    for kind in Kind:
        asked = session.from_link(kind.value)
        if not asked or (kind.value, asked) == st.session_state.get(_LINKED):
            continue
        showing = _current_showing()
        number = int(asked) if asked.isdecimal() and len(asked) <= _LARGEST else 1
        same = showing if showing is not None and showing.kind is kind else _Showing(kind)
        number = steps_of.at(_steps(kind), number)
        st.session_state[_HELD] = replace(same, number=number)
        step = _steps(kind)[number - 1]
        there = all(session.from_link(name) == value for name, value in step.link.items())
        if st.session_state.get("page") == _FIRST.title and not (step.page == _FIRST.name and there):
            _go(number)


def _link(showing: _Showing) -> None:
    """Make the address name the step, on any page."""
    number = steps_of.at(_steps(showing.kind), showing.number)  # changes by others may leave fewer steps
    st.session_state[_HELD] = replace(showing, number=number)
    for kind in Kind:
        session.to_link(kind.value, str(number) if kind is showing.kind else None)
    st.session_state[_LINKED] = showing.kind.value, str(number)


def _go(number: int) -> None:
    """Show a step: its page, with its address."""
    showing = _current_showing()
    if showing is None:
        return
    steps = _steps(showing.kind)
    number = steps_of.at(steps, number)
    if showing.kind is Kind.PRESENT and number != showing.number:
        showing = _undone(showing)
    st.session_state[_HELD] = showing = replace(showing, number=number)
    step = steps[number - 1]
    link = {"agent": str(st.session_state["agent"]), showing.kind.value: str(number), **step.link}
    if step.page == "history" and showing.made is not None:
        link["change"] = str(showing.made[1])
    st.session_state[_LINKED] = showing.kind.value, str(number)
    st.switch_page(_SCRIPTS[step.page], query_params=link)


def _do(showing: _Showing, act: Mapping[str, Any]) -> None:
    """Do what was pressed; anything else that a browser may send is ignored."""
    number = act.get("go")
    if act.get("leave") or (isinstance(number, int) and number > len(_steps(showing.kind))):
        _end()
        st.switch_page(_FIRST.script, query_params={"agent": str(st.session_state["agent"])})
    elif isinstance(number, int):
        _go(number)
    elif act.get("act"):
        _change(showing)


def _change(showing: _Showing) -> None:
    """Make the one change, or undo it."""
    step = _steps(showing.kind)[showing.number - 1]
    try:
        if showing.made is not None and step.undoes:
            st.session_state[_HELD] = _undone(showing)
        elif showing.made is None and step.changes:
            found = _found()
            assert found.memory is not None, "a step that changes has its memory"
            agent = _author(showing.kind, session.present().name)
            made = agent.edit_many([found.memory.id], rating=found.rating)
            if made.revision is not None:
                st.session_state[_HELD] = replace(showing, made=(agent.name, made.revision))
                _standing().change = session.opened(), agent.name, _AUTHORS[showing.kind], made.revision
    except MemorySystemError as error:
        widgets.problem(error)


def _undone(showing: _Showing) -> _Showing:
    """The same with its change undone; if that fails, it stays in the history, and the page says so."""
    if showing.made is None:
        return showing
    name, revision = showing.made
    _standing().change = None
    try:
        agent = _author(showing.kind, name)
        if agent.change(revision).undone_by is None:  # somebody may have undone it meanwhile
            agent.undo(revision)
    except MemorySystemError as error:
        widgets.say_next(f"The change of the {_AUTHORS[showing.kind]} is still there: {error.sentence}")
    return replace(showing, made=None)


def _end() -> None:
    """Stop showing; a remaining change is undone, and the tour is not offered any more."""
    showing = _current_showing()
    if showing is None:
        return
    _undone(showing)
    st.session_state.pop(_HELD, None)
    st.session_state.pop(_LINKED, None)
    for kind in Kind:
        session.to_link(kind.value, None)
    if showing.kind is Kind.TOUR:
        _welcomed()


def _welcomed() -> None:
    st.session_state[_OFFER] = True
    if not session.viewing():
        session.world().welcome()


def _author(kind: Kind, name: str) -> AgentMemory:
    """A character whose changes the history shows as the tour's or the presenter's."""
    made = session.own_changes()
    return session.world().agent(name).acting_as(_AUTHORS[kind], lambda change_set: made.add(change_set.id))


def _offered(showing: _Showing, step: Step, agent: AgentMemory) -> tuple[str, str]:
    """What can be pressed at a step, and the text for it."""
    if showing.made is not None:
        if step.undoes:
            return words.UNDO_IT, step.told
        return "", words.CHANGED_IN_THE_TOUR if step.changes else step.told
    if step.changes:
        return f"{words.SET_IMPORTANCE} to {_found().rating}", step.told
    if step.undoes:
        undone = any(record.change_set.author == _AUTHORS[showing.kind] for record in agent.history(1))
        return "", words.AS_IT_WAS if undone else "Nothing was changed along the way. Each line here can be undone."
    return "", step.told


def _acted(act: Mapping[str, Any]) -> None:
    st.session_state[_ACT] = dict(act)


def _found() -> Found:
    """What there is to show about the character; it stays the same while it is shown and changed."""
    agent = session.present()
    key = _found_key()
    found: Found | None = st.session_state.get(key)
    if found is None or found.memory is None or agent.find(found.memory.id) is None:
        found = st.session_state[key] = steps_of.found(agent, session.example_cues(agent.name))
    return found


def _found_key() -> str:
    return f"showing-found-{st.session_state['agent']}"


def _steps(kind: Kind) -> list[Step]:
    about, agent = _found(), session.present()
    last = next(iter(agent.history(1)), None)
    if kind is Kind.TOUR:
        return steps_of.tour(about, last)
    ask = session.example_cues(agent.name)[0]
    return steps_of.moments(about, last, cast=len(session.world().characters()), ask=ask)
