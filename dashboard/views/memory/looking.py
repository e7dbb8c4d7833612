"""The search on the Memory page: the box, the chips and the open memory, in the address and for the session."""

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
"""The most characters in the box."""
STEP = 100
"""How many rows are listed at first, and added at a time."""
TIMELINE = "timeline"
"""The value in the address for the timeline instead of the list."""
VIEWS = ({"name": "", "label": "List"}, {"name": TIMELINE, "label": "Timeline"})
"""The views of the page, as offered in the browser."""
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
        window: beginning and end of the timeline's window, in seconds since 1970; ``None`` = the default.
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
        """The cue: the text in the box without the quoted words."""
        return " ".join(_QUOTED.sub(" ", self.box).split())

    @property
    def words(self) -> tuple[str, ...]:
        """The quoted words in the box, which every listed memory contains."""
        return tuple(phrase.casefold() for phrase in map(str.strip, _QUOTED.findall(self.box)) if phrase)

    def link(self) -> dict[str, str]:
        """Its parameters in the address."""
        parameters = {
            "cue": self.box,
            "show": ",".join(self.only),
            "memory": self.memory,
            "layout": self.view,
            "window": "",
        }
        if self.window is not None and self.view:
            parameters["window"] = "~".join(f"{_at(second):%Y-%m-%dT%H:%MZ}" for second in self.window)
        return parameters


def now() -> Looking:
    """What is searched for: the last request here, unless a link to something else was followed."""
    looking: Looking = st.session_state.get(_HELD, Looking())
    parameters = {name: session.from_link(name) for name in looking.link()}
    acted = st.session_state.pop(_ACTED, False)
    came = st.session_state.get("page-before") != session.WORKBENCH
    followed = parameters != st.session_state.get(_LINKED) and (any(parameters.values()) or not came)
    if followed and not acted:
        only = tuple(name for name in parameters["show"].split(",") if name)
        looking = replace(
            Looking(parameters["cue"][:LONGEST], only, parameters["memory"]), turn=looking.turn, moved=looking.moved,
            view=TIMELINE if parameters["layout"] == TIMELINE else "", window=_window(parameters["window"]),
        )  # fmt: skip
    elif came and not acted:
        looking = replace(looking, memory=parameters["memory"])
    st.session_state[_HELD] = looking
    for name, value in looking.link().items():
        session.to_link(name, value)
    st.session_state[_LINKED] = looking.link()
    return looking


def _at(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def _window(text: str) -> tuple[float, float] | None:
    """The timeline's window from an address; ``None`` if it is invalid."""
    try:
        begin, end = (parse_time(part).timestamp() for part in text.split("~"))
    except (ValueError, OverflowError):
        return None
    return (begin, end) if begin < end else None


def moved(act: Mapping[str, Any]) -> None:
    """Accept the window that the timeline in the browser requests, as far as it is valid."""
    if (wish := life.asked(act)) is not None:
        change(window=wish[0], moved=wish[1])


def change(**changed: Any) -> None:
    """Make the next run search for something else; for callbacks."""
    st.session_state[_HELD] = replace(st.session_state.get(_HELD, Looking()), **changed)
    st.session_state[_ACTED] = True


def accept_request(asked: Mapping[str, Any]) -> None:
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
    """From now on, ask this cue with the one change that a way makes."""
    st.session_state[_TRIED] = place, cue, way


def acted() -> None:
    """Make the next run keep the search, since the new address may not have arrived yet; for callbacks."""
    st.session_state[_ACTED] = True


def drop() -> None:
    """Go back to the character's own settings."""
    st.session_state.pop(_TRIED, None)


def tried(place: str, cue: str) -> Way | None:
    """The way that is tried for this cue, if one is."""
    trial = st.session_state.get(_TRIED)
    if trial is None or trial[:2] != (place, cue):
        drop()
        return None
    way: Way = trial[2]
    return way
