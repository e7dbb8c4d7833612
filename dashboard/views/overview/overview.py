"""World: the cast on one screen, what is ahead of one of them, what changed last, and what is in use."""

import streamlit as st

from dashboard import session
from dashboard.components import bulk, places, recent, spending, widgets
from dashboard.components.frame import showing
from dashboard.data import tables
from dashboard.data.showing import Scene
from dashboard.views.installation import safekeeping
from dashboard.views.overview import evening, life, waiting
from memory_system import Tier

agent = session.agent()
stats = agent.get_stats()
personality = agent.personality
about = personality.identity if personality else None
story = session.world().about
cast = evening.cast_of(agent)
if (scene := showing.scene()) is not None:
    st.title(widgets.plain(story.title or agent.display_name), anchor=False)
    if story.about:
        st.caption(widgets.plain(story.about))
    (evening.day if scene is Scene.DAY else evening.remembered)(agent, cast)
    st.stop()
places.line()
if story.about:
    st.caption(f"**{widgets.plain(story.title or 'This world')}** · {widgets.plain(story.about)}")
showing.offer()
st.title(widgets.plain(agent.display_name), anchor=False)
if about and about.description:
    widgets.text(about.description)
evening.ask(agent, cast)
bulk.last()

if agent.personality_problem:
    st.warning(widgets.plain(agent.personality_problem), icon=":material/warning:")
for message in () if agent.read_only else agent.messages:
    st.info(widgets.plain(message), icon=":material/healing:")

safekeeping.light(agent.name)
waiting.line(agent)
overflow = agent.migrate_stm2ltm(preview=True)
if evening.asked():  # after a question to all, the answers come first
    answers = st.container()
    evening.day(agent, cast)
else:
    evening.day(agent, cast)
    answers = st.container()
life.show()
entries = agent.entries(Tier.STM)
too_many = tables.too_many(entries, stats["stm_size"])
over = f", {too_many:,} more than {'fits' if too_many == 1 else 'fit'}" if too_many else ""
counts = (
    f"{tables.room(entries, stats['stm_size'], 'short-term')}{over}",
    f"{stats['ltm']:,} long-term",
    f"{tables.counted(stats['static'], 'fact', 'facts')} of personality",
)
with st.container(key="counts"):
    st.caption(" · ".join(counts))

today = agent.plan_now()
if today.by != "nothing":
    st.header("Today", anchor=False)
    with st.container(border=True, gap="small"):
        missed = today.missed if today.by == "plan" else ()
        for label, action in (("Now", today.doing), ("Next", today.following), *(("Missed", act) for act in missed)):
            if action is not None:
                widgets.text(f"{label}: {action}")
        basis = "By the plan of the day. Missed: no memory mentions it."
        st.caption(basis if today.by == "plan" else "By the routine: this day has no plan yet.")

st.header("Recent changes", anchor=False)
recent.listed(agent, 5, "undo")

latest = tables.entries(agent.entries(Tier.STM), agent.now, overflow).head(5)
if len(latest):
    st.header("Latest memories", anchor=False)
    widgets.table(
        latest,
        hide_index=True,
        column_order=["memory", "age", "importance", *["marks"] * bool(tables.marked(latest))],
        column_config={
            "memory": st.column_config.TextColumn("Memory", width="large"),
            "age": st.column_config.TextColumn("When", width="small"),
            "importance": st.column_config.ProgressColumn(
                "Importance", min_value=0, max_value=1, format="%.2f", width="small"
            ),
            "marks": st.column_config.ListColumn("Marks", width="small"),
        },
    )
elif not agent.entries(Tier.LTM):
    widgets.empty("No memories yet.", "Add an event, or let a game send some.", agent, to="short_term")
spent = "" if session.moment() is not None else f" · {spending.line(agent)}"
st.caption(widgets.plain(f"Language model: {stats['model']}{spent} · Embedding: {stats['embedder']}"))
with answers:  # last, since a new world takes a while to answer
    evening.remembered(agent, cast)
