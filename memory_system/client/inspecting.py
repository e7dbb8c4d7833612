"""What the server tells of memories beside each other and of recall put to the test, as the values it is in-process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..apart import Apart, MemoryApart, TextApart
from ..cues import SavedCue
from ..entry import Tier
from ..forecast import Forecast
from ..lineage import Kin, Lineage
from ..logged import LoggedHit, LoggedQuery
from ..narrative import Dropped, Narrative, Sentence
from ..reader import CueResult
from ..rehearsal import Rehearsal
from ..relived import Relived
from ..restoring import Clash
from ..shifts import Difference, Shift
from ..staleness import Alteration, Stale, Trace
from ..suspicions import Look, Sort, Suspicion
from ..why import Lever, Way
from . import reading
from .reading import Told, sure


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
