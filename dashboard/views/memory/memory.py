"""Memory: all that a character remembers, the answer to a cue, and one memory with what can be done with it."""

from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.components import bulk, mounting, places, widgets
from dashboard.components.frame import showing
from dashboard.data import tables
from dashboard.views.memory import drawer, listing, looking, timeline
from memory_system import AgentMemory, MemoryEntry, MemorySystemError, Query
from memory_system.recall import Explanation

_STYLE = (
    "<style>[data-testid='stMainBlockContainer']{max-width:none;padding:3rem 1.5rem 0}"
    "[data-testid='stMainBlockContainer'] h1{font-size:var(--type-lead)!important;line-height:2rem!important;"
    "padding:0!important}"
    ".st-key-memory-drawer,.st-key-memory-rest{flex:none!important;"
    "height:calc(100dvh - 56px - var(--head-room,0px) - var(--show-foot,0px))!important;min-height:min(520px,60dvh);"
    "overflow-y:auto;padding:0 .5rem 2rem 1rem;scrollbar-width:thin;position:relative;"
    "border-left:1px solid light-dark(#dcdcd6,#3a3a36)}"
    ":is(.st-key-memory-drawer,.st-key-memory-rest) :is(p,[data-testid='stText']){font-size:var(--type-text);"
    "line-height:var(--type-text-line)}"
    ".st-key-memory-drawer [data-testid='stCaptionContainer'] p{font-size:var(--type-small);"
    "line-height:var(--type-small-line)}"
    ":is(.st-key-memory-drawer,.st-key-memory-rest) button{min-height:2rem;padding:0 .5rem}"
    ":is(.st-key-memory-drawer,.st-key-memory-rest) button p{font-size:var(--type-text)}"
    ".st-key-memory-acts button span:has(>[data-testid='stIconMaterial']){display:none}"
    ".st-key-memory-acts [data-testid='stHorizontalBlock']{gap:.5rem}"
    ".st-key-memory-drawer [data-testid='stExpander'] [data-testid='stColumn']"
    "{flex:1 1 14rem;min-width:min(14rem,100%)}"
    ".st-key-memory-bench [data-testid='stMarkdownContainer']:has(h1){margin-bottom:0}"
    ".st-key-memory-rest code{font:400 var(--type-text)/var(--type-text-line) inherit!important;"
    "font-family:inherit!important}"
    ".st-key-memory-close{position:absolute;right:.25rem;top:0;width:auto!important;z-index:2}"
    ".st-key-memory-close+*{padding-right:5.5rem}"
    "@media(max-width:900px){[data-testid='stColumn']:has(.st-key-memory-rest){display:none}"
    "[data-testid='stColumn']:has(.st-key-memory-bench){flex:1 1 100%!important;min-width:100%}"
    ".st-key-memory-drawer{position:fixed;inset:auto 0 0 0;width:auto;height:72dvh!important;min-height:0;"
    "padding:1rem 1rem 5rem;z-index:1000;background:light-dark(#fff,#161614);border-left:0;"
    "border-top:1px solid light-dark(#dcdcd6,#3a3a36);border-radius:1rem 1rem 0 0;box-shadow:0 -8px 32px #0005}"
    ".st-key-memory-close{top:.75rem;right:.75rem}}"
    "@media(max-width:640px){[data-testid='stMainBlockContainer']{padding:3.5rem 1rem 0}"
    ".st-key-memory-head{flex-wrap:wrap;row-gap:0}.st-key-memory-head>[data-testid='stLayoutWrapper']{flex:1 1 100%}}"
    "</style>"
)


def _remembered(agent: AgentMemory) -> tuple[list[MemoryEntry], list[dict[str, Any]]]:
    """All memories, the newest first, and the chips that count them."""
    entries = listing.newest_first(agent)
    return entries, listing.chips(entries, agent.count_forgotten())


