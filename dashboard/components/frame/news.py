"""What others have changed since the page was drawn: a pill says how much, and a click draws the page again.

A page is never redrawn by itself: that would remove what is being typed or read. The pill floats, so that nothing moves
when it appears. The browser listens for news on a socket, and only what it hears makes anything run here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from memory_system import MemorySystemError

from ... import session, words
from ...data import zone
from ...server.newsfeed import ELSEWHERE, PATH, clock_of, news_of
from .. import mounting, widgets, working

_MOST = 99
_KEY, _CLOCK, _BY_ITSELF = "news", "news-clock", "news-clock-moves"
_SET = "The world's clock or its time zone was changed after this page was drawn, so times here are older."
_OTHER = "Somebody has switched to another world. Nothing you do on this page reaches it."


@contextmanager
def watched() -> Iterator[None]:
    """Draw a page within the block; from then on a pill appears as soon as others change the agent or the clock.

    In the past there is no news, since nobody changes it.
    """
    if session.moment() is not None:
        yield
        return
    agent = session.present()
    st.session_state[_KEY] = agent.stamp[0]
    know_clock()
    _pill(agent.name)
    yield


def know_clock() -> None:
    """Count how the clock goes now as known to this page, which has set it or shows it."""
    st.session_state[_CLOCK] = clock_of(session.world())


def expect_time_to_pass(work: working.Work | None) -> None:
    """While this work runs, which was begun here, nobody has to be told here that the clock moves."""
    st.session_state[_BY_ITSELF] = work


def _time_set() -> bool:
    """Whether others have set, stopped or started the clock since the page was drawn, or chosen another zone."""
    work = st.session_state.get(_BY_ITSELF)
    moves = work is not None and work.running
    return not moves and st.session_state.get(_CLOCK) != clock_of(session.world())


def _of_others(name: str) -> int:
    """How many changes others have made since the page was drawn; none if the agent is gone; the next run says so.

    Own ones are recognised by their ids, which are known before anybody can see the change: a page may save in a
    callback, in a fragment or by work in the background, and two people may be on the same page.
    """
    seen, made = int(st.session_state.get(_KEY, 0)), session.own_changes()
    try:
        agent = session.world().agent(name)
        count = agent.stamp[0] - seen
        if count <= 0 or not made or count > _MOST + len(made):
            return count
        return sum(change_set.id not in made for change_set in agent.timeline.told_since(seen))
    except MemorySystemError:
        return 0


@st.fragment
def _pill(name: str) -> None:
    """The pill, if there is news; drawn again whenever the browser hears other news than this."""
    other = session.elsewhere()
    _listen(name, ELSEWHERE if other else _news(name))
    place = st.container(key=_KEY)
    place.html("<i></i>")  # an empty container is not drawn, so everything below would move when it fills
    if other:
        label = widgets.plain(f"{other} is open now · {words.SHOW_IT}")
        if place.button(label, key=f"{_KEY}-world", icon=":material/public:", type="primary", help=_OTHER):
            st.rerun()
        return
    count = _of_others(name)
    if count > 0:
        told = f"{count if count <= _MOST else f'{_MOST}+'} new {'change' if count == 1 else 'changes'}"
        why = "A game or another person has changed this memory since the page was drawn."
    elif _time_set():
        told, why = f"{words.WORLD_TIME}: {zone.stamp(session.world().clock())}", _SET
    else:
        return
    label = widgets.plain(f"{told} · Refresh")
    if place.button(label, key=f"{_KEY}-refresh", icon=":material/refresh:", type="primary", help=why):
        st.rerun()


def _listen(name: str, news: str) -> None:
    """Let the browser listen for other news than this; it reports it, and that redraws the pill."""
    mounting.show("listener", {"path": PATH, "agent": name, "news": news}, _drawn)


def _drawn(heard: Any) -> None:
    """Nothing to do: hearing something already redraws the pill."""


def _news(name: str) -> str:
    """What there is to know at present; nothing if the agent is gone, which the next run will report."""
    try:
        return news_of(session.world(), name)
    except MemorySystemError:
        return ""
