"""The agents of a world that are open. Of more than fit the least recently used rest or are put to sleep.

An agent that rests is open, but keeps in memory no longer what is needed for recall alone, which is read again when
somebody recalls. That takes a tenth of the time of waking one that sleeps, and nobody who has hold of it notices.

An agent that sleeps is closed: it keeps no files open and no tables, and is opened again at its next use. Only those
that nobody has hold of are put to sleep, so that no ``AgentMemory`` ever closes under whoever uses it: a game that
keeps its objects keeps its agents awake. Who has hold of one is told by the references that Python counts; where it
counts none, no agent sleeps.
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
"""What the program itself and a client of Chroma's have open at most, for a moment."""
_FEWEST = 2
_AT_ONCE = 4
"""How many are put to sleep where no more files can be opened."""
_WEIGH_SECONDS = 1.0
_COUNT: Callable[[object], int] | None = getattr(sys, "getrefcount", None)


@dataclass
class Opened:
    """An open agent, about how many bytes it takes, and whether it laid aside what it can since it grew."""

    agent: AgentMemory
    size: int = 0
    rests: bool = False

    @property
    def holders(self) -> tuple[int, int]:
        """How often the agent is referred to, and what its parts share: counted each time in the same way."""
        if _COUNT is None:
            return 0, 0
        context = self.agent.contents.context  # a part, and whatever was derived from the agent, refers to this
        return _COUNT(self.agent), _COUNT(context)

    @property
    def in_use(self) -> bool:
        """Whether anybody but the world has hold of the agent, of a part, or of what was derived from it."""
        return _COUNT is None or self.holders != _AT_REST

    def close(self, *, asleep: bool) -> None:
        """Close the agent; ``asleep``: a little that its store lacks may wait for its next opening.

        Raises:
            MemorySystemError: its last accesses could not be written. Its files are let go of all the same.
        """
        try:
            if asleep:
                self.agent.contents.sleep()
        finally:
            self.agent.close()


class _Nobodys:
    """Stands for an agent that nobody has hold of, to learn what is counted then."""

    def __init__(self) -> None:
        self._context = object()

    @property
    def contents(self) -> SimpleNamespace:
        return SimpleNamespace(context=self._context)


_AT_REST = Opened(cast("AgentMemory", _Nobodys())).holders


