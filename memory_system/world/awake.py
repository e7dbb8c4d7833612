"""The open agents of a world. If there are too many, the least recently used ones rest or are put to sleep.

A resting agent is open, but has freed what only recall needs, which is read again at the next recall. That takes a
tenth of the time of waking a sleeping one, and its users do not notice.

A sleeping agent is closed: it keeps no files open and no tables, and is opened again at its next use. Only agents that
nobody refers to are put to sleep, so that no ``AgentMemory`` is closed while it is used: a game that keeps its objects
keeps its agents awake. This relies on Python's reference counts; where there are none, no agent sleeps.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TypeVar, cast

from ..agent import AgentMemory
from ..core.files import may_be_open
from ..errors import Exhausted, MemorySystemError
from ..store.chroma.store import most_clients

T = TypeVar("T")

_FILES_EACH = 6
_FILES_BESIDE = 46
"""How many files the program itself and a Chroma client have open at most, for a moment."""
_FEWEST = 2
_AT_ONCE = 4
"""How many agents are put to sleep when no more files can be opened."""
_WEIGH_SECONDS = 1.0
_COUNT: Callable[[object], int] | None = getattr(sys, "getrefcount", None)


@dataclass
class Opened:
    """An open agent, about how many bytes it uses, and whether it has rested since it grew."""

    agent: AgentMemory
    size: int = 0
    rests: bool = False

    @property
    def holders(self) -> tuple[int, int]:
        """How many references there are to the agent and to what its parts share, always counted in the same way."""
        if _COUNT is None:
            return 0, 0
        context = self.agent.contents.context  # parts and agents derived from this one refer to it
        return _COUNT(self.agent), _COUNT(context)

    @property
    def in_use(self) -> bool:
        """Whether anybody but the world refers to the agent, to a part, or to an agent derived from it."""
        return _COUNT is None or self.holders != _AT_REST

    def close(self, *, asleep: bool) -> None:
        """Close the agent; ``asleep``: a little that its store lacks may wait for its next opening.

        Raises:
            MemorySystemError: its last accesses could not be written. Its files are closed even so.
        """
        try:
            if asleep:
                self.agent.contents.sleep()
        finally:
            self.agent.close()


class _Nobodys:
    """A stand-in for an agent that nobody refers to, to learn its reference count."""

    def __init__(self) -> None:
        self._context = object()

    @property
    def contents(self) -> SimpleNamespace:
        return SimpleNamespace(context=self._context)


_AT_REST = Opened(cast("AgentMemory", _Nobodys())).holders


class Awake:
    """The open agents by name, those used last at the end.

    Opening or closing an agent needs the world's lock; asking for an open one does not, and so does not wait while
    another is opened or put to sleep.

    Args:
        opening: opens an agent.
        most: agents that may be open, 1 or more; fewer if half of the files that this process may have open, or
            what Chroma leaves of a few, are not enough for that many, at six each.
        most_bytes: about how many bytes they may use together. The others rest, and sleep if that is not enough; the
            one used last does neither, however large it is.
    """

    def __init__(self, opening: Callable[[str], AgentMemory], most: int, most_bytes: int) -> None:
        self._opening, self._most_bytes = opening, most_bytes
        files = min(may_be_open() // 2, may_be_open() - _FILES_BESIDE)
        self._most = min(most, max(_FEWEST, files // _FILES_EACH))
        self._agents: OrderedDict[str, Opened] = OrderedDict()
        self._bytes, self._weighed = 0, time.monotonic()
        self._lock = threading.Lock()  # locked while one is found, added or taken out, and never while one is opened
        self.unrated: frozenset[str] = frozenset()
        """The names of sleeping agents with something in short-term memory to be rated.

        The set is replaced and never changed, so that it can be read without the lock.
        """

    def __iter__(self) -> Iterator[AgentMemory]:
        with self._lock:
            return iter([agent.agent for agent in self._agents.values()])

    def agent(self, name: str) -> AgentMemory | None:
        """An open agent, marked as used now; ``None`` if it is not open, or was closed or replaced by others."""
        with self._lock:
            open_agent = self._agents.get(name)
            if open_agent is None or open_agent.agent.gone:
                return None
            if next(reversed(self._agents)) != name:  # another was used meanwhile
                self._weigh_last()
                self._agents.move_to_end(name)
            self._weigh_all()
            agent = open_agent.agent  # from here on somebody refers to it
        self._have_others_rest(name)
        return agent

    def open(self, name: str) -> AgentMemory:
        """Open an agent, and put others to sleep for it.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
        """
        self.close(name)  # if it was closed or replaced by others
        agent = self.with_room(lambda: self._opening(name))
        with self._lock:
            self._weigh_last()
            self._agents[name] = Opened(agent)
            self.unrated -= {name}
            self._weigh_last()
            self._weigh_all()
        self._have_others_rest(name)
        self._have_sleep(0)
        return agent

    def with_room(self, act: Callable[[], T], lock: AbstractContextManager[object] | None = None) -> T:
        """Do something; if no more files can be opened, try once more after putting some agents to sleep.

        Args:
            act: what is done, which can be repeated.
            lock: the world's lock, if the caller does not have it.

        Raises:
            Exhausted: no agent can be put to sleep, or it is not enough.
        """
        try:
            return act()
        except Exhausted:
            with lock or nullcontext():
                if not self._have_sleep(_AT_ONCE):
                    raise
            return act()

    def _have_sleep(self, surplus: int) -> int:
        """Put those used longest ago to sleep until all fit; at least ``surplus`` of them. Returns how many."""
        with self._lock:
            others = [*self._agents][:-1]
        asleep = 0
        for older in others:
            if asleep >= surplus and len(self._agents) <= self._most and self._bytes <= self._most_bytes:
                break
            if (open_agent := self._taken_out(older, at_rest=True)) is not None:
                self._put_to_sleep(older, open_agent)
                asleep += 1
        return asleep

    def close(self, name: str, *, asleep: bool = False) -> None:
        """Close an agent, if it is open; ``asleep``: a little that its store lacks may wait for its next opening."""
        self.unrated -= {name}
        if (open_agent := self._taken_out(name)) is not None:
            open_agent.close(asleep=asleep)

    def close_all(self) -> None:
        """Close all; if there are many, each leaves a little to its next opening, like a sleeping one.

        Raises:
            MemorySystemError: the last accesses of one could not be written. All are closed even so.
        """
        many = len(self._agents) > most_clients()
        failed: MemorySystemError | None = None
        while self._agents:
            try:
                self.close(next(iter(self._agents)), asleep=many)
            except MemorySystemError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def _taken_out(self, name: str, *, at_rest: bool = False) -> Opened | None:
        """An open agent, which nobody finds from now on; ``None`` if it is not open, or not resting as required."""
        with self._lock:
            if name not in self._agents or (at_rest and self._agents[name].in_use):
                return None
            open_agent = self._agents.pop(name)
            self._bytes -= open_agent.size
            return open_agent

    def _have_others_rest(self, name: str) -> None:
        """Let those used longest ago rest until all fit, without waiting for agents in use at this moment.

        Args:
            name: the agent that they make room for.
        """
        if self._bytes <= self._most_bytes:
            return
        with self._lock:
            others = [
                (other, open_agent)
                for other, open_agent in self._agents.items()
                if other != name and not open_agent.rests
            ]
        for other, open_agent in others:
            if open_agent.agent.contents.rest():
                with self._lock:
                    if self._agents.get(other) is open_agent:
                        self._weigh(open_agent)
                        open_agent.rests = True
            if self._bytes <= self._most_bytes:
                break

    def _put_to_sleep(self, name: str, open_agent: Opened) -> None:
        """Close an agent, unless something cannot be written now; one that is gone is dropped."""
        agent, waits = open_agent.agent, False
        try:
            agent.contents.flush()
            waits = agent.contents.waits_for_rating
        except MemorySystemError:
            if not agent.gone:
                with self._lock:
                    self._agents[name] = open_agent
                    self._agents.move_to_end(name, last=False)
                    self._bytes += open_agent.size
                return
        with suppress(MemorySystemError):  # what waited is written, and its files are closed even so
            open_agent.close(asleep=True)
        agent.contents.let_go()
        self.unrated = self.unrated | {name} if waits else self.unrated - {name}

    def _weigh_last(self) -> None:
        """Measure the agent that was used last, which may have grown meanwhile."""
        if self._agents:
            self._weigh(next(reversed(self._agents.values())))

    def _weigh_all(self) -> None:
        """Measure all agents, if that was some time ago: an agent that is kept is used without being asked for."""
        if time.monotonic() - self._weighed > _WEIGH_SECONDS:
            for open_agent in self._agents.values():
                self._weigh(open_agent)
            self._weighed = time.monotonic()

    def _weigh(self, open_agent: Opened) -> None:
        size = open_agent.agent.contents.size
        open_agent.rests = open_agent.rests and size <= open_agent.size
        self._bytes += size - open_agent.size
        open_agent.size = size
