"""RemoteLooking: what can be looked into and tested of an agent on a server.

What the server tells of memories beside each other and of recall put to the test, as the values it is in-process.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ...agent_parts.cues import CueResult, Precision
from ...agent_parts.replay import Relived
from ...agent_parts.retrieval import Asked
from ...core import personality as static_memory
from ...core.change_set import ChangeSet
from ...core.dismissed import Dismissed
from ...core.entry import MemoryEntry
from ...core.settings import AgentSettings
from ...errors import InvalidParameter
from ...operations.context import Progress, no_progress
from ...operations.duplicates.suspicions import THRESHOLD, Look
from ...operations.edit import listed
from ...operations.narrative import Hits, Narrative
from ...operations.provenance import Lineage
from ...operations.undo import Clash
from ...recall.cues import Judgment, SavedCue
from ...recall.forecast import YEAR, Forecast
from ...recall.query import Query
from ...recall.rank import Recall
from ...recall.verdicts import Candidate
from ...recall.versus import Versus
from ...recall.why import Way
from ...store.journal.history import HistoryKinds
from ...store.query_log import LoggedQuery
from ...store.staleness import Stale
from ..serialize import read
from .view import RemoteView
from .wire import given, long, plain, revision_of


class RemoteLooking(RemoteView):
    """The part that looks into memory; each method is as that of ``AgentMemory``."""

    # -- the agent itself ------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The world's time."""
        return datetime.fromisoformat(self.get_stats()["now"])

    @property
    def display_name(self) -> str:
        """What people call it."""
        return str(self.get_stats()["display_name"])

    @property
    def read_only(self) -> str | None:
        """Why nothing can be changed, in a sentence; ``None`` where all is well."""
        why: str | None = self.get_stats()["read_only"]
        return why

    @property
    def messages(self) -> tuple[str, ...]:
        """What was found when it was opened."""
        return tuple(self.get_stats()["messages"])

    @property
    def settings(self) -> AgentSettings:
        """The agent's own settings."""
        return read(AgentSettings, self._wire.get(f"{self._of}/settings"))

    @property
    def personality_text(self) -> str | None:
        """The JSON text of the static memory in use."""
        text: str | None = self._wire.get(f"{self._of}/personality")["text"]
        return text

    @property
    def personality_problem(self) -> str | None:
        """What is wrong with the personality file on disk."""
        problem: str | None = self._wire.get(f"{self._of}/personality")["problem"]
        return problem

    @property
    def personality(self) -> static_memory.Personality | None:
        """The static memory in use."""
        text = self.personality_text
        return None if text is None else static_memory.parse(text)

    @property
    def waiting_for_vectors(self) -> int:
        """How many memories have no vector of the embedder in use, and are not found by meaning."""
        return int(self._wire.get(f"{self._of}/vectors")["waiting"])

    # -- memories beside each other --------------------------------------------------------------------

    def last_version(self, entry_id: str) -> MemoryEntry:
        """As ``AgentMemory.last_version``."""
        return read(MemoryEntry, self._wire.get(f"{self._of}/last-version", memory=entry_id))

    def similar(self, entry_id: str, top_k: int = 5) -> list[tuple[MemoryEntry, float]]:
        """As ``AgentMemory.similar``."""
        told = self._wire.get(f"{self._of}/similar", memory=entry_id, top_k=top_k)
        return [(read(MemoryEntry, one["entry"]), one["cosine"]) for one in told["items"]]

    def built_on(self, entry_id: str) -> list[MemoryEntry]:
        """As ``AgentMemory.built_on``."""
        return [read(MemoryEntry, one) for one in self._wire.get(f"{self._of}/built-on", memory=entry_id)["items"]]

    def lineage(self, entry_id: str, depth: int = 4) -> Lineage:
        """As ``AgentMemory.lineage``."""
        return read(Lineage, self._wire.get(f"{self._of}/lineage", memory=entry_id, depth=depth))

    def stale(self) -> tuple[Stale, ...]:
        """As ``AgentMemory.stale``."""
        return tuple(read(Stale, one) for one in self._wire.get(f"{self._of}/stale")["items"])

    def stale_of(self, entry_id: str) -> Stale | None:
        """As ``AgentMemory.stale_of``."""
        return next((one for one in self.stale() if one.entry.id == entry_id), None)

    def suspicions(
        self,
        *,
        threshold: float = THRESHOLD,
        ask_model: bool = True,
        limit: int = 200,
        progress: Progress = no_progress,
    ) -> Look:
        """As ``AgentMemory.suspicions``."""
        asked = {"threshold": threshold, "ask_model": str(ask_model).lower(), "limit": limit}
        return read(Look, self._long("GET", f"{self._of}/suspicions", None, progress, **asked))

    @property
    def dismissed(self) -> tuple[Dismissed, ...]:
        """What a person has looked at and found to be neither a duplicate nor a contradiction."""
        return tuple(read(Dismissed, one) for one in self._wire.get(f"{self._of}/dismissed")["items"])

    # -- recall put to the test ------------------------------------------------------------------------

    def narrate(self, cue: str, hits: Hits) -> Narrative:
        """As ``AgentMemory.narrate``; memories that the server does not hold cannot be told."""
        chosen = hits.hits if isinstance(hits, Recall) else hits
        if not isinstance(chosen, Sequence) or not all(isinstance(one, Candidate | MemoryEntry) for one in chosen):
            raise InvalidParameter("What is told are hits of a query, or memories.")
        ids = [one.entry.id if isinstance(one, Candidate) else one.id for one in chosen]
        return read(Narrative, self._wire.ask(f"{self._of}/narrate", {"cue": cue, "ids": ids}))

    def ways(self, asked: Asked, entry_id: str) -> tuple[Way, ...]:
        """As ``AgentMemory.ways``."""
        body = {**self._meant(asked), "id": entry_id}
        return tuple(read(Way, one) for one in self._wire.ask(f"{self._of}/ways", body)["items"])

    def forecast(self, asked: Asked, horizon: timedelta = YEAR) -> tuple[Forecast, ...]:
        """As ``AgentMemory.forecast``."""
        body = {**self._meant(asked), "days": horizon / timedelta(days=1)}
        return tuple(read(Forecast, one) for one in self._wire.ask(f"{self._of}/forecast", body)["items"])

    def would_have_answered(self, asked: Asked) -> tuple[Candidate, ...]:
        """As ``AgentMemory.would_have_answered``."""
        told = self._wire.ask(f"{self._of}/would-have-answered", self._meant(asked))["items"]
        return tuple(read(Candidate, one) for one in told)

    @property
    def saved_cues(self) -> tuple[SavedCue, ...]:
        """The saved cues, in the order in which they were first saved."""
        return tuple(one.saved for one in self.check_cues())

    def check_cues(self, now: datetime | None = None) -> list[CueResult]:
        """As ``AgentMemory.check_cues``."""
        told = self._wire.get(f"{self._of}/cues", **given(now=now))
        return [read(CueResult, one) for one in told["items"]]

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """What was said of the answers to each cue."""
        told = self._wire.get(f"{self._of}/judgments")["items"]
        return tuple(read(Judgment, one) for one in told)

    def precision(
        self,
        cue: str,
        presets: Sequence[str] | None = None,
        *,
        now: datetime | None = None,
        top_k: int | None = None,
    ) -> dict[str, Precision]:
        """As ``AgentMemory.precision``."""
        body = given(cue=cue, presets=None if presets is None else listed(presets), now=now, top_k=top_k)
        told = self._wire.ask(f"{self._of}/precision", body)["items"]
        return {one["preset"]: Precision(one["right"], one["wrong"], one["unjudged"], one["top_k"]) for one in told}

    def versus(self, first: str, second: str, *, now: datetime | None = None, top_k: int | None = None) -> Versus:
        """As ``AgentMemory.versus``."""
        told = self._wire.ask(f"{self._of}/versus", given(first=first, second=second, now=now, top_k=top_k))
        return Versus(told["first"], told["second"], told["equal"], told["unjudged"])

    # -- what was asked, and what has happened ---------------------------------------------------------

    def touch(self, ids: str | Sequence[str], *, now: datetime | None = None) -> None:
        """As ``AgentMemory.touch``."""
        self._wire.write("POST", f"{self._of}/touch", given(ids=listed(ids), now=now))

    def queries(self, limit: int = 100, before: int | None = None, *, contains: str = "") -> list[LoggedQuery]:
        """As ``AgentMemory.queries``."""
        told = self._pages(f"{self._of}/queries", limit, before=before, contains=contains)
        return [read(LoggedQuery, one) for one in told]

    def relive(self, number: int) -> Relived:
        """As ``AgentMemory.relive``; of both answers only what was recalled is told."""
        return read(Relived, self._wire.get(f"{self._of}/queries/{number}/relived"))

    def conflicts(self, revision: int | ChangeSet) -> tuple[Clash, ...]:
        """As ``AgentMemory.conflicts``; each says in words what happened."""
        told = self._wire.get(f"{self._of}/history/{revision_of(revision)}/conflicts")
        return tuple(read(Clash, one) for one in told["items"])

    def history_kinds(self) -> HistoryKinds:
        """As ``AgentMemory.history_kinds``."""
        return read(HistoryKinds, self._wire.get(f"{self._of}/history-kinds"))

    def count_forgotten(self, contains: str = "") -> int:
        """As ``AgentMemory.count_forgotten``."""
        return int(self._wire.get(f"{self._of}/forgotten", contains=contains, limit=1)["total"])

    def _meant(self, asked: Asked) -> dict[str, Any]:
        query = asked.query if isinstance(asked, Recall) else asked
        told: dict[str, Any] = plain(query) if isinstance(query, Query) else {"cue": query}
        return told

    def _long(self, method: str, path: str, body: Any, progress: Progress, **query: Any) -> Any:
        return long(self._wire, method, path, body, progress, **query)
