"""Many memories changed together: tags, importance and pins in one change set, forgetting, and the undo of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemoryEntry, MemorySystemError, Tier
from memory_system.errors import StaleChange

from .. import session, words
from ..data import change_rows, tables
from ..views import HISTORY
from . import change_set, widgets

_DONE = "last-act-done"
_LONGEST = 160
"""How many characters describe the last act: a longer line would hide what is under it."""
_AS_IS = "as it is"
_UNRATED = "unrated"
_MARKS: dict[str, dict[str, bool]] = {
    _AS_IS: {},
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "protect": {"protected": True},
    "unprotect": {"protected": False},
    "mark “by a person”": {"authored": True},
    "take “by a person” off": {"authored": False},
}


@dataclass(frozen=True)
class _Act:
    """What was done last.

    Args:
        told: the words for it.
        undo: takes it back.
        undone: the words for that.
        holds: returns whether that is still possible: nothing depends on it, and nobody has changed it since.
        key: distinguishes its button from that of another act.
        where: how it is undone in Python.
    """

    told: str
    undo: Callable[[], object]
    undone: str
    holds: Callable[[], bool]
    key: str
    where: str


def last() -> None:
    """The last act, in one line at the bottom over the page, with its undo.

    It stays until something else is changed, or somebody closes it; its position is the same wherever it is called.
    """
    with st.container(key="last-act", gap=None):
        widgets.said()
        act: _Act | None = st.session_state.get(_DONE)
        if act is None or session.moment() is not None:
            return
        if not _holds(act):
            del st.session_state[_DONE]
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.success(
                widgets.plain(tables.sentences(act.told, _LONGEST)), icon=":material/check_circle:", width="stretch"
            )
            undo = st.button(
                "Undo", icon=":material/undo:", key=f"last-act-undo-{act.key}", disabled=session.viewing(),
                help=f"In Python: {act.where}",
            )  # fmt: skip
            if st.button("", icon=":material/close:", key="last-act-close", type="tertiary", help="Close this line"):
                del st.session_state[_DONE]
                st.rerun()
        if undo:
            _take_back(act)


def _holds(act: _Act) -> bool:
    try:
        return act.holds()
    except MemorySystemError:
        return False  # its agent cannot be opened, and nothing can be undone here


def _take_back(act: _Act) -> None:
    try:
        with st.spinner(widgets.UNDOING):
            act.undo()
    except MemorySystemError as error:
        widgets.problem(error)
        if isinstance(error, StaleChange):
            st.page_link(HISTORY.script, label="Choose on the History page", query_params={"change": act.key})
        return
    st.session_state.pop(_DONE, None)
    widgets.say_next(act.undone)
    st.rerun()


def did(
    sentence: str, undo: Callable[[], object], undone: str, *, holds: Callable[[], bool] = lambda: True, where: str
) -> None:
    """Make ``last`` show, and offer to undo, an act that is not in any character's journal.

    Args:
        sentence: the words for it.
        undo: takes it back.
        undone: the words for that.
        holds: returns whether that is still possible.
        where: how it is undone in Python.
    """
    st.session_state[_DONE] = _Act(f"{sentence.rstrip('.')}.", undo, undone, holds, str(uuid4()), where)


def done(agent: AgentMemory, made: ChangeSet, sentence: str, why: str = "") -> None:
    """Make ``last`` say what was done, as ``sentence``, and offer its undo; call it before the page is redrawn."""
    st.session_state.pop(_DONE, None)
    if made.revision is None:
        widgets.say_next(f"Nothing was changed. {why}".strip())
    else:
        done_to([(agent.name, made)], f"{sentence.rstrip('.')}. {why}".strip(), made.title)


def as_done(made: ChangeSet) -> str:
    """A change set's title as a report: alone, it reads like a command."""
    return f"Done: {made.title}"


