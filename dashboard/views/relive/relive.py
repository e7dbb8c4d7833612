"""Re-live: what a game asked, as it was answered then and as it would be now, and why they differ."""

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, widgets
from dashboard.data import tables
from dashboard.data.moments import Moment
from dashboard.views.recall import as_code, controls, why
from dashboard.views.relive import relive_figures, relive_tables
from memory_system import AgentMemory, MemorySystemError
from memory_system.agent_parts import Difference, Relived, Shift

PAGE, DIFFERENCES, ROWS = 100, 20, 16
BADGES = {Shift.LEFT: ("remove", "red"), Shift.ENTERED: ("add", "green"), Shift.MOVED: ("swap_vert", "blue")}


def open_query(number: int | None) -> None:
    """Open a query, or close the one that is open; the table is reset, with nothing selected."""
    st.session_state["relive-round"] = st.session_state.get("relive-round", 0) + 1
    session.to_link("query", None if number is None else str(number))
    st.rerun()


def to_recall(relived: Relived, *, then: bool, entry_id: str | None = None) -> None:
    """Go to the Recall page with this query, at that moment or as of now, and open a memory there."""
    logged = relived.logged
    session.look_at(Moment(revision=logged.revision, access=logged.access) if then else None)
    asked = relived.then.query if then else relived.now.query
    controls.take_over(session.agent(), asked, asked.now if then else None)
    st.session_state[why.OPEN] = entry_id
    st.switch_page("views/recall/recall.py", query_params={"agent": agent.name, "cue": asked.cue})


def opened(number: int) -> None:
    """One query, relived."""
    try:
        with st.spinner("Replaying …"):
            relived = agent.relive(number)
    except MemorySystemError as error:
        widgets.problem(error)
        if st.button("Close", icon=":material/close:"):
            open_query(None)
        return
    with st.container(border=True):
        st.header(widgets.plain(tables.short(relived.logged.query.cue, 300)), anchor=False)
        st.caption(widgets.plain(relive_tables.circumstances(relived.logged)))
        for doubt in relived.doubts[:5]:
            st.warning(widgets.plain(f"Not exactly as it was. {doubt}"), icon=":material/help:")
        if relived.faithful:
            st.caption(f":material/check: {words.REBUILT_EXACTLY}: the same memories with the same scores.")
        st.markdown(f"**{widgets.plain(relive_tables.summary(relived))}**")
        for parameter in relived.parameters:
            st.text(f"• {tables.visible(parameter)}")
        frame = relive_tables.shifted(relived, ROWS)
        if len(frame):
            st.html(relive_figures.shifted(frame, relived.then.query, relived.now.query))
        for difference in relived.differences[:DIFFERENCES]:
            _difference(relived, difference)
        if len(relived.differences) > DIFFERENCES:
            st.caption(f"And {len(relived.differences) - DIFFERENCES:,} more, which the Recall page shows.")
        _contexts(relived)
        _parameters(relived)
        _ways_on(relived)


def _difference(relived: Relived, difference: Difference) -> None:
    icon, colour = BADGES[difference.shift]
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.badge(relive_tables.WORDS[difference.shift], icon=f":material/{icon}:", color=colour)  # type: ignore[arg-type]
            for words, place in (("then", difference.place_then), ("now", difference.place_now)):
                st.badge(f"{words}: {f'place {place}' if place else 'not recalled'}", color="gray")
            for words, candidate in (("then", difference.then), ("now", difference.now)):
                if st.button(
                    f"Why, {words}",
                    key=f"why-{words}-{difference.entry_id}",
                    icon=":material/search:",
                    type="tertiary",
                    disabled=candidate is None or _too_long(relived),
                    help=f"Opens its verdict on the Recall page, as of {words}. In Python: AgentMemory.relive",
                ):
                    to_recall(relived, then=words == "then", entry_id=difference.entry_id)
        widgets.text(difference.document)
        widgets.text(difference.because)


def _contexts(relived: Relived) -> None:
    with st.expander("The text the game received then, and would receive now"):
        for place, words, found in zip(st.columns(2), ("Then", "Now"), (relived.then, relived.now), strict=True):
            with place:
                st.markdown(f"**{words}**")
                st.code(found.context or "Nothing was recalled, so the text is empty.", language=None, wrap_lines=True)


