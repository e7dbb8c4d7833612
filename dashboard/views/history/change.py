"""One change in full: who, when, why, what it did word by word and field by field, and what a model was asked."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from memory_system import Change, ChangeSet, MemoryEntry
from memory_system.core import ago
from memory_system.store.journal import Applied

from ...components import widgets
from ...data import diffs, history_tables, tables

MOST_SHOWN = 30


def head(told: Applied) -> None:
    """Its title, who made it, when in both times, and why."""
    done = told.change_set
    st.header(widgets.plain(done.title), anchor=False)
    with st.container(horizontal=True, gap="small"):
        st.badge(history_tables.operation(done.operation), color="blue")
        st.badge(f"revision {told.revision}", color="gray")
        if told.undone_by:
            st.badge(f"undone by revision {told.undone_by}", icon=":material/undo:", color="orange")
    real = f"{tables.exact(told.applied_at.astimezone(UTC))} ({ago(told.applied_at, datetime.now(UTC))})"
    lines = [f"By {done.author}", f"done {real}", f"world time {tables.exact(done.planned_at)}"]
    st.caption(widgets.plain(" · ".join(lines)))
    if done.reason:
        st.caption(widgets.plain(f"Why: {done.reason}"))
    for note in done.notes:
        st.info(widgets.plain(note))
    if done.purges:
        count = tables.counted(len(done.purges), "memory", "memories")
        st.info(widgets.plain(f"What {count} said has left the history for good. That cannot be undone."))


def body(done: ChangeSet) -> None:
    """What it did, what it left alone, and what the language model was asked."""
    for change in done.changes[:MOST_SHOWN]:
        one(change)
    if len(done.changes) > MOST_SHOWN:
        rest = tables.changes(done).iloc[MOST_SHOWN:].reset_index(drop=True)
        st.caption(f"{tables.counted(len(rest), 'more memory', 'more memories')}, as a table:")
        widgets.table(rest, hide_index=True, column_order=["action", "memory", "importance", "why"])
    for text in done.texts:
        widgets.text_change(text)
    if done.kept:
        with st.expander(f"{tables.counted(len(done.kept), 'memory', 'memories')} looked at and left in place"):
            for kept in done.kept[:200]:
                st.text(f"• {tables.visible(kept.reason)}")
    if done.calls:
        with st.expander(f"What the language model was asked ({tables.counted(len(done.calls), 'call', 'calls')})"):
            for call in done.calls[:100]:
                tokens = f" · {call.tokens} tokens" if call.tokens is not None else ""
                st.caption(widgets.plain(f"{call.task} · {call.model} · {call.milliseconds:.0f} ms{tokens}"))
                st.code(call.prompt, language=None, wrap_lines=True)
                st.code(call.error or call.answer, language=None, wrap_lines=True)


def one(change: Change) -> None:
    """One memory's part in a change set."""
    held = change.after or change.before
    assert held is not None, "a change has a before or an after"
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            widgets.verb_badge(change)
            st.badge(held.kind.value, color="gray")
            if held.importance is not None and change.verb in ("add", "forget"):
                st.badge(f"importance {held.importance:.2f}", color="gray")
        difference(change.before, change.after)
        st.caption(widgets.plain(change.reason))


def difference(before: MemoryEntry | None, after: MemoryEntry | None) -> None:
    """The text of a memory with what went and came in it, and its fields before and after."""
    if before and after and before.document != after.document:
        st.html(diffs.markup(before.document, after.document))
    elif (held := after or before) is not None:
        st.text(tables.visible(held.document))
    if before and after:
        widgets.field_changes(diffs.fields(before, after))
