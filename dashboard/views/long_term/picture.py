"""The timeline of the Long-term page: what it draws, and the actions there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from memory_system import AgentMemory, Tier

from ... import session
from ...components import mounting
from ...data import life, zone

_SIDES = 4


@dataclass(frozen=True)
class Looking:
    """The part of a life that is viewed.

    Args:
        window: beginning and end, in seconds since 1970; ``None`` = all of it.
        box: the box drawn around memories, as for ``life.inside``; empty if there is none.
        turn: the number of the browser's last request, so that it knows which one is answered.
        memory: the memory that was open the last time; if another one is, the window moves to it.
    """

    window: tuple[float, float] | None = None
    box: tuple[float, ...] = ()
    turn: int = 0
    memory: str = ""


def show(agent: AgentMemory, shown: Collection[str] | None, memory: str) -> list[str]:
    """Draw it; returns the ids of the memories in the box.

    Args:
        agent: whose long-term memories, as they were at the moment that is viewed.
        shown: the ids of those that are shown; ``None`` = all.
        memory: the id of the open memory, or empty.
    """
    key = _key(agent)
    lived = session.kept("life", agent, lambda owner: life.Life(owner.entries(Tier.LTM)))
    which = (
        lived.which()
        if shown is None
        else np.sort(np.array([lived.place[entry_id] for entry_id in shown], dtype=np.intp))
    )
    at: Looking = st.session_state.get(key, Looking())
    whole = life.extent(lived, agent.now)
    since, until = life.window(at.window or whole, whole)
    opened = lived.at(memory)
    if opened is not None and memory != at.memory and not since <= opened <= until:
        since, until = life.window((opened - (until - since) / 2, opened + (until - since) / 2), whole)
        at = replace(at, window=(since, until))
    st.session_state[key] = at = replace(at, memory=memory)

    def acted(act: Mapping[str, Any]) -> None:
        _acted(key, act)

    mounting.show(
        "life",
        {
            **life.picture(lived, which, since, until, zone.named_here(agent.now), [memory]),
            "strip": life.strip(lived, which, whole), "first": whole[0], "end": whole[1],
            "now": agent.now.timestamp(), "memory": memory, "turn": at.turn, "none": "No memories in this window.",
            "boxes": True, "box": at.box or None,
        },
        acted,
        key="long-term-timeline",
    )  # fmt: skip
    return life.inside(lived, which, at.box) if at.box else []


def unbox(agent: AgentMemory) -> None:
    """Remove the box."""
    key = _key(agent)
    st.session_state[key] = replace(st.session_state.get(key, Looking()), box=())


def _key(agent: AgentMemory) -> str:
    return f"ltm-looking-{agent.name}"


def _acted(key: str, act: Mapping[str, Any]) -> None:
    """Apply what was done in the browser, as far as it is valid: it may send anything."""
    at: Looking = st.session_state.get(key, Looking())
    if "memory" in act:
        session.to_link("memory", str(act["memory"] or "") or None)
        at = replace(at, box=())
    if isinstance(box := act.get("box"), list):
        at = replace(at, box=tuple(map(float, box)) if len(box) == _SIDES and life.numbers(box) else ())
    if (wish := life.asked(act)) is not None:
        at = replace(at, window=wish[0], turn=wish[1])
    st.session_state[key] = at
