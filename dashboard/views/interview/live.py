"""An answer while it is given: heard piece by piece in a thread of its own, so that looking elsewhere loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from memory_system import MemorySystemError
from memory_system.conversation import SEND

from ...components import widgets
from ...components.working import Going
from ...data import tables
from . import talk_tables

_PATIENCE = 1.2
"""Seconds in which an answer is waited for before it is shown as it comes: rules without a network take less."""
_SECONDS = 0.35
_RESULT = 160


class _Stopped(Exception):
    """The person no longer wants the answer."""


class Live(Going):
    """An answer that is being given.

    Args:
        asked: what it answers.
        do: gives the answer; it is handed this object, whose ``heard`` and ``told`` it calls as it goes.
        typed: whether it was typed into the field of the chat, which is empty since.
    """

    def __init__(self, asked: str, do: Callable[[Live], Any], *, typed: bool = True) -> None:
        self.asked, self.typed = asked, typed
        self.pieces: list[str] = []
        self.called: list[Any] = []
        self.step: Any = None
        self.stopped = False
        super().__init__(lambda: self._run(do))

    def heard(self, piece: str) -> None:
        """Take a piece of the answer's text."""
        self._go_on()
        self.pieces.append(piece)

    def told(self, called: Any) -> None:
        """Take a function that was called."""
        self._go_on()
        if called.name != SEND:  # what it says is heard
            self.called.append(called)

    def _go_on(self) -> None:
        if self.stopping:
            raise _Stopped

    def _run(self, do: Callable[[Live], Any]) -> None:
        try:
            self.step = do(self)
        except MemorySystemError as error:
            self.problem = error
        except _Stopped:
            self.stopped = True


def begin(key: str, asked: str, do: Callable[[Live], Any], *, typed: bool = True) -> None:
    """Ask for an answer; the page goes on when it is there, or shows it as it comes."""
    live = Live(asked, do, typed=typed)
    st.session_state[key] = live
    live.wait(_PATIENCE)


def of(key: str) -> Live | None:
    """The answer that is being given, or was and has not been taken."""
    found: Live | None = st.session_state.get(key)
    return found


def take(key: str) -> Live:
    """The answer, which is then no longer waited for."""
    found: Live = st.session_state.pop(key)
    return found


@st.fragment(run_every=_SECONDS)
def show(key: str, name: str) -> None:
    """What has been heard so far, and a button that stops it; the page is drawn again when all is there."""
    live = of(key)
    if live is None or not live.running:
        st.rerun()
    for called in live.called:
        words = f"{called.name}({talk_tables.written(called.arguments)}) → {talk_tables.result(called.result)}"
        st.caption(widgets.plain(tables.short(words, _RESULT)))
    text = "".join(live.pieces)
    st.text(talk_tables.spoken(text) if text else f"{tables.visible(name)} is thinking …")
    st.button(
        "Stopping …" if live.stopping else "Stop", key=f"{key}-stop", icon=":material/stop_circle:",
        on_click=live.stop, disabled=live.stopping, help="This turn will be discarded.",
    )  # fmt: skip
