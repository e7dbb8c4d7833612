"""The chat: what was said, what was called on the way, what the answer rests on, and the field for more."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from memory_system import AgentMemory
from memory_system.conversation import Step
from memory_system.core import ago

from ... import session
from ...components import card, mounting, widgets
from ...data import tables
from . import live as talk_live
from . import talk_tables
from .talk_state import INTERVIEW, PLAY, OpenTalk

_HIGHEST, _LOWEST = 720, 260
"""Pixels: how high the box with what is said is at most and at least."""
_NARROW = 12
"""On a narrow screen, where the page is scrolled anyway, the rem that are left for the field below the box."""
TURNS = 30
"""How many turns are shown; a button shows more."""
A_TURN = 12
"""The number of messages that a turn rarely exceeds."""
_REST = {INTERVIEW: 26.5, PLAY: 31.5}
_USER, _CHARACTER = ":material/person:", ":material/face:"
MOST_CHARACTERS = 8000
_ICONS = {
    "core_memory_append": ":material/edit_note:",
    "core_memory_replace": ":material/edit_note:",
    "conversation_search": ":material/manage_search:",
    "conversation_search_date": ":material/date_range:",
    "archival_memory_search": ":material/search:",
    "archival_memory_insert": ":material/bookmark_add:",
}

Ask = Callable[[str, talk_live.Live], Step]
"""A function of what was said and of the listener to the answer."""


def show(agent: AgentMemory, mode: str, open_talk: OpenTalk, ask: Ask) -> None:
    """What was said so far, the answer that is coming, and the field for the next message.

    In the past, a stored talk can only be read; an interview leaves no trace there either.
    """
    closed = mode == PLAY and agent.read_only is not None
    key = _key(open_talk)
    live = talk_live.of(key)
    field = f"chat-input-{mode}-{session.place()}{f'-{open_talk.key}' if mode == PLAY else ''}"
    if live is not None and not live.running:
        _taken(open_talk, talk_live.take(key), field)
    running = live is not None and live.running
    begun = None
    with box(f"chat-{mode.lower()}", _REST[mode]):
        turns = _shown(open_talk)
        for turn in turns:
            _turn(agent, turn, open_talk.steps.get(turn.number), heard=_only_heard(open_talk, turn))
        unanswered = turns and turns[-1].asked and not turns[-1].answer and not _only_heard(open_talk, turns[-1])
        if unanswered and not closed and not running:
            begun = _again(turns[-1])
        if live is not None and running:
            with st.chat_message("user", avatar=_USER):
                st.text(talk_tables.spoken(live.asked))
            with st.chat_message("assistant", avatar=_CHARACTER):
                talk_live.show(key, agent.display_name)
        elif not turns and not closed:
            begun = _invitation(agent)
    with st.container(gap=None):
        said = st.chat_input(
            f"Say something to {tables.visible(agent.display_name)}",
            key=field,
            max_chars=MOST_CHARACTERS,
            disabled=closed or running,
            submit_mode="disable",  # on failure, the text returns to the field, which must be empty
        )
        if not closed:
            mounting.keep_unsent(field)
            mounting.keep_focus()
    if text := said or begun:
        begin(open_talk, text, lambda listening: ask(text, listening), typed=said is not None)


def begin(open_talk: OpenTalk, text: str, ask: Callable[[talk_live.Live], Step], *, typed: bool = False) -> None:
    """Ask for the answer to a text, and redraw the page, which shows it as it comes."""
    talk_live.begin(_key(open_talk), text, ask, typed=typed)
    st.rerun()


def _key(open_talk: OpenTalk) -> str:
    return f"talk-live-{open_talk.key}"


def box(key: str, rest: float) -> DeltaGenerator:
    """The box with what is said, as high as the screen allows: the field below it is in view without scrolling.

    Args:
        key: its key, which is also a name in the page's style.
        rest: the height of what is above and below it, in rem.
    """
    high = f"clamp({_LOWEST}px,100dvh - var(--rest) - var(--show-foot,0px),{_HIGHEST}px)"
    around = f"[data-testid='stLayoutWrapper']:has(>.st-key-{key})"
    st.html(
        f"<style>:is({around},.st-key-{key}){{--rest:{rest}rem;height:{high}!important}}"
        f"{around}{{flex-basis:{high}!important}}"
        f"@media(max-width:640px){{:is({around},.st-key-{key}){{--rest:{_NARROW}rem}}}}</style>"
    )
    return st.container(height=_HIGHEST, border=True, autoscroll=True, key=key)


def _shown(open_talk: OpenTalk) -> list[talk_tables.Turn]:
    """The last turns, with a button for earlier ones."""
    key = f"talk-shown-{open_talk.key}"
    most = int(st.session_state.get(key, TURNS))
    turns = talk_tables.turns(open_talk.messages(most * A_TURN))
    if len(turns) > most or open_talk.talk.next_number > most * A_TURN:  # the first may be missing: it can be undone
        if st.button("Earlier turns", icon=":material/expand_less:", key=f"{key}-more", type="tertiary"):
            st.session_state[key] = most + TURNS
            st.rerun()
        turns = turns[1:][-most:] or turns  # the first may have lost its beginning
    return turns


def _taken(open_talk: OpenTalk, live: talk_live.Live, field: str) -> None:
    """Keep the answer that is complete, or say why there is none; what was typed then returns to its field."""
    if live.step is not None:
        open_talk.take(live.step)
        st.rerun()
    if live.problem is not None:
        widgets.problem(live.problem)
    elif live.stopped:
        st.info("Stopped. This turn was discarded.", icon=":material/stop_circle:")
    else:
        st.error("The answer broke off. The terminal has details.", icon=":material/error:")
    st.caption(widgets.plain(f"You had said: {live.asked}"))
    if live.typed:  # a click can be repeated, and the field may contain something else
        st.session_state[field] = live.asked


def _invitation(agent: AgentMemory) -> str | None:
    """A suggested first question if nothing has been said yet; a click asks it."""
    st.markdown(f"**Ask {widgets.plain(agent.display_name)}**")
    st.caption(
        "Choose one of these, or write your own below. Beside the chat you see which memories come to mind, and why."
    )
    chosen = None
    for cue in session.example_cues(agent.name):
        if st.button(widgets.plain(cue), key=f"ask-{cue}", icon=":material/chat:", type="tertiary"):
            chosen = cue
    return chosen


def _again(turn: talk_tables.Turn) -> str | None:
    """A button to repeat what has no answer; the content of the field stays."""
    again = st.button(
        "Say it again", key=f"again-{turn.number}", icon=":material/refresh:", type="tertiary",
        help="As another message, after the one that was kept.",
    )  # fmt: skip
    return turn.asked if again else None


def _only_heard(open_talk: OpenTalk, turn: talk_tables.Turn) -> bool:
    """Whether a turn was said among characters and somebody else, or nobody, spoke next: no answer is missing."""
    return bool(open_talk.talk.others) and not turn.answer and turn.number not in open_talk.steps


def _turn(agent: AgentMemory, turn: talk_tables.Turn, step: Step | None, *, heard: bool) -> None:
    """One turn: what was said, the functions on the way, the answer, and the memories that came to mind."""
    if turn.asked:
        with st.chat_message("user", avatar=_USER):
            st.text(talk_tables.spoken(turn.asked))
            st.caption(widgets.plain(f"{turn.speaker or 'You'} · {tables.exact(turn.at)}"))
    for notice in turn.notices:
        st.caption(f":material/info: {widgets.plain(notice)}")
    if heard:
        return
    with st.chat_message("assistant", avatar=_CHARACTER):
        if turn.calls:
            _calls(turn, step)
        if turn.answer:
            st.text(talk_tables.spoken(turn.answer))
        else:
            why = step.problem if step is not None else ""
            st.warning(widgets.plain(why or "No answer; the message was kept."))
        for note in step.notes if step is not None else ():
            st.caption(f":material/info: {widgets.plain(note)}")
        if step is not None and step.recalled.hits:
            _sources(agent, turn, step)


def _calls(turn: talk_tables.Turn, step: Step | None) -> None:
    """The functions that were called, one after the other; with their times if measured here."""
    runs = {run.call_id: run for run in step.functions} if step is not None else {}
    for call in turn.calls:
        run = runs.get(call.id)
        cost = f" · {run.milliseconds:.0f} ms · {run.tokens} tokens" if run is not None else ""
        icon = ":material/error:" if call.failed else _ICONS.get(call.name, ":material/function:")
        with st.expander(f"{widgets.plain(call.name)}{cost}", icon=icon, type="step"):
            st.text(talk_tables.written(call.arguments))
            st.caption(widgets.plain(talk_tables.result(call.result)))


def _sources(agent: AgentMemory, turn: talk_tables.Turn, step: Step) -> None:
    """The memories that came to mind, numbered as the answer cites them, each with a link to its card."""
    hits = step.recalled.hits
    with st.popover(
        tables.counted(len(hits), "memory", "memories") + " came to mind", icon=":material/lightbulb:", type="tertiary"
    ):
        for number, hit in enumerate(hits, start=1):
            with st.container(horizontal=True, vertical_alignment="center"):
                with st.container(width="stretch", gap=None):
                    st.text(f"[{number}] {tables.visible(hit.entry.document)}")
                    details = [tables.tier(hit.entry), f"score {hit.score.total:.2f}"]
                    details += [ago(hit.entry.timestamp, agent.now)] if hit.entry.timestamp else []
                    st.caption(widgets.plain(" · ".join(details)))
                if st.button(
                    "Open", key=f"source-{turn.number}-{number}", icon=":material/open_in_new:", type="tertiary"
                ):
                    open_card(agent, hit.entry.id)


@st.dialog("Memory", width="large", icon=":material/lightbulb:")
def open_card(agent: AgentMemory, entry_id: str) -> None:
    """The card of one memory above the page."""
    card.show(agent, agent.last_version(entry_id))
