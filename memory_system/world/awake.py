"""The agents of a world that are open. More than fit are put to sleep, the least recently used first.

An agent that sleeps is closed: it keeps no files open and no tables, and is opened again at its next use. Only those
that nobody has hold of are put to sleep, so that no ``AgentMemory`` ever closes under whoever uses it: a game that
keeps its objects keeps its agents awake. Who has hold of one is told by the references that Python counts; where it
counts none, no agent sleeps.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

from ..agent import AgentMemory
from ..errors import MemorySystemError

_COUNT: Callable[[object], int] | None = getattr(sys, "getrefcount", None)


@dataclass
class Opened:
    """An open agent, and about how many bytes it takes."""

    agent: AgentMemory
    size: int = 0

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


class _Nobodys:
    """Stands for an agent that nobody has hold of, to learn what is counted then."""

    def __init__(self) -> None:
        self._context = object()

    @property
    def contents(self) -> SimpleNamespace:
        return SimpleNamespace(context=self._context)


_AT_REST = Opened(cast("AgentMemory", _Nobodys())).holders


class Awake:
    """The open agents by name, those used last at the end. Whoever uses it holds the world's lock.

    Args:
        opening: opens an agent.
        most: agents that may be open, 1 or more; each keeps some five files open.
        most_bytes: about how many bytes they may take together. The one used last stays open, however large it is.
    """

    def __init__(self, opening: Callable[[str], AgentMemory], most: int, most_bytes: int) -> None:
        self._opening, self._most, self._most_bytes = opening, most, most_bytes
        self._agents: OrderedDict[str, Opened] = OrderedDict()
        self._bytes = 0
        self.unrated: frozenset[str] = frozenset()
        """The names of those that sleep with something in short-term memory that waits for its rating.

        It is replaced and never changed, so that it can be read without the lock.
        """

    def __iter__(self) -> Iterator[AgentMemory]:
        return (one.agent for one in self._agents.values())

    def agent(self, name: str) -> AgentMemory | None:
        """An agent that is open, used now; ``None`` where it is not, or was closed or replaced by others."""
        one = self._agents.get(name)
        if one is None:
            return None
        if one.agent.gone:
            self.close(name)
            return None
        if next(reversed(self._agents)) != name:  # another was used meanwhile
            self._weigh_last()
            self._agents.move_to_end(name)
        return one.agent

    def open(self, name: str) -> AgentMemory:
        """Open an agent, and put others to sleep for it.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
        """
        self._weigh_last()
        self._agents[name] = one = Opened(self._opening(name))
        self.unrated -= {name}
        self._weigh_last()
        for older in [*self._agents][:-1]:
            if len(self._agents) <= self._most and self._bytes <= self._most_bytes:
                break
            if not self._agents[older].in_use:
                self._put_to_sleep(older)
        return one.agent

    def close(self, name: str) -> None:
        """Close an agent, if it is open."""
        self.unrated -= {name}
        if name in self._agents:
            one = self._agents.pop(name)
            self._bytes -= one.size
            one.agent.close()

    def close_all(self) -> None:
        """Close all."""
        while self._agents:
            self.close(next(iter(self._agents)))

    def _put_to_sleep(self, name: str) -> None:
        """Close an agent, unless something of it waits that cannot be written now; one that is gone is let go of."""
        agent, waits = self._agents[name].agent, False
        try:
            agent.contents.flush()
            waits = agent.contents.waits_for_rating
        except MemorySystemError:
            if not agent.gone:
                return
        with suppress(MemorySystemError):  # what waited is written, and its files are let go of all the same
            self.close(name)
        agent.contents.let_go()
        if waits:
            self.unrated |= {name}

    def _weigh_last(self) -> None:
        """Weigh the agent that was used last, which may have grown meanwhile."""
        if self._agents:
            one = next(reversed(self._agents.values()))
            size = one.agent.contents.size
            self._bytes += size - one.size
            one.size = size
