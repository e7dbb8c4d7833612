"""A whole conversation to remember: its turns, and a synopsis of what it shows."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemorySystemError

from ... import words
from ...components import bulk, change_set, drafts, mounting, widgets, working
from ...data import tables

_MOST = 200_000


def show(agent: AgentMemory) -> None:
    """A field for the turns; nothing is stored before the preview has been accepted."""
    st.caption("One turn per line, as “Name: what was said”. A synopsis is written and linked to the turns.")
    text = st.text_area(
        words.THE_CONVERSATION, height=160, max_chars=_MOST, key=drafts.turn(f"talk-{agent.name}"),
        persist_state="session",
        placeholder="Mira: Who had the key last?\nTobias: I did, until Wednesday.",
    )  # fmt: skip
    mounting.keep_unsent(drafts.turn(f"talk-{agent.name}"), f"talk-{agent.name}")
    plan_key = f"talk-plan-{agent.name}"
    if st.button("Preview", key=f"talk-preview-{agent.name}", icon=":material/visibility:", disabled=not text.strip()):
        try:
            with working.beside() as show_progress:
                plan = agent.remember_conversation(text, preview=True, progress=show_progress)
        except MemorySystemError as error:
            st.session_state.pop(plan_key, None)
            widgets.problem(error)
        else:
            st.session_state[plan_key] = text, plan
    asked, plan = st.session_state.get(plan_key, (None, None))
    if plan is None or asked != text:
        return
    st.markdown(f"**{widgets.plain(plan.title)}**")
    synopsis = {change.entry_id for change in plan.changes if change.after and change.after.evidence}

    def beside(refused: Collection[str]) -> str:
        if not synopsis or synopsis & set(refused):
            return ""
        return "The synopsis was written from all turns; refuse it too, or leave turns out above and preview again."

    def remember(accepted: ChangeSet) -> None:
        counted = tables.counted(len(accepted.changes), "memory", "memories")
        bulk.apply(agent, plan_key, accepted, f"Remembered: {counted}", lambda: drafts.next_turn(f"talk-{agent.name}"))

    change_set.offer(agent, plan, remember, label=words.REMEMBER_IT, beside=beside)
