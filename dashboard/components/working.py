"""Long work that goes on while pages are viewed: begun by a click, shown with its progress, stopped by another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from memory_system import MemorySystemError
from memory_system.operations import Progress

from .. import session
from . import widgets

Stop = Callable[[], bool]
"""Returns whether to stop."""
Do = Callable[[Progress, Stop], Any]
"""The work: it gets a progress callback, and a function that returns whether to stop."""
_SECONDS = 0.7
PERHAPS_STORED = "Cancelled. Anything stored before that is listed in History."


class Going:
    """Something that runs in its own thread, which outlives the page that began it, until it is stopped."""

    def __init__(self, run: Callable[[], None]) -> None:
        self.problem: MemorySystemError | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it is still running."""
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> None:
        """Wait for its end, at most for this long."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """Ask it to stop at its next step."""
        self._stop.set()


class Work(Going):
    """One piece of work that reports its progress."""

    def __init__(self, do: Do) -> None:
        self.share = 0.0
        self.doing = "Beginning"
        self.result: Any = None
        super().__init__(lambda: self._run(do))

    def _run(self, do: Do) -> None:
        try:
            self.result = do(self._tell, self._stop.is_set)
        except MemorySystemError as error:
            self.problem = error

    def _tell(self, done: float, doing: str) -> None:
        self.share, self.doing = min(max(done, 0.0), 1.0), doing


@contextmanager
def beside(cancelled: str = "Cancelled: nothing was changed.") -> Iterator[Progress]:
    """Work that the page waits for: within the block there is a bar, moved by the returned callback, and a way to stop.

    A click on Cancel draws the page again, which ends the work at its next step, and shows ``cancelled``.
    """
    waiting = st.empty()
    with waiting.container(horizontal=True, vertical_alignment="center"):
        progress = st.progress(0.0, "Working …")
        st.button("Cancel", icon=":material/close:", on_click=widgets.say_next, args=(cancelled,))

    try:
        yield shown_in(progress)
    finally:
        waiting.empty()


@st.cache_resource(show_spinner=False)
def _works(world: str) -> dict[str, Work]:  # noqa: ARG001 - the world's folder is the cache's key
    return {}


def _here() -> dict[str, Work]:
    return _works(str(session.world().folder))


def of(name: str) -> Work | None:
    """The work of this name, running or ended."""
    return _here().get(name)


def begin(name: str, do: Do) -> None:
    """Begin a piece of work, unless one of this name is running."""
    work = _here().get(name)
    if work is None or not work.running:
        _here()[name] = Work(do)


def put_away(name: str) -> None:
    """Forget its result."""
    _here().pop(name, None)


def shown_in(place: DeltaGenerator) -> Progress:
    """A progress callback for work that the page waits for, shown in a bar or in a place for one."""

    def show(done: float, doing: str) -> None:
        place.progress(min(max(done, 0.0), 1.0), widgets.plain(doing))

    return show


@st.fragment(run_every=_SECONDS)
def bar(name: str) -> None:
    """The progress of the work, with a button that stops it; the page is redrawn when it ends."""
    work = of(name)
    if work is None or not work.running:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(work.share, widgets.plain(work.doing))
        if not session.viewing() and st.button(
            "Cancel", key=f"stop-{name}", icon=":material/close:", disabled=work.stopping
        ):
            work.stop()
