"""Ready questions: the five categories of interviews, asked of one or all characters, kept and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.conversation import CATEGORIES, Difference, TalkSettings, interview
from memory_system.core import Answered, Sitting, parse_time
from memory_system.operations import Progress

from ... import session
from ...components import bulk, widgets, working
from ...data import diffs, tables
from . import chat, talk_state, talk_tables

WORK = "ready-questions"
_ONE, _ALL = "this character", "all characters"
_CUT = "questions-cut"
_MOST_HITS = 8
_CATEGORIES, _WHOM = "questions-categories", "questions-whom-"


def show(agent: AgentMemory) -> None:
    """What is asked and of whom, the answers, and stored ones side by side."""
    st.caption(
        "The five kinds of question with which generative agents were interviewed (Park "
        "et al. 2023). Each is asked separately and leaves no trace. Keep the answers, "
        "edit a memory, ask again, and compare."
    )
    for key in [key for key in st.session_state if key == _CATEGORIES or str(key).startswith(_WHOM)]:
        st.session_state[key] = st.session_state[key]  # what is not drawn during the wait would be forgotten
    work = working.of(WORK)
    if work is not None and work.running:
        working.bar(WORK)
        return
    if work is not None:
        _ended(work)
    _form(agent)
    answered: Mapping[str, Sitting] = st.session_state.get("questions-answered", {})
    if cut := st.session_state.get(_CUT, ""):
        st.caption(f":material/cancel: {cut}")
    if answered:
        _answers(agent, answered)
    _compare(agent, answered.get(agent.name))


def _form(agent: AgentMemory) -> None:
    past = session.moment() is not None
    st.session_state.setdefault(_CATEGORIES, list(CATEGORIES))
    st.session_state.setdefault(f"{_WHOM}{past}", _ONE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.pills("Categories", list(CATEGORIES), selection_mode="multi", key=_CATEGORIES)
        whom = st.segmented_control("Whom", [_ONE] if past else [_ONE, _ALL], required=True, key=f"{_WHOM}{past}")
        asked = interview.ready([str(category) for category in chosen]) if chosen else []
        if st.button(
            f"Ask {tables.counted(len(asked), 'question', 'questions')}",
            type="primary", icon=":material/quiz:", disabled=not asked, key="questions-ask",
            help="In Python: questions.sit(agent, questions)",
        ):  # fmt: skip
            everybody = [session.character(name) for name in session.world().characters()]
            agents = everybody if whom == _ALL else [agent]
            working.begin(WORK, _asking(agents, asked, talk_state.wanted_settings(agent)))
            work = working.of(WORK)
            if work is not None:
                work.wait(1.5)
            st.rerun()
    with st.expander("The questions"):
        for category, some in CATEGORIES.items():
            st.markdown(f"**{category.capitalize()}**")
            for question in some:
                st.text(f"• {question}")


def _asking(agents: list[AgentMemory], asked: list[tuple[str, str]], settings: TalkSettings) -> working.Do:
    """Work that asks everybody, one after the other; returns the sittings by name and the number of questions."""

    def do(tell: Progress, stopped: Callable[[], bool]) -> tuple[dict[str, Sitting], int]:
        found = {}
        for number, agent in enumerate(agents):
            if stopped():
                break
            within = partial(_within, tell, number, len(agents))
            sitting = interview.sit(agent, asked, settings=settings, progress=within, cancelled=stopped)
            if sitting.answers:
                found[agent.name] = sitting
        return found, len(agents) * len(asked)

    return do


def _within(tell: Progress, number: int, of: int, done: float, doing: str) -> None:
    tell((number + done) / of, doing)


def _ended(work: working.Work) -> None:
    """Take the results."""
    working.put_away(WORK)
    if work.problem is not None:
        widgets.problem(work.problem)
    elif work.result is not None:
        found, asked = work.result
        count = sum(len(sitting.answers) for sitting in found.values())
        st.session_state[_CUT] = "" if count == asked else f"Cancelled: {count:,} of {asked:,} questions were answered."
        if found:
            st.session_state["questions-answered"] = found


def _answers(agent: AgentMemory, answered: Mapping[str, Sitting]) -> None:
    """The answers by category, with those of several characters one below another, and a way to keep them."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Answers**", width="stretch")
        if agent.read_only is None and st.button(
            "Keep these answers", icon=":material/bookmark_add:", key="questions-keep", disabled=_kept(answered),
            help="To compare later answers with them. In Python: questions.keep(agent, sitting)",
        ):  # fmt: skip
            _keep(answered)
    _by_category(agent, answered, expanded=len(answered) == 1)


def _kept(answered: Mapping[str, Sitting]) -> bool:
    """Whether all of this is kept already."""
    return all(
        sitting.id in {kept.id for kept in interview.sittings(session.character(name))}
        for name, sitting in answered.items()
    )


