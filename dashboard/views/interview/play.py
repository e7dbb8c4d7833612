"""Play: stored talks: which one, how it begins, its settings, and what it would write into memory."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemorySystemError
from memory_system.conversation import MAX_TITLE, Conversation, Step, Talk, last_step

from ... import session, words
from ...components import bulk, drafts, widgets
from ...data import tables
from . import chat, inspector, leaving, talk_settings, talk_state, talk_tables
from .live import Live
from .talk_state import PLAY, OpenTalk

_NEW = ""
_NAME = 100


def show(agent: AgentMemory) -> None:
    """The stored talks, one of them open; or the fields that begin one."""
    talks = {conversation.id: conversation.head for conversation in Conversation.all(agent)}
    followed = st.session_state.get("talk-of", agent.name) == agent.name  # the link may still name another's talk
    st.session_state["talk-of"] = agent.name
    talk_id = session.from_link("talk") if followed else ""
    if talk_id and talk_id not in talks:
        st.warning(words.TALK_IS_GONE)
    if not talks:
        if not widgets.closed(agent):
            _begin(agent)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = _pick(agent, talks, talk_id)
        if chosen:
            open_talk = talk_state.kept(agent, chosen)
            if agent.read_only is None:
                _settings(open_talk)
                _removing(agent, open_talk)
    session.to_link("talk", chosen or None)
    if chosen == _NEW:
        _begin(agent)
    else:
        _open(agent, open_talk)


def _pick(agent: AgentMemory, talks: dict[str, Talk], talk_id: str) -> str:
    """Which talk is open; the most recent one, if the link names none."""
    key = f"talk-picked-{session.place()}"
    options = [*talks, *([_NEW] if agent.read_only is None else [])]
    begun = st.session_state.pop(f"talk-begun-{agent.name}", None)
    if st.session_state.get(key) not in options or begun:
        st.session_state[key] = begun or (talk_id if talk_id in talks else options[0])
    titles = talk_tables.titles(talks.values())
    picked = st.selectbox(
        "Talk",
        options,
        key=key,
        format_func=lambda option: titles[option] if option else words.BEGIN_ANOTHER,
        width=340,
    )
    return str(picked)


def _begin(agent: AgentMemory) -> None:
    """The fields that begin a talk."""
    with st.container(border=True):
        st.markdown(f"**Begin a talk with {widgets.plain(agent.display_name)}**")
        left, right = st.columns(2)
        human = left.text_input(
            words.YOUR_NAME,
            "You",
            max_chars=_NAME,
            key=f"begin-human-{agent.name}",
            persist_state="session",
            help="Part of the name of somebody whom the character knows, such as the first name, is enough.",
        )
        title = right.text_input(
            "Title",
            max_chars=MAX_TITLE,
            key=drafts.turn(f"begin-title-{agent.name}"),
            persist_state="session",
            placeholder="made of your name and the date",
        )
        with st.expander("Settings of the talk", icon=":material/tune:"):
            settings = talk_settings.fields(f"begin-{agent.name}", talk_state.wanted_settings(agent))
        if st.button(
            "Begin", type="primary", icon=":material/play_arrow:", disabled=settings is None, key="talk-begin",
            help="In Python: Conversation.begin",
        ):  # fmt: skip
            try:
                begun = Conversation.begin(agent, human=human.strip() or "You", title=title.strip(), settings=settings)
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                st.session_state[f"talk-begun-{agent.name}"] = begun.id
                drafts.next_turn(f"begin-title-{agent.name}")
                session.to_link("talk", begun.id)
                st.rerun()


def _settings(open_talk: OpenTalk) -> None:
    """The settings of the open talk, editable while it goes on."""
    talk = open_talk.talk
    with st.popover("Settings", icon=":material/tune:"):
        chosen = talk_settings.fields(f"talk-{talk.id}", talk.settings)
        changed = chosen is not None and chosen != talk.settings
        if st.button(
            "Save settings", type="primary", icon=":material/check:", disabled=not changed, key=f"change-{talk.id}",
            help="In Python: Conversation.change",
        ):  # fmt: skip
            assert chosen is not None, "the button is not disabled"
            assert isinstance(open_talk.source, Conversation), "it is one that is kept"
            try:
                open_talk.source.change(chosen)
            except MemorySystemError as error:
                widgets.problem(error)
            else:
                st.rerun()


def _removing(agent: AgentMemory, open_talk: OpenTalk) -> None:
    """What takes the whole talk away, as one change."""
    talk = open_talk.talk
    with st.popover("Remove", icon=":material/delete:"):
        st.caption("The talk leaves the list, with every word. It can be undone.")
        events = st.checkbox("Forget what was remembered of it, too", key=f"remove-events-{talk.id}")
        if st.button(
            "Remove this talk", icon=":material/delete:", key=f"remove-{talk.id}", help="In Python: Conversation.remove"
        ):
            assert isinstance(open_talk.source, Conversation), "it is one that is kept"
            conversation = open_talk.source
            bulk.do(
                agent, lambda: conversation.remove(events=events), sentence=f"Removed: “{talk.title or talk.human}”",
                then=lambda: session.to_link("talk", None),
            )  # fmt: skip


def _open(agent: AgentMemory, open_talk: OpenTalk) -> None:
    """The open talk: its chat, and next to it what is in the prompt."""
    left, right = st.columns([1.15, 1], gap="medium")
    talk = open_talk.talk
    with left:
        conversation = open_talk.source
        assert isinstance(conversation, Conversation), "it is one that is kept"

        def ask(text: str, live: Live) -> Step:
            return conversation.step(text, hold=True, heard=live.receive_piece, told=live.receive_call)

        def ask_again(live: Live) -> Step:
            return conversation.answer_again(hold=True, heard=live.receive_piece, told=live.receive_call)

        chat.show(agent, PLAY, open_talk, ask)
        if agent.read_only is None:
            _offers(agent, open_talk)
            _last(agent, open_talk, ask_again)
            leaving.show(agent, open_talk)
        if talk.next_number:
            widgets.lead(words.OVER_THIS_TALK, "recall", agent.name, "balance", talk=talk.id)
    with right:
        inspector.show(agent, open_talk, talk.settings)


def _offers(agent: AgentMemory, open_talk: OpenTalk) -> None:
    """What the character would remember of its own accord: the person keeps or drops each."""
    decided: set[str] = st.session_state.setdefault(f"talk-decided-{agent.name}", set())
    offered = [
        change_set for step in open_talk.steps.values() for change_set in step.offered if change_set.id not in decided
    ]
    for plan in offered:
        entry = plan.changes[0].after
        assert entry is not None, "it is an event that would be added"
        with st.container(border=True, gap="small", key=f"offer-{plan.id}"):
            with st.container(horizontal=True, gap="small"):
                st.badge("would be remembered", icon=":material/bookmark_add:", color="orange")
                if entry.importance is not None:
                    st.badge(f"importance {entry.importance:.2f}", color="gray")
            widgets.text(entry.document)
            with st.container(horizontal=True):
                if st.button(
                    "Keep", type="primary", icon=":material/check:", key=f"keep-{plan.id}",
                    help="In Python: AgentMemory.apply(step.offered[0])",
                ):  # fmt: skip
                    _keep(agent, plan, decided)
                if st.button("Drop", icon=":material/close:", key=f"drop-{plan.id}", help="It is not stored."):
                    decided.add(plan.id)
                    st.rerun()


def _keep(agent: AgentMemory, plan: ChangeSet, decided: set[str]) -> None:
    try:
        done = agent.apply(plan)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    decided.add(plan.id)
    bulk.done(agent, done, "Kept in short-term memory")
    st.rerun()


def _last(agent: AgentMemory, open_talk: OpenTalk, ask_again: Callable[[Live], Step]) -> None:
    """What the last turn stored: its undo, another answer in its place, and the proof that it can be relived."""
    conversation = open_talk.source
    assert isinstance(conversation, Conversation), "it is one that is kept"
    stored = last_step(agent, open_talk.talk)  # by the journal: after a reload, the steps of this session are gone
    if stored is None:
        return
    revision = stored.revision
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("The last turn is stored.", width="stretch")
        other = st.button(
            words.ANSWER_AGAIN, icon=":material/refresh:", key=f"answer-again-{revision}",
            help="Another answer in its place, with memory, settings and model as they are by now. The present one "
                 "stays in the history. In Python: Conversation.answer_again",
        )  # fmt: skip
        again = st.button(
            "Replay", icon=":material/replay:", key=f"replay-{revision}",
            help="Replays it without the language model and compares. In Python: Conversation.replay",
        )  # fmt: skip
        widgets.undo_button(agent, revision, stored.change_set.title)
    if other:
        said = talk_tables.turns(open_talk.messages(chat.A_TURN))[-1].asked
        chat.begin(open_talk, said, ask_again)
    if again:
        _replayed(conversation, revision)


def _replayed(conversation: Conversation, revision: int) -> None:
    try:
        found = conversation.replay(revision)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if found.same:
        counted = tables.counted(len(found.stored), "message", "messages")
        st.success(f"Replayed without the language model: {counted}, all identical to what is stored.")
    for line in found.differences:
        st.warning(widgets.plain(line))
