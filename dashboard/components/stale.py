"""Memories that rest on what has changed since: a notice on Long-term, and a choice on the card."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemoryEntry, MemorySystemError
from memory_system.store import Alteration, Stale

from .. import session, words
from ..data import diffs, tables
from . import bulk, change_set, widgets

_MOST = 50


def notice(agent: AgentMemory) -> None:
    """One line that says how many memories are stale, and where they are; nothing if none are."""
    found = agent.stale()
    if not found:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="stale-notice"):
        rest = tables.counted(len(found), "memory rests", "memories rest")
        st.markdown(
            f":material/warning: **{rest} on evidence that has since been changed or deleted.**", width="stretch"
        )
        with st.popover("Show", icon=":material/account_tree:", help="In Python: AgentMemory.stale"):
            for memory in found[:_MOST]:
                with st.container(horizontal=True, vertical_alignment="center"):
                    with st.container(width="stretch", gap=None):
                        st.text(tables.short(memory.entry.document, 160))
                        st.caption(f"{memory.entry.kind.value} · {_counted(memory)}")
                    if st.button("Open", key=f"stale-open-{memory.entry.id}", icon=":material/open_in_new:"):
                        open_memory(agent, memory.entry.id)
            if len(found) > _MOST:
                st.caption(f"And {len(found) - _MOST:,} more.")


def open_memory(agent: AgentMemory, entry_id: str) -> None:
    """Go to where a memory is shown, in any tier, or forgotten; on the Memory page, stay there."""
    asked = {name: session.from_link(name) for name in ("cue", "show")}
    stays = st.session_state.get("page") == session.WORKBENCH
    view = "memory" if stays else "long_term"
    more = {name: value for name, value in asked.items() if value and stays}
    link = {"agent": agent.name, "memory": entry_id, **more}
    st.switch_page(f"views/{view}/{view}.py", query_params=link)


def panel(agent: AgentMemory, entry: MemoryEntry) -> None:
    """What has changed in what a memory rests on, with the choice to derive it again or to keep it."""
    found = agent.stale_of(entry.id)
    if found is None:
        return
    with st.container(border=True, key=f"stale-{entry.id}"):
        st.markdown(f":material/warning: **{words.RESTS_ON_WHAT_CHANGED}** It was not rewritten.")
        for altered in found.alterations[:_MOST]:
            _altered(altered)
        if agent.read_only is not None:
            return
        key = f"rederived-{agent.name}-{entry.id}"
        with st.container(horizontal=True):
            if st.button(
                words.DERIVE_AGAIN,
                icon=":material/refresh:",
                key=f"derive-{entry.id}",
                disabled=entry.protected,
                help="It is protected; unprotect it first." if entry.protected else "In Python: AgentMemory.rederive",
            ):
                _preview(agent, entry, key)
            if st.button(
                words.KEEP_AS_IT_IS,
                icon=":material/check:",
                key=f"keep-{entry.id}",
                help="In Python: AgentMemory.keep_stale",
            ):
                bulk.do(agent, lambda: agent.keep_stale(entry.id), then=lambda: st.session_state.pop(key, None))
        planned: ChangeSet | None = st.session_state.get(key)
        if planned is not None:
            _planned(agent, planned, key)


def _counted(memory: Stale) -> str:
    gone = sum(altered.after is None for altered in memory.alterations)
    changed = len(memory.alterations) - gone
    words = [f"{changed} changed"] if changed else []
    words += [f"{gone} deleted"] if gone else []
    return f"of what it rests on, {' and '.join(words)}"


def _altered(altered: Alteration) -> None:
    with st.container(gap=None):
        after = altered.after
        if after is None:
            st.markdown(f":red-background[− {widgets.plain(altered.before.document)}]")
        else:
            st.html(diffs.markup(altered.before.document, after.document))
            if altered.before.timestamp != after.timestamp:
                ends = [
                    tables.exact(entry.timestamp) if entry.timestamp else "timeless"
                    for entry in (altered.before, after)
                ]
                st.html(diffs.markup(*ends))
        st.caption(widgets.plain(altered.sentence))


def _preview(agent: AgentMemory, entry: MemoryEntry, key: str) -> None:
    try:
        with st.spinner("Deriving …"):
            st.session_state[key] = agent.rederive(entry.id, preview=True)
    except MemorySystemError as error:
        st.session_state.pop(key, None)
        widgets.problem(error)


def _planned(agent: AgentMemory, planned: ChangeSet, key: str) -> None:
    """What deriving it again would change, word by word, and what the language model was asked."""
    change_set.offer(
        agent, planned, lambda accepted: bulk.apply(agent, key, accepted),
        leave=lambda: st.session_state.pop(key, None),
    )  # fmt: skip
