"""Operations: preview what migration, reflection, summarising and planning would do, apply it, undo it."""

from collections.abc import Callable

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, spending, unrated, widgets
from memory_system import ChangeSet, MemorySystemError, Retention

agent = session.agent()
settings = agent.settings
widgets.heading(
    "Operations",
    "Preview, apply, undo. Apply does exactly what the preview showed; the model is not asked again.",
    agent,
)
widgets.said()
bulk.last(agent)
if session.moment() is not None:
    st.header("What the next migration would have done", anchor=False)
    widgets.change_set(agent.migrate_stm2ltm(preview=True))
    widgets.closed(agent)
    st.stop()

NAMES = ["Migrate", "Reflect", "Summarise", "Plan", words.TUNE, unrated.OPERATION]
st.session_state.setdefault("operation", session.from_link("operation", NAMES[0]))
if st.session_state["operation"] not in NAMES:
    st.session_state["operation"] = NAMES[0]
name = str(st.segmented_control("Operation", NAMES, key="operation", required=True, label_visibility="collapsed"))
session.to_link("operation", name)
if name == unrated.OPERATION:
    unrated.section(agent)
    spending.section(agent)
    st.stop()

Show = Callable[[float, str], None]
plan: Callable[[Show], ChangeSet]
asked_with = ""
if name == "Migrate":
    st.text(
        f"Short-term memory has room for {settings.stm_size}. Those beyond that move to long-term memory if they are "
        "worth keeping, otherwise they are forgotten. Pinned ones stay."
    )
    kept_by = widgets.keep_by(f"retention-{agent.name}-{settings.retention}", settings.retention)
    learned = kept_by is Retention.LEARNED
    usual = settings.retention_threshold if learned else settings.migration_threshold
    threshold = st.slider(
        "Chance to exceed" if learned else "Importance to exceed", 0.0, 1.0, usual, 0.01 if learned else 0.05,
        key=f"migrate-{agent.name}-{kept_by}-{usual}", persist_state="session",
    )  # fmt: skip
    asked_with = f"{kept_by} {threshold:g}"
    plan = lambda _show: agent.migrate_stm2ltm(threshold, retention=kept_by, preview=True)  # noqa: E731 - one of four
elif name == "Reflect":
    st.text(
        "Questions are drawn from recent memories and answered from what is recalled; each insight keeps its evidence."
    )
    plan = lambda show: agent.reflect_from_recent_memory(preview=True, progress=show)  # noqa: E731
elif name == "Summarise":
    st.text(
        "The least important long-term memories become one summary. The originals leave recall, and can be restored."
    )
    count = st.number_input("How many", 2, 500, 10, key=f"summarise-{agent.name}", persist_state="session")
    asked_with = f"{count}"
    plan = lambda show: agent.summarize_and_forget(int(count), preview=True, progress=show)  # noqa: E731
elif name == words.TUNE:
    st.text(
        "Weights, decay and threshold are fitted to the thumbs and saved cues of the Recall page. Something is "
        "proposed only if it also answers cues better that it was not fitted to. It takes a minute or so."
    )
    plan = lambda show: agent.tune(preview=True, progress=show)  # noqa: E731
else:
    st.text("The rest of today as timed actions, from routine and promises. It replaces an earlier plan for the day.")
    plan = lambda show: agent.plan_from_memory(preview=True, progress=show)  # noqa: E731

st.caption(widgets.plain(f"Language model: {agent.model.label}"))
key = f"plan-{agent.name}-{name}-{asked_with}"  # with another value it is another plan
if st.button("Preview", type="primary", icon=":material/visibility:"):
    st.session_state.pop(f"applied-{agent.name}", None)
    waiting = st.empty()
    with waiting.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, "Working …")
        st.button("Cancel", icon=":material/close:")  # a click runs the page anew, which ends the work at its next step

    def show_progress(done: float, doing: str) -> None:
        bar.progress(done, widgets.plain(doing))

    try:
        st.session_state[key] = plan(show_progress)
    except MemorySystemError as error:
        st.session_state.pop(key, None)
        widgets.problem(error)
    waiting.empty()

planned: ChangeSet | None = st.session_state.get(key)
applied: ChangeSet | None = st.session_state.get(f"applied-{agent.name}")
if planned is not None:
    st.header(widgets.plain(planned.title), anchor=False)
    refused = widgets.change_set(planned, choose=len(planned.changes) > 1)
    accepted = planned.without(refused) if refused else planned
    if refused:
        counted = f"{len(accepted.changes)} of {len(planned.changes)} accepted."
        if planned.operation == "plan":
            counted = f"{len(accepted.of('add'))} of {len(planned.of('add'))} accepted."
        elif planned.operation == "summarise":
            counted += " Without its summary a memory is not forgotten; without its memory a summary does not cite it."
        st.caption(counted)
    if planned.operation == "summarise" and not planned:
        bulk.offer_to_unmark(agent, key)
    if planned and st.button(
        "Apply",
        icon=":material/check:",
        type="primary",
        disabled=not accepted or (planned.operation == "plan" and not accepted.of("add")),
    ):
        try:
            done = agent.apply(accepted)
        except MemorySystemError as error:
            del st.session_state[key]  # what has become stale is previewed anew
            widgets.problem(error)
        else:
            del st.session_state[key]
            st.session_state[f"applied-{agent.name}"] = done
            widgets.say_next(f"Applied: {done.title}")
            st.rerun()
elif applied is not None and applied.revision is not None:
    with st.container(border=True):
        st.text(f"Applied: {applied.title}")
        widgets.undo_button(agent, applied.revision, applied.title, f"applied-{agent.name}")
else:
    widgets.empty("Nothing previewed yet.", "Preview shows what would happen without changing anything.")
spending.section(agent)
