"""Something that happened in the world: those who know of it remember it, each in its own words."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError

from ... import session, words
from ...components import bulk, drafts, mounting, widgets
from ...data import tables

_MOST = 32_000


def show(agent: AgentMemory) -> None:
    """Fields for what happened, where, and who knows of it."""
    world, form = session.world(), f"happened/{agent.name}"
    number = drafts.turn(form)
    st.caption(
        "An event that several characters know of: each remembers it in its own words. If nobody is named, everyone at "
        "the place saw it."
    )
    text = st.text_area(
        "What they know of", key=f"happened-{number}", height=90, max_chars=_MOST, persist_state="session",
        placeholder="Tobias Finch sold the mill to Edda Marsh.",
    )  # fmt: skip
    mounting.keep_unsent(f"happened-{number}", form)
    names = world.characters()
    called = session.labels(names).__getitem__
    columns = st.columns(3, vertical_alignment="bottom")
    place = columns[0].text_input("Where", key=f"happened-at-{number}", max_chars=200, persist_state="session")
    saw, heard = (
        column.multiselect(
            label, names, key=f"{key}-{number}", placeholder="Nobody", format_func=called,
            persist_state="session",
        )
        for column, label, key in (
            (columns[1], words.WHO_SAW_IT, "happened-saw"),
            (columns[2], "Who heard it", "happened-heard"),
        )
    )  # fmt: skip
    left, right = st.columns(2, vertical_alignment="bottom")
    told = left.multiselect(
        "Who was told", names, key=f"happened-told-{number}", placeholder="Nobody", format_func=called,
        persist_state="session",
    )  # fmt: skip
    teller = right.text_input("By whom", key=f"happened-by-{number}", max_chars=200, persist_state="session")
    if not st.button(
        words.TELL_THEM, type="primary", icon=":material/campaign:", key=f"happened-do-{agent.name}",
        help="In Python: World.happened", disabled=not text.strip(),
    ):  # fmt: skip
        return
    try:
        with st.spinner("Telling them …"):
            done = world.happened(
                text, at=place, seen_by=saw, heard_by=heard, told=dict.fromkeys(told, teller.strip()),
                author=agent.author,
            )  # fmt: skip
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if not done.known:
        st.info(f"Nobody is at {widgets.plain(done.place)} now: choose who saw it.")
        return
    drafts.next_turn(form)
    who = ", ".join(session.shown_name(knower.agent) for knower in done.known)
    counted = tables.counted(len(done.known), "character remembers", "characters remember")
    bulk.done_to(
        [(knower.agent, knower.added.change_set) for knower in done.known], f"{counted} it: {who}.", f"{counted} it"
    )
    st.rerun()
