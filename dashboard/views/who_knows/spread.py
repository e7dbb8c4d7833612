"""How a fact spread: who had it first, and an arrow for each telling that is remembered; a click opens the sentence."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from memory_system.world.knows import spread_of

from ... import session, words
from ...components import mounting, places, widgets
from ...data import spreading
from . import grid

_OPENED = "spread-opened"


def follow() -> None:
    """Go to the memory that was opened in a picture."""
    act = mounting.taken(_OPENED)
    if name := mounting.text(act, "name"):
        places.to_memory(name, memory=mounting.text(act, "memory"))


def show(number: int, fact: str, at: datetime | None) -> None:
    """A fact, and how it spread up to a time of the world."""
    cells = grid.cells(fact, at)
    called = session.labels([cell.agent for cell in cells])
    spread = spread_of(session.world(), cells, fact)
    with st.container(border=True, gap="small", key=f"spread-{number}"):
        widgets.text(fact)
        if not spread.knowers:
            widgets.empty(words.NOBODY_KNOWS, "Go on in the story by the slider, or let somebody hear of it.")
            return
        picture = spreading.picture(spread, words.OPEN_MEMORY, session.picture, lambda name: called.get(name, name))
        mounting.show("graph", picture, mounting.keeping(_OPENED), key=f"graph-{number}")
        if spread.unaware:
            st.caption(widgets.plain(f"Does not know: {', '.join(map(called.__getitem__, spread.unaware))}."))
