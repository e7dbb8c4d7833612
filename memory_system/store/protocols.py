"""Readable: the interface for reading an agent's memories, from the ledger or at a moment of its past.

Present: what only the ledger offers. Neither can be written to; ``Policy`` says who may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ..core.entry import MemoryEntry, Tier
from ..core.memory import Vectors
from ..embedding.embedder import Embedder
from ..recall.table import Table
from .journal.evidence import Evidence
from .journal.history import ALL, Applied, HistoryKinds, Sought
from .journal.journal import Journal
from .journal.trash import Forgotten


class ReadableHistory(Protocol):
    """A readable history."""

    @property
    def evidence(self) -> Evidence:
        """Which memories rest on which."""

    def history(self, limit: int = 100, before: int | None = None, sought: Sought = ALL) -> list[Applied]:
        """The newest change sets first, at most ``limit`` of those that match, and only those older than ``before``."""

    def get(self, revision: int) -> Applied:
        """One change set.

        Raises:
            ChangeSetNotFound: the history has no such revision.
        """

    def kinds(self) -> HistoryKinds:
        """The authors and operations in the history."""

    def forgotten(self, limit: int, offset: int, contains: str, operation: str = "") -> list[Forgotten]:
        """Memories that are gone but not purged, by any operation or by this one; the latest forgotten first."""

    def count_forgotten(self, contains: str) -> int:
        """How many of those there are."""

    def last_version(self, entry_id: str) -> MemoryEntry | None:
        """A memory as it last was, even if forgotten; ``None`` if it never existed."""

    def last_access_of(self, ids: Sequence[str]) -> dict[str, datetime]:
        """The latest access of each of these memories; those never recalled are left out."""

    def vectors(self, hashes: Iterable[str], embedder: str) -> dict[str, Vectors]:
        """The stored vectors, shape (d,), of these content hashes; those never embedded are left out."""


class Readable(Protocol):
    """Tables, texts and history, held still while they are read; of the present, or of a moment in the past."""

    @property
    def tables(self) -> Mapping[Tier, Table]:
        """One table per tier."""

    @property
    def lived(self) -> Mapping[Tier, Table]:
        """The tables that recall ranges over: those of ``LIVED``."""

    @property
    def journal(self) -> ReadableHistory:
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

    @property
    def gone(self) -> bool:
        """Whether it was closed, or its files were moved, deleted or replaced."""

    def reading(self) -> AbstractContextManager[None]:
        """Hold the tables still."""

    def text(self, name: str) -> str | None:
        """The text of this name."""

    def texts(self) -> dict[str, str | None]:
        """All texts by name; ``None`` if one that every agent may have does not exist."""

    def refuse_other_embedder(self) -> None:
        """Do nothing if the agent's vectors were made by the embedder in use.

        Raises:
            OtherEmbedder: they were made by another one.
        """

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""


class Present(Readable, Protocol):
    """An agent as it is now, with its whole history."""

    @property
    def folder(self) -> Path:
        """The agent's folder."""

    @property
    def embedder(self) -> Embedder:
        """What turns its texts into vectors."""

    @property
    def journal(self) -> Journal:
        """The whole history."""

    def flush(self) -> None:
        """Write the waiting recalls, now, so that the history includes them."""

    def without_vector(self) -> list[MemoryEntry]:
        """The memories without a vector of the embedder in use."""
