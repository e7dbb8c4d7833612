"""Recall: what a cue brings back, and for every memory why or why not."""

import streamlit as st

from dashboard import figures, session, tables, widgets
from memory_system import Scoring, Weights

BARS = 14

agent = session.agent()
settings = agent.settings
widgets.heading(
    "Recall", "Ask as the character would be asked. Looking here changes nothing: no access time is touched."
)

st.session_state.setdefault("cue", session.from_link("cue"))
with st.form("ask", border=False):
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    cue = left.text_input("Cue", key="cue", placeholder="Who has the mill key?", max_chars=2000)
    right.form_submit_button("Recall", type="primary", icon=":material/search:", width="stretch", shortcut="Ctrl+Enter")
session.to_link("cue", cue)

columns = st.columns(3, vertical_alignment="bottom")
top_k = columns[0].number_input("Top-k: most memories to recall", 0, 100, settings.top_k)
threshold = columns[1].slider("Threshold a score must exceed", 0.0, 1.5, settings.threshold, 0.01)
shown = columns[2].segmented_control("Show", ["All", "Recalled", "Not recalled"], default="All", required=True)
with st.expander("Weights, decay and static memory"):
    weights, decay = settings.scoring.weights, settings.scoring.decay
    sliders = st.columns(3)
    recency = sliders[0].slider("Weight of recency", 0.0, 2.0, weights.recency, 0.05)
    importance = sliders[1].slider("Weight of importance", 0.0, 2.0, weights.importance, 0.05)
    relevancy = sliders[2].slider("Weight of relevancy", 0.0, 2.0, weights.relevancy, 0.05)
    rate = sliders[0].slider("Recency kept per hour (decay k)", 0.5, 0.999, decay, 0.001, format="%.3f")
    static_threshold = sliders[1].slider("Static threshold", 0.0, 1.0, settings.static_threshold, 0.01)
    static_share = sliders[2].slider("Share of seats for static memory", 0.0, 1.0, settings.static_share, 0.1)
    st.caption(
        "Static memory is scored by relevancy alone, so it has a threshold of its own, and it takes at most its share "
        "of the seats while short-term and long-term memories wait."
    )

if not cue.strip():
    widgets.empty("No cue yet.", "Type a question above, or take one of the examples on the Overview page.")
    st.stop()

scoring = Scoring(Weights(recency, importance, relevancy), rate)
found = agent.explain(
    cue, top_k, threshold, scoring=scoring, static_threshold=static_threshold, static_share=static_share
)
frame = tables.candidates(found)
if frame.empty:
    widgets.empty(
        "There is nothing to recall.", "Give the character a personality, or add an event on the Short-term page."
    )
    st.stop()

summary = f"{len(found)} recalled of {found.considered} candidates · {found.milliseconds:.1f} ms"
st.caption(widgets.plain(f"{summary} · {session.clock_words()}"))
visible = {"All": frame, "Recalled": frame[frame["recalled"]], "Not recalled": frame[~frame["recalled"]]}[str(shown)]
if visible.empty:
    widgets.empty("No memory of this sort.", "Lower the threshold, raise top-k, or show all.")
    st.stop()
st.plotly_chart(
    figures.breakdown(visible.head(BARS), threshold, static_threshold),
    config={"displayModeBar": False},
    alt="Each candidate's score, stacked from recency, importance and relevancy",
)
if len(visible) > BARS:
    st.caption(f"The {BARS} first of {len(visible)}; the table has all.")

table, context, code = st.tabs(["Every candidate", "Context text", "As code"])
with table:
    picked = st.dataframe(
        visible,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key="candidates",
        column_order=["verdict", "memory", "score", "recency", "importance", "relevancy", "tier", "why"],
        column_config={
            "verdict": st.column_config.TextColumn("Verdict", width=125),
            "memory": st.column_config.TextColumn("Memory", width=430),
            "score": st.column_config.ProgressColumn("Score", min_value=0, max_value=1.5, format="%.2f", width=95),
            "recency": st.column_config.NumberColumn("Recency", format="%.2f", width=95),
            "importance": st.column_config.NumberColumn("Importance", format="%.2f", width=95),
            "relevancy": st.column_config.NumberColumn("Relevancy", format="%.2f", width=95),
            "tier": st.column_config.TextColumn("From", width=95),
            "why": st.column_config.TextColumn("Why, or why not", width="large"),
        },
    )
    for row in picked["selection"]["rows"]:
        if row < len(visible) and (entry := agent.find(str(visible.iloc[row]["id"]))):
            widgets.memory_card(agent, entry)
with context:
    st.caption("This text, and nothing else, is what an agent puts into its prompt.")
    st.code(found.context or "Nothing was recalled, so the text is empty.", language=None, wrap_lines=True)
with code:
    st.code(
        "from memory_system import World\n\n"
        f"memory = World().agent({agent.name!r})\n"
        f"found = memory.query_memory({cue!r}, top_k={top_k}, threshold={threshold})\n"
        "print(found.context)",
        language="python",
    )
