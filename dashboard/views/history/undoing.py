"""Undo, redo and going back to a moment: what each would do in numbers, and a choice if later work is in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemorySystemError
from memory_system.operations import Clash
from memory_system.store.journal import Applied

from ... import words
from ...components import bulk, change_set, drafts, widgets
from ...data import change_rows, history_tables, tables


def buttons(agent: AgentMemory, record: Applied) -> None:
    """What can be done about a change: undo it, redo it, or undo everything after it."""
    again = record.undone_by is not None
    label, icon, name = ("Redo", "redo", "redo") if again else ("Undo", "undo", "undo")
    act = agent.redo if again else agent.undo
    try:
        clashes = agent.conflicts(record.revision)
    except MemorySystemError as error:
        st.caption(widgets.plain(error.sentence))
        _go_back(agent, record)
        return
    key = f"choosing-{agent.name}-{record.revision}"
    if not clashes:
        st.session_state.pop(key, None)
        plan = act(record.revision, preview=True)
        why = "" if plan or not plan.kept else f" {plan.kept[0].reason}"
        st.caption(widgets.plain(f"{label}: {history_tables.did(plan, would=True)}{why}"))
    else:
        count = tables.counted(len(clashes), "thing it changed was", "things it changed were")
        st.caption(f"{label}: {count} changed again since. Choose what to do with each.")
    with st.container(horizontal=True):
        pressed = st.button(
            f"{label} …" if clashes else label,
            icon=f":material/{icon}:",
            type="primary",
            key=f"{name}-{record.revision}",
            disabled=not clashes and not plan,
            help=f"In Python: AgentMemory.{name}",
        )
        _go_back_button(agent, record)
    if pressed and not clashes:
        _do(agent, lambda: act(record.revision), label, record.change_set.title)
    elif pressed:
        st.session_state[key] = True
    if clashes and st.session_state.get(key):
        _choose(agent, record, label, act, clashes)
    _go_back_preview(agent, record)


def _do(
    agent: AgentMemory, act: Callable[[], ChangeSet], label: str, title: str, then: Callable[[], None] = lambda: None
) -> None:
    try:
        with st.spinner(widgets.UNDOING if label == "Undo" else "Redoing …"):
            done = act()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    said = {"Undo": "Undone", "Redo": words.DONE_AGAIN}[label]
    then()
    bulk.done(agent, done, f"{said}: {title}. {history_tables.did(done)}")
    st.rerun()


# -- a choice for each thing that later work changed --------------------------------------------------------


@st.fragment
def _choose(
    agent: AgentMemory, record: Applied, label: str, act: Callable[..., ChangeSet], clashes: Sequence[Clash]
) -> None:
    st.markdown("**What should happen to later changes?**")
    st.caption(f"{label} what is ticked, to what is on the right of each arrow; the rest stays as it is now.")
    choices = f"choices-{agent.name}-{record.revision}"
    key = drafts.turn(choices)
    taken = change_set.listed(key, [change_rows.of_clash(clash) for clash in clashes], label=label)
    keep = [clash.key for clash in clashes if clash.key not in taken]
    try:
        plan = act(record.revision, keep=keep, overwrite=list(taken), preview=True)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    with change_set.foot(key):
        st.markdown(widgets.plain(f"With these choices: {history_tables.did(plan, would=True)}"))
        if st.button(
            f"{label} with these choices",
            type="primary",
            icon=":material/check:",
            disabled=not plan,
            help=f"In Python: AgentMemory.{label.lower()}(revision, keep=..., overwrite=...)",
        ):
            _do(agent, lambda: agent.apply(plan), label, record.change_set.title, lambda: drafts.next_turn(choices))
        if st.button("Cancel", icon=":material/close:", key="leave-choices"):
            st.session_state.pop(f"choosing-{agent.name}-{record.revision}", None)
            st.rerun()


# -- back to a moment -----------------------------------------------------------------------------------------


def _back_key(agent: AgentMemory, record: Applied) -> str:
    return f"back-{agent.name}-{record.revision}"


def _go_back(agent: AgentMemory, record: Applied) -> None:
    with st.container(horizontal=True):
        _go_back_button(agent, record)
    _go_back_preview(agent, record)


def _go_back_button(agent: AgentMemory, record: Applied) -> None:
    if st.button(
        "Undo back to here …",
        icon=":material/restore:",
        key=f"to-{record.revision}",
        disabled=agent.stamp[0] <= record.revision,
        help="Restores everything to its state right after this change. In Python: AgentMemory.undo_back_to",
    ):
        st.session_state[_back_key(agent, record)] = agent.undo_back_to(record.revision, preview=True)


def _go_back_preview(agent: AgentMemory, record: Applied) -> None:
    plan: ChangeSet | None = st.session_state.get(_back_key(agent, record))
    if plan is None:
        return
    st.markdown("**Everything as it was right after this change**")
    st.text(history_tables.did(plan, would=True))
    change_set.show(agent, plan, whole=True)
    with change_set.foot(f"back-{record.revision}"):
        if st.button("Apply", type="primary", icon=":material/check:", key="apply-back", disabled=not plan):
            bulk.apply(agent, _back_key(agent, record), plan, f"{plan.title}. {history_tables.did(plan)}")
        if st.button("Cancel", icon=":material/close:", key="leave-back"):
            del st.session_state[_back_key(agent, record)]
            st.rerun()
