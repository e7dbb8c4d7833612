"""Short-term: add one event or many; look at, edit, pin, rate again, move or forget what is there."""

from collections.abc import Callable

import streamlit as st

from dashboard import card, conversation_form, forms, session, tables, widgets
from memory_system import ChangeSet, MemorySystemError, Tier

agent = session.agent()
settings = agent.settings
widgets.heading("Short-term memory", "Recent events. When more than fit, migration keeps the important ones.", agent)
widgets.said()

one, many, talk = st.tabs(["One event", "Many events", "A conversation"], key=f"add-{agent.name}", on_change="rerun")
with one:
    forms.one_event(agent)
with many:
    forms.many_events(agent)
with talk:
    conversation_form.show(agent)

held = agent.entries(Tier.STM)
st.header(f"{len(held)} of {settings.stm_size} remembered", anchor=False)
if len(held) > settings.stm_size:
    over = tables.counted(len(held) - settings.stm_size, "memory", "memories")
    st.info(f"{over} more than fit. Migrate on the Operations page.")
if not held:
    widgets.empty("Short-term memory is empty.", "Write what happened into the form above.")
    st.stop()
frame = tables.entries(held, agent.now, agent.migrate_stm2ltm(preview=True), {one.entry.id for one in agent.stale()})
if marked := tables.marked(frame):
    st.caption(marked)
picked = st.dataframe(
    frame,
    hide_index=True,
    on_select="rerun",
    selection_mode="multi-row",
    key=f"stm-{agent.name}-{agent.stamp[0]}",  # a selection must not outlive the rows it was made on
    column_order=["memory", "age", "importance", *["marks"] * bool(marked), "fate", "explanation", "kind", "tags"],
    column_config={
        "memory": st.column_config.TextColumn("Memory", width=430),
        "age": st.column_config.TextColumn("When", width=110),
        "importance": st.column_config.ProgressColumn("Importance", min_value=0, max_value=1, format="%.2f", width=110),
        "fate": st.column_config.TextColumn("Next at migration", width=260),
        "explanation": st.column_config.TextColumn("Why this importance", width=320),
        "kind": st.column_config.TextColumn("Kind", width=110),
        "marks": st.column_config.ListColumn("Marks", width=120),
        "tags": st.column_config.ListColumn("Tags"),
    },
)
chosen = [agent.find(str(frame.iloc[row]["id"])) for row in picked["selection"]["rows"] if row < len(frame)]
entries = [entry for entry in chosen if entry is not None]
if not entries:
    st.caption("Select rows to edit, pin, rate again, move or forget them.")
    st.stop()

ids = [entry.id for entry in entries]
actions: dict[str, Callable[[], list[ChangeSet]]] = {
    "Pin": lambda: [agent.edit(entry.id, pinned=True) for entry in entries if not entry.protected],
    "Unpin": lambda: [agent.edit(entry.id, pinned=False) for entry in entries if not entry.protected],
    "Protect": lambda: [agent.edit(entry.id, protected=True) for entry in entries],
    "Unprotect": lambda: [agent.edit(entry.id, protected=False) for entry in entries],
    "Rate again": lambda: [agent.rate_again(ids)],
    "Move to long-term": lambda: [agent.migrate_stm2ltm(ids=ids)],
    "Forget": lambda: [agent.forget(ids)],
}
with st.container(horizontal=True):
    for label, act in actions.items():
        if st.button(label, key=f"do-{label}"):
            try:
                done = act()
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                kept = "".join(f" {one.reason}" for change_set in done for one in change_set.kept)
                counted = tables.counted(sum(len(change_set.changes) for change_set in done), "memory", "memories")
                widgets.say_next(f"{label}: {counted}.{kept} The History page can undo it.")
                st.rerun()
if len(entries) == 1:
    with st.expander("Edit this memory"):
        forms.edit_event(agent, entries[0])
for entry in entries[:5]:
    card.show(agent, entry)
