"""The bin: forgotten memories, to be restored, or purged for good."""

from __future__ import annotations

import zlib

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.store.journal import Forgotten

from ...components import bulk, drafts, widgets
from ...data import history_tables, tables

PAGE = 200
WORD = "purge"


def show(agent: AgentMemory, *, changeable: bool) -> None:
    """What is in the bin, and what can be done with it."""
    total = agent.count_forgotten()
    if not total:
        widgets.empty("The bin is empty.", "Forgotten memories stay here until they are restored or purged.")
        return
    words = st.text_input(
        "Search the bin",
        placeholder="words of a memory",
        max_chars=500,
        width=330,
        key=f"bin-words-{agent.name}",
        persist_state="session",
    )
    count = agent.count_forgotten(words)
    pages = max(1, -(-count // PAGE))
    page = 1
    if pages > 1:
        page = int(
            st.number_input(
                f"Page, of {pages}", 1, pages, key=f"bin-page-{agent.name}", width=150, persist_state="session"
            )
        )
    found = agent.forgotten(PAGE, words, offset=(page - 1) * PAGE)
    st.caption(f"{tables.counted(count, 'memory', 'memories')}, the last forgotten first.")
    if not found:
        widgets.empty("No forgotten memory has these words.", "Try other words, or clear the search to see all.")
        return
    table = history_tables.forgotten(found)
    table["id"] = [memory.entry.id for memory in found]
    ids = drafts.chosen(
        table,
        f"bin-{agent.name}",
        since=st.session_state.get("bin-round", 0),
        hide_index=True,
        column_order=["memory", "when", "who", "why", "kind", "tier"],
        column_config={
            "memory": st.column_config.TextColumn("Memory", width=400),
            "when": widgets.time_column("Forgotten"),
            "who": st.column_config.TextColumn("By whom", width=130),
            "why": st.column_config.TextColumn("Why", width=260),
            "kind": st.column_config.TextColumn("Kind", width=100),
            "tier": st.column_config.TextColumn("Was in", width=90),
        },
    )
    chosen = [memory for memory in found if memory.entry.id in set(ids)]
    if not changeable:
        return
    if not chosen:
        st.caption("Select memories to restore them or to purge them permanently.")
        return
    for memory in chosen[:5]:
        with st.container(border=True, gap="small"):
            widgets.text(memory.entry.document)
            st.caption(
                widgets.plain(
                    f"{memory.title} · by {memory.author} · {tables.exact(memory.applied_at)} · {memory.reason}"
                )
            )
    if st.button(
        f"Restore {tables.counted(len(ids), 'memory', 'memories')}",
        icon=":material/restore_from_trash:",
        type="primary",
        help="In Python: AgentMemory.restore",
    ):
        bulk.do(agent, lambda: agent.restore(ids), then=_let_go)
    with st.expander("Purge for good …", icon=":material/delete_forever:"):
        _purge(agent, chosen)


def _let_go() -> None:
    """Clear the choice."""
    st.session_state["bin-round"] = st.session_state.get("bin-round", 0) + 1


def _purge(agent: AgentMemory, chosen: list[Forgotten]) -> None:
    ids = [memory.entry.id for memory in chosen]
    try:
        plan = agent.purge(ids, preview=True)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    st.warning(
        f"{tables.counted(len(ids), 'memory', 'memories')} would be gone for good. This cannot be undone.",
        icon=":material/warning:",
    )
    for note in plan.notes:
        st.caption(widgets.plain(note))
    typed = st.text_input(
        f"Type “{WORD}” to confirm", key=f"confirm-{agent.name}-{zlib.crc32(' '.join(ids).encode())}", max_chars=20
    )
    if st.button(
        "Purge for good",
        icon=":material/delete_forever:",
        disabled=typed.strip().casefold() != WORD,
        help="In Python: AgentMemory.purge",
    ):
        try:
            with st.spinner("Erasing …"):
                agent.apply(plan)
        except MemorySystemError as error:
            widgets.problem(error)
        else:
            _let_go()
            widgets.say_next(f"Purged: {tables.counted(len(ids), 'memory', 'memories')}.")
            st.rerun()
