"""Memories compared with each other in the background: for all visitors, and once for as long as none changes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import streamlit as st

from memory_system import AgentMemory
from memory_system.core import DECAYING
from memory_system.operations import Progress
from memory_system.operations.duplicates import THRESHOLD, Look
from memory_system.world import Inbox, sorted_out, suspected

from .. import session
from . import widgets, working

SOON = 5_000
"""How many memories can be compared in a few seconds, so that nobody has to ask for it."""
AT_HAND = 500
"""How many can be compared in a few hundredths of a second, so that it is done wherever decisions are counted."""
_RECENT = 20
"""How many changes are checked for one of a memory."""
_MOST = 60
"""How many results are kept per world, for different characters or thresholds."""
_AT_ONCE = 0.5
"""Seconds that a page waits for it before it shows progress."""


@dataclass(frozen=True)
class Compared:
    """What comparing a character's memories found.

    Args:
        look: the suspicions found.
        revision: the change after which they were found.
        asked: whether a language model read the nearest pairs.
        dismissed: what people had dismissed.
        complete: whether no memory has changed since.
    """

    look: Look
    revision: int
    asked: bool
    dismissed: frozenset[Hashable]
    complete: bool = True


class _Stopped(Exception):
    """Raised to stop comparing."""


@st.cache_resource(show_spinner=False)
def _looks(world: str) -> dict[tuple[str, float, bool], Compared]:  # noqa: ARG001 - the world's folder is the key
    return {}


def found(agent: AgentMemory, threshold: float = THRESHOLD, *, ask: bool = False) -> Compared | None:
    """The memories of an agent that may be the same or contradict each other, as far as known.

    They are compared in the background, which starts here, or is offered if it takes long; a language model's answers
    count until it is asked again.

    Args:
        agent: whose memories.
        threshold: the similarity above which two may be the same.
        ask: whether to let the language model read the nearest pairs now.

    Returns:
        The suspicions; ``None`` while memories are compared, or as long as nobody asked for it.
    """
    looks, name = _looks(str(session.world().folder)), f"compare-{agent.name}"
    _take(looks, agent, name)
    count = _memory_count(agent)
    known = _known(looks, agent, threshold)
    if count > 1 and working.of(name) is None and (ask or known is None or not known.complete):
        soon = count <= SOON and st.session_state.get(f"stopped-{name}") != agent.revision
        if ask or soon or _compare_button(count):
            working.begin(name, lambda show, stop: _compared(agent, threshold, show, stop, ask=ask))
            if (begun := working.of(name)) is not None:
                begun.wait(_AT_ONCE)
            _take(looks, agent, name)
            known = _known(looks, agent, threshold)
    if working.of(name) is not None:
        working.bar(name)
    return known


def waiting(agent: AgentMemory) -> tuple[Inbox, bool]:
    """The decisions pending for an agent, including what comparing its memories has found so far.

    Few memories are compared at once; with more than ``AT_HAND``, earlier findings count, and nothing is started.

    Returns:
        The decisions, and whether all memories are compared as they are now.
    """
    looks, count = _looks(str(session.world().folder)), _memory_count(agent)
    known = _known(looks, agent, THRESHOLD)
    if 1 < count <= AT_HAND and (known is None or not known.complete):
        made = Compared(agent.suspicions(ask_model=False), agent.revision, asked=False, dismissed=_dismissed(agent))
        _keep(looks, agent, THRESHOLD, made)
        known = _known(looks, agent, THRESHOLD)
    cheap = session.waiting(agent)

    def with_pairs(owner: AgentMemory) -> Inbox:
        doubted = sorted_out(owner, suspected(owner.duplicates.still(known.look)) if known else [])
        return Inbox(cheap.now, (*cheap.decisions, *doubted.decisions), (*cheap.put_off, *doubted.put_off))

    seen = known and (known.revision, known.asked, len(known.look.suspicions), len(known.look.calls))
    both = session.kept("waiting", agent, with_pairs, cheap.now, seen)
    return both, count <= 1 or (known is not None and known.complete)


def _memory_count(agent: AgentMemory) -> int:
    """How many memories there are to compare; counted once, since the number next to the inbox is on every page."""
    return session.kept("held", agent, lambda owner: sum(len(owner.entries(tier)) for tier in DECAYING))


def _dismissed(agent: AgentMemory) -> frozenset[Hashable]:
    return frozenset(agent.dismissed)


def _take(looks: dict[tuple[str, float, bool], Compared], agent: AgentMemory, name: str) -> None:
    """Store the result of the work, if it has ended."""
    work = working.of(name)
    if work is None or work.running:
        return
    working.put_away(name)
    if work.problem is not None:
        widgets.problem(work.problem)
    if work.result is not None:
        threshold, made = work.result
        _keep(looks, agent, threshold, made)
    else:
        st.session_state[f"stopped-{name}"] = agent.revision


def _keep(looks: dict[tuple[str, float, bool], Compared], agent: AgentMemory, threshold: float, made: Compared) -> None:
    """Store one result, for all visitors."""
    looks.pop((agent.name, threshold, made.asked), None)  # the newest is last
    looks[agent.name, threshold, made.asked] = made
    while len(looks) > _MOST:
        del looks[next(iter(looks))]


def _known(looks: dict[tuple[str, float, bool], Compared], agent: AgentMemory, threshold: float) -> Compared | None:
    """The stored result: what a language model found, and what was found without one since a memory changed."""
    asked, plain = (_kept(looks, (agent.name, threshold, by_model), agent) for by_model in (True, False))
    if asked is None or plain is None or asked.complete:
        return asked or plain
    marks = {suspicion.mark for suspicion in asked.look.suspicions}
    more = (suspicion for suspicion in plain.look.suspicions if suspicion.mark not in marks)
    both = replace(plain.look, suspicions=(*asked.look.suspicions, *more), calls=asked.look.calls)
    return replace(plain, look=both, asked=True)


def _kept(
    looks: dict[tuple[str, float, bool], Compared], key: tuple[str, float, bool], agent: AgentMemory
) -> Compared | None:
    """One result, with whether it is complete: not if a memory has changed, or something dismissed is due again."""
    known, revision = looks.get(key), agent.revision
    if known is not None and known.revision != revision:
        same = known.dismissed <= set(agent.dismissed) and _same_memories(agent, known.revision)
        known = replace(known, complete=same, revision=revision if same else known.revision)
        looks[key] = known
    return known


def _compare_button(count: int) -> bool:
    return st.button(
        f"Compare {count:,} memories", icon=":material/compare_arrows:", type="tertiary",
        help="For duplicates and contradictions. In Python: AgentMemory.suspicions",
    )  # fmt: skip


def _compared(
    agent: AgentMemory, threshold: float, show: Progress, stop: working.Stop, *, ask: bool
) -> tuple[float, Compared] | None:
    """What was found, and with which threshold; ``None`` if it was stopped."""

    def progress(done: float, doing: str) -> None:
        if stop():
            raise _Stopped
        show(done, doing)

    revision, dismissed = agent.revision, _dismissed(agent)
    try:
        look = agent.suspicions(threshold=threshold, ask_model=ask, progress=progress)
    except _Stopped:
        return None
    return threshold, Compared(look, revision, ask, dismissed)


def _same_memories(agent: AgentMemory, since: int) -> bool:
    """Whether nothing but texts, such as postponed decisions, has changed since a revision."""
    later = agent.history(_RECENT)
    return later[-1].revision <= since + 1 and not any(
        record.change_set.changes or record.change_set.purges for record in later if record.revision > since
    )
