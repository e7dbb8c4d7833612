"""What is done with worlds: switched, copied, branched, renamed, deleted, made, and brought back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from memory_system.core import ago, real_clock
from memory_system.errors import Conflict
from memory_system.maintenance import Saved, Worlds
from memory_system.operations import Progress
from memory_system.world import Binned

from ... import session, words
from ...components import bulk, drafts, widgets, working
from ...data import tables

_MAKING = "world-making"
_NEXT = "worlds-next"
"""Which world the next run chooses: the field of this run is already drawn."""
_MOST = 20
"""The most deleted worlds that are offered."""


def goes_on() -> bool:
    """Whether a world is being made; shows the progress or, once ended, the result."""
    work = working.of(_MAKING)
    if work is None:
        return False
    if work.running:
        working.bar(_MAKING)
        return True
    working.put_away(_MAKING)
    if work.problem is not None:
        widgets.problem(work.problem)
    elif isinstance(work.result, Saved):
        _made(work.result)
        st.rerun()
    return False


def _made(world: Saved) -> None:
    worlds, name = session.switchable().worlds, world.name
    how = f"a branch of “{world.branched.world}”" if world.branched else "there"
    bulk.did(
        f"The world “{name}” is {how}", lambda: _binned(worlds, name), f"“{name}” is in the bin below.",
        holds=lambda: name in worlds.names() and name != worlds.used, where="Worlds.delete",
    )  # fmt: skip
    st.session_state["worlds-chosen"] = name


def with_one(worlds: Worlds, saved_worlds: list[Saved]) -> None:
    """Choose a world, and an action with it."""
    st.header("Manage a world", anchor=False)
    names = [world.name for world in saved_worlds]
    if _NEXT in st.session_state:
        st.session_state["worlds-chosen"] = st.session_state.pop(_NEXT)
    if (chosen := st.session_state.get("worlds-chosen")) not in names:
        if chosen:
            st.warning(widgets.plain(f"The world “{chosen}” is no longer here."), icon=":material/public_off:")
        st.session_state["worlds-chosen"] = worlds.used
    name = str(st.selectbox(words.WHICH_WORLD, names, key="worlds-chosen"))
    used = name == worlds.used
    with st.container(horizontal=True):
        if st.button(
            words.SWITCH_TO_IT, icon=":material/swap_horiz:", type="primary", disabled=used,
            help="At once, for everybody at this dashboard and its HTTP API. In Python: InUse.switch",
        ):  # fmt: skip
            widgets.try_to(lambda: _switched(name))
        if st.button(
            words.DELETE_IT, icon=":material/delete:", disabled=used,
            help="It goes to the bin, and can be restored. The open world is not deleted. In Python: Worlds.delete",
        ):  # fmt: skip
            widgets.try_to(lambda: _deleted(worlds, name))
    to = st.text_input(
        words.OTHER_NAME, key=drafts.turn("worlds-to"), placeholder="what if", max_chars=64, persist_state="session"
    ).strip()
    with st.container(horizontal=True):
        if st.button(words.BRANCH_IT, icon=":material/call_split:", disabled=not to, help=_BRANCH):
            _begin(worlds, to, lambda progress: worlds.branch(name, to, progress=progress))
        if st.button("Copy", icon=":material/content_copy:", disabled=not to, help="In Python: Worlds.copy"):
            _begin(worlds, to, lambda progress: worlds.copy(name, to, progress=progress))
        if st.button(words.RENAME_IT, icon=":material/edit:", disabled=not to, help="In Python: InUse.rename"):
            widgets.try_to(lambda: _renamed(name, to))


_BRANCH = "A copy linked to its original, for trying something out and comparing. In Python: Worlds.branch"


def new(worlds: Worlds) -> None:
    """Make a new world, empty or with the sample."""
    st.header("New world", anchor=False)
    name = st.text_input(
        words.NEW_WORLD_NAME, key=drafts.turn("worlds-new"), max_chars=64, persist_state="session"
    ).strip()
    sample = st.checkbox("With the characters of the sample", key="worlds-sample")
    if st.button(words.CREATE_WORLD, icon=":material/add:", disabled=not name, help="In Python: Worlds.create"):
        _begin(worlds, name, lambda progress: worlds.create(name, sample=sample, progress=progress))


def deleted(worlds: Worlds) -> None:
    """The worlds in the bin, each with a button to restore it."""
    binned = worlds.deleted()
    if not binned:
        return
    st.header("Deleted", anchor=False)
    for world in binned[:_MOST]:
        label = f"Restore “{world.name}”, deleted {ago(world.deleted_at, real_clock())}"
        if st.button(widgets.plain(label), key=f"worlds-back-{world.folder.name}", icon=":material/undo:"):
            widgets.try_to(partial(_restored, worlds, world))


def _begin(worlds: Worlds, name: str, make: Callable[[Progress], Saved]) -> None:
    """Make a world while pages are viewed."""

    def do(show: Progress, stop: working.Stop) -> Saved:
        def tell(share: float, doing: str) -> None:
            show(share, doing)
            if stop():
                raise Conflict("It was stopped. Nothing was made.")

        return make(tell)

    def begin() -> None:
        worlds.free_name(name)
        working.begin(_MAKING, do)
        drafts.next_turn("worlds-to")
        drafts.next_turn("worlds-new")

    widgets.try_to(begin)


def _switched(name: str) -> None:
    in_use = session.switchable()
    former = in_use.world.name
    in_use.switch(name)
    session.take_up()

    def back() -> None:
        in_use.switch(former)
        session.take_up()

    bulk.did(
        tables.visible(f"“{name}” is open now"), back, tables.visible(f"“{former}” is open again."),
        holds=lambda: in_use.world.name == name and former in in_use.worlds.names(), where="InUse.switch",
    )  # fmt: skip


def _renamed(name: str, to: str) -> None:
    in_use = session.switchable()
    used = in_use.world.name == name
    now = in_use.rename(name, to).name
    _come(used)

    def undo() -> None:
        in_use.rename(now, name)
        _come(used)
        st.session_state[_NEXT] = name

    bulk.did(
        tables.visible(f"“{name}” is called “{now}”"), undo, tables.visible(f"“{name}” has its name again."),
        holds=lambda: now in in_use.worlds.names(), where="InUse.rename",
    )  # fmt: skip
    drafts.next_turn("worlds-to")
    st.session_state[_NEXT] = now


def _come(used: bool) -> None:
    """Make this browser follow if the open world was renamed."""
    if used:
        session.take_up()


def _binned(worlds: Worlds, name: str) -> Binned:
    """Delete a world, and choose the open one: no notice that it is gone is needed."""
    binned = worlds.delete(name)
    st.session_state[_NEXT] = worlds.used
    return binned


def _deleted(worlds: Worlds, name: str) -> None:
    binned = _binned(worlds, name)
    session.forget()

    def back() -> None:
        st.session_state[_NEXT] = worlds.restore(binned).name

    bulk.did(
        tables.visible(f"The world “{name}” is in the bin"), back,
        tables.visible(f"The world “{name}” is back."), holds=lambda: binned in worlds.deleted(),
        where="Worlds.restore",
    )  # fmt: skip


def _restored(worlds: Worlds, binned: Binned) -> None:
    name = worlds.restore(binned).name
    bulk.did(
        tables.visible(f"The world “{name}” is back"), lambda: _binned(worlds, name),
        tables.visible(f"The world “{name}” is in the bin again."),
        holds=lambda: name in worlds.names() and name != worlds.used, where="Worlds.delete",
    )  # fmt: skip
