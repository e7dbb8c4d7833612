"""A change set wherever one is shown: one line per item, boxes to accept some, and a footer that applies them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from memory_system import AgentMemory, ChangeSet
from memory_system.core import PERSON, entry_to_json

from ..data import change_rows, diffs, tables
from . import mounting, widgets

_ALIKE = 4
"""How many sentences that say the same of different memories are folded into one line."""


def show(agent: AgentMemory, planned: ChangeSet, *, whole: bool = False) -> None:
    """What a change set does and why, what it leaves alone, and what the language model was asked.

    Args:
        agent: the agent that it changes.
        planned: the change set, applied or not.
        whole: whether to show changed lines of the personality and other texts, too.
    """
    _around(planned, whole=whole)
    listed(f"shown-{planned.id}", change_rows.of(planned, agent.find))
    _calls(planned)


@st.fragment
def offer(
    agent: AgentMemory,
    planned: ChangeSet,
    accept: Callable[[ChangeSet], None],
    *,
    label: str = "Apply",
    leave: Callable[[], None] | None = None,
    beside: Callable[[Collection[str]], str] = lambda _refused: "",
    several: bool = True,
    more: Callable[[], None] | None = None,
    sure: str = "",
) -> None:
    """What a change set does, with boxes to accept each memory, and a fixed footer with a button that applies it.

    What was changed since it was planned is marked and cannot be accepted; the rest can.

    Args:
        agent: the agent that it changes.
        planned: the change set.
        accept: does what was accepted; it reports the result, and redraws the page.
        label: the label of the button.
        leave: what "Not now" does; without it there is no such button.
        beside: returns a sentence about what was refused, given the ids.
        several: whether each memory can be accepted on its own, if there is more than one.
        more: draws further actions in the footer.
        sure: what has to be ticked first, if it cannot be undone.
    """
    _around(planned)
    stale = _stale(agent, planned)
    boxes = (several and len(planned.changes) > 1) or bool(stale)
    rows = _rows(planned.id, agent.stamp[0], boxes, tuple(sorted(stale)), agent, planned)
    ticked = listed(planned.id, rows, label="Accept")
    offered = [row["id"] for row in rows if row["box"]]
    refused = {row_id for row_id in offered if row_id not in ticked} | stale
    if (sentence := beside(refused)) and refused:
        st.caption(widgets.plain(sentence))
    certain = not sure or st.checkbox(sure, key=f"sure-{planned.id}")
    with foot(planned.id):
        counted = f"{len(ticked):,} of {len(offered) + len(stale):,} accepted"
        if stale:
            counted += f", {tables.counted(len(stale), 'was', 'were')} changed meanwhile"
        st.markdown(counted if boxes else _counted(planned))
        if st.button(
            label, type="primary", icon=":material/check:", key=f"apply-{planned.id}",
            help="In Python: AgentMemory.apply", disabled=not certain or not planned or (boxes and not ticked),
        ):  # fmt: skip
            accept(planned.without(refused) if refused else planned)
        if more is not None:
            more()
        if leave is not None and st.button(
            "Not now", icon=":material/close:", key=f"leave-{planned.id}", help="Nothing is stored."
        ):
            leave()
            st.rerun()
    _calls(planned)


@st.cache_resource(show_spinner=False, max_entries=20)
def _rows(
    plan: str,  # noqa: ARG001 - it and the next are the cache's key
    revision: int,  # noqa: ARG001
    boxes: bool,
    stale: tuple[str, ...],
    _agent: AgentMemory,
    _planned: ChangeSet,
) -> list[change_rows.Row]:
    """The rows of a plan, made once while nothing changes, not at each tick; do not modify them."""
    return change_rows.of(_planned, _agent.find, boxes=boxes, stale=set(stale))


def foot(key: str) -> Any:
    """The line below a list that stays in sight: how many are ticked, and what to do with them."""
    return st.container(horizontal=True, vertical_alignment="center", key=f"foot-{key}")


def listed(key: str, rows: Sequence[Mapping[str, Any]], *, label: str = "", begins: str = "") -> set[str]:
    """The list itself; returns the ids of the ticked rows among those that have a box.

    Ticks belong to ids: they stay when the page is left and reopened, and when rows come and go.

    Args:
        key: the key of the list.
        rows: as made by ``change_rows``.
        label: what ticking a row does, in a word.
        begins: what to say if there are no rows.
    """
    at = f"turned-{key}"
    turned, turn = st.session_state.get(at, (set(), 0))
    if not rows:
        if begins:
            st.caption(begins)
        return set()

    def kept(state: Mapping[str, Any]) -> None:
        turned, turn = state.get("turned"), state.get("turn")
        if isinstance(turned, list) and isinstance(turn, int):
            st.session_state[at] = set(map(str, turned)), turn

    data = {"rows": list(rows), "turned": sorted(turned), "turn": turn, "label": label, "about": key}
    mounting.show("change_set", data, kept=kept, key=key)
    return {str(row["id"]) for row in rows if row["box"] and row["ticked"] != (row["id"] in turned)}


def _counted(planned: ChangeSet) -> str:
    """How much changes, with each setting counted on its own, as in the list."""
    settings = sum(len(diffs.of_text(text)) for text in planned.texts if text.name == "settings")
    others = len(planned.changes) or sum(text.name != "settings" for text in planned.texts)
    parts = [tables.counted(others, "change", "changes")] if others or not settings else []
    parts += [tables.counted(settings, "setting changes", "settings change")] if settings else []
    return " · ".join(parts)


def _head(note: str) -> str:
    """The beginning of a sentence, before the memory that it quotes."""
    head, quoted, _ = note.partition(": “")
    return head if quoted else ""


def _around(planned: ChangeSet, *, whole: bool = False) -> None:
    """A change set's own notes, and the texts that are shown line by line."""
    alike: dict[str, list[str]] = {}
    for note in planned.notes:
        if head := _head(note):
            alike.setdefault(head, []).append(note)
    lists: dict[str, list[str]] = {head: [] for head, some in alike.items() if len(some) >= _ALIKE}
    said: list[str] = []
    for note in planned.notes:  # "and so many more" belongs to the named ones
        lists.get(next((head for head in lists if note.startswith(f"{head}: ")), ""), said).append(note)
    if said:
        st.info(widgets.listed(said))
    for head, some in lists.items():
        with st.expander(widgets.plain(head)):
            st.markdown("\n".join(f"* {widgets.plain(note[len(head) + 2 :])}" for note in some))
    for text in planned.texts:
        if not diffs.of_text(text) and (whole or text.name.startswith(PERSON) or not planned.changes):
            widgets.text_change(text)


def _calls(planned: ChangeSet) -> None:
    """What the language model was asked for a change set, and what it said."""
    if planned.calls:
        with st.expander(f"What the language model was asked ({tables.counted(len(planned.calls), 'call', 'calls')})"):
            for call in planned.calls[:100]:
                tokens = f" · {call.tokens} tokens" if call.tokens is not None else ""
                st.caption(widgets.plain(f"{call.task} · {call.model} · {call.milliseconds:.0f} ms{tokens}"))
                st.code(call.prompt, language=None, wrap_lines=True)
                st.code(call.error or call.answer, language=None, wrap_lines=True)


def _stale(agent: AgentMemory, planned: ChangeSet) -> set[str]:
    """The ids of memories that were changed since it was planned."""
    if agent.stamp[0] == planned.base_revision:
        return set()
    found = set()
    for change in planned.changes:
        entry = agent.find(change.entry_id)
        ends = [None if end is None else entry_to_json(end) for end in (entry, change.before)]
        if ends[0] != ends[1]:
            found.add(change.entry_id)
    return found
