"""The Memory page as a timeline: the same box and chips, memories on a time axis, and a scrubber for the past below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from memory_system import AgentMemory, MemoryEntry
from memory_system.core import zone_shown
from memory_system.recall import Explanation

from ... import session
from ...components import mounting
from ...data import life, zone
from ...data.moments import Moment
from . import listing, looking

_MOMENT = "memory-then"
_MOST_FORGOTTEN = 10_000
"""The most forgotten memories that are drawn: the last ones."""


@st.cache_resource(show_spinner=False, max_entries=10)
def _life(place: str, stamp: tuple[int, int], _entries: Sequence[MemoryEntry]) -> life.Life:  # noqa: ARG001
    """All memories by their times, rebuilt when anything has changed."""
    return life.Life(_entries)


@st.cache_resource(show_spinner=False, max_entries=10)
def _forgotten(place: str, stamp: tuple[int, int], _agent: AgentMemory) -> life.Life:  # noqa: ARG001
    """The memories in the bin by their times, rebuilt when anything has changed."""
    return life.Life([memory.entry for memory in _agent.forgotten(_MOST_FORGOTTEN)])


@st.cache_resource(show_spinner=False, max_entries=10)
def _which(
    place: str,  # noqa: ARG001 - it and the next three are the cache's key
    stamp: tuple[int, int],  # noqa: ARG001
    only: tuple[str, ...],  # noqa: ARG001
    words: tuple[str, ...],  # noqa: ARG001
    _life: life.Life,
    _shown: listing.Shown,
) -> npt.NDArray[np.intp]:
    """The positions of the memories that are shown, cached so that zooming does not search again."""
    return _life.which(_shown) if _shown else _life.which()


def drawn(
    agent: AgentMemory,
    at: looking.Looking,
    entries: Sequence[MemoryEntry],
    shown: listing.Shown,
    found: Explanation | None,
) -> dict[str, Any]:
    """What the timeline draws in the viewed window; what a cue recalled is marked.

    Args:
        agent: whose life, as it was at the moment that is viewed.
        at: what is searched for.
        entries: all memories.
        shown: which of them are shown.
        found: the answer to the cue, if there is one.
    """
    present, place, now = session.present(), session.place(), zone.named_here(agent.now)
    gone = listing.FORGOTTEN in at.only
    lived = _forgotten(place, agent.stamp, agent) if gone else _life(place, agent.stamp, entries)
    which = _which(place, agent.stamp, at.only, at.words, lived, shown)
    whole = life.extent(lived, present.now)
    since, until = life.window(at.window, whole, lived.at(at.memory))
    recalled = [candidate.entry.id for candidate in found.candidates if candidate.recalled] if found else []
    return {
        **life.picture(lived, which, since, until, now, recalled),
        "strip": life.strip(lived, which, whole), "first": whole[0], "end": whole[1],
        "now": present.now.timestamp(), "then": None if session.moment() is None else now.timestamp(),
        "offset": _offset(now),
        "zone": zone_shown(now), "memory": at.memory, "turn": at.moved,
        "none": "No matching memories." if lived.entries or gone else "Nothing is remembered yet.",
    }  # fmt: skip


def show(data: Mapping[str, Any]) -> None:
    """Draw it."""
    mounting.show("life", data, _acted)


def _acted(act: Mapping[str, Any]) -> None:
    """Apply what was done in the browser, which may send anything."""
    if (then := act.get("then")) is not None:
        if then == 0 or life.within(then):
            st.session_state[_MOMENT] = then
        return
    if "memory" in act:
        looking.change(memory=str(act["memory"] or ""))
    looking.moved(act)


def follow() -> None:
    """Go to the moment chosen on the scrubber: every page then shows the character as it was."""
    then = st.session_state.pop(_MOMENT, None)
    if then is None:
        return
    session.look_at(Moment(world_time=datetime.fromtimestamp(then, UTC)) if then else None)
    st.rerun()


def _offset(moment: datetime) -> float:
    """How far a moment's zone is ahead of UTC, in seconds."""
    ahead = moment.utcoffset()
    return ahead.total_seconds() if ahead is not None else 0.0
