"""Undo, redo and going back to a moment: what each would do in numbers, and a choice where later work is in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemoryEntry, MemorySystemError
from memory_system.core import TextChange, text_words
from memory_system.operations import Clash
from memory_system.store.journal import Applied

from ... import words
from ...components import widgets
from ...data import history_tables, tables
from . import change

KEEP, TAKE_BACK = "Keep what is there now", words.TAKE_IT_BACK_ANYWAY
MOST_CHOICES = 20


def buttons(agent: AgentMemory, told: Applied) -> None:
    """What can be done about a change: take it back, do it again, or take back all that came after it."""
    again = told.undone_by is not None
    label, icon, name = ("Redo", "redo", "redo") if again else ("Undo", "undo", "undo")
    act = agent.redo if again else agent.undo
    try:
        clashes = agent.conflicts(told.revision)
    except MemorySystemError as error:
        st.caption(widgets.plain(error.sentence))
        _go_back(agent, told)
        return
    key = f"choosing-{agent.name}-{told.revision}"
    if not clashes:
        st.session_state.pop(key, None)
        plan = act(told.revision, preview=True)
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
            key=f"{name}-{told.revision}",
            disabled=not clashes and not plan,
            help=f"In Python: AgentMemory.{name}",
        )
        _go_back_button(agent, told)
    if pressed and not clashes:
        _do(lambda: act(told.revision), label, told.change_set.title)
    elif pressed:
        st.session_state[key] = True
    if clashes and st.session_state.get(key):
        _choose(agent, told, label, act, clashes)
    _go_back_preview(agent, told)


def _do(act: Callable[[], ChangeSet], label: str, title: str) -> None:
    try:
        done = act()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    said = {"Undo": "Undone", "Redo": words.DONE_AGAIN}[label]
    widgets.say_next(f"{said}: {title}. {history_tables.did(done)}")
    st.rerun()


# -- a choice for each thing that later work touched --------------------------------------------------------


def _choose(
    agent: AgentMemory, told: Applied, label: str, act: Callable[..., ChangeSet], clashes: Sequence[Clash]
) -> None:
    with st.container(border=True):
        st.markdown("**What should happen to later changes?**")
        everything = st.radio(
            words.FOR_ALL_OF_THEM, [KEEP, TAKE_BACK, "Choose for each"], horizontal=True, key=f"all-{told.revision}"
        )
        each = everything == "Choose for each"
        chosen = None if each else everything
        taken = [clash.key for clash in clashes[:MOST_CHOICES] if _taken_back(clash, told.revision, chosen)]
        rest = clashes[MOST_CHOICES:]
        if rest:
            st.caption(f"{tables.counted(len(rest), 'more memory', 'more memories')} like these.")
            of_rest = st.radio("For the others", [KEEP, TAKE_BACK], horizontal=True, key=f"rest-{told.revision}")
            if (of_rest if each else everything) == TAKE_BACK:
                taken += [clash.key for clash in rest if not clash.purged]
        keep = [clash.key for clash in clashes if clash.key not in taken]
        try:
            plan = act(told.revision, keep=keep, overwrite=taken, preview=True)
        except MemorySystemError as error:
            widgets.problem(error)
            return
        st.caption(widgets.plain(f"With these choices: {history_tables.did(plan, would=True)}"))
        with st.container(horizontal=True):
            if st.button(
                f"{label} with these choices",
                type="primary",
                icon=":material/check:",
                disabled=not plan,
                help=f"In Python: AgentMemory.{label.lower()}(revision, keep=..., overwrite=...)",
            ):
                _do(lambda: agent.apply(plan), label, told.change_set.title)
            if st.button("Leave it", icon=":material/close:"):
                st.session_state.pop(f"choosing-{agent.name}-{told.revision}", None)
                st.rerun()


def _taken_back(clash: Clash, revision: int, chosen: str | None) -> bool:
    """One memory or text, what became of it, and what is to become of it; answers whether it is taken back."""
    with st.container(border=True, gap="small"):
        if clash.is_text:
            st.markdown(f"**{widgets.plain(text_words(clash.key).capitalize())}**")
        if clash.purged:
            st.text(str(clash))
            return False
        for event in clash.later[-3:]:
            by = f"“{tables.short(event.title, 90)}” by {event.author}, world time {tables.exact(event.at)}"
            st.caption(widgets.plain(f"Changed since: {by}"))
        if clash.now is not None and clash.would_be is not None:
            st.caption("From the current state (−) to the state after undoing (+):")
        _shown(clash)
        if chosen is not None:
            return chosen == TAKE_BACK
        picked = st.radio(
            "What to do with it",
            [KEEP, TAKE_BACK],
            horizontal=True,
            key=f"choice-{revision}-{clash.key}",
            label_visibility="collapsed",
        )
    return picked == TAKE_BACK


def _shown(clash: Clash) -> None:
    now, would_be = clash.now, clash.would_be
    if clash.is_text:
        widgets.text_change(
            TextChange(
                clash.key,
                now if isinstance(now, str) else None,
                would_be if isinstance(would_be, str) else None,
            )
        )
        return
    before = now if isinstance(now, MemoryEntry) else None
    after = would_be if isinstance(would_be, MemoryEntry) else None
    if before is None:
        st.caption("It is forgotten now, and would come back:")
    if after is None:
        st.caption("It is remembered now, and would leave recall:")
    change.difference(before, after)


# -- back to a moment -----------------------------------------------------------------------------------------


def _back_key(agent: AgentMemory, told: Applied) -> str:
    return f"back-{agent.name}-{told.revision}"


def _go_back(agent: AgentMemory, told: Applied) -> None:
    with st.container(horizontal=True):
        _go_back_button(agent, told)
    _go_back_preview(agent, told)


def _go_back_button(agent: AgentMemory, told: Applied) -> None:
    if st.button(
        "Undo back to here …",
        icon=":material/restore:",
        key=f"to-{told.revision}",
        disabled=agent.stamp[0] <= told.revision,
        help="Restores everything to its state right after this change. In Python: AgentMemory.undo_back_to",
    ):
        st.session_state[_back_key(agent, told)] = agent.undo_back_to(told.revision, preview=True)


def _go_back_preview(agent: AgentMemory, told: Applied) -> None:
    plan: ChangeSet | None = st.session_state.get(_back_key(agent, told))
    if plan is None:
        return
    with st.container(border=True):
        st.markdown("**Everything as it was right after this change**")
        for note in plan.notes:
            st.text(note)
        st.text(history_tables.did(plan, would=True))
        for kept in plan.kept[:20]:
            st.caption(widgets.plain(f"Left: {kept.reason}"))
        if plan.changes or plan.texts:
            with st.expander("What it would do"):
                change.body(plan)
        with st.container(horizontal=True):
            if st.button("Apply", type="primary", icon=":material/check:", key="apply-back", disabled=not plan):
                del st.session_state[_back_key(agent, told)]
                try:
                    agent.apply(plan)
                except MemorySystemError as error:
                    widgets.problem(error)
                else:
                    widgets.say_next(f"{plan.title}. {history_tables.did(plan)} It can be undone.")
                    st.rerun()
            if st.button("Leave it", icon=":material/close:", key="leave-back"):
                del st.session_state[_back_key(agent, told)]
                st.rerun()
