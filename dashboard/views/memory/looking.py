"""What is looked for on the Memory page: the box, the chips and the open memory, in the address and for the session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from memory_system.core import parse_time
from memory_system.recall import Way

from ... import session
from ...data import life

LONGEST = 2000
"""Characters that the box takes."""
STEP = 100
"""Rows that are listed at first, and more of at a time."""
TIMELINE = "timeline"
"""How the address says that a timeline is shown, and no list."""
VIEWS = ({"name": "", "label": "List"}, {"name": TIMELINE, "label": "Timeline"})
"""What the page may be, as the browser offers it."""
_HELD, _LINKED, _ACTED, _TRIED = "memory-looking", "memory-linked", "memory-acted", "memory-tried"
_QUOTED = re.compile(r'"([^"]*)"?')


@dataclass(frozen=True)
class Looking:
    """What is searched for.

    Args:
        box: the text in the box.
        only: the names of the chips that are pressed.
        memory: the id of the open memory, or nothing.
        most: how many rows are listed at most.
        turn: the number of the browser's last request, so that it knows which one is answered.
        view: ``timeline``, or nothing for the list.
        window: begin and end of what the timeline shows, in seconds since 1970; ``None`` = as it begins.
        moved: the number of the timeline's last request.
    """

    box: str = ""
    only: tuple[str, ...] = ()
    memory: str = ""
    most: int = STEP
    turn: int = 0
    view: str = ""
    window: tuple[float, float] | None = None
    moved: int = 0

    @property
    def cue(self) -> str:
        """What memory is asked: the box without what is quoted in it."""
        return " ".join(_QUOTED.sub(" ", self.box).split())

    @property
    def words(self) -> tuple[str, ...]:
        """What is quoted in the box, which every listed memory contains."""
        return tuple(one.casefold() for one in map(str.strip, _QUOTED.findall(self.box)) if one)

    def link(self) -> dict[str, str]:
        """What the address says of it."""
        told = {"cue": self.box, "show": ",".join(self.only), "memory": self.memory, "layout": self.view, "window": ""}
        if self.window is not None and self.view:
            told["window"] = "~".join(f"{_at(second):%Y-%m-%dT%H:%MZ}" for second in self.window)
        return told


def now() -> Looking:
    """What is searched for: the last request here, unless a link was followed to something else."""
    looking: Looking = st.session_state.get(_HELD, Looking())
    told = {name: session.from_link(name) for name in looking.link()}
    acted = st.session_state.pop(_ACTED, False)
    came = st.session_state.get("page-before") != session.WORKBENCH
    followed = told != st.session_state.get(_LINKED) and (any(told.values()) or not came)
    if followed and not acted:
        only = tuple(one for one in told["show"].split(",") if one)
        looking = replace(
            Looking(told["cue"][:LONGEST], only, told["memory"]), turn=looking.turn, moved=looking.moved,
            view=TIMELINE if told["layout"] == TIMELINE else "", window=_window(told["window"]),
        )  # fmt: skip
    elif came and not acted:
        looking = replace(looking, memory=told["memory"])
    st.session_state[_HELD] = looking
    for name, value in looking.link().items():
        session.to_link(name, value)
    st.session_state[_LINKED] = looking.link()
    return looking


def _at(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def _window(told: str) -> tuple[float, float] | None:
    """What an address says of the timeline's window; nothing if it makes no sense."""
    try:
        begin, end = (parse_time(one).timestamp() for one in told.split("~"))
    except (ValueError, OverflowError):
        return None
    return (begin, end) if begin < end else None


def moved(act: Mapping[str, Any]) -> None:
    """Accept the window that the timeline in the browser requests, as far as it is valid."""
    if (wish := life.asked(act)) is not None:
        change(window=wish[0], moved=wish[1])


def change(**changed: Any) -> None:
    """Let the next run look for something else; for callbacks."""
    st.session_state[_HELD] = replace(st.session_state.get(_HELD, Looking()), **changed)
    st.session_state[_ACTED] = True


def wanted(asked: Mapping[str, Any]) -> None:
    """Accept what the list in the browser requests, as far as it is valid: it may send anything."""
    box, memory, only = (asked.get(name) for name in ("cue", "memory", "only"))
    most, turn = (asked.get(name) if isinstance(asked.get(name), int) else 0 for name in ("most", "turn"))
    if asked.get("stop"):
        drop()
    change(
        box=str(box or "")[:LONGEST],
        memory=str(memory or ""),
        only=tuple(map(str, only)) if isinstance(only, list) else (),
        most=max(STEP, most or 0),
        turn=turn or 0,
        view=TIMELINE if asked.get("view") == TIMELINE else "",
    )


def try_out(place: str, cue: str, way: Way) -> None:
    """Ask this cue with the one change of a way from now on."""
    st.session_state[_TRIED] = place, cue, way


def acted() -> None:
    """The next run goes on with what is looked for: the address may not be heard of yet; for callbacks."""
    st.session_state[_ACTED] = True


def drop() -> None:
    """Ask with the character's settings again."""
    st.session_state.pop(_TRIED, None)


def tried(place: str, cue: str) -> Way | None:
    """The way that is tried for this cue, if one is."""
    held = st.session_state.get(_TRIED)
    if held is None or held[:2] != (place, cue):
        drop()
        return None
    way: Way = held[2]
    return way
