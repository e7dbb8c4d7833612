"""What somebody writes about a memory: its fields as a draft, and what happens to the draft when the memory is gone."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import date, datetime, time

import streamlit as st

from memory_system import AgentMemory, MemoryEntry, MemorySystemError

from ..data import tables, zone
from . import bulk, drafts, stale, widgets

_FIELDS = {
    "document": "Text",
    "kind": "Kind",
    "rating": "Importance",
    "tags": "Tags",
    "source": "How it became known",
    "people": "People",
    "place": "Place",
    "day": "Day",
    "hour": "Time",
    "marks": "Marks",
}


def draft_of(agent: AgentMemory, entry: MemoryEntry) -> drafts.Draft:
    """The draft of an edit to a memory; it is kept until it is saved or discarded."""
    day, hour = _parts(entry.timestamp)
    now = {
        "document": entry.document,
        "kind": entry.kind.value,
        "rating": 0 if entry.rating is None else round(entry.rating),
        "tags": ", ".join(entry.tags),
        "source": str(entry.source or ""),
        "people": ", ".join(entry.people),
        "place": entry.place,
        "day": day,
        "hour": hour,
        "marks": [flag for flag in tables.MARKS if getattr(entry, flag)],
    }
    return drafts.Draft(f"edit/{agent.name}/{entry.id}", now, _FIELDS, _shown)


def _shown(value: object) -> str:
    """The value of a field, for people."""
    if isinstance(value, list):
        return ", ".join(tables.MARKS[flag] for flag in value) or "none"
    return "none" if value in (None, "", 0) else str(value)


def unfinished(agent: AgentMemory, shown: Callable[[], Collection[str]]) -> None:
    """Show edits to memories that are no longer where they were: they are kept, with a choice.

    Args:
        agent: whose memories they are.
        shown: returns the ids of the memories that this page can show; called only if anything was written.
    """
    if agent.read_only is not None:
        return
    unsaved = drafts.unsaved(f"edit/{agent.name}/")
    here = shown() if unsaved else ()
    for entry_id, written in unsaved.items():
        if entry_id in here:
            continue
        entry = agent.find(entry_id)
        if entry is None and _purged(agent, entry_id):
            drafts.erase(f"edit/{agent.name}/{entry_id}")
            st.info("A memory that you were editing was purged permanently, together with your edits.")
            continue
        with st.container(border=True, gap="small", key=f"unfinished-{entry_id}"):
            became = "was forgotten" if entry is None else f"is in {tables.TIERS[entry.tier]} memory now"
            st.markdown(f":material/edit_note: **A memory that you were changing {became}. Your edits are kept.**")
            for name, value in written.items():
                st.text(f"{_FIELDS[name]}: {tables.visible(_shown(value))}")
            with st.container(horizontal=True):
                if entry is not None:
                    if st.button("Open it", key=f"open-unfinished-{entry_id}", icon=":material/open_in_new:"):
                        stale.open_memory(agent, entry_id)
                elif st.button(
                    "Bring it back", key=f"restore-unfinished-{entry_id}", icon=":material/settings_backup_restore:",
                    help="Your edits are kept and not saved yet. In Python: AgentMemory.restore",
                ):  # fmt: skip
                    _bring_back(agent, entry_id)
                st.button(
                    "Discard my changes", key=f"discard-unfinished-{entry_id}", type="tertiary",
                    icon=":material/undo:", on_click=drafts.drop, args=(f"edit/{agent.name}/{entry_id}",),
                )  # fmt: skip


def _purged(agent: AgentMemory, entry_id: str) -> bool:
    """Whether nothing is left of a memory that could be brought back."""
    try:
        agent.restore(entry_id, preview=True)
    except MemorySystemError:
        return True
    return False


def _bring_back(agent: AgentMemory, entry_id: str) -> None:
    try:
        done = agent.restore(entry_id)
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        bulk.done(agent, done, "It is back. Your edits are not saved yet.")
        st.rerun()


def _parts(at: datetime | None) -> tuple[date | None, time | None]:
    """The day and minute that the fields begin with: without seconds, so that leaving them alone changes nothing."""
    if at is None:
        return None, None
    here = zone.plain(at).replace(second=0, microsecond=0)
    return here.date(), here.time()
