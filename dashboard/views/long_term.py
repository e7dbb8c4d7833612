"""Long-term: memories on a time axis, narrowed by facets, each with what it rests on and what rests on it."""

import streamlit as st

from dashboard import figures, forms, session, tables, widgets

ROWS = 2000

agent = session.agent()
widgets.heading(
    "Long-term memory",
    "What mattered: memories, reflections, summaries, plans. Click a point to open it; the box tool selects several.",
    agent,
)
widgets.said()


def open_memory(entry_id: str | None) -> None:
    """Open a memory, or close the one that is open; the chart and the table begin anew, with nothing selected."""
    st.session_state["timeline-round"] = st.session_state.get("timeline-round", 0) + 1
    session.to_link("memory", entry_id)
    st.rerun()


frame = session.timeline(agent.name, agent.stamp)
if frame.empty:
    widgets.empty("Long-term memory is empty.", "Migrate, reflect or plan on the Operations page.", agent)
    st.stop()

counts = frame["kind"].value_counts().to_dict()
kinds = st.pills(
    "Kind",
    list(counts),
    selection_mode="multi",
    default=list(counts),
    format_func=lambda kind: f"{kind} {counts[kind]}",
)
left, middle, right = st.columns(3, vertical_alignment="bottom")
wanted = left.text_input("Contains", placeholder="Search", icon=":material/search:")
tag_counts = tables.tag_counts(frame)
tags = middle.multiselect(
    "Tags", list(tag_counts), format_func=lambda tag: f"{tables.visible(tag)} {tag_counts[tag]}", placeholder="Any"
)
low, high = right.slider("Importance", 0.0, 1.0, (0.0, 1.0), 0.1)
keep = frame["kind"].isin(kinds) & frame["importance"].between(low, high)
keep &= frame["memory"].str.contains(wanted.strip(), case=False, regex=False)
if tags:
    keep &= frame["tags"].map(lambda held: bool(set(tags) & set(held)))
visible = frame[keep]
if visible.empty:
    widgets.empty("No memory of this sort.", "Choose more kinds or tags, or search for another word.")
    st.stop()

selected = session.from_link("memory") or None
clicked = st.plotly_chart(
    figures.timeline(visible, selected),
    on_select="rerun",
    selection_mode=("points", "box"),
    key=f"timeline-{agent.name}-{st.session_state.get('timeline-round', 0)}",
    config={
        "displayModeBar": True,
        "displaylogo": False,
        "scrollZoom": True,
        "modeBarButtons": [["pan2d", "select2d", "resetScale2d"]],
    },
    alt="Memories by time and importance, over the number of memories a day",
)
st.caption("Points are moved a little up or down, so that none covers another.")
boxed = widgets.clicked_ids(clicked)
if len(boxed) == 1:
    open_memory(boxed[0])

if selected and (entry := agent.find(selected)):
    order = list(visible["id"])
    place = order.index(selected) if selected in order else None
    with st.container(horizontal=True, vertical_alignment="center"):
        if place is not None:
            before = order[place - 1] if place else None
            after = order[place + 1] if place + 1 < len(order) else None
            for label, icon, other in (("Previous", "arrow_back", before), ("Next", "arrow_forward", after)):
                if st.button(label, icon=f":material/{icon}:", disabled=other is None):
                    open_memory(other)
            st.caption(f"{place + 1} of {len(order)} by time")
        if st.button("Close", icon=":material/close:", type="tertiary"):
            open_memory(None)
    widgets.memory_card(agent, entry)
    forms.actions(agent, entry)
elif selected:
    widgets.empty(
        "This memory is not in recall.", "It may have been forgotten: the History page shows what became of it."
    )
    if st.button("Close", icon=":material/close:"):
        open_memory(None)

rows = visible[visible["id"].isin(boxed)] if len(boxed) > 1 else visible
with st.expander(f"{'Selected' if len(boxed) > 1 else 'All'} {len(rows)} as a table", expanded=len(boxed) > 1):
    listed = rows.iloc[::-1].head(ROWS)
    if len(rows) > ROWS:
        st.caption(f"The newest {ROWS:,}; narrow the facets to see others.")
    picked = st.dataframe(
        listed,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"table-{agent.name}-{st.session_state.get('timeline-round', 0)}",
        column_order=["memory", "when", "importance", "kind", "tags"],
        column_config={
            "memory": st.column_config.TextColumn("Memory", width=480),
            "when": st.column_config.DatetimeColumn(
                "When (UTC)", format="ddd D MMM YYYY, HH:mm", timezone="UTC", width=190
            ),
            "importance": st.column_config.ProgressColumn(
                "Importance", min_value=0, max_value=1, format="%.2f", width=110
            ),
            "kind": st.column_config.TextColumn("Kind", width=110),
            "tags": st.column_config.ListColumn("Tags"),
        },
    )
    for row in picked["selection"]["rows"]:
        if row < len(listed) and str(listed.iloc[row]["id"]) != selected:
            open_memory(str(listed.iloc[row]["id"]))
