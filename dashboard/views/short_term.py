"""Short-term: add an event and see it rated; look at, pin, rate again or forget what is there."""

from collections.abc import Callable

import streamlit as st

from dashboard import session, tables, widgets
from memory_system import Kind, MemorySystemError, Tier

agent = session.agent()
settings = agent.settings
widgets.heading("Short-term memory", "Recent events. When there are more than fit, migration keeps the important ones.")
widgets.said()

with st.form("remember", clear_on_submit=False):
    text = st.text_area("What happened", key="event", placeholder="Saw smoke over the north field at dawn", height=90)
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    kind = left.selectbox(
        "Kind", [Kind.OBSERVATION.value, Kind.CONVERSATION.value, Kind.FACT.value, Kind.PROCEDURE.value]
    )
    by_hand = middle.selectbox(
        "Importance", ["rated by the model", *range(1, 11)], help="1 is mundane, 10 extremely poignant."
    )
    tags = right.text_input("Tags, with commas between", placeholder="key, promise")
    remember = st.form_submit_button(
        "Remember", type="primary", icon=":material/add:", help="AgentMemory.add_short_term"
    )
if remember:
    rating = by_hand if isinstance(by_hand, int) else None
    event = {
        "document": text,
        "kind": kind,
        "tags": [tag.strip() for tag in tags.split(",") if tag.strip()],
        "rating": rating,
        "explanation": "Rated by hand." if rating else "",
        "authored": True,
    }
    try:
        with st.spinner("Rating …"):
            outcome = agent.add_short_term(event).outcomes[0]
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        if outcome.rated:
            done = f"Remembered, rated {outcome.entry.rating:g} of 10. {outcome.entry.explanation}"
        else:
            done = f"Remembered, but not rated: {outcome.why} Rate it again below when the model is back."
        widgets.say_next(done)
        st.rerun()

held = agent.entries(Tier.STM)
st.subheader(f"{len(held)} of {settings.stm_size} remembered", anchor=False)
if not held:
    widgets.empty("Short-term memory is empty.", "Write what happened into the form above.")
    st.stop()
frame = tables.entries(held, agent.now, settings.migration_threshold)
picked = st.dataframe(
    frame,
    hide_index=True,
    on_select="rerun",
    selection_mode="multi-row",
    key="stm",
    column_order=["memory", "age", "importance", "fate", "explanation", "kind", "pinned", "tags"],
    column_config={
        "memory": st.column_config.TextColumn("Memory", width=430),
        "age": st.column_config.TextColumn("When", width=110),
        "importance": st.column_config.ProgressColumn(
            "Importance", min_value=0, max_value=1, format="%.2f", width="small"
        ),
        "fate": st.column_config.TextColumn("When it overflows", width=260),
        "explanation": st.column_config.TextColumn("Why this importance", width=320),
        "kind": st.column_config.TextColumn("Kind", width=110),
        "pinned": st.column_config.CheckboxColumn("Pinned", width="small"),
        "tags": st.column_config.ListColumn("Tags"),
    },
)
chosen = [agent.find(str(frame.iloc[row]["id"])) for row in picked["selection"]["rows"] if row < len(frame)]
entries = [entry for entry in chosen if entry is not None]
if not entries:
    st.caption("Select rows to pin, rate again, move or forget them.")
    st.stop()

ids = [entry.id for entry in entries]
actions: dict[str, Callable[[], object]] = {
    "Pin": lambda: [agent.edit(entry.id, pinned=True) for entry in entries],
    "Unpin": lambda: [agent.edit(entry.id, pinned=False) for entry in entries],
    "Rate again": lambda: agent.rate_again(ids),
    "Move to long-term": lambda: agent.migrate_stm2ltm(ids=ids),
    "Forget": lambda: agent.forget(ids),
}
with st.container(horizontal=True):
    for label, act in actions.items():
        if st.button(label, key=f"do-{label}"):
            try:
                act()
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                widgets.say_next(
                    f"{label}: {tables.counted(len(ids), 'memory', 'memories')}. The History page can undo it."
                )
                st.rerun()
for entry in entries[:5]:
    widgets.memory_card(agent, entry)
