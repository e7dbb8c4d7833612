"""Recall: what a cue brings back, and for every memory why or why not."""

from datetime import UTC, datetime

import streamlit as st

from dashboard import figures, session, tables, widgets
from memory_system import PRESETS, Scoring, Weights

BARS = 14
OWN = "this character's"

agent = session.agent()
settings = agent.settings
widgets.heading(
    "Recall", "Ask as the character would be asked. Looking here changes nothing: no access time is touched."
)

if st.session_state.get("cue_from") != session.from_link("cue"):  # a link was followed
    st.session_state["cue"] = st.session_state["cue_from"] = session.from_link("cue")
with st.form("ask", border=False):
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    cue = left.text_input("Cue", key="cue", placeholder="Who has the mill key?", max_chars=2000)
    right.form_submit_button("Recall", type="primary", icon=":material/search:", width="stretch", shortcut="Ctrl+Enter")
session.to_link("cue", cue)
st.session_state["cue_from"] = cue

columns = st.columns(3, vertical_alignment="bottom")
top_k = columns[0].number_input("Top-k: most memories to recall", 0, 100, settings.top_k)
threshold = columns[1].slider("Threshold a score must exceed", 0.0, 1.5, min(settings.threshold, 1.5), 0.01)
shown = columns[2].segmented_control("Show", ["All", "Recalled", "Not recalled"], default="All", required=True)
with st.expander("Weights, decay, static memory and time"):
    preset = st.segmented_control("Preset", [OWN, *PRESETS], default=OWN, required=True, help="Sets the sliders below.")
    start = PRESETS.get(str(preset), settings.scoring)
    sliders = st.columns(3)
    recency = sliders[0].slider("Weight of recency", 0.0, 2.0, min(start.weights.recency, 2.0), 0.05)
    importance = sliders[1].slider("Weight of importance", 0.0, 2.0, min(start.weights.importance, 2.0), 0.05)
    relevancy = sliders[2].slider("Weight of relevancy", 0.0, 2.0, min(start.weights.relevancy, 2.0), 0.05)
    kept = max(0.5, min(start.decay, 0.999))
    rate = sliders[0].slider("Recency kept per hour (decay k)", 0.5, 0.999, kept, 0.001, format="%.3f")
    static_threshold = sliders[1].slider("Static threshold", 0.0, 1.0, settings.static_threshold, 0.01)
    static_share = sliders[2].slider("Share of seats for static memory", 0.0, 1.0, settings.static_share, 0.1)
    st.caption(
        "Static memory is scored by relevancy alone, so it has a threshold of its own, and it takes at most its share "
        "of the seats while short-term and long-term memories wait."
    )
    world_now = agent.now.astimezone(UTC)
    days = st.columns(3)
    day = days[0].date_input("Ask on this day", world_now.date(), help="The world's time; later, recency has decayed.")
    hour = days[1].time_input("At this time (UTC)", world_now.time().replace(second=0, microsecond=0))
    asked_at = datetime.combine(day, hour, UTC)
    now = world_now if asked_at == world_now.replace(second=0, microsecond=0) else asked_at

if not cue.strip():
    widgets.empty("No cue yet.", "Type a question above, or take one of the examples on the Overview page.")
    st.stop()

scoring = Scoring(Weights(recency, importance, relevancy), rate)
found = agent.explain(
    cue,
    top_k,
    threshold,
    now=now,
    scoring=scoring,
    static_threshold=static_threshold,
    static_share=static_share,
)
frame = tables.candidates(found)
if frame.empty:
    widgets.empty(
        "There is nothing to recall.", "Give the character a personality, or add an event on the Short-term page."
    )
    st.stop()

summary = f"{len(found)} recalled of {found.considered} candidates · {found.milliseconds:.1f} ms"
st.caption(widgets.plain(f"{summary} · asked {tables.exact(now)}"))
visible = {"All": frame, "Recalled": frame[frame["recalled"]], "Not recalled": frame[~frame["recalled"]]}[str(shown)]
if visible.empty:
    widgets.empty("No memory of this sort.", "Lower the threshold, raise top-k, or show all.")
    st.stop()
clicked = st.plotly_chart(
    figures.breakdown(visible.head(BARS), threshold, static_threshold),
    config={"displayModeBar": False},
    on_select="rerun",
    selection_mode="points",
    key="breakdown",
    alt="Each candidate's score, stacked from recency, importance and relevancy",
)
more = f"The {BARS} first of {len(visible)}; the table has all. " if len(visible) > BARS else ""
st.caption(f"{more}Click a bar to open its memory.")
opened = next(iter(widgets.clicked_ids(clicked)), None)
if opened and (entry := agent.find(opened)):
    widgets.memory_card(agent, entry)

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
        if row < len(visible) and (entry := agent.find(str(visible.iloc[row]["id"]))) and entry.id != opened:
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
