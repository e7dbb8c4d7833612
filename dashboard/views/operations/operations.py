"""Operations: preview what migration, reflection, summarising and planning would do, apply it, undo it."""

from collections.abc import Callable, Collection
from functools import partial

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, change_set, declared_form, needs_model, spending, unrated, widgets, working
from dashboard.views.operations import together
from memory_system import ChangeSet, MemorySystemError, Retention
from memory_system.interfaces.operations import BESIDE, OF_CAST, OPERATIONS, Operation
from memory_system.interfaces.reads import READS, Read

agent = session.agent()
settings = agent.settings
widgets.heading(
    "Operations",
    "Preview, apply, undo. Apply does exactly what the preview showed; the model is not asked again.",
    agent,
)
bulk.last()
if session.moment() is not None:
    st.header("What the next migration would have done", anchor=False)
    change_set.show(agent, agent.migrate_stm2ltm(preview=True))
    widgets.closed(agent)
    st.stop()

MORE = "More"
DECLARED = {operation.name: operation for operation in (*OPERATIONS, *BESIDE, *OF_CAST)}
USUAL = {name.capitalize(): DECLARED[name] for name in ("migrate", "reflect", "summarise", "plan")}
NAMES = [*USUAL, unrated.OPERATION]


def leave_more() -> None:
    """Leave "More operations and lookups": an operation chosen by name is shown instead."""
    st.session_state["more-operations"] = False


linked = session.from_link("operation", NAMES[0])
named = DECLARED.get(linked)
if named in USUAL.values():
    linked = linked.capitalize()
elif named is not None and "operation" not in st.session_state:
    linked, st.session_state[f"more-{agent.name}"] = MORE, named
st.session_state.setdefault("more-operations", linked == MORE)
st.session_state.setdefault("operation", linked)
if st.session_state["more-operations"]:
    st.session_state["operation"] = None  # none of the row looks chosen, and each can be chosen
elif st.session_state["operation"] not in NAMES:
    st.session_state["operation"] = st.session_state.get("operation-before", NAMES[0])
name = st.segmented_control(
    "Operation", NAMES, key="operation", required=True, label_visibility="collapsed", on_change=leave_more
)
if st.toggle("More operations and lookups", key="more-operations") or name is None:
    name = MORE
else:
    st.session_state["operation-before"] = name
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
        *sorted(
            (operation for operation in DECLARED.values() if operation not in USUAL.values()),
            key=lambda operation: operation.title,
        ),
        *READS,
    ]
    chosen = st.selectbox(
        words.WHAT_TO_DO, others, key=f"more-{agent.name}",
        format_func=lambda choice: (
            choice.title if isinstance(choice, Operation) else f"{words.LOOK_UP}: {choice.title}"
        ),
    )  # fmt: skip
    session.to_link("operation", chosen.name if isinstance(chosen, Operation) else MORE)
st.text(chosen.about.replace("``", ""))
if isinstance(chosen, Read):
    look_up(chosen)
    st.stop()
operation: Operation = chosen
if operation in OF_CAST:
    together.section(operation, agent)
    st.stop()
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

if not needs_model.offline(agent):
    st.caption(widgets.plain(f"Language model: {agent.model.label}"))
needs_model.note(agent, operation.name)
key = f"plan-{agent.name}-{operation.name}-{asked_with}"  # another value makes another plan
if st.button("Preview", type="primary", icon=":material/visibility:", disabled=plan is None) and plan is not None:
    try:
        with working.beside() as show_progress:
            st.session_state[key] = plan(show_progress)
    except MemorySystemError as error:
        st.session_state.pop(key, None)
        widgets.problem(error)

planned: ChangeSet | None = st.session_state.get(key)


def beside(refused: Collection[str]) -> str:
    """What refusing some of a summary's memories means."""
    spared = planned is not None and planned.operation == "summarise" and len(refused) < len(planned.changes)
    return "A summary does not cite the memories that are not forgotten." if spared else ""


if planned is not None:
    st.header(widgets.plain(planned.title), anchor=False)
    if planned:
        change_set.offer(
            agent,
            planned,
            partial(bulk.apply, agent, key),
            beside=beside,
            sure="Nothing can bring this back. I am sure." if operation.destroys else "",
        )
    else:
        change_set.show(agent, planned)
        if planned.operation == "summarise":
            bulk.offer_to_unmark(agent, key)
else:
    widgets.empty("Nothing previewed yet.", "Preview shows what would happen without changing anything.")
spending.section(agent)
