"""Living: a thread that lets the characters of a world do what is due, while the world's switch is on."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..core.times import after
from ..errors import MemorySystemError
from ..store.clock import read_lives, world_clock
from .advancing import Advance, Advanced
from .branches.branches import Stage
from .due import Step

SECONDS = 5.0
"""How often it checks what is due."""
_LONGEST = 600.0
"""Seconds: what waits for a language model is tried at least this often."""


@dataclass(frozen=True)
class LivingState:
    """The state of the life in the background.

    Args:
        on: whether there is a thread for it; whether it does anything depends on the world's switch.
        waiting: what was due and could not be done the last time; each says why.
        problem: why nothing at all could be done the last time, in a sentence; empty if something could.
    """

    on: bool = False
    waiting: tuple[Step, ...] = ()
    problem: str = ""


class Living:
    """The thread. If a world has several servers, one does what is due; the others check again later.

    Args:
        world: the characters' world.
        seconds: how often it checks.
    """

    def __init__(self, world: Stage, seconds: float = SECONDS) -> None:
        self._world, self._seconds = world, seconds
        self._stop, self._wake = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: dict[str, int] = {}
        self._until: datetime | None = None
        self.state = LivingState()

    def start(self) -> None:
        """Begin, unless it has begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="living", daemon=True)
            self._tell(on=True)
            self._thread.start()

    def stop(self) -> None:
        """End between two steps, at most some seconds later; what is being asked is not waited for."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5.0)

    def wake(self) -> None:
        """Check now."""
        self._wake.set()

    def _run(self) -> None:
        pause = self._seconds
        while not self._stop.is_set():
            self._wake.wait(pause)
            self._wake.clear()
            done = self._look()
            helped = done is None or not done.waiting
            pause = self._seconds if helped else min(pause * 2, _LONGEST)
        self._tell(on=False)

    def _look(self) -> Advanced | None:
        """Do what is due at present; nothing if the switch is off or nothing has changed."""
        try:
            if self._stop.is_set() or not read_lives(self._world.folder) or not self._is_news():
                return None
            advance = Advance(self._world, cancelled=self._stopped)
            done = advance.to(None, wait=False)
            if done is not None:
                self._tell(waiting=done.waiting, problem="")
                self._until = advance.next
                self._seen = {} if done.waiting else self._revisions()
            return done
        except MemorySystemError as error:
            self._tell(problem=error.sentence)
            return None

    def _stopped(self) -> bool:
        return self._stop.is_set() or not read_lives(self._world.folder)

    def _is_news(self) -> bool:
        """Whether a character has changed since all was done, or the time has come for something."""
        if self._until is None or not after(self._until, world_clock(self._world.folder)()):
            return True
        return self._revisions() != self._seen

    def _revisions(self) -> dict[str, int]:
        found = {}
        for name in self._world.characters():
            with suppress(MemorySystemError):  # ``Advance`` reports what cannot be used
                found[name] = self._world.agent(name).revision
        return found

    def _tell(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
