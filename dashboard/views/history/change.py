"""One change in full: who, when, why, what it did word by word and field by field, and what a model was asked."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from memory_system.core import ago
from memory_system.store.journal import Applied

from ...components import widgets
from ...data import history_tables, tables


def head(record: Applied) -> None:
    """Its title, who made it, when in both times, and why."""
    done = record.change_set
    st.header(widgets.plain(done.title), anchor=False)
    with st.container(horizontal=True, gap="small"):
        st.badge(history_tables.operation(done.operation), color="blue")
        st.badge(f"revision {record.revision}", color="gray")
        if record.undone_by:
            st.badge(f"undone by revision {record.undone_by}", icon=":material/undo:", color="orange")
    real = f"{tables.exact(record.applied_at)} ({ago(record.applied_at, datetime.now(UTC))})"
    lines = [f"By {done.author}", f"done {real}", f"world time {tables.exact(done.planned_at)}"]
    st.caption(widgets.plain(" · ".join(lines)))
    if done.reason:
        st.caption(widgets.plain(f"Why: {done.reason}"))
    if done.purges:
        count = tables.counted(len(done.purges), "memory", "memories")
        st.info(widgets.plain(f"What {count} said has left the history for good. That cannot be undone."))
