"""An operation on the whole cast: what becomes of each character, all of it applied together, and undone together."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.interfaces.operations import Operation
from memory_system.world import Together

from ... import session, words
from ...components import bulk, change_set, declared_form, widgets, working
from ...data import tables


def section(operation: Operation, agent: AgentMemory) -> None:
    """Its form, what would become of each character, and the button that applies all of it."""
    body = declared_form.entered(operation.form, agent, f"form-cast-{operation.name}", operation.refuses)
    key = f"plan-cast-{operation.name}-{body and body.model_dump_json(exclude_unset=True)}"
    if st.button("Preview", type="primary", icon=":material/visibility:", disabled=body is None):
        st.session_state.pop(key, None)
        try:
            with working.beside() as progress:
                st.session_state[key] = operation.plan(session.world(), body, agent.author, progress)
        except MemorySystemError as error:
            widgets.problem(error)
    planned: Together | None = st.session_state.get(key)
    if planned is None:
        widgets.empty("Nothing previewed yet.", "Preview shows what would happen without changing anything.")
        return
    st.header(widgets.plain(planned.title), anchor=False)
    for note in planned.notes:
        st.info(widgets.plain(note))
    _each(operation, planned)
    if planned and not widgets.closed(agent):
        with change_set.foot(key):
            st.markdown(tables.counted(len(planned.plans), "character changes", "characters change"))
            if st.button(
                words.APPLY_TO_ALL, type="primary", icon=":material/check:", key=f"apply-{operation.name}",
                help="In Python: World.carry_out_all",
            ):  # fmt: skip
                _accept(key, planned)


def _each(operation: Operation, planned: Together) -> None:
    """What was found for each character, and all changes of one of them."""
    rows = [
        {
            "character": session.shown_name(share.agent),
            "changes": share.change_set is not None,
            "what was found": tables.visible(share.note),
        }
        for share in planned.shares
    ]
    named = {name: name.capitalize() for name in ("character", "changes", "what was found")}
    widgets.table(rows, hide_index=True, width="stretch", column_config=named)
    plans = {plan.agent: plan for plan in planned.plans}
    if not plans:
        return
    chosen = st.selectbox(
        words.WHAT_CHANGES_FOR, list(plans), index=None, key=f"look-{operation.name}",
        format_func=session.shown_name, placeholder="Choose a character",
    )  # fmt: skip
    if chosen is not None:
        notes = tuple(note for note in plans[chosen].notes if note not in planned.notes)
        change_set.show(session.character(chosen), replace(plans[chosen], notes=notes))


def _accept(key: str, planned: Together) -> None:
    """Carry out what was shown; if one has become stale, it says so, and nothing is changed."""
    session.own_changes().update(plan.id for plan in planned.plans)
    try:
        with st.spinner("Changing …"):
            done = session.world().carry_out_all(planned)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    st.session_state.pop(key)
    counted = tables.counted(len(done.plans), "character", "characters")
    bulk.done_to([(plan.agent, plan) for plan in done.plans], f"Applied to {counted}: {done.title}", done.title)
    st.rerun()
