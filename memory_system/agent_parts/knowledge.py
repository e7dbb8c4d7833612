"""Knowledge: the facts of a world, which recall finds along with the static memory of each agent that knows them."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..core.entry import MemoryEntry, Tier
from ..core.files import as_store_errors
from ..core.known import EVERYBODY, WORLD_AGENT, Fact, Group, recalled
from ..core.memory import Vectors
from ..errors import StoreBusy
from ..recall.table import Table
from ..store.rehearsal import played

_MOST_STATES, _MOST_TABLES = 8, 4
_PATIENCE = 3
"""How many times to wait for the world's agent while another program is making it."""


@dataclass(frozen=True)
class Then:
    """A moment in the past at which something was known: a real time, or a time of the world."""

    at: datetime | None = None
    world_time: datetime | None = None


@dataclass(frozen=True, eq=False)
class Known:
    """What a world knows at one revision: its facts, the vector of each, shape (n, d) or (0,), and its groups."""

    facts: tuple[Fact, ...]
    entries: tuple[MemoryEntry, ...]
    vectors: Vectors
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, table: Table) -> Known:
        """What is known according to the long-term memory of the world's agent."""
        entries = sorted(table.entries, key=lambda entry: entry.id)
        facts = [(fact, recalled(entry)) for entry in entries if (fact := Fact.of(entry)) is not None]
        groups = (group for entry in entries if (group := Group.of(entry)) is not None)
        vectors = [table.vector(fact.id) for fact, _ in facts]
        return cls(
            tuple(fact for fact, _ in facts),
            tuple(entry for _, entry in facts),
            np.array(vectors, np.float32),
            tuple(sorted(groups, key=lambda group: group.name.casefold())),
        )

    @cached_property
    def _members(self) -> dict[str, frozenset[str]]:
        return {group.name.casefold(): frozenset(group.members) for group in self.groups}

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {entry.id: row for row, entry in enumerate(self.entries)}

    def is_known_to(self, fact: Fact, name: Callable[[], str]) -> bool:
        """Whether a character of this name is among those who know a fact."""
        return fact.known_to == EVERYBODY or name() in self._members.get(fact.known_to.casefold(), ())

    def rows(self, name: Callable[[], str], now: datetime) -> tuple[int, ...]:
        """Which facts a character knows at a time of the world."""
        return tuple(row for row, fact in enumerate(self.facts) if fact.holds(now) and self.is_known_to(fact, name))

    def find(self, entry_id: str, name: Callable[[], str]) -> MemoryEntry | None:
        """The fact of this id, known at whatever time, if a character is among those who know it."""
        row = self._rows.get(entry_id)
        return None if row is None or not self.is_known_to(self.facts[row], name) else self.entries[row]