class Awake:
    """The open agents by name, those used last at the end.

    Whoever opens or closes one holds the world's lock; whoever asks for one that is open need not, and so does not wait
    while another is opened or put to sleep.

    Args:
        opening: opens an agent.
        most: agents that may be open, 1 or more; fewer if half of the files that this process may have open, or
            what Chroma leaves of a few, do not suffice for so many, at six each.
        most_bytes: about how many bytes they may take together. What exceeds them rests, and sleeps if that is not
            enough; the one used last does neither, however large it is.
    """

    def __init__(self, opening: Callable[[str], AgentMemory], most: int, most_bytes: int) -> None:
        self._opening, self._most_bytes = opening, most_bytes
        files = min(may_be_open() // 2, may_be_open() - _FILES_BESIDE)
        self._most = min(most, max(_FEWEST, files // _FILES_EACH))
        self._agents: OrderedDict[str, Opened] = OrderedDict()
        self._bytes, self._weighed = 0, time.monotonic()
        self._lock = threading.Lock()  # held while one is found, added or taken out, and never while one is opened
        self.unrated: frozenset[str] = frozenset()
        """The names of those that sleep with something in short-term memory that waits for its rating.

        It is replaced and never changed, so that it can be read without the lock.
        """

    def __iter__(self) -> Iterator[AgentMemory]:
        with self._lock:
            return iter([one.agent for one in self._agents.values()])

    def agent(self, name: str) -> AgentMemory | None:
        """An agent that is open, used now; ``None`` where it is not, or was closed or replaced by others."""
        with self._lock:
            one = self._agents.get(name)
            if one is None or one.agent.gone:
                return None
            if next(reversed(self._agents)) != name:  # another was used meanwhile
                self._weigh_last()
                self._agents.move_to_end(name)
            self._weigh_all()
            agent = one.agent  # from here on somebody has hold of it
        self._have_others_rest(name)
        return agent

    def open(self, name: str) -> AgentMemory:
        """Open an agent, and put others to sleep for it.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
        """
        self.close(name)  # where it was closed or replaced by others
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
        """Do something; where it can open no more files, once more after some were put to sleep.

        Args:
            act: what is done, which can be repeated.
            lock: the world's, where the caller does not hold it.

        Raises:
            Exhausted: there is nobody who can be put to sleep, or it is not enough.
        """
        try:
            return act()
        except Exhausted:
            with lock or nullcontext():
                if not self._have_sleep(_AT_ONCE):
                    raise
            return act()

    def _have_sleep(self, surplus: int) -> int:
        """Put to sleep those used longest ago, until all fit; ``surplus`` of them in any case. Answers how many."""
        with self._lock:
            others = [*self._agents][:-1]
        asleep = 0
        for older in others:
            if asleep >= surplus and len(self._agents) <= self._most and self._bytes <= self._most_bytes:
                break
            if (one := self._taken_out(older, at_rest=True)) is not None:
                self._put_to_sleep(older, one)
                asleep += 1
        return asleep

    def close(self, name: str, *, asleep: bool = False) -> None:
        """Close an agent, if it is open; ``asleep``: a little that its store lacks may wait for its next opening."""
        self.unrated -= {name}
        if (one := self._taken_out(name)) is not None:
            one.close(asleep=asleep)

    def close_all(self) -> None:
        """Close all; of many, each leaves a little that its store lacks to its next opening, as one that sleeps.

        Raises:
            MemorySystemError: the last accesses of one could not be written. All are closed all the same.
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
        """An open agent, which nobody finds from now on; ``None`` where it is not open, or not at rest as it shall."""
        with self._lock:
            if name not in self._agents or (at_rest and self._agents[name].in_use):
                return None
            one = self._agents.pop(name)
            self._bytes -= one.size
            return one

    def _have_others_rest(self, name: str) -> None:
        """Have those rest that were used longest ago, until all fit; nobody who uses one at this moment is waited for.

        Args:
            name: for whom they make room.
        """
        if self._bytes <= self._most_bytes:
            return
        with self._lock:
            others = [(other, one) for other, one in self._agents.items() if other != name and not one.rests]
        for other, one in others:
            if one.agent.contents.rest():
                with self._lock:
                    if self._agents.get(other) is one:
                        self._weigh(one)
                        one.rests = True
            if self._bytes <= self._most_bytes:
                break

    def _put_to_sleep(self, name: str, one: Opened) -> None:
        """Close an agent, unless something of it waits that cannot be written now; one that is gone is let go of."""
        agent, waits = one.agent, False
        try:
            agent.contents.flush()
            waits = agent.contents.waits_for_rating
        except MemorySystemError:
            if not agent.gone:
                with self._lock:
                    self._agents[name] = one
                    self._agents.move_to_end(name, last=False)
                    self._bytes += one.size
                return
        with suppress(MemorySystemError):  # what waited is written, and its files are let go of all the same
            one.close(asleep=True)
        agent.contents.let_go()
        self.unrated = self.unrated | {name} if waits else self.unrated - {name}

    def _weigh_last(self) -> None:
        """Weigh the agent that was used last, which may have grown meanwhile."""
        if self._agents:
            self._weigh(next(reversed(self._agents.values())))

    def _weigh_all(self) -> None:
        """Weigh all, if that is some time ago: who keeps hold of an agent uses it without asking for it."""
        if time.monotonic() - self._weighed > _WEIGH_SECONDS:
            for one in self._agents.values():
                self._weigh(one)
            self._weighed = time.monotonic()

    def _weigh(self, one: Opened) -> None:
        size = one.agent.contents.size
        one.rests = one.rests and size <= one.size
        self._bytes += size - one.size
        one.size = size
