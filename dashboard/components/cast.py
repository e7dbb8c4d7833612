"""The cast: new characters, copies, other names, deletion and what was deleted."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.core import ago, real_clock

from .. import session, words
from ..data import tables
from . import drafts, widgets


def manage(agent: AgentMemory | None) -> None:
    """Create, copy, rename, delete and restore characters, behind one button; nothing for a viewer."""
    if session.viewing():
        return
    world = session.world()
    with st.popover(words.CHARACTERS, icon=":material/group_add:"):
        st.caption(
            "The name of the file: letters, digits, spaces. The name that others use is part of the personality."
        )
        name = st.text_input("Name", key=drafts.turn("cast-name"), placeholder="ana", persist_state="session")
        with st.container(horizontal=True):
            if st.button("New", icon=":material/add:", disabled=not name.strip()):
                _do(lambda: world.create_agent(name.strip()), name.strip(), f"{name.strip()} was created.")
            if agent is not None and st.button("Copy to this name", disabled=not name.strip()):
                _do(lambda: world.duplicate_agent(agent.name, name.strip()), name.strip(), "The copy was made.")
            if agent is not None and st.button("Rename to this", disabled=not name.strip()):
                _do(lambda: world.rename_agent(agent.name, name.strip()), name.strip(), "It was renamed.")
        if agent is not None and st.button(f"Delete {widgets.plain(agent.name)}", icon=":material/delete:"):
            _do(lambda: world.delete_agent(agent.name), None, f"{agent.name} was deleted. It can be restored here.")
        deleted = world.deleted_agents()
        if deleted:
            st.caption("Deleted:")
        for binned in deleted[:20]:
            label = f"Restore {binned.name}, deleted {ago(binned.deleted_at, real_clock())}"
            if st.button(widgets.plain(label), key=f"restore-{binned.folder.name}", icon=":material/undo:"):
                _do(lambda binned=binned: world.restore_agent(binned), binned.name, f"{binned.name} is back.")  # type: ignore[misc]


def _do(act: Callable[[], object], then: str | None, words: str) -> None:
    """Do it, choose the agent that it is about, and begin the page anew."""
    try:
        act()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    drafts.next_turn("cast-name")
    session.choose_next(then)
    widgets.say_next(tables.visible(words))
    st.rerun()