def _by_category(agent: AgentMemory, answered: Mapping[str, Sitting], *, expanded: bool) -> None:
    first = next(iter(answered.values()))
    for category in dict.fromkeys(answer.category for answer in first.answers):
        with st.expander(category.capitalize(), expanded=expanded):
            for name, sitting in answered.items():
                if list(answered) != [agent.name]:
                    st.markdown(f"**{widgets.plain(session.shown_name(name))}**")
                for place, answer in enumerate(sitting.answers):
                    if answer.category == category:
                        _answer(name, answer, f"{sitting.id}-{place}")


def _answer(name: str, answer: Answered, key: str) -> None:
    st.markdown(f"*{widgets.plain(answer.question)}*")
    st.text(talk_tables.spoken(answer.answer) if answer.answer else f"No answer. {answer.problem}")
    if answer.recalled:
        with st.popover(
            f"{tables.counted(len(answer.recalled), 'memory', 'memories')} came to mind",
            icon=":material/lightbulb:", type="tertiary",
        ):  # fmt: skip
            _memories(name, answer.recalled, key)


def _memories(name: str, ids: tuple[str, ...], key: str) -> None:
    whose = session.character(name)
    for number, entry_id in enumerate(ids[:_MOST_HITS]):
        entry = whose.find(entry_id)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(tables.short(entry.document, 200) if entry else "(forgotten since)", width="stretch")
            if entry and st.button(
                "Open", key=f"answer-{key}-{number}", icon=":material/open_in_new:", type="tertiary"
            ):
                chat.open_card(whose, entry_id)


def _keep(answered: Mapping[str, Sitting]) -> None:
    try:
        kept = [(name, interview.keep(session.character(name), sitting)) for name, sitting in answered.items()]
    except MemorySystemError as error:
        widgets.problem(error)
        return
    bulk.done_to(kept, "Kept. Edit a memory, ask again, and compare.", "the answers were kept")
    st.rerun()


def _compare(agent: AgentMemory, fresh: Sitting | None) -> None:
    """Two runs of this character side by side: what was kept, and what was just asked."""
    kept = list(interview.sittings(agent))
    runs = {sitting.id: sitting for sitting in [*kept, *([fresh] if fresh is not None else [])]}
    if len(runs) < 2 and not kept and agent.read_only is not None:
        return  # if nothing can be kept, there is nothing to compare
    st.header("Before and after", anchor=False)
    if len(runs) < 2:
        widgets.empty("Nothing to compare yet.", "Ask, keep the answers, change something, and ask again.")
        if kept and fresh is None:
            _only(agent, kept[0])
        return
    ids = list(runs)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        called = {sitting_id: _called(runs[sitting_id], fresh) for sitting_id in ids}
        before, after = (
            st.selectbox(
                label, ids, index=len(ids) - back, format_func=called.__getitem__, key=f"{label}-{ids[-1]}", width=320
            )
            for label, back in (("Before", 2), ("After", 1))
        )
        droppable = agent.read_only is None and before in {sitting.id for sitting in kept}
        if droppable:
            _drop(agent, "Drop the earlier one", str(before))
    every = interview.compared(runs[str(before)], runs[str(after)])
    found = [difference for difference in every if difference.before is not None and difference.after is not None]
    changed = [difference for difference in found if not difference.same or difference.remembered or difference.missed]
    answers = tables.counted(len(found), "answer", "answers")
    once = len(every) - len(found)
    more = f" {tables.counted(once, 'question was', 'questions were')} asked in one of the two only." if once else ""
    st.caption(f"{answers}, of which {len(changed) or 'none'} {'differs' if len(changed) == 1 else 'differ'}.{more}")
    for number, difference in enumerate(changed):
        _difference(agent, difference, f"{before}-{after}-{number}")


def _only(agent: AgentMemory, sitting: Sitting) -> None:
    """The only stored run, to be read until there is another for comparison."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Kept: {_called(sitting, None)}**", width="stretch")
        if agent.read_only is None:
            _drop(agent, "Drop it", sitting.id)
    _by_category(agent, {agent.name: sitting}, expanded=False)


def _drop(agent: AgentMemory, label: str, sitting_id: str) -> None:
    if st.button(
        label, icon=":material/delete:", key="questions-drop",
        help="It is removed; the History page can undo it. In Python: questions.drop(agent, id)",
    ):  # fmt: skip
        bulk.do(agent, lambda: interview.drop(agent, sitting_id))


def _called(sitting: Sitting, fresh: Sitting | None) -> str:
    just = "just asked, " if fresh is not None and sitting.id == fresh.id else ""
    return f"{just}{tables.exact(parse_time(sitting.at))}, after change {sitting.revision}"


def _difference(agent: AgentMemory, difference: Difference, key: str) -> None:
    """One question whose answers differ, word by word, and the memories that only one of them had in mind."""
    with st.container(border=True, gap="small"):
        st.badge(difference.category, color="gray")
        st.markdown(f"**{widgets.plain(difference.question)}**")
        st.html(
            diffs.markup(
                difference.before.answer if difference.before else "",
                difference.after.answer if difference.after else "",
            )
        )
        for label, ids in (("Only after", difference.remembered), ("Only before", difference.missed)):
            if ids:
                st.caption(f"{label}: {tables.counted(len(ids), 'memory', 'memories')} in mind")
                _memories(agent.name, ids, f"{key}-{label}")
