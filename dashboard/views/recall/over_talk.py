"""Two presets over a talk, judged blind: each line is a cue; it also shows how many judgments are missing."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import streamlit as st

from memory_system import PRESETS, AgentMemory, Candidate, MemorySystemError
from memory_system.agent_parts import OWN_SETTINGS
from memory_system.conversation import MAX_MESSAGES, Conversation, Lines, lines_of
from memory_system.recall import MOST_JUDGED, Versus, deciding, versus

from ... import session, words
from ...components import widgets
from ...data import tables
from ..interview import talk_state, talk_tables
from . import compare, judge
from .controls import OWN

_LINK, LAST = "talk", "last"
"""The name in the link, and its value for the most recent talk."""
_PASTED = "pasted"
_LONGEST, _SHOWN = 20_000, 600
_FRESH = timedelta(hours=1)
"""How long answers are kept while the world's clock runs, so that what is judged stays as shown."""
_FEW = 20
"""The most thumbs between two checks, and the most lines that are soon judged."""
_NARROW = 170
"""Pixels of a field: two fit side by side on a phone."""
_ASKED = "talk-test-asked"


@dataclass(frozen=True)
class _Asked:
    """All lines of a talk, asked by both presets; valid until memory changes other than by a thumb."""

    of: tuple[object, ...]
    stamp: tuple[int, int]
    now: datetime
    hits: Mapping[str, tuple[tuple[Candidate, ...], tuple[Candidate, ...]]]

    def ids(self, cue: str) -> tuple[list[str], list[str]]:
        """What each recalls for a line."""
        first, second = self.hits[cue]
        return [hit.entry.id for hit in first], [hit.entry.id for hit in second]

    def missing(self, agent: AgentMemory) -> dict[str, int]:
        """How many thumbs each line still lacks."""
        judged = {judgment.cue: judgment for judgment in agent.judgments}
        return {
            cue: sum(
                cue not in judged or judged[cue].verdict(entry_id) is None for entry_id in deciding(*self.ids(cue))
            )
            for cue in self.hits
        }

    def counted(self, agent: AgentMemory) -> Versus:
        """What the thumbs say about the two over this talk."""
        return versus((judgment, *self.ids(judgment.cue)) for judgment in agent.judgments if judgment.cue in self.hits)


def opened() -> bool:
    """Whether the link asks for a talk instead of one cue."""
    return bool(session.from_link(_LINK))


def show(agent: AgentMemory) -> None:
    """Choose a talk and two presets, and judge line by line."""
    widgets.lead(words.ONE_CUE, "recall", agent.name, "arrow_back")
    try:
        talks = _talks(agent)
        with st.container(horizontal=True):
            chosen = _pick({**talks, _PASTED: words.LINES_OF_YOUR_OWN})
            first, second = _preset("first", OWN_SETTINGS), _preset("second", "classic")
        lines = _pasted(agent) if chosen == _PASTED else _said(agent, chosen)
        if lines is None and not talks:
            widgets.empty(words.NO_TALK_YET, "Talk with the character, or write lines above.", agent, to="interview")
        if lines is not None and first != second:
            _walk(agent, lines, first, second)
        elif lines is not None:
            st.caption(words.CHOOSE_TWO)
    except MemorySystemError as error:
        widgets.problem(error)


def _preset(link: str, otherwise: str) -> str:
    key, names = f"talk-test-{link}", [OWN_SETTINGS, *PRESETS]
    if key not in st.session_state:
        asked = session.from_link(link)
        st.session_state[key] = asked if asked in names else otherwise
    chosen = str(
        st.selectbox(
            f"{link.capitalize()} preset", names, format_func=_called, key=key, persist_state="session", width=_NARROW
        )
    )
    session.to_link(link, chosen)
    return chosen


def _called(name: str) -> str:
    return OWN if name == OWN_SETTINGS else name


def _talks(agent: AgentMemory) -> dict[str, str]:
    """The talks that are kept and the interview of this session, by their value in a link, each with its title."""
    labels = talk_tables.titles(conversation.head for conversation in Conversation.all(agent))
    return labels | ({talk_state.LINK: "The interview of this session"} if talk_state.had(agent) else {})


