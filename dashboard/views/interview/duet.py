"""Characters who talk with each other, two or a group, shown live; stopped at any time, and undone as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.conversation import MAX_TURNS, MOST_IN_A_GROUP, Conversation, Duet, Group, Said
from memory_system.core import ago
from memory_system.operations import Progress

from ... import session, words
from ...components import drafts, mounting, widgets, working
from ...data import tables
from . import chat, talk_settings, talk_state, talk_tables

_SECONDS = 0.5
_LINK = "together"
"""The name in the link that finds a talk again after a reload."""
_MOST_HELD = 50
_MOST = 2000
_FACES = (":material/face:", ":material/face_3:", ":material/face_2:", ":material/face_4:", ":material/face_6:")


@dataclass
class Stage:
    """A running or ended talk of several, and what was said in it."""

    talk: Duet | Group
    turns: int
    said: list[Said] = field(default_factory=list)

    @property
    def agents(self) -> dict[str, AgentMemory]:
        """Who takes part, by the name of their file."""
        parts = self.talk.parts if isinstance(self.talk, Group) else (self.talk.first, self.talk.second)
        agents = [part.agent for part in parts if isinstance(part, Conversation)]
        return {agent.name: agent for agent in agents}

    @property
    def id(self) -> str:
        """The id of the talk in the memory of the character who was asked to talk."""
        return (self.talk.parts[0] if isinstance(self.talk, Group) else self.talk.first).id

    @property
    def work(self) -> str:
        """The name of the work that makes them talk."""
        return f"duet-{self.id}"

    def let_talk(self, opening: str, turns: int) -> None:
        """Make them talk for so many turns, in the background."""
        self.turns = len(self.said) + turns

        def do(tell: Progress, stopped: Callable[[], bool]) -> None:
            for line in self.talk.stream(turns, opening=opening, cancelled=stopped):
                self.said.append(line)
                tell(len(self.said) / self.turns, f"{len(self.said)} of {self.turns}")

        working.begin(self.work, do)
        if (work := working.of(self.work)) is not None:
            work.wait(1.0)


def show(agent: AgentMemory) -> None:
    """The fields that begin a talk, or the talk as it goes on."""
    if widgets.closed(agent):
        return
    key = f"duet-{agent.name}"
    stage = _current_stage(agent, key)
    if stage is None:
        _begin(agent, key)
        return
    work = working.of(stage.work)
    if work is not None and work.running:
        _running(stage)
        return
    if work is not None:
        working.put_away(stage.work)
        if work.problem is not None:
            widgets.problem(work.problem)
    _transcript(stage, links=True)
    _go_on(stage, key)


@st.cache_resource(show_spinner=False)
def _stages(world: str) -> dict[str, Stage]:  # noqa: ARG001 - the world's folder is the cache's key
    return {}


def _hold(stage: Stage, key: str) -> None:
    """Show this talk from now on, after a reload too."""
    stages = _stages(str(session.world().folder))
    stages[stage.id] = stage
    for oldest in list(stages)[:-_MOST_HELD]:
        stages.pop(oldest, None)
    st.session_state[key] = stage
    session.to_link(_LINK, stage.id)


def _current_stage(agent: AgentMemory, key: str) -> Stage | None:
    """The talk that this session shows, else the one in the link while the server has it."""
    stage: Stage | None = st.session_state.get(key)
    if stage is None:
        stage = _stages(str(session.world().folder)).get(session.from_link(_LINK))
        if stage is not None and stage.id in {conversation.id for conversation in Conversation.all(agent)}:
            st.session_state[key] = stage
        else:
            stage = None
    session.to_link(_LINK, stage.id if stage else None)
    return stage


def _let_go(key: str) -> None:
    """Stop showing this talk."""
    stage: Stage = st.session_state.pop(key)
    _stages(str(session.world().folder)).pop(stage.id, None)
    session.to_link(_LINK, None)


def _begin(agent: AgentMemory, key: str) -> None:
    st.caption("Each recalls from its own memory and remembers what was said. All of it can be undone.")
    others = [name for name in session.world().characters() if name != agent.name]
    if not others:
        widgets.empty("There are no other characters.", "Create another character.", agent, to="personality")
        return
    called = session.labels([agent.name, *others]).__getitem__
    left, right = st.columns([1, 1])
    other = left.selectbox(
        f"{widgets.plain(agent.display_name)} talks with",
        others,
        format_func=called,
        key=f"{key}-other",
        persist_state="session",
    )
    turns = right.number_input("Turns", 1, MAX_TURNS, 6, key=f"{key}-turns", persist_state="session")
    joining = st.multiselect(
        "And with", [name for name in others if name != other], format_func=called, key=f"{key}-joining",
        persist_state="session", max_selections=MOST_IN_A_GROUP - 2, placeholder="Nobody else",
        help="In a group, the one who is named, or has the most to say, speaks next.",
    )  # fmt: skip
    opening = st.text_input(
        "How it begins",
        max_chars=_MOST,
        key=drafts.turn(f"{key}-opening"),
        persist_state="session",
        placeholder="They meet at the bakery before the vote.",
    )
    mounting.keep_unsent(drafts.turn(f"{key}-opening"), f"{key}-opening")
    with st.expander("Settings of the talk", icon=":material/tune:"):
        settings = talk_settings.fields(f"{key}-settings", talk_state.wanted_settings(agent))
    if st.button(
        words.LET_THEM_TALK, type="primary", icon=":material/forum:", disabled=settings is None, key=f"{key}-begin",
        help="In Python: Duet.begin(first, second).talk(turns), or Group.begin([first, second, third])",
    ):  # fmt: skip
        cast = [agent, *(session.character(name) for name in (str(other), *joining))]
        try:
            talk = Group.begin(cast, settings=settings) if joining else Duet.begin(*cast, settings=settings)
        except MemorySystemError as error:
            widgets.problem(error)
            return
        stage = Stage(talk, int(turns))
        _hold(stage, key)
        drafts.next_turn(f"{key}-opening")
        stage.let_talk(opening, int(turns))
        st.rerun()


@st.fragment(run_every=_SECONDS)
def _running(stage: Stage) -> None:
    """What was said so far, with a button that stops it."""
    work = working.of(stage.work)
    if work is None or not work.running:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(len(stage.said) / max(stage.turns, 1), f"{len(stage.said)} of {stage.turns}")
        st.button("Stop", icon=":material/stop_circle:", key=f"{stage.work}-stop", on_click=work.stop)
    _transcript(stage, links=False)


def _transcript(stage: Stage, *, links: bool) -> None:
    """What was said; with ``links``, each with the memories that came to the speaker's mind."""
    agents = stage.agents
    called = session.told_apart({name: tables.visible(agent.display_name) for name, agent in agents.items()})
    places = {name: place for place, name in enumerate(agents)}
    with chat.box("duet-chat", 26.5):
        for number, line in enumerate(list(stage.said)):
            assert line.step.change_set is not None, "what is said in a talk is kept"
            speaker = line.step.change_set.agent
            with st.chat_message("assistant", avatar=_FACES[places[speaker] % len(_FACES)]):
                st.markdown(f"**{widgets.plain(called[speaker])}**")
                st.text(talk_tables.spoken(line.text) or f"(no answer) {line.step.problem}")
                if links and line.step.recalled.hits:
                    _mind(agents[speaker], line, number)


