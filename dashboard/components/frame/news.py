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
from ...server.newsfeed import ELSEWHERE, PATH
from .. import mounting, widgets

_MOST = 99
_KEY = "news"
_OTHER = "Somebody has switched to another world. Nothing you do on this page reaches it."


@contextmanager
def watched() -> Iterator[None]:
    """Draw a page within the block; from then on a pill appears as soon as others change the agent.

    In the past there is no news, since nobody changes it.
    """
    if session.moment() is not None:
        yield
        return
    agent = session.present()
    st.session_state[_KEY] = agent.stamp[0]
    _pill(agent.name)
    yield


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
    """The pill, if there is news; drawn again whenever the browser hears of another revision than this one."""
    other = session.elsewhere()
    revision = ELSEWHERE if other else _revision(name)
    _listen(name, revision)
    place = st.container(key=_KEY)
    place.html("<i></i>")  # an empty container is not drawn, so everything below would move when it fills
    if other:
        label = widgets.plain(f"{other} is open now · {words.SHOW_IT}")
        if place.button(label, key=f"{_KEY}-world", icon=":material/public:", type="primary", help=_OTHER):
            st.rerun()
        return
    count = _of_others(name)
    if count <= 0:
        return
    many = f"{count if count <= _MOST else f'{_MOST}+'} new {'change' if count == 1 else 'changes'}"
    if place.button(
        f"{many} · Refresh",
        key=f"{_KEY}-refresh",
        icon=":material/refresh:",
        type="primary",
        help="A game or another person has changed this memory since the page was drawn.",
    ):
        st.rerun()


def _listen(name: str, revision: int) -> None:
    """Let the browser listen for another revision than this; it reports it, and that redraws the pill."""
    mounting.show("listener", {"path": PATH, "agent": name, "revision": revision}, _drawn)


def _drawn(heard: Any) -> None:
    """Nothing to do: hearing something already redraws the pill."""


def _revision(name: str) -> int:
    """The agent's present revision; 0 if it is gone, which the next run will report."""
    try:
        return session.world().agent(name).stamp[0]
    except MemorySystemError:
        return 0
