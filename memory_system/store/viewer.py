"""An agent's ledger as somebody sees it who may look and change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, NoReturn

from ..core.change_set import ChangeSet
from ..errors import NotAllowed
from .query_log import Asked

_TOLD = frozenset(
    {
        "embedder",
        "find",
        "folder",
        "gone",
        "journal",
        "lived",
        "messages",
        "personality_path",
        "reading",
        "revision",
        "stamp",
        "tables",
        "text",
        "texts",
        "without_vector",
    }
)
"""What a ledger tells; whatever else it has, or gets one day, is refused."""


class OnlookersLedger:
    """Tells what a ledger tells, and refuses to write. Being recalled leaves no trace.

    Args:
        ledger: the ledger.
        why: the sentence with which it refuses.
    """

    def __init__(self, ledger: Any, why: str) -> None:
        self._held = ledger
        self.read_only = why

    def __getattr__(self, name: str) -> Any:
        """What the ledger tells under this name.

        Raises:
            NotAllowed: it is nothing to look at.
        """
        if name not in _TOLD:
            self.refuse_read_only()
        return getattr(self._held, name)

    def refuse_read_only(self) -> NoReturn:
        """Refuse.

        Raises:
            NotAllowed: always.
        """
        raise NotAllowed(self.read_only)

    def apply(self, _change_set: ChangeSet) -> NoReturn:
        """Refuse, also what would change nothing."""
        self.refuse_read_only()

    def writing(self) -> AbstractContextManager[None]:
        """Refuse."""
        self.refuse_read_only()

    def touch(self, entry_ids: Sequence[str], at: datetime, asked: Asked | None = None) -> None:
        """Leave it: who only looks renews no memory, and is not in the log of what was asked."""

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Leave it open for the others."""
