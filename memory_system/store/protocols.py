"""Readable: what an agent's reading half asks of where its memories stand, be it the ledger or a moment of its past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ..core.entry import MemoryEntry, Tier
from ..recall.table import Table
from .journal.evidence import Evidence
from .journal.history import ALL, Applied, HistoryKinds, Sought
from .journal.trash import Forgotten


class Told(Protocol):
    """What a history tells."""

    @property
    def evidence(self) -> Evidence:
        """Which memories rest on which."""

    def history(self, limit: int = 100, before: int | None = None, sought: Sought = ALL) -> list[Applied]:
        """The newest change sets first, at most ``limit`` of those looked for, and older than ``before`` only."""

    def get(self, revision: int) -> Applied:
        """One change set.

        Raises:
            ChangeSetNotFound: the history has no such revision.
        """

    def kinds(self) -> HistoryKinds:
        """Who and what there is in the history."""

    def forgotten(self, limit: int, offset: int, contains: str) -> list[Forgotten]:
        """Memories that are gone and not purged, the last forgotten first."""

    def count_forgotten(self, contains: str) -> int:
        """How many those are."""

    def last_version(self, entry_id: str) -> MemoryEntry | None:
        """A memory as it last was, also one that has been forgotten; ``None`` if it never was."""


class Readable(Protocol):
    """Tables, texts and history, held still while they are read."""

    @property
    def tables(self) -> Mapping[Tier, Table]:
        """One table a tier."""

    @property
    def lived(self) -> Mapping[Tier, Table]:
        """The tables of what recall ranges over: those of ``LIVED``."""

    @property
    def journal(self) -> Told:
        """The history."""

    @property
    def messages(self) -> Sequence[str]:
        """What was found and repaired when the agent was opened."""

    @property
    def revision(self) -> int:
        """The revision that the tables show."""

    @property
    def stamp(self) -> tuple[int, int]:
        """A key for caches."""

    def reading(self) -> AbstractContextManager[None]:
        """Hold the tables still."""

    def text(self, name: str) -> str | None:
        """The text of this name."""

    def texts(self) -> dict[str, str | None]:
        """All texts by name; ``None`` where one that every agent may have is not there."""

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
