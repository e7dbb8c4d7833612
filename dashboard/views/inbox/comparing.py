"""Memories compared with each other in the background: for all who look, and once for as long as none changes."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, Tier
from memory_system.operations import Progress
from memory_system.operations.duplicates import Look
from memory_system.world import Decision, suspected

from ... import session
from ...components import widgets, working

SOON = 5_000
"""Memories up to which comparing takes a few seconds, so that nobody has to ask for it."""
_RECENT = 20
"""Changes that are looked at for whether any of them is of a memory."""


class _Stopped(Exception):
    """Raised to leave the memories as far as they are compared."""


@st.cache_resource(show_spinner=False)
def _looks(world: str) -> dict[str, tuple[int, Look]]:  # noqa: ARG001 - the world's folder is the cache's key
    return {}


def found(agent: AgentMemory) -> tuple[list[Decision], bool]:
    """What of an agent's memories may be the same or contradict each other, as far as that is known.

    They are compared in the background, which is begun here, or offered where it takes long.

    Returns:
        What was found, and whether that is all: false while they are compared, or as long as nobody asked for it.
    """
    looks, name = _looks(str(session.world().folder)), f"compare-{agent.name}"
    work = working.of(name)
    if work is not None and not work.running:
        working.put_away(name)
        if work.result is not None:
            looks[agent.name] = work.result
        else:
            st.session_state[f"stopped-{name}"] = agent.stamp[0]
        if work.problem is not None:
            widgets.problem(work.problem)
    revision, look = looks.get(agent.name, (-1, None))
    if look is not None and revision != agent.stamp[0] and _same_memories(agent, revision):
        revision = agent.stamp[0]
        looks[agent.name] = revision, look
    held = sum(len(agent.entries(tier)) for tier in (Tier.STM, Tier.LTM))
    if revision != agent.stamp[0] and held > 1:
        soon = held <= SOON and st.session_state.get(f"stopped-{name}") != agent.stamp[0]
        running = working.of(name)
        if running is None and (soon or _asked(held)):
            working.begin(name, lambda show, stop: _compared(agent, show, stop))
        if working.of(name) is not None:
            working.bar(name)
    pairs = [] if look is None else suspected(agent.duplicates.still(look))
    return pairs, held < 2 or revision == agent.stamp[0]


def _asked(held: int) -> bool:
    return st.button(
        f"Compare {held:,} memories", icon=":material/compare_arrows:", type="tertiary",
        help="For duplicates and contradictions. In Python: AgentMemory.suspicions",
    )  # fmt: skip


def _compared(agent: AgentMemory, show: Progress, stop: working.Stop) -> tuple[int, Look] | None:
    """The revision that was looked at and what was found; nothing if it was stopped."""

    def told(done: float, doing: str) -> None:
        if stop():
            raise _Stopped
        show(done, doing)

    revision = agent.stamp[0]
    try:
        return revision, agent.suspicions(ask_model=False, progress=told)
    except _Stopped:
        return None


def _same_memories(agent: AgentMemory, since: int) -> bool:
    """Whether nothing but texts, such as what was put off, has changed since a revision."""
    later = agent.history(_RECENT)
    return later[-1].revision <= since + 1 and not any(
        one.change_set.changes or one.change_set.purges for one in later if one.revision > since
    )