def done_to(made: Sequence[tuple[str, ChangeSet]], sentence: str, title: str) -> None:
    """Make ``last`` say what was done to one character or several, in that order, and offer its undo.

    Args:
        made: the names of the characters, each with a change set that was applied; nothing is shown if there are none.
        sentence: the words for it.
        title: what the undo is said to undo.
    """
    applied = [(name, change.revision) for name, change in made if change.revision is not None]
    if not applied:
        return
    newest = dict(applied)

    def undo() -> None:
        for name, revision in reversed(applied):
            session.character(name).undo(revision)

    def holds() -> bool:
        names = session.world().stored()
        return all(name in names and session.character(name).revision == newest[name] for name in newest)

    key = str(applied[-1][1])
    st.session_state[_DONE] = _Act(sentence, undo, f"Undone: {title}", holds, key, "AgentMemory.undo")


def do(
    agent: AgentMemory, act: Callable[[], ChangeSet], name: str = "", then: Callable[[], None] = lambda: None,
    *, sentence: str = "",
) -> None:  # fmt: skip
    """Carry something out; ``last`` says so in the next run, and offers its undo.

    With ``name`` it is reported by that name and the number of changed memories, with ``sentence`` in those words only;
    ``then`` is called once it is done.
    """
    try:
        with st.spinner("Changing …"):
            made = act()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    counted = tables.counted(len(made.changes), "memory", "memories")
    left = list(dict.fromkeys(kept.reason for kept in made.kept))
    why = f"{tables.counted(len(made.kept), 'is', 'are')} left as before: {' '.join(left[:3])}" if left else ""
    done(agent, made, sentence or (f"{name}: {counted}" if name else as_done(made)), why)
    let_go()
    then()
    st.rerun()


def apply(
    agent: AgentMemory, plan_key: str, accepted: ChangeSet, sentence: str = "", then: Callable[[], None] = lambda: None
) -> None:
    """Apply what was accepted of a plan; ``last`` says so, as ``sentence`` or by its title, and offers its undo.

    If it cannot be applied, the page says so, and the plan stays.

    Args:
        agent: the agent that it changes.
        plan_key: the session key of the plan, which is then dropped.
        accepted: the part of it to apply.
        sentence: the words for it.
        then: called once it is applied.
    """
    try:
        with st.spinner("Applying …"):
            applied = agent.apply(accepted)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    st.session_state.pop(plan_key, None)
    done(agent, applied, sentence or f"Applied: {applied.title}")
    then()
    st.rerun()


def panel(agent: AgentMemory, entries: Sequence[MemoryEntry], whose: str) -> None:
    """What to change in these memories, what that would do, and the button that does it.

    Args:
        agent: the agent whose memories they are.
        entries: the chosen ones.
        whose: names the place on the page, for the keys.
    """
    ids = [entry.id for entry in entries]
    chosen = _fields(agent, entries, f"{whose}-{agent.name}-{round_()}")
    counted = tables.counted(len(ids), "memory", "memories")
    if not chosen:
        st.caption(f"Choose what to change in {counted}. It is one change, and one undo reverses it.")
        return
    try:
        planned = agent.edit_many(ids, preview=True, **chosen)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    changed = tables.counted(len(planned.changes), "memory", "memories")
    st.caption(widgets.plain(f"{len(planned.changes):,} of {counted} would change."))
    if planned.changes:
        with st.expander("See each"):
            change_set.listed(f"bulk-{whose}", change_rows.of(planned, agent.find))
    if st.button(
        f"Change {changed}",
        type="primary",
        icon=":material/done_all:",
        disabled=not planned.changes,
        key=f"bulk-apply-{whose}",
        help="In Python: AgentMemory.edit_many",
    ):
        do(agent, lambda: agent.apply(planned))


def forget_and_restore(agent: AgentMemory, entries: Sequence[MemoryEntry], whose: str) -> None:
    """Forget these memories, or bring back the sources of those that are summaries."""
    ids = [entry.id for entry in entries]
    originals = list(
        dict.fromkeys(entry_id for entry in entries for entry_id in entry.evidence if agent.find(entry_id) is None)
    )
    with st.container(horizontal=True):
        if st.button(
            f"Forget {tables.counted(len(ids), 'memory', 'memories')}",
            icon=":material/delete:",
            key=f"bulk-forget-{whose}",
            help="They leave recall and can be restored. Pinned ones stay. In Python: AgentMemory.forget",
        ):
            do(agent, lambda: agent.forget(ids))
        if originals and st.button(
            f"Restore {tables.counted(len(originals), 'original', 'originals')}",
            icon=":material/settings_backup_restore:",
            key=f"bulk-restore-{whose}",
            help="Forgotten memories that these are based on come back. In Python: AgentMemory.restore",
        ):
            do(agent, lambda: agent.restore(originals))


