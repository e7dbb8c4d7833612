"""Rating in the background: what could not be rated when it came is rated when the language model is back."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..core.authors import RATING
from ..core.change_set import ChangeSet
from ..core.entry import wants_rating
from ..core.times import real_clock
from ..errors import BudgetSpent, Conflict, MemorySystemError
from .hour import Purse, Room

if TYPE_CHECKING:
    from ..agent import AgentMemory

_LONGEST = 600.0
"""Seconds: a model that stays away is asked at least this often."""
_TRIES = 3
"""How often to ask about a memory that the model gives no rating for, while it rates others."""


@dataclass(frozen=True)
class Rerating:
    """The state of the work in the background.

    Args:
        on: whether there is a worker.
        agent: whose memories are being rated; empty if nobody's.
        share: the share of them that is done, 0 to 1.
        rated: how many it has rated since it was started.
        problem: why the model failed the last time; empty if it did not.
        next: when it checks again, in real time; ``None`` while it is working.
    """

    on: bool = False
    agent: str = ""
    share: float = 0.0
    rated: int = 0
    problem: str = ""
    next: datetime | None = None


class Rerater:
    """A thread that rates memories of the open agents that could not be rated before.

    The first memory is asked about alone, so that a server that is down costs one call; then it waits twice as long as
    before, ten minutes at most. An undone rating is not made again.

    Args:
        agents: returns the agents of these names; for ``None``, all that may have something to rate.
        seconds: how often it checks, in seconds; 0 = never.
        room: returns how much an agent may still ask in this hour of its world.
    """

    def __init__(
        self,
        agents: Callable[[Collection[str] | None], Iterable[AgentMemory]],
        seconds: float,
        room: Callable[[AgentMemory], Room] = lambda _agent: Room(),
    ) -> None:
        self._agents, self._room = agents, room
        self._seconds = seconds
        self._stop, self._wake = threading.Event(), threading.Event()
        self._lock = threading.Lock()  # guards the next two
        self._names: set[str] = set()
        self._everybody = False
        self._thread: threading.Thread | None = None
        self._tried: Counter[tuple[str, str]] = Counter()
        self.state = Rerating()

    def start(self) -> None:
        """Begin, unless it is switched off or has begun."""
        if self._seconds and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="rerating", daemon=True)
            self._tell(on=True)
            self._thread.start()

    def stop(self) -> None:
        """End, at most some seconds later; what is being asked is not waited for."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5.0)

    def wake(self) -> None:
        """Check everybody now: the model may be back."""
        with self._lock:
            self._everybody = True
        self._wake.set()

    def waits(self, wait: bool | None) -> bool | None:
        """Whether an event sent to a server waits for its rating: not by default if it is rated afterwards.

        Args:
            wait: what was asked for; ``None`` = nothing, so that without a worker the agent's settings decide.
        """
        return False if wait is None and self.state.on else wait

    def notice(self, change_sets: Iterable[ChangeSet]) -> None:
        """Check now the agents that got something to rate by these; a model that failed is not asked earlier."""
        names = {
            change_set.agent
            for change_set in change_sets
            for change in change_set.changes
            if change.after and wants_rating(change.after.rating, change.after.explanation)
        }
        if names and not self.state.problem:
            with self._lock:
                self._names |= names
            self._wake.set()

    def _run(self) -> None:
        pause = self._seconds
        due = time.monotonic() + pause
        while not self._stop.is_set():
            left = max(0.0, due - time.monotonic())
            self._tell(next=real_clock() + timedelta(seconds=left), agent="", share=0.0)
            self._wake.wait(left)
            self._wake.clear()
            self._tell(next=None)
            names = self._taken(everybody=time.monotonic() >= due)
            helped = all(self._round(agent) for agent in self._agents(names))  # the first failure ends the round
            if names is None or not helped:
                pause = self._seconds if helped else min(pause * 2, max(_LONGEST, self._seconds))
                due = time.monotonic() + pause
        self._tell(on=False, next=None, agent="", share=0.0)

    def _taken(self, *, everybody: bool) -> set[str] | None:
        """Whom to check now; ``None`` = everybody."""
        with self._lock:
            names = None if everybody or self._everybody else self._names
            self._names, self._everybody = set(), False
        return names

    def _round(self, agent: AgentMemory) -> bool:
        """Rate what waits of one agent; returns whether to go on, which it is not if the model fails."""

        def progress(share: float, _doing: str) -> None:
            self._tell(agent=agent.name, share=share)

        try:
            if agent.read_only or not agent.contents.to_rate or (room := self._room(agent)).spent:
                return True
            tired = {
                entry_id for (name, entry_id), tries in self._tried.items() if name == agent.name and tries >= _TRIES
            }
            asking = agent.acting_as(RATING).asking(Purse(room).begin)
            done = asking.rate_unrated(
                progress=progress, cancelled=self._stop.is_set, only_wanted=True, but=tired, most=room.calls
            )
        except Conflict:  # somebody else is doing it
            return True
        except MemorySystemError as error:
            self._tell(problem=error.sentence)
            return True
        self._tried.update({(agent.name, entry_id): 1 for entry_id in done.failed})
        self._tried.update({(agent.name, entry_id): _TRIES for entry_id in done.rated})
        if done.problem is not None:
            self._tell(problem=done.problem.sentence)
        elif done.rated:
            self._tell(problem="")
        self._tell(rated=self.state.rated + len(done.rated))
        return done.problem is None or isinstance(done.problem, BudgetSpent)

    def _tell(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
