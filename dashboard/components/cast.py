"""The cast: creating, copying, renaming, deleting and restoring characters."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.core import ago, real_clock

from .. import session, words
from ..data import tables
from . import bulk, drafts, widgets


def manage(agent: AgentMemory | None) -> None:
    """Create, copy, rename, delete and restore characters, behind one button; nothing for a viewer.

    If there is no character, only deleted ones are offered, if there are any.
    """
    if session.viewing():
        return
    world = session.world()
    deleted = world.deleted_agents()
    if agent is None and not deleted:
        return
    with st.popover(_called(agent is not None), icon=":material/group_add:", key=drafts.turn("cast")):
        if agent is not None:
            _of(agent)
        if deleted:
            st.caption("Deleted:")
        for binned in deleted[:20]:
            label = f"Restore {binned.name}, deleted {ago(binned.deleted_at, real_clock())}"
            if st.button(widgets.plain(label), key=f"restore-{binned.folder.name}", icon=":material/undo:"):
                _do(lambda binned=binned: made(world.restore_agent(binned), f"{binned.name} is back"))  # type: ignore[misc]


def _called(others: bool) -> str:
    """The label of the button, with and without other characters."""
    return words.CHARACTERS if others else "Deleted characters"


def _of(agent: AgentMemory) -> None:
    """The field for a name, and the actions with it and with the open character."""
    world = session.world()
    st.caption("The name of the file: letters, digits, spaces. The name that others use is part of the personality.")
    name = st.text_input("Name", key=drafts.turn("cast-name"), placeholder="ana", persist_state="session")
    with st.container(horizontal=True):
        new_name = name.strip()
        if st.button("New", icon=":material/add:", disabled=not new_name):
            _do(lambda: made(world.create_agent(new_name), f"{new_name} was created"))
        if st.button("Copy to this name", disabled=not new_name):
            _do(lambda: made(world.duplicate_agent(agent.name, new_name), "The copy was made"))
        if st.button("Rename to this", disabled=not new_name):
            _do(lambda: _renamed(agent.name, new_name))
    if st.button(f"Delete {widgets.plain(agent.name)}", icon=":material/delete:"):
        _do(lambda: _deleted(agent.name))


def made(agent: AgentMemory, sentence: str) -> None:
    """Make the line at the bottom show that a character was made; its undo moves it to the bin."""
    world, name, revision = session.world(), agent.name, agent.revision
    where = _called(len(world.agents()) > 1)

    def undo() -> None:
        world.delete_agent(name)
        session.choose_next(None)

    bulk.did(
        tables.visible(sentence), undo, f"{name} was taken back. It can be restored under “{where}”.",
        holds=lambda: name in world.agents() and world.agent(name).revision == revision, where="World.delete_agent",
    )  # fmt: skip
    session.choose_next(name)


def _renamed(name: str, to: str) -> None:
    world = session.world()
    now = world.rename_agent(name, to).name

    def undo() -> None:
        session.choose_next(world.rename_agent(now, name).name)

    bulk.did(
        "It was renamed", undo, "It has its former name.", holds=lambda: now in world.agents(),
        where="World.rename_agent",
    )  # fmt: skip
    session.choose_next(now)


def _deleted(name: str) -> None:
    world = session.world()
    binned = world.delete_agent(name)

    def undo() -> None:
        session.choose_next(world.restore_agent(binned).name)

    bulk.did(
        tables.visible(f"{name} was deleted"), undo, tables.visible(f"{name} is back."),
        holds=lambda: binned in world.deleted_agents(), where="World.restore_agent",
    )  # fmt: skip
    session.choose_next(None)


def _do(act: Callable[[], None]) -> None:
    """Do it and rerun the page, or say why not."""
    try:
        act()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    drafts.next_turn("cast-name")
    drafts.next_turn("cast")  # a new popover, which is closed
    st.rerun()
