"""Many memories changed together: tags, importance and pins in one change set, forgetting, and the undo of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemoryEntry, MemorySystemError, Tier

from .. import session, words
from ..data import tables
from . import widgets

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
_CALLED = {
    "tags": "tags",
    "rating": "importance",
    "pinned": "pinned",
    "protected": "protected",
    "authored": "by a person",
}
_SEEN = 200
"""Rows of the table that shows what would change."""


_BELOW = (
    "<style>.st-key-said-below{position:fixed;bottom:1rem;left:50%;transform:translateX(-50%);width:auto!important;"
    "max-width:min(44rem,calc(100vw - 2rem));z-index:1100;border-radius:.5rem;padding:.25rem;"
    "background:light-dark(#fff,#22221f);box-shadow:0 4px 24px #0005}"
    "[data-testid='stLayoutWrapper']:has(>.st-key-said-below){position:absolute;height:0}"
    ".st-key-said-below:not(:has([data-testid='stAlert'])){display:none}</style>"
)


def said_below(agent: AgentMemory) -> None:
    """What was last done, with its undo, in one line at the bottom, over what stands there."""
    st.html(_BELOW)
    with st.container(key="said-below", gap=None):
        widgets.said()
        last(agent)


def last(agent: AgentMemory) -> None:
    """Say what was last done here, and offer its undo, for as long as nothing else has been changed since."""
    key = _done_key(agent)
    held: tuple[int, str] | None = st.session_state.get(key)
    if held is None or held[0] != agent.stamp[0]:
        st.session_state.pop(key, None)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(widgets.plain(held[1]), icon=":material/check_circle:", width="stretch")
        widgets.undo_button(agent, held[0], held[1], key)


def do(agent: AgentMemory, act: Callable[[], ChangeSet], name: str = "") -> None:
    """Carry something out; ``last`` says so at the top of the next run, and offers its undo.

    With ``name`` it is told as that, and with how many memories it changed.
    """
    try:
        with st.spinner("Changing …"):
            done = act()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    left = list(dict.fromkeys(kept.reason for kept in done.kept))
    why = f" {tables.counted(len(done.kept), 'is', 'are')} left as before: {' '.join(left[:3])}" if left else ""
    if done.revision is None:
        widgets.say_next(f"Nothing was changed.{why}")
    else:
        told = f"{name}: {tables.counted(len(done.changes), 'memory', 'memories')}" if name else done.title
        st.session_state[_done_key(agent)] = done.revision, f"{told}.{why}"
    let_go()
    st.rerun()


def panel(agent: AgentMemory, entries: Sequence[MemoryEntry], whose: str) -> None:
    """What to change in these memories, what that would do, and the button that does it.

    Args:
        agent: whose memories they are.
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
            widgets.table(_before_after(planned), hide_index=True, key=f"bulk-see-{whose}")
            if len(planned.changes) > _SEEN:
                st.caption(f"The first {_SEEN}.")
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
    """Forget these memories, or bring back what those of them stand for that are summaries."""
    ids = [entry.id for entry in entries]
    originals = list(dict.fromkeys(one for entry in entries for one in entry.evidence if agent.find(one) is None))
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
    """Where the mark “by a person” leaves nothing to summarise: take it off all of long-term memory, or choose.

    ``plan`` names the plan that the session keeps, which has had its day then.
    """
    marked = [one.id for one in agent.entries(Tier.LTM) if one.authored and not one.protected]
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
    """The rows of a table of memories that search, kinds and tags leave, as chosen above it; of each agent its own."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    wanted = left.text_input(
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
    keep = frame["memory"].str.contains(wanted, case=False, regex=False)
    if kinds:
        keep &= frame["kind"].isin(kinds)
    if tags:
        keep &= frame["tags"].map(lambda held: bool(set(tags) & set(held)))
    return frame[keep].reset_index(drop=True)


def _fields(agent: AgentMemory, entries: Sequence[MemoryEntry], key: str) -> dict[str, Any]:
    """What is to be changed, as ``edit_many`` takes it; empty where nothing is chosen."""
    held = list(dict.fromkeys(tag for entry in entries for tag in entry.tags))
    known = session.tags(agent.name, agent.stamp)
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
        held,
        key=f"bulk-remove-{key}",
        persist_state="session",
        placeholder="Choose" if held else "They have none",
        disabled=not held,
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


def _before_after(planned: ChangeSet) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for change in planned.changes[:_SEEN]:
        assert change.before is not None, "only existing memories are changed together"
        assert change.after is not None, "and it stays"
        parts = [
            f"{called}: {_shown(getattr(change.before, name))} → {_shown(getattr(change.after, name))}"
            for name, called in _CALLED.items()
            if getattr(change.before, name) != getattr(change.after, name)
        ]
        rows.append(
            {"Memory": tables.visible(change.after.document), "Before → after": tables.visible("; ".join(parts))}
        )
    return rows


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unrated" if value is None else f"{value}"


def round_() -> int:
    """How often something was done with what was chosen: what is chosen counts for one round."""
    return int(st.session_state.setdefault("bulk-round", 0))


def let_go() -> None:
    """What was chosen is done with: what was chosen for these memories is not kept for others."""
    st.session_state["bulk-round"] = round_() + 1


def _done_key(agent: AgentMemory) -> str:
    return f"bulk-done-{agent.name}"
