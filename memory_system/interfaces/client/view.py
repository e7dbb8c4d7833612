"""RemoteView: what can be asked of an agent on a server, now or as of then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ...core.entry import MemoryEntry, Tier
from ...core.scoring import Scoring
from ...errors import EntryNotFound
from ...recall.query import Facets
from ...recall.rank import Recall
from . import reading
from .reading import given
from .wire import Wire, segment

EVERY = 100_000
"""Candidates that an explanation is asked for: more than an agent has."""
_PAGE = 1000


class RemoteView:
    """The reading calls of ``AgentMemory``, answered by a server.

    Args:
        wire: the server.
        name: the agent's name.
        moment: which moment of its past; now if empty.
    """

    def __init__(self, wire: Wire, name: str, moment: dict[str, Any] | None = None) -> None:
        self.name = name
        self._wire = wire
        self._of = f"/v1/agents/{segment(name)}"
        self._moment = moment or {}

    @property
    def reached(self) -> tuple[Wire, str]:
        """The server, and the address of the agent there: for what is built on it, such as conversations."""
        return self._wire, self._of

    def query_memory(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        *,
        now: datetime | None = None,
        static_threshold: float | None = None,
        static_share: float | None = None,
        scoring: Scoring | None = None,
        facets: Facets | None = None,
        requery: int = 0,
        touch: bool = True,
    ) -> Recall:
        """As ``AgentMemory.query_memory``."""
        asked = given(cue=prompt, top_k=top_k, threshold=threshold, now=now, static_threshold=static_threshold)
        asked |= given(static_share=static_share, scoring=scoring, facets=facets, requery=requery, touch=touch)
        return reading.recall(self._wire.ask(f"{self._of}/query", asked | self._as_of))

    def explain(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        *,
        now: datetime | None = None,
        static_threshold: float | None = None,
        static_share: float | None = None,
        scoring: Scoring | None = None,
        facets: Facets | None = None,
        requery: int = 0,
    ) -> reading.RemoteExplanation:
        """As ``AgentMemory.explain``."""
        asked = given(cue=prompt, top_k=top_k, threshold=threshold, now=now, static_threshold=static_threshold)
        asked |= given(static_share=static_share, scoring=scoring, facets=facets, requery=requery, limit=EVERY)
        return reading.explanation(self._wire.ask(f"{self._of}/explain", asked | self._as_of))

    def entries(self, tier: Tier) -> list[MemoryEntry]:
        """All memories of a tier, ordered by id; touches nothing."""
        told = self._pages(f"{self._of}/memories", tier=str(tier), **self._looked)
        return [reading.entry(one) for one in told]

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``."""
        try:
            return reading.entry(self._wire.get(f"{self._of}/memories/{segment(entry_id)}", **self._looked))
        except EntryNotFound:
            return None

    def get_stats(self) -> dict[str, Any]:
        """Counts, settings and what is in use, as plain values."""
        told: dict[str, Any] = self._wire.get(f"{self._of}/as-of" if self._moment else self._of, **self._moment)
        return told

    @property
    def _as_of(self) -> dict[str, Any]:
        return {"as_of": self._moment} if self._moment else {}

    @property
    def _looked(self) -> dict[str, Any]:
        return self._moment

    def _pages(self, path: str, most: int | None = None, **query: Any) -> Iterator[Any]:
        """The items of all pages of a list, at most so many."""
        cursor, left = None, most
        while left is None or left > 0:
            page = self._wire.get(path, cursor=cursor, limit=min(_PAGE, left or _PAGE), **query)
            yield from page["items"]
            left = None if left is None else left - len(page["items"])
            cursor = page["next"]
            if cursor is None:
                return
