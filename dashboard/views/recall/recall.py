"""Recall: what a cue brings back, and for every memory why or why not."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session, words
from dashboard.components import bars, bulk, widgets
from dashboard.data import tables
from dashboard.views.recall import as_code, controls, over_talk, why
from dashboard.views.recall import compare as recall_compare
from dashboard.views.recall import cues as recall_cues
from dashboard.views.recall import forgotten as recall_forgotten
from dashboard.views.recall import judge as recall_judge
from dashboard.views.recall import narrative as recall_narrative
from memory_system import AgentMemory, MemorySystemError, Query, Seats, Verdict
from memory_system.recall import Explanation

BARS, ROWS = 14, 100


@st.fragment
def results(agent: AgentMemory, cue: str) -> None:
    """Controls and answer; a slider reruns only this part, not the whole page."""
    if not cue.strip():
        _unasked(agent)
        return
    try:
        with st.container(key="recall-bench"):
            picture, beside = st.columns([7, 3], gap="medium")
        with beside:
            asked = controls.controls(agent, cue)
        _answer(agent, asked, picture)
    except MemorySystemError as error:
        widgets.problem(error)


def _unasked(agent: AgentMemory) -> None:
    """What can be asked: examples, and the cues that are saved."""
    widgets.empty("No cue yet.", "Type a question above, or take one of these.")
    with st.container(gap=None):
        for number, example in enumerate(session.example_cues(agent.name)):
            if st.button(
                widgets.plain(example), key=f"recall-example-{number}", icon=":material/search:", type="tertiary"
            ):
                st.switch_page("views/recall/recall.py", query_params={"agent": agent.name, "cue": example})
    widgets.lead(words.OVER_A_TALK, "recall", agent.name, "forum", talk=over_talk.LAST)
    if agent.saved_cues:
        st.header(words.SAVED_CUES, anchor=False)
        recall_cues.results(agent)


def _answer(agent: AgentMemory, asked: controls.Asked, picture: DeltaGenerator) -> None:
    """The bars next to the controls, and below both the tabs."""
    found = agent.explanation(asked.query)
    with picture:
        shown = _picture(agent, found, asked.shown)
    if not shown:
        return
    frame = tables.candidates(found.candidates[place] for place in shown[:ROWS])
    turn = st.session_state.get("recall-round", 0)
    with picture:
        bars.show(frame.head(BARS), found.query, why.choose, key="recall-bars")
        more = f"The {BARS} first of {len(shown):,}; the table has more. " if len(shown) > BARS else ""
        st.caption(f"{more}Pale bars were not recalled{_left_out(found.query)}. Click a bar to open its memory.")
    table, context, narrative, compare, judge, cues, code = st.tabs(
        [
            "Every candidate",
            words.CONTEXT_TEXT,
            "Narrative",
            words.COMPARE_PRESETS,
            "Judge",
            words.SAVED_CUES,
            words.AS_CODE,
        ],
        on_change="rerun",
        key="recall-tab",
    )
    with table:
        if table.open:
            _table(agent, found, shown, frame, turn)
    with context:
        if context.open:
            st.caption("Exactly this text goes into the agent's prompt.")
            st.code(found.context or "Nothing was recalled, so the text is empty.", language=None, wrap_lines=True)
    with narrative:
        if narrative.open:
            recall_narrative.show(agent, found)
    with compare:
        if compare.open:
            recall_compare.show(agent, found.query)
    with judge:
        if judge.open:
            recall_judge.show(agent, found)
    with cues:
        if cues.open:
            recall_cues.show(agent, found)
    with code:
        if code.open:
            _code(agent, found)


def _picture(agent: AgentMemory, found: Explanation, choice: str) -> list[int]:
    """What is above the bars, and the positions of the candidates that they show: none if it says why."""
    query = found.query
    if not found.considered:
        widgets.empty("Nothing to recall yet.", "Add an event.", agent, to="short_term")
        return []
    summary = f"{len(found)} recalled of {found.considered:,} candidates · {found.milliseconds:.1f} ms"
    by = " by somebody else" if query.addressed else ""
    st.caption(widgets.plain(f"{summary} · asked{by} {tables.exact(query.now)}"), help=_rule(query))
    if query.instances:
        st.caption(widgets.plain(f"{words.ASKED_TOO} {', '.join(f'“{instance}”' for instance in query.instances)}."))
    if query.unexpanded:
        st.caption(widgets.plain(query.unexpanded))
    if near := tables.nearest(found):
        st.caption(widgets.plain(f"Nothing passed the threshold. {near}"))
    recall_forgotten.show(agent, query)
    why.opened(agent, found)
    shown = _shown(found, choice)
    if not shown:
        widgets.empty("No matching memories.", "Lower the threshold, or raise top-k.")
        if choice != "All":
            st.button("Show all", icon=":material/list:", key="recall-show-all", on_click=controls.show_all)
    return shown


def _rule(query: Query) -> str:
    """Who gets the seats, and how many static memory is entitled to."""
    first = (
        "Seats by ranking: the best of all tiers, on one scale; a synopsis has none where a turn of its talk passes."
        if query.scoring.seats is Seats.RANKING
        else "Seats by cascade: static, short-term, long-term, each while seats are free."
    )
    compared = "Its confidence" if query.scoring.confident else "Its score"
    return (
        f"{first} {compared} must exceed {query.threshold:.2f}. "
        f"Static memory has its own threshold, {query.static_threshold:.2f}, "
        f"and at most {query.static_seats} of {query.top_k} seats while others wait."
    )


def _left_out(query: Query) -> str:
    """How a memory may be left out despite a higher score, as the end of a sentence."""
    if query.scoring.seats is Seats.RANKING:
        return (
            "; a fact of the personality may be left out for its own threshold or share, whatever its score, and a "
            "synopsis for a turn of its conversation that passes"
        )
    return "; an earlier tier is asked first, so a higher score of a later one may be left out"


def _shown(found: Explanation, choice: str) -> list[int]:
    """The positions of the candidates to be shown."""
    if choice == "Recalled":
        return found.candidates.which(Verdict.RECALLED)
    if choice == words.NOT_RECALLED:
        return found.candidates.which(*(verdict for verdict in Verdict if verdict is not Verdict.RECALLED))
    return list(range(len(found.candidates)))


def _table(agent: AgentMemory, found: Explanation, shown: list[int], frame: pd.DataFrame, turn: int) -> None:
    if len(shown) > ROWS:
        everyone = st.toggle(f"All {len(shown):,} rows, not the first {ROWS} only", key=f"everyone-{agent.name}")
        if everyone:
            frame = tables.candidates(found.candidates[place] for place in shown)
    picked = widgets.table(
        frame.drop(columns=["shades", "told"]),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"candidates-{turn}",
        column_order=[
            "memory",
            "score",
            *["confidence"] * found.query.scoring.confident,
            "why",
            "verdict",
            "tier",
            "recency",
            "importance",
            "relevancy",
            "marks",
        ],
        column_config={
            "marks": st.column_config.ListColumn("Marks", width=110),
            "memory": st.column_config.TextColumn("Memory", width=420),
            "score": st.column_config.ProgressColumn("Score", min_value=0, max_value=1.5, format="%.2f", width=90),
            "confidence": st.column_config.NumberColumn("Confidence", format="%.2f", width=105),
            "why": st.column_config.TextColumn("Why, or why not", width=360),
            "verdict": st.column_config.TextColumn("Verdict", width=125),
            "tier": st.column_config.TextColumn("From", width=95),
            "recency": st.column_config.NumberColumn("Recency", format="%.2f", width=95),
            "importance": st.column_config.NumberColumn("Importance", format="%.2f", width=105),
            "relevancy": st.column_config.NumberColumn("Relevancy", format="%.2f", width=95),
        },
    )
    for row in picked["selection"]["rows"]:
        if row < len(frame):
            why.open_memory(str(frame.iloc[row]["id"]))


def _code(agent: AgentMemory, found: Explanation) -> None:
    st.caption("Both run exactly the query above, with every setting written out, and change nothing.")
    # without a language, since the colours of highlighted code are too pale
    asked = agent.name, found.query, session.moment(), session.world().settings
    st.code(as_code.recall_python(*asked), language=None, wrap_lines=True)
    st.code(as_code.recall_curl(*asked), language=None, wrap_lines=True)


chosen = session.agent()
widgets.heading("Recall", "Ask what the character remembers. Looking changes nothing, not even access times.", chosen)
bulk.last()
if over_talk.opened():
    over_talk.show(chosen)
else:
    results(chosen, controls.cue(chosen))
