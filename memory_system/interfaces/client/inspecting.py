"""RemoteLooking: what can be looked into and tested of an agent on a server.

What the server tells of memories beside each other and of recall put to the test, as the values it is in-process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ...agent_parts.reader import Asked, CueResult, Precision, no_progress
from ...agent_parts.relived import Relived
from ...agent_parts.shifts import Difference, Shift
from ...core import personality as static_memory
from ...core.change_set import ChangeSet
from ...core.dismissed import Dismissed
from ...core.entry import MemoryEntry, Tier
from ...core.settings import AgentSettings
from ...errors import InvalidParameter
from ...operations.context import Progress
from ...operations.duplicates.suspicions import THRESHOLD, Look, Sort, Suspicion
from ...operations.edit import listed
from ...operations.narrative import Dropped, Hits, Narrative, Sentence
from ...operations.provenance import Kin, Lineage
from ...operations.undo import Clash
from ...recall.cues import Judgment, SavedCue
from ...recall.forecast import YEAR, Forecast
from ...recall.query import Query
from ...recall.rank import Recall
from ...recall.verdicts import Candidate
from ...recall.why import Lever, Way
from ...store.journal.history import HistoryKinds
from ...store.query_log import LoggedHit, LoggedQuery
from ...store.staleness import Alteration, Stale, Trace
from ...world.branches.diff import Apart, MemoryApart, TextApart
from ...world.branches.meta import Rehearsal
from . import reading
from .reading import Told, given, plain, revision_of, sure
from .view import RemoteView
from .wire import long


@dataclass(frozen=True)
class RemoteClash(Clash):
    """Where an undo would overwrite later work: its ``key``, whether it is ``purged``, and in words what happened."""

    words: str = ""

    def __str__(self) -> str:
        return self.words


def lineage(told: Told) -> Lineage:
    """What a memory rests on and what rests on it."""
    kin = tuple(Kin(reading.entry(one["entry"]), one["level"], one["forgotten"], one["stale"]) for one in told["kin"])
    links = tuple((above, below) for above, below in told["links"])
    return Lineage(told["id"], kin, links, told["unknown"], told["more"])


def stale(told: Told) -> Stale:
    """A memory that rests on what has changed."""
    alterations = (
        Alteration(reading.entry(one["before"]), _held(one["after"]), trace(one["last"])) for one in told["alterations"]
    )
    return Stale(reading.entry(told["entry"]), told["since"], tuple(alterations))


def trace(told: Told) -> Trace:
    """A change to a memory."""
    words: dict[str, Any] = {name: told[name] for name in ("revision", "operation", "undoes", "title", "author")}
    return Trace(**words, at=sure(told["at"]), before=_held(told["before"]), after=_held(told["after"]))


def look(told: Told) -> Look:
    """What may be the same, or contradict each other; the server keeps the calls of its model."""
    found = tuple(
        Suspicion(
            Sort(one["sort"]),
            tuple(map(reading.entry, one["entries"])),
            one["similarity"],
            tuple(one["reasons"]),
            tuple(one["doubts"]),
        )
        for one in told["items"]
    )
    return Look(found, told["compared"], told["dismissed"], tuple(told["notes"]))


def way(told: Told) -> Way:
    """A change that would recall a memory."""
    query, lever, value = reading.query(told["query"]), Lever(told["lever"]), told["value"]
    if isinstance(value, str):
        value = sure(value)
    return Way(lever, query.facets if value is None else value, told["words"], told["size"], query)


def forecast(told: Told) -> Forecast:
    """When a memory falls out of an answer."""
    curve = tuple((sure(when), score) for when, score in told["curve"])
    return Forecast(told["id"], reading.time_of(told["leaves"]), told["because"], curve, told["threshold"])


def cue_result(told: Told) -> CueResult:
    """What became of a saved cue."""
    saved = SavedCue(told["name"], told["cue"], tuple(told["must"]), tuple(told["must_not"]))
    return CueResult(saved, *(tuple(told[part]) for part in ("missing", "unwanted", "gone", "recalled")))


def narrative(told: Told) -> Narrative:
    """What memories tell; the server keeps the call of its model."""
    return Narrative(
        told["text"],
        tuple(Sentence(one["text"], tuple(one["ids"])) for one in told["sentences"]),
        tuple(Dropped(one["text"], tuple(one["ids"]), one["reason"]) for one in told["dropped"]),
        told_by=told["told_by"],
        left_out=tuple(told["left_out"]),
    )


def logged(told: Told) -> LoggedQuery:
    """A query of the log."""
    hits = tuple(
        LoggedHit(one["id"], Tier(one["tier"]), one["rank"], reading.score(one["score"]), one["via"])
        for one in told["answer"]
    )
    words = {name: told[name] for name in ("number", "recalled", "author", "touched", "embedder", "revision", "access")}
    return LoggedQuery(
        query=reading.query(told["query"]),
        hits=hits,
        given=tuple(told["given"]),
        asked_at=sure(told["asked_at"]),
        **words,
    )


def relived(told: Told) -> Relived:
    """A logged query as it was answered then, beside now; of both answers the server tells what was recalled."""
    then, now = (_answered(told[side]) for side in ("then", "now"))
    doubts, parameters = tuple(told["doubts"]), tuple(told["parameters"])
    return Relived(logged(told["logged"]), then, now, doubts, parameters, tuple(map(_difference, told["differences"])))


def clash(told: Told) -> RemoteClash:
    """Where an undo would overwrite later work."""
    return RemoteClash(told["key"], None, None, None, purged=told["purged"], words=told["sentence"])


def apart(told: Told) -> Apart:
    """What a rehearsal has otherwise; the server keeps which changes made it so."""
    memories = tuple(
        MemoryApart(one["id"], _held(one["base"]), _held(one["mine"]), _held(one["theirs"]), (), (), one["clash"])
        for one in told["memories"]
    )
    texts = tuple(
        TextApart(one["name"], one["base"], one["mine"], one["theirs"], one["kept"], tuple(one["clashes"]))
        for one in told["texts"]
    )
    return Apart(reading.value(Rehearsal, told["rehearsal"]), memories, texts, told["moved_on"])


def _held(told: Any) -> Any:
    return None if told is None else reading.entry(told)


def _answered(told: Told) -> Any:
    return reading.explanation({**told, "candidates": []})


def _difference(told: Told) -> Difference:
    then, now = (told[side] and reading.candidate(told[side]) for side in ("then", "now"))
    words = told["document"], Shift(told["shift"]), then, now, told["place_then"], told["place_now"], told["because"]
    return Difference(told["id"], *words)


class RemoteLooking(RemoteView):
    """The part that looks into memory; each method is as that of ``AgentMemory``."""

    # -- the agent itself ------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The world's time."""
        return reading.sure(self.get_stats()["now"])

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
        told = self._wire.get(f"{self._of}/settings")
        return AgentSettings(**{**told, "scoring": reading.scoring(told["scoring"])})

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
        return reading.entry(self._wire.get(f"{self._of}/last-version", memory=entry_id))

    def similar(self, entry_id: str, top_k: int = 5) -> list[tuple[MemoryEntry, float]]:
        """As ``AgentMemory.similar``."""
        told = self._wire.get(f"{self._of}/similar", memory=entry_id, top_k=top_k)
        return [(reading.entry(one["entry"]), one["cosine"]) for one in told["items"]]

    def built_on(self, entry_id: str) -> list[MemoryEntry]:
        """As ``AgentMemory.built_on``."""
        return [reading.entry(one) for one in self._wire.get(f"{self._of}/built-on", memory=entry_id)["items"]]

    def lineage(self, entry_id: str, depth: int = 4) -> Lineage:
        """As ``AgentMemory.lineage``."""
        return lineage(self._wire.get(f"{self._of}/lineage", memory=entry_id, depth=depth))

    def stale(self) -> tuple[Stale, ...]:
        """As ``AgentMemory.stale``."""
        return tuple(map(stale, self._wire.get(f"{self._of}/stale")["items"]))

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
        return look(self._long("GET", f"{self._of}/suspicions", None, progress, **asked))

    @property
    def dismissed(self) -> tuple[Dismissed, ...]:
        """What a person has looked at and found to be neither a duplicate nor a contradiction."""
        return tuple(Dismissed(tuple(one["texts"])) for one in self._wire.get(f"{self._of}/dismissed")["items"])

    # -- recall put to the test ------------------------------------------------------------------------

    def narrate(self, cue: str, hits: Hits) -> Narrative:
        """As ``AgentMemory.narrate``; memories that the server does not hold cannot be told."""
        chosen = hits.hits if isinstance(hits, Recall) else hits
        if not isinstance(chosen, Sequence) or not all(isinstance(one, Candidate | MemoryEntry) for one in chosen):
            raise InvalidParameter("What is told are hits of a query, or memories.")
        ids = [one.entry.id if isinstance(one, Candidate) else one.id for one in chosen]
        return narrative(self._wire.ask(f"{self._of}/narrate", {"cue": cue, "ids": ids}))

    def ways(self, asked: Asked, entry_id: str) -> tuple[Way, ...]:
        """As ``AgentMemory.ways``."""
        body = {**self._meant(asked), "id": entry_id}
        return tuple(map(way, self._wire.ask(f"{self._of}/ways", body)["items"]))

    def forecast(self, asked: Asked, horizon: timedelta = YEAR) -> tuple[Forecast, ...]:
        """As ``AgentMemory.forecast``."""
        body = {**self._meant(asked), "days": horizon / timedelta(days=1)}
        return tuple(map(forecast, self._wire.ask(f"{self._of}/forecast", body)["items"]))

    @property
    def saved_cues(self) -> tuple[SavedCue, ...]:
        """The saved cues, in the order in which they were first saved."""
        return tuple(one.saved for one in self.check_cues())

    def check_cues(self, now: datetime | None = None) -> list[CueResult]:
        """As ``AgentMemory.check_cues``."""
        told = self._wire.get(f"{self._of}/cues", **given(now=now))
        return [cue_result(one) for one in told["items"]]

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """What was said of the answers to each cue."""
        told = self._wire.get(f"{self._of}/judgments")["items"]
        return tuple(Judgment(one["cue"], tuple(one["right"]), tuple(one["wrong"])) for one in told)

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

    # -- what was asked, and what has happened ---------------------------------------------------------

    def touch(self, ids: str | Sequence[str], *, now: datetime | None = None) -> None:
        """As ``AgentMemory.touch``."""
        self._wire.write("POST", f"{self._of}/touch", given(ids=listed(ids), now=now))

    def queries(self, limit: int = 100, before: int | None = None, *, contains: str = "") -> list[LoggedQuery]:
        """As ``AgentMemory.queries``."""
        told = self._pages(f"{self._of}/queries", limit, before=before, contains=contains)
        return [logged(one) for one in told]

    def relive(self, number: int) -> Relived:
        """As ``AgentMemory.relive``; of both answers only what was recalled is told."""
        return relived(self._wire.get(f"{self._of}/queries/{number}/relived"))

    def conflicts(self, revision: int | ChangeSet) -> tuple[Clash, ...]:
        """As ``AgentMemory.conflicts``; each says in words what happened."""
        told = self._wire.get(f"{self._of}/history/{revision_of(revision)}/conflicts")
        return tuple(map(clash, told["items"]))

    def history_kinds(self) -> HistoryKinds:
        """As ``AgentMemory.history_kinds``."""
        return reading.value(HistoryKinds, self._wire.get(f"{self._of}/history-kinds"))

    def count_forgotten(self, contains: str = "") -> int:
        """As ``AgentMemory.count_forgotten``."""
        return int(self._wire.get(f"{self._of}/forgotten", contains=contains, limit=1)["total"])

    def _meant(self, asked: Asked) -> dict[str, Any]:
        query = asked.query if isinstance(asked, Recall) else asked
        told: dict[str, Any] = plain(query) if isinstance(query, Query) else {"cue": query}
        return told

    def _long(self, method: str, path: str, body: Any, progress: Progress, **query: Any) -> Any:
        return long(self._wire, method, path, body, progress, **query)
