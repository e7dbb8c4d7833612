"""What ``--json`` prints, as plain values; README.md beside this file tells the shapes, and a test holds it to them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ...core.change_set import Change, ChangeSet, entry_to_json
from ...core.entry import MemoryEntry
from ...recall.query import Query
from ...recall.rank import Recall
from ...recall.verdicts import Candidate
from ...store.journal.history import Applied
from ...store.query_log import query_to_json

VERBS = ("add", "update", "move", "forget")


def memory(entry: MemoryEntry) -> dict[str, Any]:
    """A memory with its last access, if it was ever recalled."""
    told = entry_to_json(entry)
    if entry.last_access is not None:
        told["last_access"] = entry.last_access.isoformat()
    return told


def candidate(one: Candidate) -> dict[str, Any]:
    """A memory beside its score, parts and verdict; a number that there is not is ``null``."""
    return {
        "memory": memory(one.entry),
        "score": _number(one.score.total),
        "parts": _numbers(one.score.parts),
        "relevancy_parts": _numbers(one.score.sub_parts),
        "rank": one.rank,
        "verdict": one.verdict.value,
        "because": one.because,
        "via": one.via or None,
    }


def asked(query: Query) -> dict[str, Any]:
    """What was asked, with every parameter."""
    return {"cue": query.cue, "now": query.now.isoformat(), **query_to_json(query)}


def recalled(agent: str, found: Recall) -> dict[str, Any]:
    """An answer: the memories in its order, and the text for a prompt."""
    return {
        "agent": agent,
        "query": asked(found.query),
        "considered": found.considered,
        "recalled": [candidate(hit) for hit in found.hits],
        "context": found.context,
    }


def change(one: Change) -> dict[str, Any]:
    """What becomes of one memory, and why."""
    return {
        "verb": one.verb,
        "id": one.entry_id,
        "before": None if one.before is None else memory(one.before),
        "after": None if one.after is None else memory(one.after),
        "reason": one.reason,
    }


def head(done: ChangeSet) -> dict[str, Any]:
    """What a change set says of itself, and how many memories it adds, updates, moves and forgets."""
    return {
        "revision": done.revision,
        "operation": done.operation,
        "title": done.title,
        "author": done.author,
        "reason": done.reason,
        "planned_at": done.planned_at.isoformat(),
        "undoes": done.undoes,
        "counts": {verb: len(done.of(verb)) for verb in VERBS},
        "notes": list(done.notes),
    }


def change_set(agent: str, done: ChangeSet) -> dict[str, Any]:
    """A change set whole; ``applied`` is false for a dry run, and where there was nothing to do."""
    return {
        "agent": agent,
        "applied": done.revision is not None,
        **head(done),
        "changes": [change(one) for one in done.changes],
        "texts": [dataclasses.asdict(text) for text in done.texts],
        "kept": [{"id": kept.entry_id, "reason": kept.reason} for kept in done.kept],
        "purges": list(done.purges),
    }


def applied(told: Applied) -> dict[str, Any]:
    """A change set as the history lists it."""
    return {**head(told.change_set), "applied_at": told.applied_at.isoformat(), "undone_by": told.undone_by}


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _number(value) for name, value in values.items()}