class Knowledge:
    """What a world knows, now and as of earlier times. Thread-safe.

    Nothing is opened if the world's agent has no folder, and without facts a query only has to check for that folder.

    Args:
        folder: the folder of the world's agent.
        open_: opens that agent, an ``AgentMemory``.
        whose: the character that an agent plays; for a rehearsal, its original.
        lying_in: the places of the world inside one of these, at any depth.
        cast: the names in the personalities of its characters.
        to_be_recalled: what the tests of its story expect a character to recall: each cue, and the id or the words of
            a memory.
    """

    def __init__(
        self,
        folder: Path,
        open_: Callable[[], Any],
        whose: Callable[[str], str],
        lying_in: Callable[[Sequence[str]], Sequence[str]],
        cast: Callable[[], Sequence[str]],
        to_be_recalled: Callable[[str], Sequence[tuple[str, str]]],
    ) -> None:
        self.whose = whose
        self.lying_in = lying_in
        self.cast = cast
        self.to_be_recalled = to_be_recalled
        self._folder = folder
        self._open = open_
        self._agent: Any = None
        self._lock = threading.RLock()
        self._states: OrderedDict[Hashable, Known] = OrderedDict()

    def agent(self, *, make: bool = False) -> Any:
        """The world's agent; ``None`` if there is none yet and none is to be made.

        Raises:
            StoreError: it cannot be opened.
        """
        if (agent := self._agent) is not None and not agent.gone:
            return agent
        if not make and not self._folder.is_dir():
            return None
        with self._lock:
            if self._agent is None or self._agent.gone:
                self.close()
                if make:
                    with as_store_errors("What the world knows"):
                        self._folder.mkdir(parents=True, exist_ok=True)
                self._agent = self._opened()
            return self._agent

    def _opened(self) -> Any:
        """The world's agent, opened; if several programs make it at once, they wait for each other."""
        for _ in range(_PATIENCE):
            with suppress(StoreBusy):
                return self._open()
        return self._open()

    def known(self, then: Then | None = None) -> Known | None:
        """What is known now, or was then; ``None`` if there are no facts."""
        agent = self.agent()
        if agent is None:
            return None
        if then is not None:
            agent = agent.as_of(then.at, world_time=then.world_time)
        key = id(self._agent), agent.revision, then is None
        known = self._states.get(key)
        if known is None:
            with agent.contents.shelf(Tier.LTM) as table:
                known = Known.of(table)
            with self._lock:
                if then is None:  # what was purged must no longer be visible
                    self._states.clear()
                self._states[key] = known
                while len(self._states) > _MOST_STATES:
                    self._states.popitem(last=False)
        return known if known.facts or known.groups else None

    def close(self) -> None:
        """Close the world's agent; it is opened again when it is next needed."""
        with self._lock:
            if self._agent is not None:
                self._agent.close()
            self._agent = None
            self._states.clear()


def alone(world: Path, open_: Callable[..., Any], **how: Any) -> Knowledge:
    """The knowledge of the world in a folder, for an agent that is opened alone: no places, no cast, no tests."""
    return Knowledge(
        world / WORLD_AGENT,
        lambda: open_(WORLD_AGENT, database=world.parent, world=world.name, **how),
        lambda name: played(world / name),
        lambda _places: (),
        lambda: (),
        lambda _name: (),
    )


class Joined:
    """Static memory together with the known facts of the world; the last tables made are cached."""

    def __init__(self) -> None:
        self._tables: OrderedDict[Hashable, Table] = OrderedDict()

    def table(self, static: Table, known: Known, rows: tuple[int, ...]) -> Table:
        """The table of both; ``static`` itself stays as it is."""
        key = weakref.ref(static), static.version, weakref.ref(known), rows
        table = self._tables.get(key)
        if table is None:
            table = static.copied()
            for row in rows:
                vector = known.vectors[row]
                table.put(known.entries[row], None if np.isnan(vector).any() or not vector.size else vector)
            self._tables[key] = table
            while len(self._tables) > _MOST_TABLES:
                self._tables.popitem(last=False)
        return table


@dataclass(frozen=True)
class Knows:
    """What an agent knows of its world, now or at an earlier moment."""

    knowledge: Knowledge
    name: str
    then: Then | None = None
    joined: Joined = field(default_factory=Joined)

    def as_of(self, then: Then) -> Knows:
        """What it knew then."""
        return replace(self, then=then)

    def to_be_recalled(self) -> Sequence[tuple[str, str]]:
        """What the tests of the story expect it to recall: each cue, and the id or the words of a memory."""
        return self.knowledge.to_be_recalled(self.knowledge.whose(self.name))

    def static(self, static: Table, now: datetime) -> Table:
        """Its static memory with what it knows at a time of the world; the same table object if that is nothing."""
        known = self.knowledge.known(self.then)
        rows = known.rows(self._whose, now) if known is not None else ()
        return self.joined.table(static, known, rows) if known is not None and rows else static

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The fact of this id, if it is among those who know it."""
        known = self.knowledge.known(self.then)
        return None if known is None else known.find(entry_id, self._whose)

    def _whose(self) -> str:
        return self.knowledge.whose(self.name)
