"""Short-term: add one event or many; view, edit, pin, rate again, move or forget what is there."""

from collections.abc import Callable

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, card, drafts, edits, forms, material, tabs, widgets
from dashboard.data import tables
from dashboard.views.short_term import conversation_form, happening_form
from memory_system import ChangeSet, Tier

CARDS = 5  # memories shown in full below the table; with more, the table and the form matter

agent = session.agent()
settings = agent.settings
widgets.heading("Short-term memory", "Recent events. When more than fit, migration keeps those worth keeping.", agent)
bulk.last()

if not widgets.closed(agent):
    ways = {
        "one": ("One event", forms.one_event),
        "many": (words.MANY_EVENTS, forms.many_events),
        "talk": (words.A_CONVERSATION, conversation_form.show),
        "file": (words.A_FILE, material.show),
        "shared": (words.SHARED_EVENT, happening_form.show),
    }
    shown = tabs.show({name: label for name, (label, _) in ways.items()}, f"add-{agent.name}")
    for name, (_, form) in ways.items():
        if shown[name].open:
            with shown[name]:
                form(agent)

stm_entries = agent.entries(Tier.STM)
edits.unfinished(agent, lambda: {entry.id for entry in stm_entries})
st.header(tables.room(stm_entries, settings.stm_size, "remembered"), anchor=False)
if too_many := tables.too_many(stm_entries, settings.stm_size):
    over = tables.counted(too_many, "memory", "memories")
    widgets.lead(f"{over} more than fit. Migrate.", "operations", agent.name, "warning", operation="Migrate")
if not stm_entries:
    widgets.empty("Short-term memory is empty.", "Write an event into the form above.", agent)
    st.stop()
held_rows = tables.entries(
    stm_entries, agent.now, agent.migrate_stm2ltm(preview=True), {memory.entry.id for memory in agent.stale()}
)
frame = bulk.narrowed(held_rows, agent.name)
if frame.empty:
    widgets.empty("No matching memories.", "Choose other kinds or tags, or try another word.")
    st.stop()
if marked := tables.marked(frame):
    st.caption(marked)
chosen = drafts.chosen(
    frame,
    f"stm-{agent.name}",
    since=bulk.round_(),  # the choice has been acted on
    hide_index=True,
    column_order=["memory", "when", "importance", *["marks"] * bool(marked), "fate", "explanation", "kind", "tags"],
    column_config={
        "memory": st.column_config.TextColumn("Memory", width=400),
        "when": widgets.time_column("When", 190, weekday=True),
        "importance": st.column_config.ProgressColumn("Importance", min_value=0, max_value=1, format="%.2f", width=110),
        "fate": st.column_config.TextColumn("Next at migration", width=260),
        "explanation": st.column_config.TextColumn("Why this importance", width=320),
        "kind": st.column_config.TextColumn("Kind", width=110),
        "marks": st.column_config.ListColumn("Marks", width=120),
        "tags": st.column_config.ListColumn("Tags"),
    },
)
entries = [entry for entry in map(agent.find, chosen) if entry is not None]
if not entries:
    why = "to edit, pin, rate again, move or forget them" if agent.read_only is None else "to read them in full"
    st.caption(f"Select rows {why}.")
    st.stop()

ids = [entry.id for entry in entries]
actions: dict[str, Callable[[], ChangeSet]] = {
    "Pin": lambda: agent.edit_many(ids, pinned=True),
    "Unpin": lambda: agent.edit_many(ids, pinned=False),
    "Protect": lambda: agent.edit_many(ids, protected=True),
    "Unprotect": lambda: agent.edit_many(ids, protected=False),
    words.RATE_AGAIN: lambda: agent.rate_again(ids),
    "Move to long-term": lambda: agent.migrate_stm2ltm(ids=ids),
    "Forget": lambda: agent.forget(ids),
}
with st.container(horizontal=True):
    for label, act in actions.items():
        if st.button(
            label, key=f"do-{label}", disabled=agent.read_only is not None, help=widgets.plain(agent.read_only or "")
        ):
            bulk.do(agent, act, label)
if agent.read_only is None and len(entries) == 1:
    with st.expander(words.EDIT_THIS_MEMORY):
        forms.edit_event(agent, entries[0])
elif agent.read_only is None:
    with st.expander(
        f"Tags and importance of {tables.counted(len(entries), 'memory', 'memories')}",
        expanded=len(entries) == len(frame),
    ):
        bulk.panel(agent, entries, "stm")
for entry in entries if len(entries) <= CARDS else ():
    card.show(agent, entry)
