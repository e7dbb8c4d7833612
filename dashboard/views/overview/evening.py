"""The cast on one screen: a box that asks, the last day as lanes, and one question as each of them remembers it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from memory_system import AgentMemory, Kind, MemoryEntry, MemorySystemError, Tier
from memory_system.core import LIVED, ago

from ... import session, words
from ...components import lines, mounting, places, widgets
from ...data import evening, tables, zone
from ...data.zone import stamp

_MOST = 8
"""How many characters are shown side by side."""
_ASKED = "ask"
"""The name in a link for the question that all were asked."""
_LONGEST, _ANSWER = 300, 220
_HOURS = 4
_CHOSEN = "lane-chosen"
_STYLE = (
    "<style>.st-key-ask [data-testid='stTextInputRootElement']{height:3rem}"
    ".st-key-ask input{font-size:var(--type-lead)}.st-key-ask button{min-height:3rem}"
    ".st-key-ask>[data-testid='stElementContainer']:has(input){flex:1 1 20rem!important;min-width:0}"
    ".st-key-ask-more>*{flex:none!important}.st-key-ask-more button{white-space:nowrap;min-height:2rem}"
    "@media(max-width:640px){.st-key-ask-more{overflow-x:auto;scrollbar-width:none;padding-right:2rem;"
    "flex-wrap:nowrap!important;mask-image:linear-gradient(to right,#000 calc(100% - 2rem),transparent)}}"
    "</style>"
)
"""The box is large; other questions are below it; on a phone, on one scrolling line."""


def ask(agent: AgentMemory, cast: list[AgentMemory]) -> None:
    """A box that asks the character, on the Memory page, or the whole cast, here."""
    key = f"ask-cue-{agent.name}"
    name = widgets.plain(agent.display_name)
    st.html(_STYLE)
    with st.container(horizontal=True, gap="small", key="ask"):
        cue = st.text_input(
            words.ASK_ANYTHING, placeholder=f"Ask {agent.display_name} …", label_visibility="collapsed",
            max_chars=_LONGEST, key=key, persist_state="session", on_change=_ask_all, args=(key,),
        )  # fmt: skip
        if st.button(f"Ask {name}", type="primary", icon=":material/search:"):
            places.to_memory(agent.name, cue=cue.strip())
        if len(cast) > 1:
            pressed = st.button(words.ASK_ALL, icon=":material/groups:", on_click=_ask_all, args=(key,))
            if pressed and not cue.strip():
                st.error("Write a question first.", icon=":material/error:")
    mounting.keep_unsent(key, key)
    with st.container(horizontal=True, gap="small", key="ask-more"):
        for example in session.example_cues(agent.name):
            if st.button(widgets.plain(example), key=f"cue-{example}", type="tertiary", icon=":material/search:"):
                places.to_memory(agent.name, cue=example)
        if st.button(
            f"Talk with {name}", key="overview-talk", type="tertiary", icon=":material/forum:",
            help="The Interview page: ask without leaving a trace. In Python: Interview(agent)",
        ):  # fmt: skip
            st.switch_page("views/interview/interview.py", query_params={"agent": agent.name})
        if not session.viewing() and st.button(words.NEW_CHARACTER, icon=":material/person_add:", type="tertiary"):
            st.switch_page("views/new_character/new_character.py")


def _ask_all(key: str) -> None:
    """Put the question for all, which is the text in the box, into the link."""
    if cue := str(st.session_state.get(key) or "").strip():
        session.to_link(_ASKED, cue)


def day(agent: AgentMemory, cast: list[AgentMemory]) -> None:
    """The last day of the cast; a dot opens its memory, a name its character."""
    act = mounting.taken(_CHOSEN)
    if name := mounting.text(act, "name"):
        if memory := mounting.text(act, "memory"):
            places.to_memory(name, memory=memory)
        session.choose_next(name)
        st.rerun()
    end, shown, met = session.kept(
        "day", agent, lambda owner: _day(owner, cast), agent.now, *((agent.name, agent.stamp) for agent in cast)
    )
    begin, end = zone.named_here(end - evening.DAY), zone.named_here(end)
    st.header(f"The last day, until {stamp(end)}", anchor=False)
    shared = {mark for pair in met for mark in pair}
    marks = [(evening.mark(lane, entry), entry.importance or 0) for lane in shown for entry in lane.entries]
    first, _ = max(marks, key=lambda pair: (pair[0] in shared, pair[1]), default=("", 0))
    mounting.show(
        "lanes",
        {
            "label": "The last day: arrow keys walk, Enter opens a memory",
            "lanes": [
                {
                    "name": lane.name, "label": tables.short(lane.label, 40), "chosen": lane.name == agent.name,
                    "picture": session.picture(lane.name),
                    "dots": [_dot(lane, entry, begin) for entry in lane.entries],
                }
                for lane in shown
            ],
            "meetings": met,
            "hours": _hours(begin, end),
            "first": first,
            "none": words.NOTHING_HAS_HAPPENED if session.viewing() else
            f"{words.NOTHING_HAS_HAPPENED} Add an event on the Short-term page, or let a game send some.",
        },
        mounting.keeping(_CHOSEN),
    )  # fmt: skip
    st.caption("Dots are memories, larger with importance; lines join what two remember of one event.")


def asked() -> bool:
    """Whether the link contains a question for all."""
    return bool(session.from_link(_ASKED))


def remembered(agent: AgentMemory, cast: list[AgentMemory]) -> None:
    """One question, and what comes first to the mind of each."""
    if len(cast) < 2:
        return
    cue = session.from_link(_ASKED) or session.example_cues(agent.name)[0]
    st.header(widgets.plain(f"“{tables.short(cue, 120)}”, remembered by {len(cast)}"), anchor=False)
    called, answers = _called(cast), {}
    waiting = st.empty()
    for owner in cast:
        # in a new world this takes a second or two; a click on the page is followed at the end of each block
        with waiting, st.spinner(widgets.plain(f"Asking {called[owner.name]} …")):
            answers[owner.name] = _answer(owner, called[owner.name], cue)
    lines.show("remembered", [line for line, _ in answers.values()], cards=True)
    if (taken := lines.taken("remembered")) and taken[0] in answers:
        places.to_memory(taken[0], cue=cue, memory=answers[taken[0]][1])


def _called(cast: list[AgentMemory]) -> dict[str, str]:
    return session.told_apart({agent.name: tables.visible(agent.display_name) for agent in cast})


def _answer(agent: AgentMemory, name: str, cue: str) -> tuple[lines.Line, str]:
    """What comes first to the mind of one character, called ``name``, and the id of that memory."""
    picture = session.picture(agent.name)
    try:
        hits = session.kept(
            "answer", agent, lambda owner: owner.retrieval.answer(owner.retrieval.query(cue)).hits, cue, agent.now
        )
    except MemorySystemError as error:
        return lines.Line(agent.name, "", error.sentence, name, picture), ""
    hit = next((hit for hit in hits if hit.entry.tier is not Tier.STATIC), hits[0] if hits else None)
    text, note, memory = "", "Nothing comes to mind.", ""
    if hit is not None:
        text, memory = tables.short(hit.entry.document, _ANSWER), hit.entry.id
        when = f"{ago(hit.entry.timestamp, agent.now)} · " if hit.entry.timestamp else ""
        note = f"{when}{tables.tier(hit.entry)} · {tables.counted(len(hits), 'memory', 'memories')} recalled"
    return lines.Line(agent.name, text, note, name, picture, (lines.Act("why", "Why"),)), memory


def cast_of(agent: AgentMemory) -> list[AgentMemory]:
    """Those who can be opened, up to a limit; at a moment of the past, only the character it belongs to."""
    if session.moment() is not None:
        return [agent]
    found = []
    names = session.world().characters()
    for name in dict.fromkeys([*names[: _MOST - (agent.name not in names[:_MOST])], agent.name]):
        with suppress(MemorySystemError):  # one that cannot be opened is reported where characters are chosen
            found.append(session.character(name))
    return sorted(found, key=lambda character: character.name)


def _day(agent: AgentMemory, cast: list[AgentMemory]) -> tuple[datetime, list[evening.Lane], list[tuple[str, str]]]:
    """The last day of a cast, as one of them has it, and its meetings."""
    called = _called(cast)
    lives = [
        (agent.name, called[agent.name], [entry for tier in LIVED for entry in agent.entries(tier)]) for agent in cast
    ]
    end, shown = evening.last_day(lives, agent.now)
    return end, shown, evening.meetings(shown)


def _dot(lane: evening.Lane, entry: MemoryEntry, begin: datetime) -> dict[str, Any]:
    assert entry.timestamp is not None, "a lane holds only what has its time"
    return {
        "id": evening.mark(lane, entry),
        "memory": entry.id,
        "at": _share(entry.timestamp, begin),
        "importance": entry.importance or 0,
        "kind": "reflection" if entry.kind is Kind.REFLECTION else "lived",
        "when": f"{entry.timestamp.astimezone(begin.tzinfo):%a %H:%M}",  # as the hours below the lanes
        "text": tables.short(entry.document, _LONGEST),
    }


def _share(moment: datetime, begin: datetime) -> float:
    """The position of a moment within the day, in percent."""
    return round(100 * ((moment.timestamp() - begin.timestamp()) / evening.DAY.total_seconds()), 2)


def _hours(begin: datetime, end: datetime) -> list[dict[str, Any]]:
    """The hours that divide the day."""
    first = begin.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    every = [(first + timedelta(hours=hour)).astimezone(begin.tzinfo) for hour in range(1, 25)]
    return [
        {"at": _share(hour, begin), "label": f"{hour:%H:%M}"}
        for hour in every
        if hour.hour % _HOURS == 0 and hour < end
    ]
