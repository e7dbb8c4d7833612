"""Tidy: memories that may say the same, or contradict each other; a person says which stays, or merges them."""

import streamlit as st

from dashboard import session
from dashboard.components import bulk, compared, needs_model, widgets
from dashboard.data import tables
from dashboard.views.tidy import suspects
from memory_system.core import DECAYING
from memory_system.operations.duplicates import RELATED, THRESHOLD, Sort

AT_ONCE = 5  # suspicions shown before more are requested

agent = session.agent()
widgets.heading(
    "Tidy",
    "Memories that may be duplicates or contradict each other. You decide; nothing changes automatically.",
    agent,
)
bulk.last()
if session.moment() is not None:
    widgets.empty("Memories are compared at present.", "", agent)
    st.stop()
may = not widgets.closed(agent)

count = sum(len(agent.entries(tier)) for tier in DECAYING)
if count < 2:
    widgets.empty("Nothing to compare yet.", "Add events.", agent, to="short_term")
    st.stop()


def see_the_least() -> None:
    """Compare with the lowest threshold."""
    st.session_state["tidy-threshold"] = RELATED


left, right = st.columns(2, vertical_alignment="bottom")
threshold = left.slider(
    "Similarity threshold",
    RELATED,
    1.0,
    THRESHOLD,
    0.01,
    key="tidy-threshold",
    persist_state="session",
    help="The cosine similarity above which two memories may be duplicates. In Python: AgentMemory.suspicions",
)
asks = (
    may
    and not needs_model.offline(agent)
    and right.button(
        widgets.plain(f"Ask {agent.model.name}"),
        icon=":material/smart_toy:",
        help="The language model reads the similar pairs. In Python: AgentMemory.suspicions(ask_model=True)",
    )
)
known = compared.found(agent, threshold, ask=asks)
if known is None:
    widgets.empty("Nothing has been compared yet.", "This compares every memory with every other one.")
    st.stop()

found = agent.duplicates.still(known.look)
needs_model.note(agent, "contradictions")
for note in found.notes:
    st.info(widgets.plain(note), icon=":material/info:")
suspects.unfinished(agent, found.suspicions)
if found.calls:
    with st.expander(f"What the language model was asked ({tables.counted(len(found.calls), 'call', 'calls')})"):
        for call in found.calls:
            st.caption(widgets.plain(f"{call.task} · {call.model} · {call.milliseconds:.0f} ms"))
            st.code(call.prompt, language=None, wrap_lines=True)
            st.code(call.error or call.answer, language=None, wrap_lines=True)

names = {sort: f"{sort.value.capitalize()}s {len(found.of(sort))}" for sort in Sort}
sorts = st.pills(
    "Show", list(Sort), selection_mode="multi", default=list(Sort), format_func=names.__getitem__, key="tidy-sorts"
)
listed = [suspicion for suspicion in found.suspicions if suspicion.sort in sorts]
if dismissed := len(agent.dismissed):
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{tables.counted(dismissed, 'suspicion is', 'suspicions are')} dismissed.")
        if may and st.button(
            "Show them again",
            type="tertiary",
            icon=":material/undo:",
            help="In Python: AgentMemory.suspect_again",
        ):
            bulk.do(agent, agent.suspect_again)
if found.suspicions and not listed:
    widgets.empty("None found.", "Choose the other kind above.")
    st.stop()
if not listed:
    widgets.empty(
        f"Nothing found among {tables.counted(found.compared, 'memory', 'memories')}.",
        "Less similar pairs may still say the same.",
    )
    st.button("See the least similar pairs", icon=":material/search:", key="tidy-least", on_click=see_the_least)
    st.stop()

most = int(st.session_state.setdefault("tidy-most", AT_ONCE))
for suspicion in listed[:most]:
    suspects.card(agent, suspicion)
if len(listed) > most and st.button(f"Show more ({len(listed) - most} are left)", icon=":material/expand_more:"):
    st.session_state["tidy-most"] = most + AT_ONCE
    st.rerun()
