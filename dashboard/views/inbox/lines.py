"""The list of pending decisions: one per line, with Accept and Later, and the postponed ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.core import ago
from memory_system.world import Decision, Inbox, Matter, morning_after

from ... import session, words
from ...components import bulk, compared, places, widgets
from ...data import deciding, diffs, tables
from ...data.zone import stamp
from . import accepting

_LINES = 20
"""How many decisions are shown before more are requested."""
_LONGEST = 240
_LATER = (words.UNTIL_TOMORROW, words.FOR_A_WEEK, words.UNTIL_IT_CHANGES)
_OPERATIONS = {Matter.MIGRATE: "Migrate", Matter.REFLECT: "Reflect", Matter.SUMMARISE: "Summarise",
               Matter.PLAN: "Plan", Matter.RATE: "Rate"}  # fmt: skip
"""The names on the Operations page of what can be done there in more detail."""


def show(agent: AgentMemory, found: Inbox, kinds: Sequence[Matter]) -> None:
    """The pending decisions of these kinds, or of all if none is named."""
    listed = [decision for decision in found.decisions if not kinds or decision.kind in kinds]
    may = agent.read_only is None
    if may and len(kinds) == 1 and kinds[0] in accepting.TOGETHER and len(listed) > 1:
        label = f"{words.ACCEPT} all {len(listed)}"
        opens = (agent, kinds[0], None)
        st.button(label, key="inbox-all", icon=":material/done_all:", on_click=accepting.begin, args=opens)
        if accepting.is_open(*opens):
            accepting.all_of(agent, kinds[0], listed)
    most = int(st.session_state.setdefault("inbox-most", _LINES))
    for number, decision in enumerate(listed[:most]):
        _line(agent, decision, number, may=may)
    if len(listed) > most and st.button(f"Show more ({len(listed) - most:,} left)", icon=":material/expand_more:"):
        st.session_state["inbox-most"] = most + _LINES
        st.rerun()


def _line(agent: AgentMemory, decision: Decision, number: int, *, may: bool) -> None:
    opened = accepting.is_open(agent, decision.kind, decision.of)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"inbox-line-{number}"):
        with st.container(width="stretch", gap=None, key=f"inbox-what-{number}"):
            st.text(tables.short(decision.what, _LONGEST))
            _why(agent, decision)
        key = f"{decision.kind}-{decision.of}"
        if decision.kind is Matter.CUE:
            if st.button("Open", key=f"inbox-open-{key}", help="On the Memory page, with ways to mend it."):
                _mend(agent, decision)
        elif may:
            st.button(
                widgets.heard(words.ACCEPT, decision.what), key=f"inbox-accept-{key}", disabled=opened,
                on_click=accepting.begin, args=(agent, decision.kind, decision.of),
                help="First shows what would change.",
            )  # fmt: skip
        if may and (
            until := st.menu_button(widgets.heard(words.LATER, decision.what), _LATER, key=f"inbox-later-{key}")
        ):
            put_off(agent, decision, str(until))
    if opened:
        accepting.panel(agent, decision)
        _deeper(agent, decision)


def _why(agent: AgentMemory, decision: Decision) -> None:
    """Its kind, its reason, and since when it has been pending, with the exact time in a tooltip."""
    markup = f"<b>{deciding.SHORT[decision.kind]}</b> · {diffs.escaped(tables.visible(decision.why))}"
    if decision.since:
        markup += (
            f" · <time title='{diffs.escaped(stamp(decision.since))}'>"
            f"{diffs.escaped(ago(decision.since, agent.now))}</time>"
        )
    st.html(f"<div class='inbox-why'>{markup}</div>")


def put_off(agent: AgentMemory, decision: Decision, until: str) -> None:
    """Postpone a decision; the next run says so, and offers an undo."""
    when = {words.UNTIL_TOMORROW: morning_after(agent.now), words.FOR_A_WEEK: agent.now + timedelta(days=7)}
    moment: datetime | None = when.get(until)
    bulk.do(
        agent, lambda: agent.put_off(decision.kind, decision.of, until=moment, mark="" if moment else decision.mark),
        sentence=f"Put off {_until(moment)}: {tables.short(decision.what, _LONGEST)}",
    )  # fmt: skip


def _until(moment: datetime | None) -> str:
    return f"until {stamp(moment)}" if moment else "until something changes"


def _mend(agent: AgentMemory, decision: Decision) -> None:
    """Go to the Memory page, where the cue is asked and one of its memories is open, with ways to recall it."""
    cue = next((saved.cue for saved in agent.saved_cues if saved.name == decision.of), "")
    places.to_memory(agent.name, cue=cue, memory=decision.ids[0] if decision.ids else "")


def _deeper(agent: AgentMemory, decision: Decision) -> None:
    """A link to the page where the same can be done in more detail."""
    view, link, label = "", {}, ""
    if decision.kind in accepting.PAIRS:
        view, label = "tidy", "Merge with a text of your own, on the Tidy page"
    elif decision.kind in _OPERATIONS:
        view, link, label = (
            "operations",
            {"operation": _OPERATIONS[decision.kind]},
            "More choices, on the Operations page",
        )
    elif decision.kind is Matter.STALE:
        view, link, label = "memory", {"memory": decision.of}, "See what changed, on the Memory page"
    if view and st.button(label, type="tertiary", icon=":material/arrow_forward:", key="inbox-deeper"):
        st.switch_page(f"views/{view}/{view}.py", query_params={"agent": agent.name, **link})


def later(agent: AgentMemory, put: Sequence[Decision]) -> None:
    """The postponed decisions, with until when, and a button that makes each pending again."""
    if not put:
        return
    with st.expander(f"Put off: {len(put)}", icon=":material/schedule:"):
        for number, decision in enumerate(put):
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"inbox-off-{number}"):
                with st.container(width="stretch", gap=None):
                    st.text(tables.short(decision.what, _LONGEST))
                    st.caption(widgets.plain(f"{deciding.SHORT[decision.kind]} · {_until(decision.until)}"))
                if agent.read_only is None and st.button(
                    widgets.heard(words.ASK_AGAIN_NOW, decision.what), icon=":material/undo:",
                    key=f"inbox-again-{decision.kind}-{decision.of}", help="In Python: AgentMemory.put_off",
                ):  # fmt: skip
                    _ask_again(agent, decision)


def _ask_again(agent: AgentMemory, decision: Decision) -> None:
    bulk.do(agent, lambda: agent.put_off(decision.kind, decision.of), sentence=f"It waits again: {decision.what}")


def everybody() -> None:
    """How many decisions are pending per character, the most first; each leads to its own list."""
    names = session.world().characters()
    rows: list[tuple[AgentMemory, Inbox]] = []
    complete = True
    with st.spinner(f"Looking at {tables.counted(len(names), 'character', 'characters')} …"):
        for name in names:
            try:
                character = session.character(name)
                found, all_compared = compared.waiting(character)
                rows.append((character, found))
                complete = complete and all_compared
            except MemorySystemError as error:
                widgets.problem(error)
    rows.sort(key=lambda row: (-len(row[1].decisions), row[0].name))
    for agent, found in rows:
        many = len(found.decisions)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"inbox-line-{agent.name}"):
            with st.container(width="stretch", gap=None):
                widgets.text(agent.display_name)
                st.caption(widgets.plain(deciding.counts_in_words(found.decisions) or words.NOTHING_WAITS))
            if st.button(
                f"{many} wait" if many > 1 else "1 waits" if many else "Open",
                key=f"inbox-of-{agent.name}",
                icon=":material/arrow_forward:",
            ):
                session.choose_next(agent.name)
                st.session_state["inbox-everybody-next"] = False
                st.rerun()
    if not complete:
        st.caption(
            "With many memories, duplicates and contradictions are counted once you have opened that character's list."
        )
