"""RemoteView: reading an agent on a server, now or at an earlier moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

from ...core.change_set import is_text
from ...core.entry import MemoryEntry, MemoryId, Tier, id_of
from ...core.files import HeldOpen
from ...core.scoring import whole
from ...errors import EntryNotFound
from ...recall.query import QueryOptions
from ...recall.rank import Recall
from ..serialize import RemoteExplanation, read, read_explanation
from .wire import Wire, present_fields, segment

EVERY = 100_000
"""How many candidates of an explanation are requested: more than an agent has."""
_PAGE = 1000


class RemoteView(HeldOpen):
    """The reading calls of ``AgentMemory``, answered by a server.

    Args:
        wire: the server.
        name: the agent's name.
        moment: the moment of its past; now if empty.
    """

    def __init__(self, wire: Wire, name: str, moment: dict[str, Any] | None = None) -> None:
        self.name = name
        self._wire = wire
        self._of = f"/v1/agents/{segment(name)}"
        self._moment = moment or {}

    @property
    def reached(self) -> tuple[Wire, str]:
        """The server, and the address of the agent there: for code built on it, such as conversations."""
        return self._wire, self._of

    def query_memory(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        *,
        touch: bool = True,
        **options: Unpack[QueryOptions],
    ) -> Recall:
        """As ``AgentMemory.query_memory``."""
        asked = present_fields(cue=prompt, top_k=top_k, threshold=threshold, touch=touch, **options)
        return read(Recall, self._wire.ask(f"{self._of}/query", asked | self._as_of))

    def explain(
        self, prompt: str, top_k: int | None = None, threshold: float | None = None, **options: Unpack[QueryOptions]
    ) -> RemoteExplanation:
        """As ``AgentMemory.explain``."""
        asked = present_fields(cue=prompt, top_k=top_k, threshold=threshold, limit=EVERY, **options)
        return read_explanation(self._wire.ask(f"{self._of}/explain", asked | self._as_of))

    def entries(self, tier: Tier) -> list[MemoryEntry]:
        """All memories of a tier, ordered by id; touches nothing."""
        items = self._pages(f"{self._of}/memories", tier=str(tier), **self._looked)
        return [read(MemoryEntry, item) for item in items]

    def find(self, entry_id: MemoryId) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
        entry_id = id_of(entry_id)
        if not is_text(entry_id) or not entry_id:
            return None
        try:
            return read(MemoryEntry, self._wire.get(f"{self._of}/memories/{segment(entry_id)}", **self._looked))
        except EntryNotFound:
            return None

    def get_stats(self) -> dict[str, Any]:
        """Counts, settings and what is in use, as plain values."""
        stats: dict[str, Any] = self._wire.get(f"{self._of}/as-of" if self._moment else self._of, **self._moment)
        return stats

    def pages(self, part: str, limit: int | None = None, **query: Any) -> Iterator[Any]:
        """The items of all pages of one of this agent's lists, up to a limit, as the server writes them.

        Raises:
            InvalidParameter: the limit is not a whole number from 1 to 100,000.
        """
        if limit is not None:
            whole("limit", limit, 1, EVERY)
        return self._pages(f"{self._of}/{part}", limit, **query)

    @property
    def _as_of(self) -> dict[str, Any]:
        return {"as_of": self._moment} if self._moment else {}

    @property
    def _looked(self) -> dict[str, Any]:
        return self._moment

    def _pages(self, path: str, most: int | None = None, **query: Any) -> Iterator[Any]:
        """The items of all pages of a list, up to a limit."""
        cursor, left = None, most
        while left is None or left > 0:
            page = self._wire.get(path, cursor=cursor, limit=min(_PAGE, left or _PAGE), **query)
            yield from page["items"]
            left = None if left is None else left - len(page["items"])
            cursor = page["next"]
            if cursor is None:
                return
