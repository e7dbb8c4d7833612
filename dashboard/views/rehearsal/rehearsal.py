"""Rehearsal: play with a copy of the character, see what differs, keep what is good and drop the rest."""

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, change_set, rehearsing, widgets
from dashboard.data import comparing, tables
from dashboard.views.rehearsal import ticks
from memory_system import ChangeSet, MemorySystemError

agent, world = session.agent(), session.world()
widgets.heading("Rehearsal", "Try things out on a copy and keep only what you like. Keeping can be undone.", agent)
bulk.last()
if widgets.closed(agent):
    st.stop()

mark = world.rehearsal(agent.name)
if mark is None:
    rehearsing.begin(agent.name)
    rehearsing.listed(agent.name)
    st.stop()

try:
    apart = world.compare(agent.name)
except MemorySystemError as error:
    widgets.problem(error)
    rehearsing.drop(mark, "drop-this")
    st.stop()
original = session.character(mark.of)
whom = session.shown_name(mark.of)
changes = agent.stamp[0] - mark.revision
with st.container(horizontal=True, vertical_alignment="center"):
    with st.container(width="stretch", gap=None, key="rehearsal-words-begun"):
        st.text(
            f"{tables.counted(changes, 'change', 'changes')} here since it was begun, "
            f"{apart.moved_on or 'none'} in {whom}."
        )
        st.caption(
            widgets.plain(f"Begun {rehearsing.when(mark)}; the world's time was {tables.exact(mark.world_time)}.")
        )
    rehearsing.together(mark)
    rehearsing.drop(mark, "drop-this")

if not changes:
    widgets.empty(
        f"Nothing differs from {whom} yet.",
        "Use any page: query, add, edit, run an operation, change a setting. Then come back and keep what you like.",
    )
    st.stop()
if apart:
    st.text(comparing.summary(apart, whom))

WAYS = ["By memory", words.CHANGE_BY_CHANGE]
way = str(st.segmented_control("Keep", WAYS, default=WAYS[0], required=True, key="rehearsal-way"))
if way == WAYS[0]:
    if not apart:
        widgets.empty(f"Every change made here is already in {whom} too.", "Continue, or drop the rehearsal.")
        st.stop()
    ticked = ticks.by_memory(apart, whom)
else:
    ticked = ticks.by_change(world, mark)

plan_key = f"keeping-{agent.name}"
asked_with = (ticked, agent.stamp[0], original.stamp[0])
if st.button(
    "Preview",
    type="primary",
    icon=":material/visibility:",
    disabled=not ticked,
    help="What it would do, without doing it. In Python: World.keep(..., preview=True)",
):
    try:
        planned = world.keep(
            agent.name,
            ids=ticked.ids if ticked.revisions is None else None,
            texts=ticked.texts if ticked.revisions is None else None,
            revisions=ticked.revisions,
            overwrite=ticked.overwrite,
            author=rehearsing.AUTHOR,
            preview=True,
        )
        st.session_state[plan_key] = (asked_with, planned)
    except MemorySystemError as error:
        st.session_state.pop(plan_key, None)
        widgets.problem(error)
preview: tuple[object, ChangeSet] | None = st.session_state.get(plan_key)
if preview is None or preview[0] != asked_with:
    if not ticked:
        st.caption("Tick what to keep; Preview then shows the result without changing anything.")
    st.stop()

planned = preview[1]
st.header(widgets.plain(planned.title), anchor=False)
st.text(comparing.outcome(planned, whom))
change_set.show(original, planned)
with change_set.foot(plan_key):
    if st.button(
        widgets.plain(f"{words.KEEP_IN} {whom}"),
        type="primary",
        icon=":material/check:",
        disabled=not planned,
        help="One change of the character, which can be undone. In Python: World.keep",
    ):
        bulk.apply(original, plan_key, planned, f"{words.KEPT_IN} {whom}")
