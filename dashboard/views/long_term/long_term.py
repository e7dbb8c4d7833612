"""Long-term: memories on a time axis, narrowed by facets, each with what it rests on and what rests on it."""

import streamlit as st

from dashboard import session
from dashboard.components import bulk, card, edits, forms, stale, widgets
from dashboard.data import tables
from dashboard.views.long_term import picture
from memory_system import Tier
from memory_system.core import LIVED
from memory_system.errors import EntryNotFound

ROWS = 2000

agent = session.agent()
widgets.heading(
    "Long-term memory",
    "Significant memories, reflections, summaries and plans. Click a point to open it; the box tool selects several.",
    agent,
)
bulk.last()


def open_memory(entry_id: str | None) -> None:
    """Open a memory, or close the one that is open; the picture and the table are reset, with nothing selected."""
    picture.unbox(agent)
    st.session_state["timeline-round"] = st.session_state.get("timeline-round", 0) + 1
    session.to_link("memory", entry_id)
    st.rerun()


def show_open(entry_id: str, order: list[str]) -> None:
    """The open memory, from any tier, or as it was before it was forgotten."""
    try:
        entry = agent.last_version(entry_id)
    except EntryNotFound:
        widgets.empty("This memory never existed.", "The link may belong to another character.")
        if st.button("Close", icon=":material/close:"):
            open_memory(None)
        return
    place = order.index(entry_id) if entry_id in order else None
    with st.container(horizontal=True, vertical_alignment="center"):
        if place is not None:
            before = order[place - 1] if place else None
            after = order[place + 1] if place + 1 < len(order) else None
            for label, icon, other in (("Previous", "arrow_back", before), ("Next", "arrow_forward", after)):
                if st.button(label, icon=f":material/{icon}:", disabled=other is None):
                    open_memory(other)
            st.caption(f"{place + 1:,} of {len(order):,} by time")
        if st.button("Close", icon=":material/close:", type="tertiary"):
            open_memory(None)
    card.show(agent, entry)
    forms.actions(agent, entry)


selected = session.from_link("memory") or None
stale.notice(agent)
frame = session.timeline(agent)
edits.unfinished(agent, lambda: {selected or ""} | {entry.id for tier in LIVED for entry in agent.entries(tier)})
if frame.empty:
    if selected:
        show_open(selected, [])
    lived = bool(agent.entries(Tier.STM))
    step, to = ("Migrate, reflect or plan.", "operations") if lived else ("Add an event first.", "short_term")
    widgets.empty("Long-term memory is empty.", step, agent, to=to)
    st.stop()

counts = frame["kind"].value_counts().to_dict()
seen = st.session_state.setdefault(f"ltm-kinds-seen-{agent.name}", set[str]())
fresh, kinds_key = set(counts) - seen, f"ltm-kinds-{agent.name}"  # a kind added by a game is shown as well
if fresh:
    st.session_state[kinds_key] = [
        kind for kind in counts if kind in fresh or kind in st.session_state.get(kinds_key, [])
    ]
    seen |= fresh
kinds = st.pills(
    "Kind",
    list(counts),
    selection_mode="multi",
    format_func=lambda kind: f"{kind} {counts[kind]:,}",
    key=kinds_key,
    persist_state="session",
)
left, middle, right = st.columns(3, vertical_alignment="bottom")
text = left.text_input(
    "Contains", placeholder="Search", icon=":material/search:", key=f"ltm-words-{agent.name}", persist_state="session"
)
tag_counts = tables.tag_counts(frame)
tags = middle.multiselect(
    "Tags", list(tag_counts), format_func=lambda tag: f"{tables.visible(tag)} {tag_counts[tag]:,}", placeholder="Any",
    key=f"ltm-tags-{agent.name}", persist_state="session",
)  # fmt: skip
low, high = right.slider(
    "Importance", 0.0, 1.0, (0.0, 1.0), 0.1, key=f"ltm-importance-{agent.name}", persist_state="session"
)
keep = frame["kind"].isin(kinds) & frame["importance"].between(low, high)
keep &= frame["memory"].str.contains(text.strip(), case=False, regex=False)
if tags:
    keep &= frame["tags"].map(lambda row_tags: bool(set(tags) & set(row_tags)))
visible = tables.with_stale(frame[keep], {memory.entry.id for memory in agent.stale()})
if marked := tables.marked(visible):
    st.caption(marked)
if visible.empty:
    widgets.empty("No matching memories.", "Choose more kinds or tags, or try another word.")
    st.stop()

narrow = len(visible) < len(frame)
boxed = picture.show(agent, list(visible["id"]) if narrow else None, selected or "")
if len(boxed) == 1:
    open_memory(boxed[0])

if selected:
    show_open(selected, list(visible["id"]))

rows = visible[visible["id"].isin(boxed)] if len(boxed) > 1 else visible
narrow = len(rows) < len(frame)
these = f"the {len(rows):,} in the box" if len(boxed) > 1 else f"{'these' if narrow else 'all'} {len(rows):,}"
if agent.read_only is None:
    with widgets.box(f"Change {these} together", f"together-{agent.name}") as together:
        if together.open:
            entries = [entry for entry in map(agent.find, rows["id"]) if entry is not None]
            st.caption("To choose them, narrow the filters or search above, or draw a box on the timeline.")
            bulk.panel(agent, entries, "ltm")
            bulk.forget_and_restore(agent, entries, "ltm")
with widgets.box(
    f"{'Selected' if len(boxed) > 1 else 'All'} {len(rows):,} as a table",
    f"rows-{agent.name}-{len(boxed) > 1}",
    expanded=len(boxed) > 1,
) as tabled:
    if not tabled.open:
        st.stop()
    listed = rows.iloc[::-1].head(ROWS)
    if len(rows) > ROWS:
        st.caption(f"The newest {ROWS:,}; narrow the facets to see others.")
    picked = widgets.table(
        listed,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"table-{agent.name}-{st.session_state.get('timeline-round', 0)}",
        column_order=["memory", "when", "importance", "kind", "marks", "tags"],
        column_config={
            "memory": st.column_config.TextColumn("Memory", width=480),
            "when": widgets.time_column("When", 190, weekday=True),
            "importance": st.column_config.ProgressColumn(
                "Importance", min_value=0, max_value=1, format="%.2f", width=110
            ),
            "kind": st.column_config.TextColumn("Kind", width=110),
            "marks": st.column_config.ListColumn("Marks", width=150),
            "tags": st.column_config.ListColumn("Tags"),
        },
    )
    for row in picked["selection"]["rows"]:
        if row < len(listed) and str(listed.iloc[row]["id"]) != selected:
            open_memory(str(listed.iloc[row]["id"]))
