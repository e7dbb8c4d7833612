"""Operations: preview what migration, reflection, summarising and planning would do, apply it, undo it."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, declared_form, spending, unrated, widgets, working
from memory_system import ChangeSet, MemorySystemError, Retention
from memory_system.interfaces.operations import BESIDE, OPERATIONS, Operation
from memory_system.interfaces.reads import READS, Read

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

MORE = "More"
DECLARED = {one.name: one for one in (*OPERATIONS, *BESIDE)}
USUAL = {name.capitalize(): DECLARED[name] for name in ("migrate", "reflect", "summarise", "plan")}
NAMES = [*USUAL, unrated.OPERATION]


def leave_more() -> None:
    """Whoever chooses an operation by its name wants to see it."""
    st.session_state["more-operations"] = False


linked = session.from_link("operation", NAMES[0])
named = DECLARED.get(linked)
if named in USUAL.values():
    linked = linked.capitalize()
elif named is not None and "operation" not in st.session_state:
    linked, st.session_state[f"more-{agent.name}"] = MORE, named
st.session_state.setdefault("more-operations", linked == MORE)
st.session_state.setdefault("operation", linked)
if st.session_state["operation"] not in NAMES:
    st.session_state["operation"] = NAMES[0]
name = str(
    st.segmented_control(
        "Operation", NAMES, key="operation", required=True, label_visibility="collapsed", on_change=leave_more
    )
)
if st.toggle("More operations, and what can be looked up", key="more-operations"):
    name = MORE
if name != MORE:
    session.to_link("operation", name)
if name == unrated.OPERATION:
    unrated.section(agent)
    spending.section(agent)
    st.stop()


def look_up(read: Read) -> None:
    """A read with its form, and its answer."""
    asked = declared_form.entered(read.form, agent if read.of_agent else None, f"read-{agent.name}-{read.name}")
    if asked is None or not st.button(words.LOOK_UP, type="primary", icon=":material/search:"):
        return
    try:
        with st.spinner("Looking …"):
            answer, _ = read.asked(session.world(), agent, asked, lambda _done, _doing: None)
    except MemorySystemError as error:
        widgets.problem(error)
    else:
        st.json(answer.decode())


Show = Callable[[float, str], None]
plan: Callable[[Show], ChangeSet] | None = None
chosen: Operation | Read = USUAL.get(name, DECLARED["migrate"])
if name == MORE:
    others: list[Operation | Read] = [
        *sorted((one for one in DECLARED.values() if one not in USUAL.values()), key=lambda one: one.title),
        *READS,
    ]
    chosen = st.selectbox(
        words.WHAT_TO_DO, others, key=f"more-{agent.name}",
        format_func=lambda one: one.title if isinstance(one, Operation) else f"{words.LOOK_UP}: {one.title}",
    )  # fmt: skip
    session.to_link("operation", chosen.name if isinstance(chosen, Operation) else MORE)
st.text(chosen.about.replace("``", ""))
if isinstance(chosen, Read):
    look_up(chosen)
    st.stop()
operation: Operation = chosen
asked_with = ""
if operation is USUAL["Migrate"]:
    kept_by = widgets.keep_by(f"retention-{agent.name}-{settings.retention}", settings.retention)
    learned = kept_by is Retention.LEARNED
    usual = settings.retention_threshold if learned else settings.migration_threshold
    threshold = st.slider(
        "Chance to exceed" if learned else "Importance to exceed", 0.0, 1.0, usual, 0.01 if learned else 0.05,
        key=f"migrate-{agent.name}-{kept_by}-{usual}", persist_state="session",
    )  # fmt: skip
    asked_with = f"{kept_by} {threshold:g}"
    plan = lambda _show: agent.migrate_stm2ltm(threshold, retention=kept_by, preview=True)  # noqa: E731
else:
    body = declared_form.entered(operation.form, agent, f"form-{agent.name}-{operation.name}", operation.refuses)
    if body is not None:
        asked_with = body.model_dump_json(exclude_unset=True)
        plan = partial(operation.planned, agent, body)

st.caption(widgets.plain(f"Language model: {agent.model.label}"))
key = f"plan-{agent.name}-{operation.name}-{asked_with}"  # with another value it is another plan
if st.button("Preview", type="primary", icon=":material/visibility:", disabled=plan is None) and plan is not None:
    st.session_state.pop(f"applied-{agent.name}", None)
    waiting = st.empty()
    with waiting.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, "Working …")
        st.button("Cancel", icon=":material/close:")  # a click runs the page anew, which ends the work at its next step

    try:
        st.session_state[key] = plan(working.shown_in(bar))
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
        counts = f"{len(accepted.changes)} of {len(planned.changes)} accepted."
        if planned.operation == "plan":
            counts = f"{len(accepted.of('add'))} of {len(planned.of('add'))} accepted."
        elif planned.operation == "summarise":
            counts += " Without its summary a memory is not forgotten; without its memory a summary does not cite it."
        st.caption(counts)
    if planned.operation == "summarise" and not planned:
        bulk.offer_to_unmark(agent, key)
    sure = not operation.destroys or st.checkbox("Nothing can bring this back. I am sure.", key=f"sure-{planned.id}")
    if planned and st.button(
        "Apply",
        icon=":material/check:",
        type="primary",
        disabled=not sure or not accepted or (planned.operation == "plan" and not accepted.of("add")),
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
