"""Which changes the History page lists: by words, kind, author and day, as the link says; and paging to older ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

import streamlit as st

from memory_system import AgentMemory

from ... import session
from ...components import widgets
from ...data import history_tables, tables, zone

PAGE = 200
_NAMES = ("find", "kind", "who", "memory", "from", "to")
_ALL = ""
_FIRST, _LAST = date(1970, 1, 1), date(9000, 1, 1)


def sought(agent: AgentMemory) -> dict[str, Any]:
    """The search fields for changes; returns the arguments for ``AgentMemory.history``."""
    kinds = agent.history_kinds()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search",
            key=_begun(agent, "find", session.from_link("find")[:500]),
            placeholder="words of a title or a memory",
            max_chars=500,
            width=330,
            persist_state="session",
            help="In Python: AgentMemory.history(contains=...)",
        )
        kind = _choice(agent, "Kind of change", "kind", list(kinds.operations), history_tables.operation)
        who = _choice(agent, "Who", "who", list(kinds.authors), tables.visible)
        days = _days(agent)
    entry_id = session.from_link("memory")
    for name, value in (
        ("find", words.strip()),
        ("kind", kind),
        ("who", who),
        ("from", _iso(days[0])),
        ("to", _iso(days[1])),
    ):
        session.to_link(name, value)
    if entry_id and st.button(
        "Only one memory's changes are listed: list all again", icon=":material/close:", type="tertiary"
    ):
        session.to_link("memory", None)
        st.rerun()
    return {
        "contains": words,
        "operation": kind,
        "author": who,
        "entry_id": entry_id,
        "since": _start(days[0]),
        "until": _start(days[1] + timedelta(days=1)) if days[1] else None,
    }


def _begun(agent: AgentMemory, name: str, value: Any) -> str:
    """The key of a field, which begins with the value in the link and then keeps what is entered."""
    key = f"history-{name}-{agent.name}"
    st.session_state.setdefault(key, value)
    return key


def _choice(agent: AgentMemory, label: str, name: str, choices: list[str], words: Callable[[str], str]) -> str:
    asked = session.from_link(name)
    options = [_ALL, *sorted(choices, key=words)]
    key = _begun(agent, name, asked if asked in options else _ALL)
    if st.session_state[key] not in options:
        st.session_state[key] = _ALL
    chosen = st.selectbox(
        label, options, key=key, format_func=lambda option: words(option) if option else "all", width=190,
        persist_state="session",
    )  # fmt: skip
    return str(chosen)


def _days(agent: AgentMemory) -> tuple[date | None, date | None]:
    """The first and the last day, in real time."""
    begin, end = (_begun(agent, name, _day(session.from_link(name))) for name in ("from", "to"))
    with st.popover("Days", icon=":material/date_range:", help=zone.named("Real time of the change")):
        first = st.date_input("First day", key=begin, min_value=_FIRST, max_value=_LAST, persist_state="session")
        last = st.date_input("Last day", key=end, min_value=_FIRST, max_value=_LAST, persist_state="session")
    if first and last and first > last:
        st.caption("The first day comes after the last.")
        return first, first
    return first, last


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if _FIRST <= found <= _LAST else None


def _iso(day: date | None) -> str:
    return day.isoformat() if day else ""


def _start(day: date | None) -> datetime | None:
    return zone.moment(day, time()) if day else None


def reset(agent: AgentMemory) -> None:
    """Clear the search: the next run lists all changes."""
    for name in _NAMES:
        session.to_link(name, None)
        st.session_state.pop(f"history-{name}-{agent.name}", None)


def older(agent: AgentMemory, search: dict[str, Any]) -> tuple[list[Any], bool]:
    """The page of changes to be shown, and whether there are older ones."""
    key = f"history-before-{agent.name}"
    if st.session_state.get(f"{key}-of") != search:  # the search has changed: begin with the newest
        st.session_state[f"{key}-of"] = search
        st.session_state[key] = []
    befores: list[int] = st.session_state.setdefault(key, [])
    records = session.history(agent, PAGE + 1, befores[-1] if befores else None, **search)
    return records[:PAGE], len(records) > PAGE


def _let_go() -> None:
    """A notice about deleted changes, if not all of the history is kept."""
    kept = session.history_kept()
    if kept.let_go_until is not None:
        gone = tables.counted(kept.let_go, "older change", "older changes")
        st.caption(
            f"{gone}, up to {tables.exact(kept.let_go_until)}, were deleted, because Settings limit the history. Their "
            "effects stay."
        )


def turn_pages(agent: AgentMemory, last: int | None, *, more: bool) -> None:
    """Buttons to older and newer changes, if there are any."""
    befores: list[int] = st.session_state[f"history-before-{agent.name}"]
    if not more:
        _let_go()
    if not (befores or more):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Newer", icon=":material/chevron_left:", disabled=not befores):
            befores.pop()
            st.rerun()
        if st.button(
            "Older", icon=":material/chevron_right:", disabled=not more, help="In Python: history(before=...)"
        ):
            befores.append(last or 1)
            st.rerun()
        st.caption(widgets.plain(f"Page {len(befores) + 1}, {PAGE} changes per page."))
