"""Personality: the static memory as JSON, checked while it is edited, previewed before it is saved."""

import streamlit as st

from dashboard import session, tables, widgets
from memory_system import MemorySystemError, Tier

agent = session.agent()
widgets.heading(
    "Personality", "What is always true of the character. It never decays, is asked first, and only you can change it."
)
widgets.said()
if agent.personality_problem:
    st.warning(widgets.plain(agent.personality_problem), icon=":material/warning:")
    if agent.personality_text and st.button("Put the good one back", icon=":material/settings_backup_restore:"):
        agent.put_personality_back()
        widgets.say_next("The good personality was put back; the broken file is kept beside it.")
        st.rerun()

loaded, edited = f"loaded-{agent.name}", f"personality-{agent.name}"
if loaded not in st.session_state:
    st.session_state[loaded] = agent.personality_text or ""
    st.session_state[edited] = st.session_state[loaded]
elif edited not in st.session_state:  # the page was left and is entered again
    st.session_state[edited] = st.session_state[loaded]

editor, facts = st.tabs(["Edit", "Facts it becomes"])
with editor:
    text = st.text_area(
        "Personality JSON", key=edited, height=420, help="Its schema is agent_personalities/schema.json."
    )
    changed = text != st.session_state[loaded]
    plan = None
    if changed:
        try:
            plan = agent.save_personality(text, expected=st.session_state[loaded], preview=True)
        except MemorySystemError as error:
            widgets.problem(error, text)
    with st.container(horizontal=True):
        save = st.button("Save", type="primary", icon=":material/save:", disabled=plan is None)
        discard = st.button(
            "Load again", icon=":material/refresh:", help="Forget unsaved changes, load what is in use."
        )
    if discard:
        del st.session_state[loaded], st.session_state[edited]
        st.rerun()
    if save and plan is not None:
        try:
            agent.save_personality(text, expected=st.session_state[loaded])
        except MemorySystemError as error:
            widgets.problem(error)
        else:
            st.session_state[loaded] = text
            widgets.say_next("Saved. Only the facts that changed were embedded anew.")
            st.rerun()
    if plan is not None and plan.changes:
        st.caption("Saving would change these facts:")
        widgets.change_set(plan)
    elif not changed:
        st.caption("Nothing is changed. Edit the text; what is wrong is named with its line.")
with facts:
    st.dataframe(
        tables.facts(agent.entries(Tier.STATIC)),
        hide_index=True,
        column_config={
            "section": st.column_config.TextColumn("Section", width="small"),
            "fact": st.column_config.TextColumn("Fact", width="large"),
        },
    )
