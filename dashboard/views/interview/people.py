"""Whom a character knows: what its core memory begins with when it talks with them, to be edited."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.conversation import Person, describe_person, people
from memory_system.core import ago

from ... import session
from ...components import drafts, widgets
from ...data import tables

_NAME = 100
_MOST = 20_000


def show(agent: AgentMemory) -> None:
    """Everybody whom the character knows, and a field for one more."""
    st.caption(
        "What the character knows of each person, by its personality and from talks. The next talk with them begins "
        "with it; the character adds to it while they talk."
    )
    held = people(agent)
    if not held:
        widgets.empty("It knows nobody yet.", "Talk with it under a name of yours, or add somebody below.", agent)
    for one in held:
        _person(agent, one)
    if agent.read_only is None:
        _another(agent)


def _person(agent: AgentMemory, one: Person) -> None:
    told = [one.relation] if one.relation else []
    told += [f"trust {one.trust:g}"] if one.trust is not None else []
    told += [tables.counted(one.talks, "talk", "talks")] if one.talks else ["no talk yet"]
    told += [f"last {ago(one.last, agent.now)}"] if one.last else []
    with st.container(border=True, gap="small"):
        with st.container(gap=None):
            st.markdown(f"**{widgets.plain(one.name)}**")
            st.caption(widgets.plain(" · ".join(told)))
        label = widgets.plain(f"What it knows of {one.name}")
        draft = drafts.Draft(f"person/{session.place()}/{one.name}", {"text": one.text}, {"text": label})
        text = st.text_area(
            label, max_chars=_MOST, height=100, key=draft.field("text"), label_visibility="collapsed",
            disabled=agent.read_only is not None, persist_state="session", placeholder="Nothing yet.",
        )  # fmt: skip
        if draft.told() and draft.written():
            saved = st.button(
                "Save", key=f"save-{draft.key}", icon=":material/save:", type="primary",
                help="In Python: describe_person(agent, name, text)",
            )  # fmt: skip
            if saved and _described(agent, one.name, text):
                draft.done()
                st.rerun()


def _another(agent: AgentMemory) -> None:
    key = f"person-new-{agent.name}"
    with st.expander("Add somebody", icon=":material/person_add:"):
        name = st.text_input("Name", max_chars=_NAME, key=drafts.turn(f"{key}-name"), persist_state="session")
        text = st.text_area(
            "What it knows of them", max_chars=_MOST, height=100, key=drafts.turn(f"{key}-text"),
            persist_state="session",
        )  # fmt: skip
        added = st.button(
            "Add", type="primary", icon=":material/check:", disabled=not name.strip(), key=f"{key}-do",
            help="In Python: describe_person(agent, name, text)",
        )  # fmt: skip
        if added and _described(agent, name, text):
            drafts.next_turn(f"{key}-name")
            drafts.next_turn(f"{key}-text")
            st.rerun()


def _described(agent: AgentMemory, name: str, text: str) -> bool:
    try:
        describe_person(agent, name, text)
    except MemorySystemError as error:
        widgets.problem(error)
        return False
    widgets.say_next("Written down. The History page can undo it.")
    return True
