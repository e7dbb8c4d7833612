"""Values as JSON: the shapes of ``shapes``, made by hand, since a query is to be answered in milliseconds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

from ....agent import AgentMemory
from ....agent_parts.past import PastView
from ....agent_parts.shifts import Difference
from ....core.change_set import Change, ChangeSet
from ....core.entry import MemoryEntry
from ....core.scoring import Score, Scoring, Weights
from ....core.settings import AgentSettings
from ....operations.importing.events import Added
from ....operations.narrative import Narrative
from ....recall.query import Query
from ....recall.rank import Explanation, Recall
from ....recall.verdicts import Candidate
from ....store.journal.history import Applied
from ....store.journal.trash import Forgotten
from ....store.query_log import LoggedQuery
from ....store.staleness import Trace

Told = dict[str, Any]


def entry(held: MemoryEntry) -> Told:
    """A memory."""
    return {
        "id": held.id,
        "document": held.document,
        "tier": held.tier,
        "kind": held.kind,
        "timestamp": held.timestamp and held.timestamp.isoformat(),
        "last_access": held.last_access and held.last_access.isoformat(),
        "rating": held.rating,
        "importance": held.importance,
        "explanation": held.explanation,
        "tags": list(held.tags),
        "pinned": held.pinned,
        "authored": held.authored,
        "protected": held.protected,
        "evidence": list(held.evidence),
        "depth": held.depth,
        "metadata": held.extras,
    }


def candidate(one: Candidate) -> Told:
    """A memory beside its score and verdict."""
    return {
        "entry": entry(one.entry),
        "score": _score(one.score),
        "rank": one.rank,
        "verdict": one.verdict,
        "because": one.because,
        "via": one.via,
    }


def _score(score: Score) -> Told:
    return {
        "total": _number(score.total),
        "relevancy": _number(score.relevancy),
        "recency": _number(score.recency),
        "importance": _number(score.importance),
        "weights": _weights(score.weights),
        "parts": {name: _number(value) for name, value in score.parts.items()},
        "sub_parts": {name: _number(value) for name, value in score.sub_parts.items()},
    }


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _weights(weights: Weights) -> Told:
    return {"recency": weights.recency, "importance": weights.importance, "relevancy": weights.relevancy}


def scoring(told: Scoring) -> Told:
    """A way of scoring."""
    return {
        "weights": _weights(told.weights),
        "decay": told.decay,
        "measure": told.measure,
        "normalise": told.normalise,
    }


def query(asked: Query) -> Told:
    """What was asked."""
    facets = asked.facets
    return {
        "cue": asked.cue,
        "now": asked.now.isoformat(),
        "top_k": asked.top_k,
        "threshold": asked.threshold,
        "static_threshold": asked.static_threshold,
        "static_share": asked.static_share,
        "scoring": scoring(asked.scoring),
        "facets": {
            "kinds": list(facets.kinds),
            "tags": list(facets.tags),
            "since": facets.since and facets.since.isoformat(),
            "until": facets.until and facets.until.isoformat(),
            "min_importance": facets.min_importance,
            "max_importance": facets.max_importance,
            "contains": facets.contains,
            "without": list(facets.without),
        },
        "requery": asked.requery,
    }


def recall(found: Recall) -> Told:
    """The answer to a query."""
    return {
        "agent": found.agent,
        "query": query(found.query),
        "hits": [candidate(hit) for hit in found.hits],
        "considered": found.considered,
        "milliseconds": found.milliseconds,
        "context": found.context,
    }


def explanation(found: Explanation, limit: int) -> Told:
    """The answer, and at most ``limit`` of the candidates that were not recalled."""
    start = len(found.hits)
    others = found.candidates[start : start + limit]
    return recall(found) | {"candidates": [candidate(one) for one in others], "total": len(found.candidates)}


def change_set(plan: ChangeSet, expires_in: float | None = None) -> Told:
    """A change set, applied or not."""
    return head(plan) | {
        "changes": [_change(change) for change in plan.changes],
        "texts": [dataclasses.asdict(text) for text in plan.texts],
        "kept": [{"id": kept.entry_id, "reason": kept.reason} for kept in plan.kept],
        "calls": [dataclasses.asdict(call) for call in plan.calls],
        "purges": list(plan.purges),
        "expires_in": expires_in,
    }


def head(plan: ChangeSet) -> Told:
    """A change set without what it changes."""
    return {
        "id": plan.id,
        "agent": plan.agent,
        "operation": plan.operation,
        "title": plan.title,
        "author": plan.author,
        "reason": plan.reason,
        "planned_at": plan.planned_at.isoformat(),
        "base_revision": plan.base_revision,
        "revision": plan.revision,
        "undoes": plan.undoes,
        "notes": list(plan.notes),
    }


def _change(change: Change) -> Told:
    return {
        "id": change.entry_id,
        "verb": change.verb,
        "reason": change.reason,
        "before": change.before and entry(change.before),
        "after": change.after and entry(change.after),
    }


def added(done: Added) -> Told:
    """What became of events."""
    outcomes = [
        {"id": one.id, "action": one.action, "rated": one.rated, "why": one.why, "entry": entry(one.entry)}
        for one in done.outcomes
    ]
    return {"outcomes": outcomes, "unrated": list(done.unrated), "change_set": change_set(done.change_set)}


def applied(told: Applied) -> Told:
    """A change set of the history."""
    return {
        "change_set": change_set(told.change_set),
        "applied_at": told.applied_at.isoformat(),
        "undone_by": told.undone_by,
    }


def forgotten(told: Forgotten) -> Told:
    """A memory of the bin."""
    times = {"at": told.at.isoformat(), "applied_at": told.applied_at.isoformat()}
    words = {name: getattr(told, name) for name in ("revision", "title", "author", "operation", "reason")}
    return {"entry": entry(told.entry), **words, **times}


def logged(told: LoggedQuery) -> Told:
    """A query of the log."""
    return {
        "number": told.number,
        "cue": told.query.cue,
        "now": told.query.now.isoformat(),
        "asked_at": told.asked_at.isoformat(),
        "author": told.author,
        "recalled": told.recalled,
        "hits": [hit.entry_id for hit in told.hits],
        "touched": told.touched,
        "revision": told.revision,
        "access": told.access,
        "query": query(told.query),
        "answer": [
            {"id": hit.entry_id, "tier": hit.tier, "rank": hit.rank, "score": _score(hit.score), "via": hit.via}
            for hit in told.hits
        ],
        "given": list(told.given),
        "embedder": told.embedder,
    }


def trace(told: Trace) -> Told:
    """A change to a memory."""
    words = {name: getattr(told, name) for name in ("revision", "operation", "undoes", "title", "author")}
    ends = {end: (held := getattr(told, end)) and entry(held) for end in ("before", "after")}
    return words | {"at": told.at.isoformat()} | ends


def difference(told: Difference) -> Told:
    """A memory by which two answers differ."""
    sides = {side: (one := getattr(told, side)) and candidate(one) for side in ("then", "now")}
    words = {name: getattr(told, name) for name in ("document", "shift", "place_then", "place_now", "because")}
    return {"id": told.entry_id, **words, **sides}


def narrative(told: Narrative) -> Told:
    """What memories tell."""
    sentences = [{"text": one.text, "ids": list(one.ids)} for one in told.sentences]
    return {
        "text": told.text,
        "sentences": sentences,
        "dropped": [dataclasses.asdict(one) for one in told.dropped],
        "left_out": list(told.left_out),
        "told_by": told.told_by,
    }


def settings(told: AgentSettings) -> Told:
    """An agent's own settings."""
    names = (field.name for field in dataclasses.fields(told) if field.name != "scoring")
    return {name: getattr(told, name) for name in names} | {"scoring": scoring(told.scoring)}


def stats(agent: AgentMemory | PastView) -> Told:
    """Counts, and what is in use."""
    return agent.get_stats() | {
        "display_name": agent.display_name,
        "read_only": agent.read_only,
        "messages": list(agent.messages),
    }


def page(items: Iterable[Told], following: str | None) -> Told:
    """A page of a list."""
    return {"items": list(items), "next": following}
