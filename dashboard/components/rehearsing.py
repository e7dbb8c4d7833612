"""The banner above every page of a rehearsal, and how one is begun, opened, dropped and brought back."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from memory_system import MemorySystemError
from memory_system.core import ago
from memory_system.world import Binned
from memory_system.world.branches import MAX_PURPOSE, Rehearsal

from .. import session, words
from ..data import tables
from ..data.zone import stamp
from . import bulk, drafts, widgets, working

PAGE = "views/rehearsal/rehearsal.py"
AUTHOR = "Rehearsal page"
_LOOK = (
    "<style>.st-key-rehearsing{border-left:5px solid #CC79A7;border-radius:.5rem;padding:.5rem 1rem;"
    "background:color-mix(in srgb,#CC79A7 9%,transparent)}"
    "[data-testid='stLayoutWrapper']:has(>[class*='st-key-rehearsal-words'])"
    "{flex:1 1 17rem!important;min-width:min(100%,17rem)}</style>"
)
"""A colour of its own for rehearsals; next to buttons their text keeps a readable width, and wraps before."""

_MOST = 30
"""The most rehearsals that are listed with their own buttons."""


def banner(name: str) -> None:
    """Say that a rehearsal is one, whose it is, and how to get back; nothing for any other character."""
    world = session.world()
    try:
        mark = world.rehearsal(name)
    except MemorySystemError as error:
        widgets.problem(error)
        return
    if mark is None:
        return
    there = mark.of in world.agents()
    whom = session.shown_name(mark.of) if there else tables.visible(mark.of)
    st.html(_LOOK)
    with st.container(key="rehearsing", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch", gap=None, key="rehearsal-words-banner"):
            tried = f": {widgets.plain(mark.purpose)}" if mark.purpose else ""
            st.markdown(f":material/theater_comedy: **{words.REHEARSAL_OF} {widgets.plain(whom)}**{tried}")
            stays = f"{whom} {words.STAYS_AS_BEFORE}" if there else f"{whom} no longer exists."
            st.caption(widgets.plain(stays))
        if st.session_state.get("page") != "Rehearsal" and st.button(
            "Compare and keep", icon=":material/difference:", key="to-rehearsal", help="In Python: World.compare"
        ):
            st.switch_page(PAGE, query_params={"agent": name})
        if there and st.button(
            widgets.plain(f"{words.BACK_TO} {whom}"), icon=":material/logout:", key="from-rehearsal"
        ):
            session.choose_next(mark.of)
            st.rerun()


def begin(name: str) -> None:
    """A form to begin a rehearsal of a character, or of all."""
    world, whom = session.world(), session.shown_name(name)
    cast = world.characters()
    with st.container(border=True):
        st.header("Begin a rehearsal", anchor=False)
        st.text(
            f"A copy of {whom} with all memories and the whole history. "
            "Query it, edit it, run operations, change its settings. "
            "Then keep what you like, memory by memory, and drop the rest."
        )
        purpose = st.text_input(
            words.WHAT_TO_TRY,
            max_chars=MAX_PURPOSE,
            placeholder="Optional, such as: a smaller short-term memory",
            key=drafts.turn(f"purpose-{name}"),
            persist_state="session",
        )
        with st.container(horizontal=True):
            single = st.button(
                widgets.plain(f"{words.REHEARSE_WITH} {whom}"),
                type="primary",
                icon=":material/theater_comedy:",
                help="In Python: World.branch",
            )
            everybody = len(cast) > 1 and st.button(
                f"Rehearse with all {len(cast)}",
                icon=":material/groups:",
                help="A copy of every character at once. In Python: World.branch_all",
            )

    def branch() -> list[str]:
        begun = [world.branch(name, purpose=purpose, author=AUTHOR).name]
        drafts.next_turn(f"purpose-{name}")
        return begun

    if single:
        widgets.try_to(lambda: _begun(branch(), "You are in the rehearsal now"))
    if everybody:
        bar = st.progress(0.0, "Copying …")

        def branch_all() -> list[str]:
            begun = world.branch_all(purpose=purpose, author=AUTHOR, progress=working.shown_in(bar))
            drafts.next_turn(f"purpose-{name}")
            return [world.rehearsals(name)[0].name, *(agent.name for agent in begun)]

        sentence = f"Rehearsals of all {len(cast)} characters have begun; choose among them as among characters"
        widgets.try_to(lambda: _begun(branch_all(), sentence))


def listed(name: str) -> None:
    """The rehearsals of a character, those of others, and those that were dropped, each with what can be done."""
    world = session.world()
    every = world.rehearsals()
    own = [mark for mark in every if mark.of == name]
    st.html(_LOOK)
    st.header("Rehearsals of this character", anchor=False)
    if not own:
        widgets.empty("No rehearsals yet.", "Begin one above; nothing in it affects the character.")
    for mark in own[:_MOST]:
        _row(mark)
    if others := [mark for mark in every if mark.of != name]:
        with st.expander(f"Rehearsals of other characters ({len(others)})"):
            for mark in others[:_MOST]:
                _row(mark, named=True)
    if dropped := world.dropped(name):
        with st.expander(f"Dropped rehearsals ({len(dropped)})"):
            for binned in dropped[:_MOST]:
                words = f"Restore {binned.name}, dropped {ago(binned.deleted_at, datetime.now(UTC))}"
                if st.button(
                    widgets.plain(words),
                    key=f"undrop-{binned.folder.name}",
                    icon=":material/undo:",
                    help="In Python: World.restore_agent",
                ):
                    widgets.try_to(partial(_back, binned))


def _back(binned: Binned) -> None:
    _begun([session.world().restore_agent(binned).name], "The rehearsal is back")


def _row(mark: Rehearsal, *, named: bool = False) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch", gap=None, key=f"rehearsal-words-{mark.name}"):
            widgets.text(tables.visible(mark.purpose) or mark.name)
            whose = f"{session.shown_name(mark.of)}, begun" if named else "Begun"
            st.caption(widgets.plain(f"{whose} {when(mark)}"))
        if st.button("Open", key=f"open-{mark.name}", icon=":material/open_in_new:"):
            session.choose_next(mark.name)
            st.rerun()
        drop(mark, f"drop-{mark.name}")


def when(mark: Rehearsal) -> str:
    """When and by whom a rehearsal was begun."""
    return f"{ago(mark.begun_at, datetime.now(UTC))} ({stamp(mark.begun_at)}) by {tables.visible(mark.author)}"


def drop(mark: Rehearsal, key: str) -> None:
    """A button that drops a rehearsal; it can be restored, so there is no confirmation."""
    help_ = "To the bin, from where this page restores it. In Python: World.drop"
    if st.button("Drop", key=key, icon=":material/delete:", help=help_):
        _drop([mark], "The rehearsal was dropped. It can be restored below")


def together(mark: Rehearsal) -> None:
    """The rehearsals begun together with this one: choose another, or drop all."""
    group = [
        rehearsal for rehearsal in session.world().rehearsals() if mark.together and rehearsal.together == mark.together
    ]
    if len(group) < 2:
        return
    with st.popover(f"Begun together ({len(group)})", icon=":material/groups:"):
        for rehearsal in sorted(group, key=lambda rehearsal: rehearsal.name):
            label = widgets.plain(session.shown_name(rehearsal.name))
            if rehearsal.name != mark.name and st.button(label, key=f"beside-{rehearsal.name}", type="tertiary"):
                session.choose_next(rehearsal.name)
                st.rerun()
        help_ = "To the bin. In Python: World.drop, for each"
        if st.button(f"Drop all {len(group)}", icon=":material/delete:", key="drop-all", help=help_):
            _drop(group, "All of them were dropped. Each can be restored on the page of its character")


def _begun(names: list[str], sentence: str) -> None:
    """Open the first of these rehearsals; the line at the bottom drops them all again."""
    world = session.world()
    of = next(rehearsal.of for rehearsal in world.rehearsals() if rehearsal.name == names[0])

    def undo() -> None:
        for name in dict.fromkeys(names):
            world.drop(name)
        session.choose_next(of)

    bulk.did(
        sentence, undo, "Dropped. It can be restored on the Rehearsal page.",
        holds=lambda: set(names) <= {rehearsal.name for rehearsal in world.rehearsals()}, where="World.drop",
    )  # fmt: skip
    session.choose_next(names[0])


def _drop(marks: list[Rehearsal], sentence: str) -> None:
    world = session.world()

    def act() -> None:
        dropped = [world.drop(mark.name) for mark in marks]

        def undo() -> None:
            for binned in dropped:
                session.choose_next(world.restore_agent(binned).name)

        bulk.did(
            sentence, undo, "The rehearsal is back.", where="World.restore_agent",
            holds=lambda: all(binned in world.dropped(mark.of) for binned, mark in zip(dropped, marks, strict=True)),
        )  # fmt: skip
        session.choose_next(marks[0].of)

    widgets.try_to(act)
