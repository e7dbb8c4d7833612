"""What the server answers, as the values that ``AgentMemory`` answers.

Values as the bodies of requests; what is not given is not sent, so that the server's own settings stand for it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Self, TypeVar

from pydantic import TypeAdapter

from ...core.change_set import Change, ChangeSet, Kept, ModelCall, TextChange
from ...core.entry import Kind, MemoryEntry, Tier
from ...core.scoring import Score, Scoring, Weights
from ...errors import InvalidParameter, shown
from ...operations.importing.events import Added, Outcome
from ...recall.query import Facets, Query
from ...recall.rank import Recall
from ...recall.verdicts import Candidate, Verdict
from ...store.journal.history import Applied
from ...store.journal.trash import Forgotten

Json = Any


def plain(value: Any) -> Json:
    """A value as JSON has it: times as text, tuples as lists, and dataclasses by their fields.

    Raises:
        InvalidParameter: JSON has nothing of the kind.
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [plain(one) for one in value]
    raise InvalidParameter(f"{shown(value)} cannot be sent: it is no text, number, time or list.")


def given(**fields: Any) -> dict[str, Json]:
    """The fields that are not ``None``."""
    return {name: plain(value) for name, value in fields.items() if value is not None}


def revision_of(revision: int | ChangeSet) -> int:
    """The number of a revision, or of a change set that was applied.

    Raises:
        InvalidParameter: it was not.
    """
    number = revision.revision if isinstance(revision, ChangeSet) else revision
    if number is None:
        raise InvalidParameter("This change set has not been applied, so there is nothing to undo.")
    return number


def event(entry: MemoryEntry) -> dict[str, Json]:
    """An event."""
    return given(
        document=entry.document,
        id=entry.id,
        kind=entry.kind,
        timestamp=entry.timestamp,
        rating=entry.rating,
        explanation=entry.explanation,
        tags=entry.tags,
        pinned=entry.pinned,
        authored=entry.authored,
        protected=entry.protected,
        evidence=entry.evidence,
        metadata=entry.extras,
    )


Told = Mapping[str, Any]
Value = TypeVar("Value")


@dataclass(frozen=True)
class RemoteChangeSet(ChangeSet):
    """A change set of the server. One that was previewed waits there under ``preview``; ``shown`` are its memories."""

    preview: str = ""
    shown: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """The ids that were shown and are not to be changed."""
        left = {change.entry_id for change in self.changes}
        return tuple(entry_id for entry_id in self.shown if entry_id not in left)

    def without(self, entry_ids: Iterable[str]) -> Self:
        """The same plan with some memories left as they are; see ``ChangeSet.without``."""
        return super().without(entry_ids)


@dataclass(frozen=True)
class RemoteExplanation(Recall):
    """The answer to a query with every memory as a candidate, recalled or not."""

    @property
    def hits(self) -> tuple[Candidate, ...]:
        """The recalled candidates, in the order static, STM, LTM, the highest score first in each."""
        return tuple(one for one in self.candidates if one.recalled)


def time_of(told: str | None) -> datetime | None:
    """A time."""
    return None if told is None else datetime.fromisoformat(told)


def sure(told: str) -> datetime:
    """A time that there is."""
    return datetime.fromisoformat(told)


def value(kind: type[Value], told: Any) -> Value:
    """A dataclass of plain fields, as the server told them."""
    return TypeAdapter(kind).validate_python(told)


def entry(told: Told) -> MemoryEntry:
    """A memory."""
    return MemoryEntry(
        told["document"],
        told["metadata"],
        told["id"],
        tier=Tier(told["tier"]),
        kind=Kind(told["kind"]),
        timestamp=time_of(told["timestamp"]),
        last_access=time_of(told["last_access"]),
        rating=told["rating"],
        explanation=told["explanation"],
        tags=tuple(told["tags"]),
        pinned=told["pinned"],
        authored=told["authored"],
        protected=told["protected"],
        evidence=tuple(told["evidence"]),
        depth=told["depth"],
    )


def scoring(told: Told) -> Scoring:
    """A way of scoring."""
    return Scoring(Weights(**told["weights"]), told["decay"], told["measure"], told["normalise"])


def query(told: Told) -> Query:
    """What was asked."""
    facets = {**told["facets"], "since": time_of(told["facets"]["since"]), "until": time_of(told["facets"]["until"])}
    fields = dict(told) | {"now": sure(told["now"]), "scoring": scoring(told["scoring"])}
    return Query(**{**fields, "facets": Facets(**facets)})


def candidate(told: Told) -> Candidate:
    """A memory beside its score and verdict."""
    scored = score(told["score"])
    return Candidate(entry(told["entry"]), scored, told["rank"], Verdict(told["verdict"]), told["because"], told["via"])


def score(told: Told) -> Score:
    """A score; what could not be computed is no number."""
    relevancy = math.nan if told["relevancy"] is None else told["relevancy"]
    parts = {name: math.nan if value is None else value for name, value in told["sub_parts"].items()}
    return Score(relevancy, told["recency"], told["importance"], Weights(**told["weights"]), parts)


def recall(told: Told) -> Recall:
    """The answer to a query."""
    hits = tuple(candidate(hit) for hit in told["hits"])
    return Recall(query(told["query"]), hits, told["considered"], told["agent"], told["milliseconds"])


def explanation(told: Told) -> RemoteExplanation:
    """The answer with every candidate."""
    every = tuple(candidate(one) for one in (*told["hits"], *told["candidates"]))
    return RemoteExplanation(query(told["query"]), every, told["considered"], told["agent"], told["milliseconds"])


def change_set(told: Told) -> RemoteChangeSet:
    """A change set; one that has an end waits on the server."""
    changes = tuple(
        Change(
            one["before"] and entry(one["before"]),
            one["after"] and entry(one["after"]),
            one["reason"],
        )
        for one in told["changes"]
    )
    waits = told["expires_in"] is not None
    return RemoteChangeSet(
        told["operation"],
        told["title"],
        changes,
        sure(told["planned_at"]),
        told["base_revision"],
        author=told["author"],
        reason=told["reason"],
        texts=tuple(TextChange(**text) for text in told["texts"]),
        kept=tuple(Kept(one["id"], one["reason"]) for one in told["kept"]),
        notes=tuple(told["notes"]),
        calls=tuple(ModelCall(**call) for call in told["calls"]),
        undoes=told["undoes"],
        agent=told["agent"],
        purges=tuple(told["purges"]),
        id=told["id"],
        revision=told["revision"],
        preview=told["id"] if waits else "",
        shown=tuple(change.entry_id for change in changes) if waits else (),
    )


def added(told: Told) -> Added:
    """What became of events."""
    outcomes = tuple(
        Outcome(one["id"], one["action"], entry(one["entry"]), one["rated"], one["why"]) for one in told["outcomes"]
    )
    return Added(outcomes, change_set(told["change_set"]))


def applied(told: Told) -> Applied:
    """A change set of the history."""
    return Applied(change_set(told["change_set"]), sure(told["applied_at"]), told["undone_by"])


def forgotten(told: Told) -> Forgotten:
    """A memory of the bin."""
    words = {name: told[name] for name in ("revision", "title", "author", "operation", "reason")}
    return Forgotten(entry(told["entry"]), **words, at=sure(told["at"]), applied_at=sure(told["applied_at"]))