def _said(agent: AgentMemory, chosen: str) -> Lines | None:
    """The lines of a talk; ``None`` if there are none, with a sentence that says so."""
    if chosen == talk_state.LINK:
        open_talk = talk_state.interview(agent)
        lines = lines_of(agent, open_talk.talk, open_talk.messages(MAX_MESSAGES))
    else:
        lines = Conversation.open(agent, chosen).lines()
    if not lines.cues:
        widgets.empty("Nothing has been said in this talk yet.", "Say something.", agent, to="interview")
        return None
    return lines


def _pick(labels: Mapping[str, str]) -> str:
    """Which talk: the one in the link, or the most recent one."""
    key, options = f"talk-test-of-{session.place()}", list(labels)
    talk_id, linked = session.from_link(_LINK), f"talk-test-linked-{session.place()}"
    if talk_id != st.session_state.get(linked) and talk_id in options:
        st.session_state[key] = talk_id
    elif talk_id not in (LAST, *options):
        st.warning(words.TALK_IS_GONE)
    if st.session_state.get(key) not in options:
        st.session_state[key] = options[0]
    chosen = str(
        st.selectbox(
            "Talk", options, format_func=labels.__getitem__, key=key, persist_state="session", width=2 * _NARROW
        )
    )
    session.to_link(_LINK, chosen)
    st.session_state[linked] = chosen
    return chosen


def _pasted(agent: AgentMemory) -> Lines | None:
    """Lines typed by somebody, one cue per line."""
    text = st.text_area(
        words.LINES_OF_YOUR_OWN, key=f"talk-test-pasted-{session.place()}", max_chars=_LONGEST,
        label_visibility="collapsed", persist_state="session",
        placeholder="\n".join(["What is said to the character, one a line:", *session.example_cues(agent.name)[:2]]),
    )  # fmt: skip
    cues = tuple(dict.fromkeys(filter(None, (line.strip() for line in text.splitlines()))))
    return Lines(cues[:MOST_JUDGED]) if cues else None


@st.fragment
def _walk(agent: AgentMemory, lines: Lines, first: str, second: str) -> None:
    """One line with its thumbs, and below it, always visible, what is still missing; a thumb reruns this part."""
    try:
        asked = _asked(agent, lines, first, second)
        missing = asked.missing(agent)
        key = f"talk-test-line-{hash(asked.of)}"
        number = st.session_state.setdefault(key, _next_missing(missing, -1) or 0)
        cue = lines.cues[number]
        most = f" {tables.counted(lines.top_k, 'memory', 'memories')} at most," if lines.top_k else ""
        st.caption(f"As a talk asks:{most} none that this talk itself left. Asked {tables.exact(asked.now)}.")
        _line(agent, asked, cue, f"Line {number + 1} of {len(lines.cues)}")
        few = _too_few(sum(bool(deciding(*asked.ids(cue))) for cue in asked.hits))
        _foot(agent, asked, missing, key, number, few)
        _ahead(asked.counted(agent), missing, first, second, few)
    except MemorySystemError as error:
        widgets.problem(error)


def _asked(agent: AgentMemory, lines: Lines, first: str, second: str) -> _Asked:
    """The answers that are judged: the former ones, unless memory has changed since, other than by a thumb."""
    of, stamp, now = (session.place(), lines, first, second), agent.stamp, agent.now
    last: _Asked | None = st.session_state.get(_ASKED)
    if last is not None and last.of == of and abs(now - last.now) < _FRESH and _only_judged(agent, last.stamp, stamp):
        asked = replace(last, stamp=stamp)
    else:
        with st.spinner(f"Asking {tables.counted(len(lines.cues), 'line', 'lines')} by both …"):
            hits = {
                cue: (_hits(agent, lines, cue, first, now), _hits(agent, lines, cue, second, now)) for cue in lines.cues
            }
        asked = _Asked(of, stamp, now, hits)
    st.session_state[_ASKED] = asked
    return asked


