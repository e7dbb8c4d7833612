"""Whom a character knows: the editable text with which its core memory begins in a talk with them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from memory_system import AgentMemory, MemorySystemError
from memory_system.conversation import (
    Person,
    TrustPoint,
    describe_person,
    people,
    reflect_on_person,
    trust_over_time,
)
from memory_system.core import ago
from memory_system.errors import EntryNotFound

from ... import session, words
from ...components import bulk, card, change_set, drafts, mounting, widgets
from ...data import figures, tables
from ...data.zone import stamp

_NAME = 100
_MOST = 20_000
_SHOWN = 20
"""How many of the last changes of trust are listed in words; the line has all."""


def show(agent: AgentMemory) -> None:
    """Everybody whom the character knows, and a field for one more."""
    st.caption(
        "What the character knows of each person, by its personality and from talks. The next talk with them begins "
        "with it; the character adds to it while they talk."
    )
    persons = people(agent)
    if not persons:
        widgets.empty("It knows nobody yet.", "Talk with it under your name, or add somebody below.", agent)
    for person in persons:
        _person(agent, person)
    if agent.read_only is None:
        _another(agent)


def _person(agent: AgentMemory, person: Person) -> None:
    details = [person.relation] if person.relation else []
    details += [f"trust {person.trust:.2f}"] if person.trust is not None else []
    details += [tables.counted(person.talks, "talk", "talks")] if person.talks else ["no talk yet"]
    details += [f"last {ago(person.last, agent.now)}"] if person.last else []
    with st.container(border=True, gap="small"):
        with st.container(gap=None):
            st.markdown(f"**{widgets.plain(person.name)}**")
            st.caption(widgets.plain(" · ".join(details)))
        label = widgets.plain(f"What it knows of {person.name}")
        draft = drafts.Draft(f"person/{session.place()}/{person.name}", {"text": person.text}, {"text": label})
        text = st.text_area(
            label, max_chars=_MOST, height=100, key=draft.field("text"), label_visibility="collapsed",
            disabled=agent.read_only is not None, persist_state="session", placeholder="Nothing yet.",
        )  # fmt: skip
        if draft.settle_clashes() and draft.written():
            saved = st.button(
                "Save", key=f"save-{draft.key}", icon=":material/save:", type="primary",
                help="In Python: describe_person(agent, name, text)",
            )  # fmt: skip
            if saved and _described(agent, person.name, text):
                draft.done()
                st.rerun()
        with st.expander(
            widgets.plain(f"Trust in {person.name}, and what it rests on"), icon=":material/show_chart:",
            key=f"trust-{agent.name}-{person.name}", on_change="rerun",
        ) as opened:  # fmt: skip
            if opened.open:
                _trust(agent, person)


def _trust(agent: AgentMemory, person: Person) -> None:
    """How trust went, with the evidence of each change, and a reflection that is previewed before it is made."""
    try:
        points = trust_over_time(agent, person.name)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if any(point.trust is not None for point in points):
        st.plotly_chart(
            figures.trust(points, agent.now, widgets.ink()), config={"displayModeBar": False},
            key=f"trust-line-{agent.name}-{person.name}", alt=f"How far {person.name} is trusted over time, 0 to 1",
        )  # fmt: skip
    else:
        st.caption(words.TRUST_HAS_NOT_CHANGED)
    if agent.read_only is None:
        _set_trust(agent, person)
    for point in reversed(points[-_SHOWN:]):
        _point(agent, point)
    if agent.read_only is None:
        _reflect(agent, person)


def _set_trust(agent: AgentMemory, person: Person) -> None:
    """Trust as a person sets it: one change, which can be undone at the top."""
    trust = 0.5 if person.trust is None else person.trust
    key = f"set-trust-{agent.name}-{person.name}"
    chosen = st.slider(
        widgets.plain(f"How far it trusts {person.name}"), 0.0, 1.0, trust, 0.01, key=f"{key}-{agent.revision}",
        help="0 not at all, 1 wholly. In Python: describe_person(agent, name, text, trust=…)",
    )  # fmt: skip
    if st.button(words.SET_TRUST, key=key, icon=":material/check:", disabled=chosen == person.trust):
        bulk.do(agent, partial(describe_person, agent, person.name, person.text, trust=chosen))


def _point(agent: AgentMemory, point: TrustPoint) -> None:
    was, became = ("open" if value is None else f"{value:.2f}" for value in (point.before, point.trust))
    moved = f"trust {was} → {became}" if was != became else f"trust stays at {became}"
    details = [stamp(point.at), moved, f"by {point.author}", f"revision {point.revision}"]
    st.caption(widgets.plain(" · ".join(details)))
    for line in filter(None, (point.why, *point.learned)):
        widgets.text(line)
    evidence, purged = [], 0
    for entry_id in point.evidence:
        try:
            entry = agent.find(entry_id) or agent.last_version(entry_id)
        except EntryNotFound:
            purged += 1
        else:
            evidence.append((entry, entry.kind.value))
    if evidence:
        card.linked_to(agent, evidence, f"trust-{point.revision}")
    if purged:
        st.caption(f"{tables.counted(purged, 'memory was', 'memories were')} purged.")


def _reflect(agent: AgentMemory, person: Person) -> None:
    key = f"reflect-{agent.name}-{person.name}"
    if st.button(
        words.REFLECT_ON_THEM, icon=":material/psychology:", key=f"{key}-do",
        help="What came up since the last time; it is shown first. In Python: reflect_on_person(agent, name)",
    ):  # fmt: skip
        st.session_state.pop(key, None)
        try:
            with st.spinner("Reflecting …"):
                st.session_state[key] = reflect_on_person(agent, person.name, preview=True)
        except MemorySystemError as error:
            widgets.problem(error)
    plan = st.session_state.get(key)
    if plan is None:
        return
    st.markdown(f"**{widgets.plain(plan.title)}**")
    change_set.offer(
        agent, plan, lambda accepted: bulk.apply(agent, key, accepted, "Written down"),
        leave=lambda: st.session_state.pop(key, None),
    )  # fmt: skip


def _another(agent: AgentMemory) -> None:
    key = f"person-new-{agent.name}"
    with st.expander("Add somebody", icon=":material/person_add:"):
        name = st.text_input("Name", max_chars=_NAME, key=drafts.turn(f"{key}-name"), persist_state="session")
        text = st.text_area(
            "What it knows of them", max_chars=_MOST, height=100, key=drafts.turn(f"{key}-text"),
            persist_state="session",
        )  # fmt: skip
        for field in ("name", "text"):
            mounting.keep_unsent(drafts.turn(f"{key}-{field}"), f"{key}-{field}")
        added = st.button(
            "Add", type="primary", icon=":material/check:", disabled=not name.strip(), key=f"{key}-do",
            help="In Python: describe_person(agent, name, text)",
        )  # fmt: skip
        if added and _described(agent, name, text):
            drafts.next_turn(f"{key}-name")
            drafts.next_turn(f"{key}-text")
            st.rerun()


def _described(agent: AgentMemory, name: str, text: str) -> bool:
    try:
        done = describe_person(agent, name, text)
    except MemorySystemError as error:
        widgets.problem(error)
        return False
    bulk.done(agent, done, "Written down")
    return True
