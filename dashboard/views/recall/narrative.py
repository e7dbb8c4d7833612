"""The answer as one narrative: asked for by a button, since a language model may take a while."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.recall import Recall

from ... import words
from ...components import needs_model, widgets
from ...data import tables


def show(agent: AgentMemory, found: Recall) -> None:
    """A button, and the narrative of this answer, each sentence with the memories that it rests on."""
    st.caption(
        "The language model tells the recalled memories as one text, keeps their times, and may not add anything."
    )
    needs_model.note(agent, "narrative")
    asked = (agent.name, agent.stamp, found.query)
    if st.button(words.TELL_IT_AS_A_NARRATIVE, icon=":material/auto_stories:", disabled=not found.hits):
        try:
            with st.spinner("Telling …"):
                st.session_state["narrative"] = asked, agent.narrate(found.query.cue, found)
        except MemorySystemError as error:
            widgets.problem(error)
    told_for, narrative = st.session_state.get("narrative", (None, None))
    if narrative is None or told_for != asked:
        return
    texts = {hit.entry.id: hit.entry.document for hit in found.hits}
    if not narrative.sentences:
        widgets.text(narrative.text)
    for sentence in narrative.sentences:
        widgets.text(sentence.text)
        st.caption(
            widgets.plain("rests on: " + "; ".join(tables.short(texts[entry_id], 70) for entry_id in sentence.ids))
        )
    for dropped in narrative.dropped:
        st.warning(widgets.plain(f"Left out: “{dropped.text}” {dropped.reason}"), icon=":material/block:")
    if narrative.told_by:
        st.caption(widgets.plain(f"Told by: {narrative.told_by}"))
    if narrative.call:
        with st.expander("What the language model was asked"):
            st.code(narrative.call.prompt, language=None, wrap_lines=True)
            st.code(narrative.call.error or narrative.call.answer, language=None, wrap_lines=True)