def _only_judged(agent: AgentMemory, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether only a few thumbs came in between."""
    new = after[0] - before[0]
    if before[1] != after[1] or not 0 <= new <= _FEW:
        return False
    return not new or all(record.change_set.operation == "judgments" for record in agent.history(new))


def _hits(agent: AgentMemory, lines: Lines, cue: str, name: str, now: datetime) -> tuple[Candidate, ...]:
    query = agent.query(cue, lines.top_k, now=now, facets=lines.facets, addressed=True)
    return tuple(agent.answer(query if name == OWN_SETTINGS else query.by(PRESETS[name])).hits)


def _line(agent: AgentMemory, asked: _Asked, cue: str, place: str) -> None:
    """What was said, and a thumb for each memory that only one of the two recalls, in a neutral order."""
    hits = {hit.entry.id: hit for answer in asked.hits[cue] for hit in answer}
    alone = deciding(*asked.ids(cue))
    with st.container(border=True, gap=None):
        st.caption(place)
        st.markdown(f"**{widgets.plain(tables.short(cue, _SHOWN))}**")
    shuffled = sorted(hits.values(), key=lambda hit: zlib.crc32(f"{cue}{hit.entry.id}".encode()))
    if alone:
        judge.rows(agent, cue, [hit for hit in shuffled if hit.entry.id in alone], blind=True)
    else:
        st.caption(words.BOTH_RECALL_THE_SAME if hits else compare.NEITHER)
    both = [hit for hit in shuffled if hit.entry.id not in alone]
    if alone and both:
        with st.expander(f"Recalled by both, which decides nothing: {tables.counted(len(both), 'memory', 'memories')}"):
            for hit in both:
                st.text(f"• {tables.visible(hit.entry.document)}")


def _next_missing(missing: Mapping[str, int], after: int) -> int | None:
    """The number of the next line that still lacks a thumb, from the beginning again after the last."""
    lacking = [number for number, count in enumerate(missing.values()) if count]
    return next((number for number in lacking if number > after), lacking[0] if lacking else None)


def _foot(agent: AgentMemory, asked: _Asked, missing: Mapping[str, int], key: str, number: int, few: str) -> None:
    """Previous, next, the next line that lacks a thumb; and how much is still missing."""
    lacking = sum(map(bool, missing.values()))
    here = list(missing.values())[number]
    parts = [
        f"{tables.counted(here, 'thumb', 'thumbs')} missing here" if here else "nothing missing here",
        f"{len(missing) - lacking} of {tables.counted(len(missing), 'line', 'lines')} done",
    ]
    with st.container(key="foot-talk-test", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            _go(words.PREVIOUS_LINE, key, number - 1 if number else None)
            _go(words.NEXT_LINE, key, number + 1 if number + 1 < len(missing) else None)
            _go(words.NEXT_WITHOUT_THUMBS, key, _next_missing(missing, number), primary=not here)
        st.caption(f"**{' · '.join(parts).capitalize()}.** {few or _needed(asked.counted(agent), lacking)}")


def _go(label: str, key: str, number: int | None, *, primary: bool = False) -> None:
    st.button(
        label, key=f"{key}-{label}", disabled=number is None,
        type="primary" if primary and number is not None else "secondary",
        on_click=lambda: st.session_state.update({key: number}),
    )  # fmt: skip


def _too_few(differ: int) -> str:
    """A sentence that a talk is too short to show which is better, even if one is on every line; empty if it is not."""
    if not Versus(differ, 0).needed:
        return ""
    lines = tables.counted(differ, "line", "lines")
    return (
        f"This talk has {lines} on which the two differ, {words.TOO_FEW_LINES}. Talk on, or judge more talks: "
        f"“{words.COMPARE_PRESETS}” counts the thumbs of all."
    )


def _needed(found: Versus, lacking: int) -> str:
    """How many more judged lines are needed; it does not say which one leads."""
    if not found.needed:
        return words.ENOUGH_IS_JUDGED
    more = tables.counted(found.needed, "more line", "more lines")
    fewer = ", fewer if one leads clearly" if found.needed > _FEW else ""
    to_go = f" This talk has {lacking} to go: talk on." if lacking < found.needed else ""
    return f"About {more} on which one is better until it can be said which{fewer}.{to_go}"


def _ahead(found: Versus, missing: Mapping[str, int], first: str, second: str, few: str) -> None:
    """Who is ahead over this talk, on request."""
    lacking = sum(map(bool, missing.values()))
    done = not lacking
    if st.button(
        words.WHO_IS_AHEAD, icon=":material/balance:", type="primary" if done else "secondary", key="talk-test-ahead",
        help="In Python: Conversation.versus",
    ):  # fmt: skip
        # an unjudged line, without any thumb, also lacks them
        compare.tell(replace(found, unjudged=lacking), _called(first), _called(second), "line", few)
        alike = len(missing) - lacking - (found.first + found.second + found.equal)
        if alike:
            st.caption(f"Both recall the same on {tables.counted(alike, 'line', 'lines')}: there is nothing to judge.")
