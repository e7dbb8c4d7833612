"""History: what changed, when, by whom and why, with undo, redo and a way back; and the bin."""

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, change_set, widgets
from dashboard.components.frame import looking_back, showing
from dashboard.data import history_tables
from dashboard.views.history import change, filters, undoing
from dashboard.views.history import trash as bin_
from memory_system import MemorySystemError
from memory_system.store.journal import Applied

agent = session.agent()
changeable = agent.read_only is None
widgets.heading("History", "Every change, newest first. Each can be undone, and so can an undo.", agent)
bulk.last()

_TIME = 140  # pixels: how wide a column of times is at least; Streamlit would show a string here on the page


def listed() -> Applied | None:
    """The table of changes, and the one that was selected."""
    arguments = filters.sought(agent)
    records, more = filters.older(agent, arguments)
    if not records:
        if any(arguments.values()):
            widgets.empty(words.NO_CHANGE_IS_LIKE_THIS, "Try other words, another kind or another author.")
            if st.button("List all changes"):
                filters.reset(agent)
                st.rerun()
        else:
            widgets.empty(words.NOTHING_HAS_HAPPENED, "Add an event.", agent, to="short_term")
        return None
    done, told = widgets.time_column("Done", _TIME), widgets.time_column(words.WORLD_TIME, _TIME)
    wider = done["width"] + told["width"] - 2 * _TIME
    states = ["state"] if any(record.undone_by for record in records) else []  # else the titles get its space
    picked = widgets.table(
        history_tables.history(records),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"history-{agent.name}-{agent.stamp[0]}-{records[0].revision}",
        column_order=["what", *states, "kind", "who", "memories", "applied", "world time"],
        column_config={
            "what": st.column_config.TextColumn("What", width=(249 if states else 319) - wider),
            "state": st.column_config.TextColumn("State", width=70),
            "kind": st.column_config.TextColumn("Kind", width=95),
            "who": st.column_config.TextColumn("Who", width=116),
            "memories": st.column_config.NumberColumn("Memories", width=80),
            "applied": done,
            "world time": told,
        },
    )
    filters.turn_pages(agent, records[-1].revision, more=more)
    rows = [row for row in picked["selection"]["rows"] if row < len(records)]
    return records[rows[0]] if rows else None


def linked() -> Applied | None:
    """The change that the link names; at a moment of the past also one that was still to come."""
    asked = session.from_link("change")
    if not asked:
        return None
    if not asked.isdecimal() or len(asked) > 18:
        st.warning("The change in the link is not a number; select one above.")
        return None
    try:
        revision = int(asked)
        return (agent if revision <= agent.stamp[0] else session.present()).change(revision)
    except MemorySystemError as error:
        widgets.problem(error)
        return None


changes, gone = st.tabs(["Changes", "Bin"], key=f"history-tabs-{agent.name}", on_change="rerun")
with changes:
    if changes.open:
        selected = None if showing.presenting() else listed()
        if selected is not None:
            session.to_link("change", str(selected.revision))
        record = selected or linked()
        if record is None:
            st.caption(f"Select a change to see what it did{', and to undo it' if changeable else ''}.")
        else:
            change.head(record)
            if record.revision > agent.stamp[0]:
                st.info(words.STILL_TO_COME)
            if changeable and not showing.presenting():
                undoing.buttons(agent, record)
            looking_back.offer(record.revision)
            change_set.show(agent, record.change_set, whole=True)
with gone:
    if gone.open:
        bin_.show(agent, changeable=changeable)
