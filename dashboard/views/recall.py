"""Recall: what a cue brings back, and for every memory why or why not."""

import streamlit as st

from dashboard import figures, recall_controls, session, tables, widgets

BARS, ROWS = 14, 2000

agent = session.agent()


def open_memory(entry_id: str | None) -> None:
    """Open a memory above the chart, or close it; chart and table begin anew, with nothing selected."""
    st.session_state["recall-open"] = entry_id
    st.session_state["recall-round"] = st.session_state.get("recall-round", 0) + 1
    st.rerun()


widgets.heading(
    "Recall", "Ask as the character would be asked. Looking here changes nothing: no access time is touched.", agent
)
cue = recall_controls.cue()
asked = recall_controls.controls(agent, cue)
if not cue.strip():
    widgets.empty("No cue yet.", "Type a question above, or take one of the examples on the Overview page.")
    st.stop()

found = agent.explain(
    cue,
    asked.top_k,
    asked.threshold,
    now=asked.now,
    scoring=asked.scoring,
    static_threshold=asked.static_threshold,
    static_share=asked.static_share,
)
frame = tables.candidates(found)
if frame.empty:
    widgets.empty(
        "There is nothing to recall.", "Give the character a personality, or add an event on the Short-term page."
    )
    st.stop()

summary = f"{len(found)} recalled of {found.considered} candidates · {found.milliseconds:.1f} ms"
st.caption(widgets.plain(f"{summary} · asked {tables.exact(asked.now)}"))
masks = {"All": frame["recalled"] | True, "Recalled": frame["recalled"], "Not recalled": ~frame["recalled"]}
visible = frame[masks[asked.shown]]
if visible.empty:
    widgets.empty("No memory of this sort.", "Lower the threshold, raise top-k, or show all.")
    st.stop()
judged = {one.entry.id: one for one in found.candidates}
opened = st.session_state.get("recall-open")
if opened in judged:
    widgets.verdict(judged[opened])
    widgets.memory_card(agent, judged[opened].entry)
    if st.button("Close this memory", icon=":material/close:"):
        open_memory(None)
clicked = st.plotly_chart(
    figures.breakdown(visible.head(BARS), asked.threshold, asked.static_threshold, widgets.ink()),
    config={"displayModeBar": False},
    on_select="rerun",
    selection_mode="points",
    key=f"breakdown-{st.session_state.get('recall-round', 0)}",
    alt="Each candidate's score, stacked from recency, importance and relevancy",
)
if ids := widgets.clicked_ids(clicked):
    open_memory(ids[0])
more = f"The {BARS} first of {len(visible)}; the table has all. " if len(visible) > BARS else ""
st.caption(
    f"{more}Pale bars were not recalled. Static memory is asked first, then short-term, then long-term while the "
    "answer is short, so a higher score may be left out. Click a bar to open its memory."
)

table, context, code = st.tabs(["Every candidate", "Context text", "As code"])
with table:
    if len(visible) > ROWS:
        st.caption(f"The first {ROWS:,} of {len(visible):,}.")
    picked = st.dataframe(
        visible.head(ROWS),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"candidates-{st.session_state.get('recall-round', 0)}",
        column_order=["memory", "score", "why", "verdict", "tier", "recency", "importance", "relevancy"],
        column_config={
            "memory": st.column_config.TextColumn("Memory", width=330),
            "score": st.column_config.ProgressColumn("Score", min_value=0, max_value=1.5, format="%.2f", width=90),
            "why": st.column_config.TextColumn("Why, or why not", width=400),
            "verdict": st.column_config.TextColumn("Verdict", width=125),
            "tier": st.column_config.TextColumn("From", width=95),
            "recency": st.column_config.NumberColumn("Recency", format="%.2f", width=95),
            "importance": st.column_config.NumberColumn("Importance", format="%.2f", width=105),
            "relevancy": st.column_config.NumberColumn("Relevancy", format="%.2f", width=95),
        },
    )
    for row in picked["selection"]["rows"]:
        if row < len(visible):
            open_memory(str(visible.iloc[row]["id"]))
with context:
    st.caption("This text, and nothing else, is what an agent puts into its prompt.")
    st.code(found.context or "Nothing was recalled, so the text is empty.", language=None, wrap_lines=True)
with code:
    st.code(
        "from memory_system import World\n\n"
        f"memory = World().agent({agent.name!r})\n"
        f"found = memory.query_memory({cue!r}, top_k={asked.top_k}, threshold={asked.threshold})\n"
        "print(found.context)",
        language="python",
    )
