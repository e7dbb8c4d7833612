"""The palette: one box over every page for characters, pages, memories by words, operations, and a question."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.core import LIVED, ago
from memory_system.interfaces.operations import BESIDE, OF_CAST, OPERATIONS

from ... import session, words
from ...data import tables
from ...data.showing import Kind
from ...views import PAGES, PageOf, place_of
from .. import mounting, places
from . import showing

_ACT, _WORDS = "palette-act", "palette-words"
_LONGEST = 2000
"""The most characters in the box, as in that of the Memory page."""
_MOST, _TEXT = 8, 160
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_BY_NAME = {page.name: page for page in PAGES}


@st.fragment
def show() -> None:
    """The button that opens it, with everything that is known at once; call it where the button is to be."""
    if act := st.session_state.pop(_ACT, None):
        _follow(act)
    try:
        agent = session.agent()
    except MemorySystemError:  # the page says so; an exception would end the fragment with a message of Streamlit's
        return
    asked = str(st.session_state.pop(_WORDS, ""))
    mounting.show(
        "palette",
        {
            "label": words.SEARCH_OR_DO, "longest": _LONGEST, "who": tables.short(agent.display_name, 40),
            "groups": [
                {"label": "Pages", "options": [option_of(page) for page in PAGES]},
                {"label": "Characters", "options": _characters(agent)},
                {"label": "Operations", "options": _operations()},
                {"label": "Show", "options": _shows()},
            ],
            "found": {"label": "Memories", "words": asked, "options": memories(agent, asked) if asked else []},
        },
        _acted,
    )  # fmt: skip


def _option(label: str, hint: str, icon: str, act: dict[str, str], *, first: bool = False) -> dict[str, Any]:
    """A line of the list; ``first`` = it is there before anything is typed."""
    return {
        "label": label,
        "hint": hint,
        "icon": icon.removeprefix(":material/").strip(":"),
        "act": act,
        "first": first,
    }


def option_of(page: PageOf) -> dict[str, Any]:
    """The line of a page: the first of a place bears the name of that, and is found by its own title, too."""
    place = place_of(page)
    first = place is None or page is place.first
    label = place.title if place and first else page.label or page.title
    hint = place.title if place and not first else page.title
    return _option(label, "" if hint == label else hint, page.icon, {"page": page.name}, first=first)


def _characters(agent: AgentMemory) -> list[dict[str, Any]]:
    names = [name for name in session.in_turn() if name != agent.name]
    labels = session.labels(names)
    return [
        _option(labels[name], "", "person", {"agent": name}, first=place < _MOST) for place, name in enumerate(names)
    ]


def _operations() -> list[dict[str, Any]]:
    return [
        _option(operation.title, "", "autorenew", {"operation": operation.name})
        for operation in (*OPERATIONS, *BESIDE, *OF_CAST)
    ]


def _shows() -> list[dict[str, Any]]:
    return [
        _option(words.TAKE_THE_TOUR, "", "explore", {"show": Kind.TOUR.value}),
        _option(words.PRESENTER_MODE, "", "present_to_all", {"show": Kind.PRESENT.value}),
    ]


def memories(agent: AgentMemory, asked: str) -> list[dict[str, Any]]:
    """The newest memories that contain all of these words: the character's, then those of others in use."""
    present = session.moment() is None  # only one character's past is viewed at a time
    others = [character for character in session.world().opened() if present and character.name != agent.name]
    found: list[dict[str, Any]] = []
    for character in (agent, *sorted(others, key=lambda character: character.name)):
        found += _memories_of(
            character, asked, _MOST - len(found), "" if character is agent else character.display_name
        )
    return found


def _memories_of(agent: AgentMemory, asked: str, most: int, who: str) -> list[dict[str, Any]]:
    terms = asked.casefold().split()
    entries = (entry for tier in LIVED for entry in agent.entries(tier)) if most else ()
    found = (entry for entry in entries if all(word in entry.document.casefold() for word in terms))
    newest = heapq.nlargest(most, found, key=lambda entry: (entry.timestamp or _EARLIEST, entry.id))
    return [
        _option(
            tables.short(entry.document, _TEXT),
            " · ".join(
                [
                    *([tables.short(who, 40)] if who else []),
                    tables.tier(entry),
                    *([ago(entry.timestamp, agent.now)] if entry.timestamp else []),
                ]
            ),
            "neurology",
            {"memory": entry.id, "of": agent.name},
        )
        for entry in newest
    ]


def _acted(act: Mapping[str, Any]) -> None:
    if "words" in act:
        st.session_state[_WORDS] = str(act["words"])[:_LONGEST]
    else:
        st.session_state[_ACT] = {str(what): str(value) for what, value in act.items()}


def _follow(act: Mapping[str, str]) -> None:
    """Go to what was chosen; requests from the browser for what does not exist are ignored."""
    link = places.link()
    if act.get("of") in session.in_turn():
        link = {**link, "agent": act["of"]}
    if act.get("agent") in session.in_turn():
        session.choose_next(act["agent"])
        st.rerun()
    if act.get("show") in set(Kind):
        showing.begin(Kind(act["show"]))
    if (page := _BY_NAME.get(act.get("page", ""))) is not None:
        st.switch_page(page.script, query_params=link)
    if act.get("operation") in {operation.name for operation in (*OPERATIONS, *BESIDE, *OF_CAST)}:
        for chosen in ("operation", "more-operations"):  # what was chosen on that page before
            st.session_state.pop(chosen, None)
        st.switch_page(_BY_NAME["operations"].script, query_params={**link, "operation": act["operation"]})
    asked = {"cue": act.get("ask", "").strip()[:_LONGEST], "memory": act.get("memory", "")}
    if any(asked.values()):
        st.switch_page(
            _BY_NAME["memory"].script, query_params={**link, **{name: value for name, value in asked.items() if value}}
        )
