"""What the world knows: facts that everybody recalls, or a group, the groups, and the last changes of both."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import streamlit as st

from memory_system import AgentMemory, ChangeSet, MemorySystemError
from memory_system.core import EVERYBODY, WORLD_AGENT, Fact, Group

from ... import session, words
from ...components import bulk, drafts, widgets
from ...data import tables, zone
from ...data.zone import stamp

LINK = "known"
"""The value in a link that shows this."""
_NEW = ""
_LABELS = {
    "text": words.WHAT_IS_KNOWN,
    "known_to": "Who knows it",
    "known_from": "Known from",
    "known_until": "Known until",
    "rating": "How important, 1 to 10",
}
_CHANGES = 5
_BEGUN, _TOLD = "group-begun", "group-told"
"""The group that is being edited, as it was then; and the members of others that the page has shown."""


def show(agent: AgentMemory) -> None:
    """The facts and the groups; viewers see them as well."""
    world = session.world()
    facts, groups = world.facts(), world.groups()
    with st.container(border=True):
        st.header(words.WORLD_KNOWS, anchor=False)
        st.caption(
            "Facts that everybody, or a group, recalls like their own static memory. Each is kept once, and found only "
            "while it is known."
        )
        _table(facts)
        if not session.viewing():
            _edit(agent, facts, groups)
    with st.container(border=True):
        st.header("Groups", anchor=False)
        st.caption("Characters who know the same things, such as the guard.")
        for group in groups:
            members = ", ".join(map(session.shown_name, group.members))
            widgets.text(f"{group.name}: {members}")
        if not session.viewing():
            _group(agent, groups)
    if not session.viewing():
        _changes(agent)


def _table(facts: tuple[Fact, ...]) -> None:
    now = session.world().clock()
    if not facts:
        st.caption("Nothing yet.")
        return
    rows = [
        {
            "fact": tables.visible(fact.text),
            "known to": fact.known_to,
            "now": fact.holds(now),
            "from": stamp(fact.known_from) if fact.known_from else "",
            "until": stamp(fact.known_until) if fact.known_until else "",
            "importance": fact.rating,
        }
        for fact in facts
    ]
    widgets.table(rows, hide_index=True, column_config={"fact": st.column_config.TextColumn(width="large")})


def _edit(agent: AgentMemory, facts: tuple[Fact, ...], groups: tuple[Group, ...]) -> None:
    by_id = {fact.id: fact for fact in facts}
    chosen = st.selectbox(
        "Fact", [_NEW, *by_id], key="fact-chosen", persist_state="session",
        format_func=lambda fact_id: tables.short(by_id[fact_id].text, 80) if fact_id in by_id else "A new fact",
    )  # fmt: skip
    fact = by_id.get(chosen) or Fact(_NEW, "")
    now = {name: getattr(fact, name) for name in _LABELS}
    now |= {name: _plain(now[name]) for name in ("known_from", "known_until")}
    draft = drafts.Draft(f"fact/{chosen}", now, _LABELS)
    text = st.text_area(
        _LABELS["text"], key=draft.field("text"), height=90, max_chars=32_000, persist_state="session",
        placeholder="The bridge is closed for carts.",
    )  # fmt: skip
    left, right = st.columns(2)
    there = [EVERYBODY, *(group.name for group in groups)]
    if (stands := st.session_state.get(draft.field("known_to"))) not in there:
        there.append(str(stands))  # a group that has since been dissolved
    to = left.selectbox(_LABELS["known_to"], there, key=draft.field("known_to"), persist_state="session")
    rating = right.number_input(
        _LABELS["rating"], 1.0, 10.0, None, 1.0, key=draft.field("rating"), persist_state="session",
        help="For people: what is known is recalled by relevancy alone.",
    )  # fmt: skip
    left, right = st.columns(2)
    since, until = (
        column.datetime_input(
            zone.named(_LABELS[name]), None, key=draft.field(name), persist_state="session", help=help_text
        )
        for column, name, help_text in (
            (left, "known_from", "The world's time. Not set: always."),
            (right, "known_until", "The world's time. Not set: for ever."),
        )
    )
    settled = draft.settle_clashes()
    draft.unsaved()
    with st.container(horizontal=True):
        save = st.button(
            words.LET_THEM_KNOW, type="primary", icon=":material/public:", help="In Python: World.know",
            disabled=not text.strip() or not settled or not draft.written(),
        )  # fmt: skip
        forget = st.button(
            "Forget this fact", icon=":material/delete:", disabled=chosen == _NEW, help="In Python: World.unknow"
        )
    world = session.world()
    if save:
        _do(
            lambda: world.know(
                text, to=to, known_from=_zoned(since), known_until=_zoned(until), rating=rating,
                fact_id=chosen or None, author=agent.author,
            ),
            "It is known.", draft.done,
        )  # fmt: skip
    if forget:
        _do(lambda: world.unknow(chosen, author=agent.author), "The fact is forgotten.", draft.done)


def _group(agent: AgentMemory, groups: tuple[Group, ...]) -> None:
    world, form = session.world(), "group"
    number = drafts.turn(form)
    left, right = st.columns(2, vertical_alignment="bottom")
    name = left.text_input(
        words.GROUP, key=f"group-name-{number}", max_chars=64, placeholder="the guard", persist_state="session"
    ).strip()
    group = next((group for group in groups if group.name.casefold() == name.casefold()), None)
    begun = _begun(number, name, group)
    members = right.multiselect(
        words.MEMBERS, world.characters(), begun.members if begun else (),
        key=f"group-members-{number}-{begun.name if begun else _NEW}",
        format_func=session.labels(world.characters()).__getitem__, placeholder="Nobody", persist_state="session",
    )  # fmt: skip
    meanwhile = group.members if group and group.members != (begun.members if begun else ()) else ()
    whom = ", ".join(map(session.shown_name, meanwhile))
    if meanwhile:
        st.caption(widgets.plain(f"Somebody else has saved {name} meanwhile: {whom}. Saving replaces that."))
    with st.container(horizontal=True):
        save = st.button(
            words.SAVE_THE_GROUP,
            icon=":material/group:",
            disabled=not name or not members,
            help="In Python: World.group",
        )
        dissolve = st.button(
            "Dissolve the group", icon=":material/group_off:", disabled=group is None, help="In Python: World.unknow"
        )
    told = st.session_state.get(_TOLD) if save else meanwhile
    st.session_state[_TOLD] = meanwhile
    if save and meanwhile and told != meanwhile:
        st.warning(
            "Not saved: somebody else has saved this group meanwhile, as above. Save again to replace that.",
            icon=":material/call_split:",
        )
    elif save:
        _do(
            lambda: world.group(name, members, author=agent.author),
            "The group is saved.", lambda: drafts.next_turn(form),
        )  # fmt: skip
    if dissolve and group is not None:
        _do(
            lambda: world.unknow(group.name, author=agent.author),
            "The group is dissolved.", lambda: drafts.next_turn(form),
        )  # fmt: skip


def _begun(number: str, name: str, group: Group | None) -> Group | None:
    """The group as it was when its name was written here: what is chosen since stays, whatever others save."""
    written: tuple[tuple[str, str], Group | None] | None = st.session_state.get(_BEGUN)
    if written is None or written[0] != (number, name):
        written = st.session_state[_BEGUN] = (number, name), group
    return written[1]


def _changes(agent: AgentMemory) -> None:
    """The last changes, each with an undo: the History page lists only those of characters."""
    if WORLD_AGENT not in session.world().stored():
        return
    keeps = session.world().agent(WORLD_AGENT).acting_as(agent.author)
    records = keeps.history(_CHANGES)
    if not records:
        return
    with st.container(border=True):
        st.header("Last changes", anchor=False)
        for record in records:
            with st.container(horizontal=True, vertical_alignment="center"):
                with st.container(width="stretch", gap=None):
                    widgets.text(record.change_set.title)
                    st.caption(widgets.plain(f"{record.change_set.author}, {stamp(record.applied_at)}"))
                if record.undone_by:
                    st.badge("undone", color="gray")
                else:
                    widgets.undo_button(keeps, record.revision, record.change_set.title)


def _do(change: Callable[[], ChangeSet], said: str, after: Callable[[], None]) -> None:
    try:
        made = change()
    except MemorySystemError as error:
        widgets.problem(error)
        return
    after()
    bulk.done(session.world().agent(WORLD_AGENT), made, said)
    st.rerun()


def _plain(at: datetime | None) -> datetime | None:
    """A time for the fields, which have no zone."""
    return None if at is None else zone.plain(at)


def _zoned(at: datetime | None) -> datetime | None:
    return None if at is None else zone.moment(at.date(), at.time())
