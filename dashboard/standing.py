"""How the shown agent stands, above every page: whether it can only be read, and what could be done about it."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError, doctor

from . import session, tables, widgets


def banner(agent: AgentMemory) -> None:
    """Say that nothing can be changed, and why, and offer to begin a new journal; nothing where all is well."""
    if agent.read_only is None:
        return
    with st.container(key="standing"):
        st.warning(
            widgets.plain(f"{tables.visible(agent.display_name)} can only be read. {agent.read_only}"),
            icon=":material/lock:",
        )
        with st.popover("Begin a new journal", icon=":material/healing:"):
            st.caption(
                "A new journal begins with the memories as they are shown here. The damaged one is kept beside it; "
                "what it told of earlier changes cannot be undone any more."
            )
            if st.button("Begin it with what is shown", type="primary", key="begin-anew"):
                _begin_anew(agent)


def _begin_anew(agent: AgentMemory) -> None:
    try:
        problem = doctor.mend(session.world(), agent.name)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if problem is not None:
        st.error(widgets.plain(problem), icon=":material/error:")
        return
    widgets.say_next(f"{agent.name} has a new journal, and can be changed again.")
    st.rerun()
