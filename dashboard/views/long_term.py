"""Long-term: memories on a time axis, with what each rests on."""

import streamlit as st

from dashboard import figures, session, tables, widgets
from memory_system import Tier

agent = session.agent()
widgets.heading("Long-term memory", "Significant memories, reflections, summaries and plans. Click a point to open it.")

held = agent.entries(Tier.LTM)
if not held:
    widgets.empty("Long-term memory is empty.", "Migrate, reflect or plan on the Operations page.")
    st.stop()

frame = tables.timeline(held)
counts = frame["kind"].value_counts().to_dict()
left, right = st.columns([3, 2], vertical_alignment="bottom")
kinds = left.pills(
    "Kind",
    list(counts),
    selection_mode="multi",
    default=list(counts),
    format_func=lambda kind: f"{kind} {counts[kind]}",
)
wanted = right.text_input("Contains", placeholder="Search", icon=":material/search:")
visible = frame[frame["kind"].isin(kinds) & frame["memory"].str.contains(wanted.strip(), case=False, regex=False)]
if visible.empty:
    widgets.empty("No memory of this sort.", "Choose more kinds, or search for another word.")
    st.stop()

selected = session.from_link("memory") or None
clicked = st.plotly_chart(
    figures.timeline(visible, selected),
    on_select="rerun",
    selection_mode="points",
    key=f"timeline-{agent.name}-{len(visible)}",
    config={"displayModeBar": False, "scrollZoom": True},
    alt="Memories by time and importance",
)
points = clicked["selection"]["points"]
if points and points[0].get("customdata"):
    value = points[0]["customdata"]
    chosen = str(value[0] if isinstance(value, list) else value)
    if chosen != selected:
        session.to_link("memory", chosen)
        st.rerun()

if selected and (entry := agent.find(selected)):
    widgets.memory_card(agent, entry)
elif selected:
    widgets.empty("This memory is no longer in recall.", "The History page shows what became of it.")

with st.expander(f"All {len(visible)} as a table"):
    st.dataframe(
        visible.iloc[::-1],
        hide_index=True,
        column_order=["memory", "when", "importance", "kind"],
        column_config={
            "memory": st.column_config.TextColumn("Memory", width="large"),
            "when": st.column_config.DatetimeColumn("When (UTC)", format="ddd D MMM YYYY, HH:mm", timezone="UTC"),
            "importance": st.column_config.ProgressColumn(
                "Importance", min_value=0, max_value=1, format="%.2f", width="small"
            ),
            "kind": st.column_config.TextColumn("Kind", width="small"),
        },
    )