def _mind(whose: AgentMemory, line: Said, number: int) -> None:
    """The memories that came to the speaker's mind."""
    hits = line.step.recalled.hits
    counted = tables.counted(len(hits), "memory", "memories")
    with st.popover(f"{counted} came to mind", icon=":material/lightbulb:", type="tertiary", key=f"duet-mind-{number}"):
        for place, hit in enumerate(hits, start=1):
            st.text(f"[{place}] {tables.visible(hit.entry.document)}")
            details = [f"score {hit.score.total:.2f}"]
            details += [ago(hit.entry.timestamp, whose.now)] if hit.entry.timestamp else []
            st.caption(widgets.plain(" · ".join(details)))


def _go_on(stage: Stage, key: str) -> None:
    """What can be done when they have stopped: continue, begin another, or undo all of it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        more = st.number_input("More turns", 1, MAX_TURNS, 4, key=f"{key}-more", width=140, persist_state="session")
        if st.button("Go on", icon=":material/play_arrow:", key=f"{key}-on", help="In Python: talk(turns)"):
            stage.let_talk("", int(more))
            st.rerun()
        if st.button(
            words.UNDO_ALL, icon=":material/undo:", key=f"{key}-undo",
            help="In every memory, with what came of it; the History page can undo that. In Python: undo()",
        ):  # fmt: skip
            try:
                stage.talk.undo()
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                _let_go(key)
                whoever = "none of them" if isinstance(stage.talk, Group) else "neither"
                widgets.say_next(f"Undone: {whoever} remembers that they talked.")
                st.rerun()
        if st.button("Other characters", icon=":material/group:", key=f"{key}-other-pair", help="What was said stays."):
            _let_go(key)
            st.rerun()
