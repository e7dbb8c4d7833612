"""Memories without a rating: how many there are, the button that rates them, and the work in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import streamlit as st

from memory_system import AgentMemory
from memory_system.agent_parts import Rerated
from memory_system.core import real_clock
from memory_system.world import Rerating

from .. import session
from ..data import tables
from . import bulk, widgets, working

OPERATION = "Rate"
"""Its name in links to the Operations page."""
_SECONDS = 2.0
_MOST = 50
_KIND = "rate"
"""The operation of a change set of ratings."""
_PIECES = 200
"""How many changes are searched for those made while it was running."""


def section(agent: AgentMemory) -> None:
    """How many are unrated, rating them with its progress, the result, and the work in the background."""
    st.text(
        "Memories are stored without a rating when the language model fails. Ratings made"
        " here are stored as they come: you can stop and continue later."
    )
    st.caption(widgets.plain(f"Language model: {agent.model.label}"))
    if widgets.closed(agent):
        return
    name = f"rate-{agent.name}"
    work = working.of(name)
    if work is not None and work.running:
        working.bar(name)
        _background()
        return
    if work is not None:
        working.put_away(name)
        _ended(agent, work)
    waiting = agent.unrated()
    if not waiting:
        widgets.empty("Every memory is rated.", "New events are rated on arrival.")
    elif st.button(
        f"Rate {tables.counted(len(waiting), 'memory', 'memories')}",
        type="primary",
        icon=":material/star:",
        help="In Python: AgentMemory.rate_unrated",
    ):
        begun = agent.revision
        working.begin(name, lambda show, stop: (begun, agent.rate_unrated(progress=show, cancelled=stop)))
        st.rerun()
    if waiting:
        with st.expander("Show them"):
            for entry in waiting[:_MOST]:
                st.text(f"• {tables.short(entry.document, 160)}")
            if len(waiting) > _MOST:
                st.caption(f"And {len(waiting) - _MOST:,} more.")
    _background()


def _ended(agent: AgentMemory, work: working.Work) -> None:
    """Show the result; the line at the bottom undoes all of its parts at once."""
    if work.problem is not None:
        widgets.problem(work.problem)
    elif work.result is not None:
        begun, done = cast("tuple[int, Rerated]", work.result)
        sentence = f"{tables.counted(len(done.rated), 'memory was', 'memories were')} rated; {done.left:,} remain."
        if done.stopped or done.failed:
            st.warning(widgets.plain(f"{sentence} {done.stopped}".strip()), icon=":material/info:")
        pieces = [
            (agent.name, record.change_set)
            for record in reversed(agent.history(_PIECES))
            if record.revision > begun
            and record.change_set.operation == _KIND
            and record.change_set.author == agent.author
        ]
        bulk.done_to(pieces, sentence, "the ratings")
        if pieces and not (done.stopped or done.failed):
            st.rerun()


@st.fragment(run_every=_SECONDS)
def _background() -> None:
    """The state of the work in the background, redrawn by itself, without the rest of the page."""
    st.caption(widgets.plain(state_in_words(session.world().rerater.state, session.shown_name)))


def state_in_words(state: Rerating, called: Callable[[str], str] = str) -> str:
    """The state of the work in the background, in words; ``called`` returns an agent's name for people."""
    if not state.on:
        return "Background rating is off."
    if state.agent and state.next is None:
        return f"In the background, memories of {called(state.agent)} are being rated: {state.share:.0%}."
    when = "now" if state.next is None else f"in {max(0, round((state.next - real_clock()).total_seconds()))} s"
    if state.problem:
        return f"In the background the last try failed: {state.problem} The next one is {when}."
    return (
        "Memories that could not be rated on arrival are rated in the background once the language model is back; the "
        f"next check is {when}."
    )