def _parameters(relived: Relived) -> None:
    with st.expander("The query's settings then and now"):
        widgets.table(
            relive_tables.parameters(relived.then.query, relived.now.query),
            hide_index=True,
            height="content",
            column_config={
                "parameter": st.column_config.TextColumn("Parameter", width=220),
                "then": st.column_config.TextColumn("Then", width=200),
                "now": st.column_config.TextColumn("Now", width=200),
            },
        )


def _too_long(relived: Relived) -> bool:
    """Whether the query is too long for the Recall page."""
    return len(relived.logged.query.cue) > controls.LONGEST


def _ways_on(relived: Relived) -> None:
    long = _too_long(relived)
    if long:
        st.caption(f"The Recall page asks with at most {controls.LONGEST:,} characters, so this stays here.")
    with st.container(horizontal=True):
        if st.button(
            "Recall as of then", icon=":material/history_toggle_off:", disabled=long,
            help="In Python: AgentMemory.as_of",
        ):  # fmt: skip
            to_recall(relived, then=True)
        if st.button("Recall it now", icon=":material/search:", disabled=long, help="In Python: AgentMemory.explain"):
            to_recall(relived, then=False)
        with st.popover(words.AS_CODE, icon=":material/code:"):
            number = relived.logged.number
            asked = agent.name, number, session.world().settings
            st.code(as_code.relive_python(*asked), language=None, wrap_lines=True)
            st.code(as_code.relive_curl(*asked), language=None, wrap_lines=True)
        if st.button("Close", icon=":material/close:", type="tertiary"):
            open_query(None)


def listed(agent: AgentMemory) -> None:
    """The log as a table, the newest first, a page at a time."""
    text = st.text_input(
        "Cue contains", placeholder="Search", icon=":material/search:", max_chars=200,
        key=f"relive-words-{agent.name}", persist_state="session",
    ).strip()  # fmt: skip
    before_key = f"relive-before-{agent.name}"
    if st.session_state.get(f"{before_key}-for") != text:
        st.session_state[f"{before_key}-for"], st.session_state[before_key] = text, None
    before = st.session_state[before_key]
    logged = agent.queries(PAGE + 1, before, contains=text)
    if not logged and before is None:
        if text:
            widgets.empty("No query with these words.", "Search for others.")
        elif not agent.settings.query_log:
            widgets.empty("Queries are not kept for this character.", "Set how many are kept.", agent, to="settings")
        else:
            _how_they_come(agent)
        return
    shown = logged[:PAGE]
    picked = widgets.table(
        relive_tables.queries(shown),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"queries-{agent.name}-{before}-{text}-{st.session_state.get('relive-round', 0)}",
        column_order=["cue", "recalled", "who", "world time", "asked"],
        column_config={
            "cue": st.column_config.TextColumn("Cue", width=340),
            "recalled": st.column_config.NumberColumn("Recalled", width=80),
            "who": st.column_config.TextColumn("Who", width=110),
            "world time": widgets.time_column("In the story", 190, weekday=True),
            "asked": widgets.time_column("At the desk", 150),
        },
    )
    with st.container(horizontal=True):
        if before is not None and st.button("Newest", icon=":material/first_page:"):
            st.session_state[before_key] = None
            st.rerun()
        if len(logged) > PAGE and st.button("Older", icon=":material/arrow_forward:"):
            st.session_state[before_key] = shown[-1].number
            st.rerun()
    for row in picked["selection"]["rows"]:
        if row < len(shown):
            open_query(shown[row].number)
    if not session.from_link("query"):
        st.caption("Select a query to replay it.")


def _how_they_come(agent: AgentMemory) -> None:
    widgets.empty(
        "Nothing has been asked yet.",
        "What your game asks a character is kept here with the answer; what you ask on the pages is not. "
        "A programmer connects the game: “As code” shows how it asks.",
    )
    with st.popover(words.AS_CODE, icon=":material/code:"):
        st.code(as_code.query_python(agent.name, session.world().settings), language=None, wrap_lines=True)


agent = session.present()
widgets.heading(
    "Re-live",
    "Replay a query and compare its original answer with today's.",
    agent,
)
bulk.last()
if session.moment() is not None:
    st.caption("This page compares with the present, whatever moment the other pages show.")
chosen = session.from_link("query")
if chosen:
    if chosen.isascii() and chosen.isdecimal() and len(chosen) < 18:
        opened(int(chosen))
    else:
        st.warning("The query in the link is not a number; choose one below.")
try:
    listed(agent)
except MemorySystemError as error:
    widgets.problem(error)
