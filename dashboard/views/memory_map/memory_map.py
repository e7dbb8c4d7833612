"""Memory map: memories on a plane, closer the more alike they are, in named clusters; a lasso changes many together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, card, mounting, widgets
from dashboard.data import charts, tables
from memory_system import AgentMemory, MemorySystemError
from memory_system.world.cast import Chart, Point
from memory_system.world.cast import chart as charted

ALL = "*"
SHOWN = 20  # of the chosen ones


@dataclass(frozen=True)
class Past:
    """A character as it was at the moment that is viewed, as a cast of one."""

    only: AgentMemory

    def characters(self) -> list[str]:
        """Its name."""
        return [self.only.name]

    def agent(self, _name: str) -> AgentMemory:
        """The character itself, for any name."""
        return self.only


def whose() -> str:
    """Whose memories are shown; it is in the link, and following a link to the page sets it.

    In the past they are those of the viewed character.
    """
    if session.moment() is not None:
        return session.agent().name
    names = [ALL, *session.world().characters()]
    linked, here = session.from_link("of"), session.agent().name
    if linked in names and st.session_state.get("map-of-linked") != linked:
        st.session_state["map-of"] = linked
    elif st.session_state.get("map-of") not in names:
        st.session_state["map-of"] = here if here in names else ALL
    chosen = st.selectbox(
        "Whose memories", names, key="map-of", persist_state="session",
        format_func=lambda name: session.shown_name(name) if name != ALL else words.EVERYBODY,
    )  # fmt: skip
    session.to_link("of", chosen)
    st.session_state["map-of-linked"] = chosen
    return str(chosen)


def laid_out(of: str) -> tuple[Chart, dict[str, Any]]:
    """The map and its picture, remade only when something on it has changed."""
    world = session.world()
    names = world.characters() if of == ALL else [of]
    stamps = list(session.stamps(names))
    with st.spinner("Laying out"):
        if session.moment() is None:
            chart = session.kept("map", session.agent(), lambda _: world.chart(names), of, *stamps)
        else:
            chart = session.kept("map", session.agent(), lambda owner: charted(Past(owner)), of)
            stamps = []

    def drawing(_: AgentMemory) -> dict[str, Any]:
        named = {name: session.shown_name(name) for name in names} if of == ALL else None
        return charts.drawing(chart, named=named)

    return chart, session.kept("map-drawn", session.agent(), drawing, of, *stamps)


def plane(chart: Chart, drawn: Mapping[str, Any], of: str) -> list[Point]:
    """Draw the map, and the clusters below it, which need no pointer; returns what is chosen in either."""
    this = f"{session.place()}-{of}-{bulk.round_()}"
    marks_key, clusters = f"map-{this}", f"map-clusters-{this}"
    marks = [charts.mark(point) for point in chart.points]

    def act(report: Mapping[str, Any]) -> None:
        st.session_state[clusters] = [
            cluster.number for cluster in chart.clusters if cluster.number == report.get("cluster")
        ]
        rows = mounting.whole_numbers(report, "rows")
        st.session_state[marks_key] = {marks[row] for row in rows if 0 <= row < len(marks)}

    caught, numbers = st.session_state.get(marks_key, ()), st.session_state.get(clusters) or ()
    rows = [row for row, point in enumerate(chart.points) if marks[row] in caught or point.cluster in numbers]
    mounting.show("map", {**drawn, "whose": of, "chosen": rows}, act)
    labels = {cluster.number: widgets.plain(charts.label(cluster)) for cluster in chart.clusters}
    st.pills(
        words.CHOOSE_CLUSTERS, list(labels), selection_mode="multi", format_func=labels.__getitem__, key=clusters,
        on_change=lambda: st.session_state.pop(marks_key, None),
    )  # fmt: skip
    return [chart.points[row] for row in rows]


def together(points: list[Point]) -> None:
    """Actions for the chosen memories of one character."""
    owners = sorted({point.agent for point in points})
    counts = {name: sum(point.agent == name for point in points) for name in owners}
    name = owners[0]
    if len(owners) > 1:
        name = st.segmented_control(
            "Of whom", owners, default=owners[0], required=True, key="map-owner",
            format_func=lambda owner: widgets.plain(f"{session.shown_name(owner)} {counts[owner]}"),
        )  # fmt: skip
    agent = session.character(str(name)) if session.moment() is None else session.agent()
    found = [agent.find(point.memory) for point in points if point.agent == name]
    entries = [entry for entry in found if entry is not None]
    st.header(f"{tables.counted(len(entries), 'memory', 'memories')} chosen", anchor=False)
    if agent.read_only is None:
        bulk.panel(agent, entries, "map")
        bulk.forget_and_restore(agent, entries, "map")
    card.linked_to(agent, [(entry, entry.kind.value) for entry in entries[:SHOWN]], "map")
    if len(entries) > SHOWN:
        st.caption(f"And {len(entries) - SHOWN:,} more.")


widgets.heading("Memory map", "Memories that are alike lie near each other, at the same place at every visit.")
bulk.last()
of = whose()
try:
    chart, drawn = laid_out(of)
except MemorySystemError as error:
    widgets.problem(error)
    st.stop()
if not chart.points:
    widgets.empty(
        "There is nothing to lay on a map yet.",
        "Add an event, or let a game send some.",
        session.agent(),
        to="short_term",
    )
    st.stop()
points = plane(chart, drawn, of)
left_out = f" {tables.counted(chart.left_out, 'memory waits', 'memories wait')} for a vector." if chart.left_out else ""
st.caption(
    f"Larger points are more important, hollow ones short-term. The plane shows {chart.kept:.0%} of all differences. "
    f"Draw a lasso, click a point or a name, or choose clusters.{left_out}"
)
if points:
    together(points)
