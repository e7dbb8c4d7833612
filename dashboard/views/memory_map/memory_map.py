"""Memory map: memories on a plane, near where they are alike, in clusters with names; a lasso changes many together."""

import streamlit as st
from plotly.graph_objects import Figure

from dashboard import session, words
from dashboard.components import bulk, card, widgets
from dashboard.data import charts, tables
from memory_system import AgentMemory, MemorySystemError
from memory_system.world.cast import Chart, Point

ALL = "*"
SHOWN = 20  # of those that are chosen


def whose() -> str:
    """Whose memories are shown; it stands in the link."""
    names = [ALL, *session.world().characters()]
    asked = session.from_link("of", session.agent().name)
    chosen = st.selectbox(
        "Whose memories", names, index=names.index(asked) if asked in names else 0, key="map-of",
        format_func=lambda name: session.shown_name(name) if name != ALL else words.EVERYBODY, persist_state="session",
    )  # fmt: skip
    session.to_link("of", chosen)
    return str(chosen)


def laid_out(of: str) -> tuple[Chart, Figure]:
    """The map and its picture, made again only when something of those on it has changed."""
    world, ink, paper = session.world(), widgets.ink(), widgets.paper()
    names = world.characters() if of == ALL else [of]
    stamps = list(session.stamps(names))
    with st.spinner("Laying out"):
        chart = session.kept("map", session.agent(), lambda _: world.chart(names), of, *stamps)

    def drawn(_: AgentMemory) -> Figure:
        return charts.figure(chart, ink, paper, named=of == ALL)

    return chart, session.kept("map-figure", session.agent(), drawn, of, ink, paper, *stamps)


def chosen(chart: Chart, clicked: list[str]) -> list[Point]:
    """What was chosen by the lasso, or else by clusters, which needs no pointer."""
    labels = {one.number: charts.label(one) for one in chart.clusters}
    clusters = st.pills(
        words.CHOOSE_CLUSTERS, list(labels), selection_mode="multi", format_func=labels.__getitem__,
        key=f"map-clusters-{bulk.round_()}",
    )  # fmt: skip
    marks = set(clicked)
    return [one for one in chart.points if charts.mark(one) in marks or (not marks and one.cluster in clusters)]


def together(points: list[Point]) -> None:
    """What to do with the chosen memories of one character."""
    owners = sorted({one.agent for one in points})
    counts = {name: sum(one.agent == name for one in points) for name in owners}
    name = owners[0]
    if len(owners) > 1:
        name = st.segmented_control(
            "Of whom", owners, default=owners[0], required=True, key="map-owner",
            format_func=lambda one: f"{session.shown_name(one)} {counts[one]}",
        )  # fmt: skip
    agent = session.character(str(name))
    found = [agent.find(one.memory) for one in points if one.agent == name]
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
    chart, figure = laid_out(of)
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
picked = st.plotly_chart(
    figure,
    on_select="rerun", selection_mode=("points", "box", "lasso"), key=f"map-{of}-{bulk.round_()}",
    config={
        "displayModeBar": True, "displaylogo": False, "scrollZoom": True,
        "modeBarButtons": [["lasso2d", "select2d", "pan2d", "resetScale2d"]],
    },
    alt=f"{len(chart.points)} memories in {len(chart.clusters)} clusters; the clusters are listed below",
)  # fmt: skip
left_out = f" {tables.counted(chart.left_out, 'memory waits', 'memories wait')} for a vector." if chart.left_out else ""
st.caption(
    f"Larger points are more important, hollow ones short-term. The plane shows {chart.kept:.0%} of all differences. "
    f"Draw a lasso, or choose clusters.{left_out}"
)
if points := chosen(chart, widgets.clicked_ids(picked)):
    together(points)