@st.fragment
def _bench() -> None:
    """The list and the drawer; typing or choosing reruns only this part, not the whole page."""
    agent, at = session.agent(), looking.now()
    timeline.follow()
    left, right = st.columns([2, 1], gap="medium")
    with left, st.container(key="memory-bench", gap="xsmall"):
        with st.container(horizontal=True, gap="medium", key="memory-head"):
            st.title(session.WORKBENCH, anchor=False, width="content")
            places.line()
        found, own = _list(agent, at)
    with right:
        try:
            drawer.show(agent, at, found, own)
        except MemorySystemError as error:
            widgets.problem(error)


def _list(agent: AgentMemory, at: looking.Looking) -> tuple[Explanation | None, Query | None]:
    """The list; returns the explanation that it shows, and the query with the character's own settings."""
    entries, chips = session.kept("remembered", agent, _remembered)
    drawer.follow(agent, at)
    forgotten, shown = listing.FORGOTTEN in at.only, listing.Shown(at.only, at.words)
    tried = looking.tried(session.place(), at.cue)
    found = own = None
    data: dict[str, Any] = {}
    try:
        own = agent.retrieval.query(at.cue) if at.cue else None
        if own is not None:
            found = agent.explanation(tried.query if tried else own)
    except MemorySystemError as error:
        widgets.problem(error)
    drawn = timeline.drawn(agent, at, entries, shown, found) if at.view else {}
    if at.view:
        data = {"status": drawn["label"]}
    elif forgotten:
        data = _forgotten(agent, at, shown, own)
    elif found is not None:
        rows, recalled, more = listing.candidates(found, shown, at.most)
        data = {
            "rows": rows, "recalled": recalled, "more": more, "seats": listing.line_of_seats(found, found.query),
            "status": f"{len(found)} recalled of {found.considered:,} · above {found.query.threshold:.2f}",
        }  # fmt: skip
    else:
        rows, more = listing.plain(entries, shown, at.most, agent.now)
        data = {"rows": rows, "more": more, "status": f"{len(rows) + more:,} of {len(entries):,}, the newest first"}
    asked = found.query if found else None
    mounting.show(
        "memory_list",
        {
            "agent": session.place(), "cue": at.box, "only": at.only, "memory": at.memory, "most": at.most,
            "turn": at.turn, "step": looking.STEP, "longest": looking.LONGEST, "label": words.ASK_OR_FILTER,
            "placeholder": 'Ask, or narrow by "words in quotes"',
            "view": at.view, "views": looking.VIEWS, "rows": [], "more": 0,
            "chips": [] if showing.presenting() else chips, "parts": listing.legend(asked),
            "axis": tables.axis(asked) if asked else 1, "tried": tried.words if tried else "",
            "recalled": 0, "seats": "", "none": "No matching memories." if entries else "Nothing is remembered yet.",
            **data,
        },
        looking.accept_request,
        painted=True,
    )  # fmt: skip
    if at.view:
        timeline.show(drawn)
    return found, own


def _forgotten(agent: AgentMemory, at: looking.Looking, shown: listing.Shown, own: Query | None) -> dict[str, Any]:
    """Rows of forgotten memories: those that the cue would have recalled, or all, the last forgotten first."""
    if own is not None:
        gone = [candidate for candidate in agent.would_have_answered(own) if candidate.entry in shown]
        rows = [listing.scored(candidate, place, own) for place, candidate in enumerate(gone, start=1)]
        return {
            "rows": rows, "recalled": len(rows), "more": 0, "parts": listing.legend(own), "axis": tables.axis(own),
            "status": f"{len(rows)} forgotten memories would have been recalled",
        }  # fmt: skip
    entries = [memory.entry for memory in agent.forgotten(at.most, at.words[0] if at.words else "")]
    rows, _ = listing.plain(entries, shown, at.most, agent.now)
    more = agent.count_forgotten() - at.most
    return {"rows": rows, "more": max(0, more), "status": "Forgotten, the last first"}


st.html(_STYLE)
_bench()
bulk.last()
