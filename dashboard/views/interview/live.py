"""An answer while it is given: received piece by piece in its own thread, so that leaving the page loses nothing."""

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
"""Seconds to wait for an answer before showing it piece by piece: rules without a network need less."""
_SECONDS = 0.35
_RESULT = 160


class _Stopped(Exception):
    """Raised if the person no longer wants the answer."""


class Live(Going):
    """An answer that is being given.

    Args:
        asked: what it answers.
        do: gives the answer; it gets this object, and calls its ``receive_piece`` and ``receive_call`` as it goes.
        typed: whether it was typed into the field of the chat, which has been empty since.
    """

    def __init__(self, asked: str, do: Callable[[Live], Any], *, typed: bool = True) -> None:
        self.asked, self.typed = asked, typed
        self.pieces: list[str] = []
        self.called: list[Any] = []
        self.step: Any = None
        self.stopped = False
        super().__init__(lambda: self._run(do))

    def receive_piece(self, piece: str) -> None:
        """Receive a piece of the answer's text."""
        self._go_on()
        self.pieces.append(piece)

    def receive_call(self, called: Any) -> None:
        """Receive a function call."""
        self._go_on()
        if called.name != SEND:  # its text arrives through ``receive_piece``
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
    """Ask for an answer; the page continues once it is there, or shows it piece by piece."""
    live = Live(asked, do, typed=typed)
    st.session_state[key] = live
    live.wait(_PATIENCE)


def of(key: str) -> Live | None:
    """The answer that is being given, or that was given and not yet taken."""
    found: Live | None = st.session_state.get(key)
    return found


def take(key: str) -> Live:
    """Take the answer, so that it no longer counts as pending."""
    found: Live = st.session_state.pop(key)
    return found


@st.fragment(run_every=_SECONDS)
def show(key: str, name: str) -> None:
    """What has been heard so far, and a button that stops it; the page is redrawn when it is complete."""
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
