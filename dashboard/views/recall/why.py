"""The memory that is open on the Recall page: its verdict, how its score came about, and what would change it."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, Candidate, Query
from memory_system.recall import Explanation
from memory_system.recall.hybrid import Evidence

from ... import words
from ...components import card, widgets
from ...data import figures, tables

OPEN = "recall-open"


def choose(entry_id: str | None) -> None:
    """Make the next run open a memory above the bars, or close it; the table begins again, with nothing selected."""
    st.session_state[OPEN] = entry_id
    st.session_state["recall-round"] = st.session_state.get("recall-round", 0) + 1


def open_memory(entry_id: str | None) -> None:
    """Open a memory, or close it, at once."""
    choose(entry_id)
    st.rerun(scope="fragment")


def opened(agent: AgentMemory, found: Explanation) -> None:
    """Show the memory that is open, if it is a candidate."""
    candidate = found.candidates.of(st.session_state[OPEN]) if st.session_state.get(OPEN) else None
    if candidate is None:
        return
    with st.container(border=True):
        widgets.verdict(candidate)
        if candidate.via:
            st.caption(widgets.plain(f"Found through: {agent.last_version(candidate.via).document}"))
        st.plotly_chart(
            figures.waterfall(candidate.score, found.query.threshold_of(candidate.entry.tier), widgets.ink()),
            config={"displayModeBar": False},
            key="waterfall",
            alt="How the parts of the score add up, beside the threshold",
        )
        _evidence(agent.retrieval.evidence(found.query, candidate.entry.id))
        if candidate.recalled:
            _forecast(agent, found.query, candidate)
        else:
            _ways(agent, found.query, candidate)
    card.show(agent, candidate.entry)
    if st.button(words.CLOSE_THIS_MEMORY, icon=":material/close:"):
        open_memory(None)


def _ways(agent: AgentMemory, query: Query, candidate: Candidate) -> None:
    ways = agent.ways(query, candidate.entry.id)
    st.markdown(f"**{words.WHAT_WOULD_RECALL_IT}**")
    if not ways:
        st.caption("No single setting would recall it.")
        return
    for way in ways:
        st.text(f"• {way.words}")
    st.caption("Smallest change first. Each was tried on its own; nothing was changed.")
    link = {"cue": query.cue, "memory": candidate.entry.id}
    widgets.lead("Try one of them, or keep it for this character", "memory", agent.name, **link)


def _forecast(agent: AgentMemory, query: Query, candidate: Candidate) -> None:
    for _, forecast in agent.retrieval.forecast_of(candidate.entry.id, [query]):
        st.markdown("**If nothing happens**")
        st.caption(widgets.plain(tables.forgetting(forecast)))
        st.plotly_chart(
            figures.forecast([forecast], widgets.ink(), compared="confidence" if query.scoring.confident else "score"),
            config={"displayModeBar": False},
            key="forecast",
            alt="The score of this memory as time passes, beside the threshold",
        )


def _evidence(found: Evidence | None) -> None:
    """What in the memory matched the cue, one line each."""
    lines = tables.evidence(found) if found else []
    if lines:
        with st.expander("Which words and tokens met the cue", expanded=True):
            for line in lines:
                st.text(f"• {line}")