def offer_to_unmark(agent: AgentMemory, plan: str) -> None:
    """If the mark “by a person” leaves nothing to summarise: offer to remove it from all of long-term memory, or some.

    ``plan`` is the session key of the plan, which is outdated then.
    """
    marked = [entry.id for entry in agent.entries(Tier.LTM) if entry.authored and not entry.protected]
    if not marked or widgets.closed(agent):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            f"{words.TAKE_BY_A_PERSON_OFF} {tables.counted(len(marked), 'memory', 'memories')}",
            icon=":material/person_off:",
            help="One change, which can be undone. In Python: AgentMemory.edit_many(ids, authored=False)",
        ):
            st.session_state.pop(plan, None)
            do(agent, lambda: agent.edit_many(marked, authored=False))
        if st.button(
            "Choose which",
            icon=":material/checklist:",
            type="tertiary",
            help="On the Long-term page, under “Change these together”.",
        ):
            st.switch_page("views/long_term/long_term.py", query_params={"agent": agent.name})


def narrowed(frame: pd.DataFrame, whose: str) -> pd.DataFrame:
    """The rows of a table of memories that match the search, kinds and tags chosen above it, per agent."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    text = left.text_input(
        "Contains",
        placeholder="Search",
        icon=":material/search:",
        key=f"narrow-words-{whose}",
        persist_state="session",
    ).strip()
    kinds = middle.multiselect(
        "Kinds", sorted(set(frame["kind"])), placeholder="Any", key=f"narrow-kinds-{whose}", persist_state="session"
    )
    tags = right.multiselect(
        "Tags ",
        list(tables.tag_counts(frame)),
        format_func=tables.visible,
        placeholder="Any",
        key=f"narrow-tags-{whose}",
        persist_state="session",
    )
    keep = frame["memory"].str.contains(text, case=False, regex=False)
    if kinds:
        keep &= frame["kind"].isin(kinds)
    if tags:
        keep &= frame["tags"].map(lambda row_tags: bool(set(tags) & set(row_tags)))
    return frame[keep].reset_index(drop=True)


def _fields(agent: AgentMemory, entries: Sequence[MemoryEntry], key: str) -> dict[str, Any]:
    """What is to be changed, as arguments of ``edit_many``; empty if nothing is chosen."""
    tags = list(dict.fromkeys(tag for entry in entries for tag in entry.tags))
    known = session.tags(agent)
    left, right = st.columns(2)
    adding = left.multiselect(
        "Add tags",
        known,
        key=f"bulk-add-{key}",
        accept_new_options=True,
        placeholder="Choose or write",
        max_selections=20,
        persist_state="session",
    )
    removing = right.multiselect(
        "Remove tags",
        tags,
        key=f"bulk-remove-{key}",
        persist_state="session",
        placeholder="Choose" if tags else "They have none",
        disabled=not tags,
    )
    left, right = st.columns(2)
    rating = left.selectbox(
        words.SET_IMPORTANCE,
        [_AS_IS, *range(1, 11), _UNRATED],
        key=f"bulk-rating-{key}",
        persist_state="session",
        help="1 mundane, 10 extremely poignant.",
    )
    mark = right.selectbox(
        words.PIN_PROTECT_OR_MARK,
        list(_MARKS),
        key=f"bulk-mark-{key}",
        persist_state="session",
        help="A pinned memory is never forgotten or migrated; a protected one is never "
        "changed; one marked “by a person” keeps its words.",
    )
    chosen: dict[str, Any] = {}
    if adding:
        chosen["add_tags"] = adding
    if removing:
        chosen["remove_tags"] = removing
    if rating != _AS_IS:
        chosen["rating"] = None if rating == _UNRATED else rating
    chosen |= _MARKS[mark]
    return chosen


def round_() -> int:
    """How often a choice has been acted on: a choice counts for one round."""
    return int(st.session_state.setdefault("bulk-round", 0))


def let_go() -> None:
    """End the round: what was chosen for these memories is not kept for others."""
    st.session_state["bulk-round"] = round_() + 1
