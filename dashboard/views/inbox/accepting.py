"""What accepting a decision of the inbox would change, shown before it is applied as one change set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemoryEntry, MemorySystemError
from memory_system.conversation import reflect_on_person
from memory_system.core import together
from memory_system.errors import ModelError
from memory_system.operations import Progress
from memory_system.world import Decision, Matter

from ... import words
from ...components import bulk, change_set, needs_model, widgets, working
from ...data import change_rows, deciding, tables

PAIRS = (Matter.CONTRADICTION, Matter.DUPLICATE)
TOGETHER = (*PAIRS, Matter.STALE)
"""Kinds of which several can be accepted at once."""
_AT_ONCE = 100
"""The most memories rated, or decisions accepted, in one change set."""
_NEEDS = {
    Matter.REFLECT: "reflect", Matter.PERSON: "reflect", Matter.STALE: "reflect", Matter.SUMMARISE: "summarise",
    Matter.PLAN: "plan",
}  # fmt: skip
"""The task of each kind that only a language model does well."""
_DERIVE, _KEEP, _FORGET = words.DERIVE_AGAIN, words.KEEP_AS_IT_IS, "Forget it"
_OPEN, _ALL = "inbox-open", "all"
_PLANS = "inbox-plans"


def begin(agent: AgentMemory, kind: Matter, of: str | None) -> None:
    """Show at the next run what accepting would change, of one decision, or of all of a kind (``None``)."""
    st.session_state[_OPEN] = agent.name, kind, _ALL if of is None else (of,)
    st.session_state[_PLANS] = {}


def end() -> None:
    """Stop showing it."""
    st.session_state.pop(_OPEN, None)
    st.session_state.pop(_PLANS, None)


def is_open(agent: AgentMemory, kind: Matter, of: str | None) -> bool:
    """Whether the page shows what accepting this would change."""
    return bool(st.session_state.get(_OPEN) == (agent.name, kind, _ALL if of is None else (of,)))


def panel(agent: AgentMemory, decision: Decision) -> None:
    """What accepting one decision would change, with the choices, and the button that applies it."""
    with st.container(border=True, gap="small", key="inbox-plan"):
        needs_model.note(agent, _NEEDS.get(decision.kind, ""))
        choice = _choice(agent, decision)
        planned = _planned(choice, partial(_plan, agent, decision, choice))
        if planned is None:
            st.button("Close", key="inbox-close", on_click=end)
            return
        more = partial(_both_stay, agent, decision) if decision.kind in PAIRS else None
        several = decision.kind not in PAIRS
        change_set.offer(agent, planned, partial(_apply, agent), several=several, leave=end, more=more)


def all_of(agent: AgentMemory, kind: Matter, listed: Sequence[Decision]) -> None:
    """What accepting all of a kind would change, one line each with a box, and the button that applies it at once."""
    some = {decision.of: decision for decision in listed[:_AT_ONCE] if not _protected(agent, decision)}
    with st.container(border=True, gap="small", key="inbox-plan"):
        plans = {}
        for decision in some.values():
            plan = _planned(decision.of, partial(_plan, agent, decision, _usual(agent, decision)))
            if plan is not None and plan.changes:
                plans[decision.of] = plan
            elif isinstance(_plans()[decision.of], ModelError):
                break
        key = f"inbox-all-{agent.name}-{kind}"
        rows = [
            change_rows.line(of, "update", deciding.CHIPS[kind], plan.title, why=tables.visible(some[of].why), box=True)
            for of, plan in plans.items()
        ]
        ticked = change_set.listed(key, rows, label=words.ACCEPT)
        chosen = [(plan, some[of].ids) for of, plan in plans.items() if of in ticked]
        merged, left = together(chosen, f"{deciding.CHIPS[kind]}: {len(chosen)} settled") if chosen else (None, ())
        if left:
            many = tables.counted(len(left), "touches", "touch")
            st.caption(f"{many} a memory that another one changes, or a saved cue, and will be asked for again.")
        with change_set.foot(key):
            st.markdown(f"{len(chosen) - len(left)} of {len(rows)} accepted")
            if st.button("Apply", type="primary", icon=":material/check:", key="inbox-apply", disabled=not merged):
                assert merged is not None, "a button that is disabled is not pressed"
                _apply(agent, merged)
            st.button("Close", key="inbox-close", on_click=end)


def _protected(agent: AgentMemory, decision: Decision) -> bool:
    return decision.kind is Matter.STALE and _usual(agent, decision) != _DERIVE


def _apply(agent: AgentMemory, accepted: ChangeSet) -> None:
    bulk.apply(agent, _OPEN, accepted, accepted.title)


def _both_stay(agent: AgentMemory, decision: Decision) -> None:
    label = words.BOTH_ARE_RIGHT if decision.kind is Matter.CONTRADICTION else "Not a duplicate"
    if st.button(
        label if len(decision.ids) == 2 else "They all stay", key="inbox-stay", icon=":material/visibility_off:",
        help="They stay as they are and are not listed again. In Python: AgentMemory.dismiss",
    ):  # fmt: skip
        end()
        bulk.do(agent, lambda: agent.dismiss(decision.ids))


# -- what is chosen ------------------------------------------------------------------------------------------


def _choice(agent: AgentMemory, decision: Decision) -> str:
    """Which of several memories stays, or what becomes of a stale one; empty if there is nothing to choose."""
    usual = _usual(agent, decision)
    if decision.kind in PAIRS:
        entries = {entry.id: entry for entry in _entries(agent, decision)}
        label = "Which is right?" if decision.kind is Matter.CONTRADICTION else "Which one stays?"
        return _radio(label, list(entries), usual, lambda of: entries[of])
    if decision.kind is Matter.STALE:
        ways = [_DERIVE, _KEEP, _FORGET]
        way = st.segmented_control("What to do", ways, default=usual, required=True, key=f"inbox-way-{decision.of}")
        return str(way)
    return ""


def _radio(label: str, ids: list[str], usual: str, entry: Callable[[str], MemoryEntry]) -> str:
    chosen = st.radio(
        label, ids, index=ids.index(usual) if usual in ids else 0, key=f"inbox-stays-{'-'.join(ids[:2])}",
        format_func=lambda of: f"{ids.index(of) + 1}\\. {widgets.plain(tables.short(entry(of).document, 400))}",
        captions=[widgets.plain(tables.told_apart(entry(of))) for of in ids],
    )  # fmt: skip
    return str(chosen)


def _usual(agent: AgentMemory, decision: Decision) -> str:
    """The default choice."""
    entries = _entries(agent, decision)
    if decision.kind in PAIRS and entries:
        return deciding.usual(entries).id
    return (_KEEP if any(entry.protected for entry in entries) else _DERIVE) if decision.kind is Matter.STALE else ""


def _entries(agent: AgentMemory, decision: Decision) -> list[MemoryEntry]:
    return [entry for of in decision.ids if (entry := agent.find(of)) is not None]


# -- what would change ---------------------------------------------------------------------------------------


def _plans() -> dict[str, ChangeSet | MemorySystemError]:
    plans: dict[str, ChangeSet | MemorySystemError] = st.session_state.setdefault(_PLANS, {})
    return plans


def _planned(choice: str, plan: Callable[[Progress], ChangeSet]) -> ChangeSet | None:
    """The plan that is shown, made once, so that what is applied is what was shown; ``None`` if it cannot be made."""
    if choice not in _plans():
        place = st.empty()
        try:
            # a click redraws the page and ends the work at its next step
            made: ChangeSet | MemorySystemError = plan(working.shown_in(place))
        except MemorySystemError as error:
            made = error
        place.empty()
        _plans()[choice] = made
    outcome = _plans()[choice]
    if isinstance(outcome, MemorySystemError):
        widgets.problem(outcome)
        return None
    return outcome


def _plan(agent: AgentMemory, decision: Decision, choice: str, show: Progress) -> ChangeSet:
    """What accepting it would change.

    Raises:
        MemorySystemError: it cannot be done, or the language model gave no usable answer.
    """
    return _PLAN_OF[decision.kind](agent, decision, choice, show)


def _stale(agent: AgentMemory, decision: Decision, choice: str, show: Progress) -> ChangeSet:
    if choice == _FORGET:
        return agent.forget(decision.ids, preview=True)
    if choice == _KEEP:
        return agent.keep_stale(decision.of, preview=True)
    return agent.rederive(decision.of, preview=True, progress=show)


_PLAN_OF: dict[Matter, Callable[[AgentMemory, Decision, str, Progress], ChangeSet]] = {
    Matter.MIGRATE: lambda agent, _decision, _choice, _show: agent.migrate_stm2ltm(preview=True),
    Matter.REFLECT: lambda agent, _decision, _choice, show: agent.reflect_from_recent_memory(
        preview=True, progress=show
    ),
    Matter.PERSON: lambda agent, decision, _choice, show: reflect_on_person(
        agent, decision.of, preview=True, progress=show
    ),
    Matter.SUMMARISE: lambda agent, decision, _choice, show: agent.summarize_and_forget(
        len(decision.ids), preview=True, progress=show
    ),
    Matter.PLAN: lambda agent, decision, _choice, show: agent.plan_from_memory(
        because=decision.ids, preview=True, progress=show
    ),
    Matter.RATE: lambda agent, decision, _choice, show: agent.rate_again(
        decision.ids[:_AT_ONCE], preview=True, progress=show
    ),
    Matter.STALE: _stale,
    Matter.CONTRADICTION: lambda agent, decision, choice, _show: agent.forget(
        [of for of in decision.ids if of != choice], preview=True
    ),
    Matter.DUPLICATE: lambda agent, decision, choice, _show: agent.merge(decision.ids, keep=choice, preview=True),
}
"""All kinds but failing cues, which are fixed on the Memory page."""
