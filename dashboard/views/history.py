"""History: what changed, when and by whom, with undo."""

from datetime import UTC, datetime

import streamlit as st

from dashboard import looking_back, session, tables, widgets

PAGE = 200

agent = session.agent()
widgets.heading("History", "Every change, the newest first. Each can be undone, and an undo can be undone.", agent)
widgets.said()

told = agent.history(PAGE)
if not told:
    widgets.empty("Nothing has happened yet.", "Add an event on the Short-term page.", agent)
    st.stop()
picked = st.dataframe(
    tables.history(told, datetime.now(UTC)),
    hide_index=True,
    on_select="rerun",
    selection_mode="single-row",
    key=f"history-{agent.name}-{agent.stamp[0]}",
    column_order=["what", "state", "who", "world time", "applied", "memories"],
    column_config={
        "what": st.column_config.TextColumn("What", width=430),
        "state": st.column_config.TextColumn("State", width=75),
        "who": st.column_config.TextColumn("Who", width=110),
        "world time": st.column_config.TextColumn("World time", width=190),
        "applied": st.column_config.TextColumn("Applied", width=130),
        "memories": st.column_config.NumberColumn("Memories", width=85),
    },
)
if len(told) == PAGE:
    st.caption(f"The newest {PAGE} changes.")
rows = picked["selection"]["rows"]
if not rows:
    st.caption("Select a change to see what it did, and to undo it.")
    st.stop()
one = told[rows[0]]
st.header(widgets.plain(one.change_set.title), anchor=False)
if one.undone_by:
    st.info("This change has been undone.")
else:
    widgets.undo_button(agent, one.revision, one.change_set.title)
looking_back.offer(one.revision)
widgets.change_set(one.change_set)
for text in one.change_set.texts:
    with st.expander(f"The {text.name} before and after"):
        before, after = st.columns(2)
        before.code(text.before or "(none)", language="json", wrap_lines=True)
        after.code(text.after or "(none)", language="json", wrap_lines=True)
