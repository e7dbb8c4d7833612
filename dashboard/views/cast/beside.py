"""Two characters side by side: one cue, both answers, and what only one of them has."""

from __future__ import annotations

import streamlit as st

from memory_system import AgentMemory, Tier
from memory_system.core import ago
from memory_system.world.cast import Answer, Recollection

from ... import session, words
from ...components import mounting, places, widgets
from ...data import tables
from ...data.zone import stamp
from ..who_knows import moment

_CUE, _OTHER = "cue", "with"
_FIELD, _LONGEST, _TEXT = "beside-cue", 300, 300


def show(agent: AgentMemory) -> None:
    """The cue, the other one, a time of the world, and both answers."""
    world = session.world()
    others = [name for name in world.characters() if name != agent.name]
    if not others:
        widgets.empty(words.NOBODY_ELSE, "Make a second character.", agent, to="new_character")
        return
    if _FIELD not in st.session_state:
        st.session_state[_FIELD] = session.from_link(_CUE) or session.example_cues(agent.name)[0]
    asked = session.from_link(_OTHER)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cue = st.text_input("Ask both", max_chars=_LONGEST, key=_FIELD, persist_state="session").strip()
        other = st.selectbox(
            f"{widgets.plain(agent.display_name)} and", others,
            index=others.index(asked) if asked in others else 0, format_func=session.labels(others).__getitem__,
            key=f"beside-with-{agent.name}", persist_state="session", width=260,
        )  # fmt: skip
    mounting.keep_unsent(_FIELD, _FIELD, st.session_state[_FIELD])
    at = moment.slider("beside-at")
    session.to_link(_OTHER, other)
    session.to_link(_CUE, cue)
    if not cue:
        widgets.empty(words.ASK_BOTH_FIRST, "Type a question above, such as who has the key.")
        return
    beside = session.kept(
        "beside", agent, lambda owner: world.beside(owner.name, other, cue, at=at), other, world.agent(other).stamp,
        cue, at, world.clock(),
    )  # fmt: skip
    for answer, against, column in zip(beside.answers, reversed(beside.answers), st.columns(2), strict=True):
        with column:
            _answer(answer, against, cue)


def _answer(answer: Answer, against: Answer, cue: str) -> None:
    only = [recollection for recollection in answer.recalled if not recollection.shared]
    st.header(widgets.plain(answer.called), anchor=False)
    if not answer.recalled:
        lived = any(session.character(answer.agent).entries(tier) for tier in (Tier.STM, Tier.LTM))
        step = "Ask in other words." if lived else words.NOTHING_HAS_HAPPENED
        if not lived and not session.viewing():
            step += " Add an event on the Short-term page."
        widgets.empty("Nothing comes to mind.", step)
        return
    st.caption(
        widgets.plain(
            f"{tables.counted(len(answer.recalled), 'memory', 'memories')} recalled; "
            f"{against.called} lacks {len(only)} of them."
        )
    )
    for number, recollection in enumerate(
        [*only, *(recollection for recollection in answer.recalled if recollection.shared)]
    ):
        _memory(answer, against, recollection, cue, f"{answer.agent}-{number}")


def _memory(answer: Answer, against: Answer, recollection: Recollection, cue: str, key: str) -> None:
    entry = recollection.entry
    with st.container(border=True, gap="xsmall", key=f"beside-{key}"):
        if recollection.shared:
            st.badge("Both have it", icon=":material/join_inner:", color="gray")
        else:
            st.badge(widgets.plain(f"Only {answer.called}"), icon=":material/join_left:", color="gray")
        st.text(tables.short(entry.document, _TEXT))
        now = session.world().clock()
        when = f"{ago(entry.timestamp, now)} · " if entry.timestamp else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.caption(
                widgets.plain(f"{when}{tables.tier(entry)} · score {recollection.score:.2f}"), width="content",
                help=stamp(entry.timestamp) if entry.timestamp else None,
            )  # fmt: skip
            if st.button("Why", key=f"beside-why-{key}", type="tertiary", icon=":material/arrow_forward:"):
                places.to_memory(answer.agent, cue=cue, memory=entry.id)
            if recollection.shared and recollection.shared != entry.id and st.button(
                widgets.plain(f"As {against.called} has it"), key=f"beside-shared-{key}", type="tertiary",
                icon=":material/join_inner:",
            ):  # fmt: skip
                places.to_memory(against.agent, memory=recollection.shared)
