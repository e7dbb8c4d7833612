"""Logged queries: what an agent was asked, with all parameters, and the answer, as values and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ..core.entry import Tier
from ..core.scoring import Score, Scoring, Weights
from ..core.times import parse_time
from ..recall.query import Facets, Query
from ..recall.verdicts import Candidate

MOST_HITS = 200
"""Hits of one query that are kept; for a longer answer only their number."""


@dataclass(frozen=True)
class Asked:
    """A query that was just answered, on its way to the log.

    Args:
        query: what was asked, complete.
        hits: the answer, in order.
        given: the parameters that the caller named; the others came from the agent's settings.
        author: who asked.
        touched: whether what was recalled counted as accessed.
        embedder: the identity of what made the vectors.
        revision: the newest revision that it saw.
        access: the newest access that it saw, except those waiting before it.
        asked_at: the real time.
    """

    query: Query
    hits: tuple[Candidate, ...]
    given: tuple[str, ...]
    author: str
    touched: bool
    embedder: str
    revision: int = 0
    access: int = 0
    asked_at: datetime | None = None


@dataclass(frozen=True)
class LoggedHit:
    """One memory of a logged answer: its tier, its rank in it, and its score with the parts."""

    entry_id: str
    tier: Tier
    rank: int
    score: Score
    via: str = ""


@dataclass(frozen=True)
class LoggedQuery:
    """A query through ``query_memory``, and its answer.

    Args:
        number: its number in the agent's log.
        query: what was asked, complete; its ``now`` is the world's time.
        hits: the answer in its order, at most the first 200.
        recalled: how many memories the answer had.
        given: the parameters that the caller named; the others came from the agent's settings.
        author: who asked.
        touched: whether what was recalled counted as accessed.
        embedder: the identity of what made the vectors.
        revision: the newest revision then.
        access: the newest access of that revision then.
        asked_at: the real time.
    """

    number: int
    query: Query
    hits: tuple[LoggedHit, ...]
    recalled: int
    given: tuple[str, ...]
    author: str
    touched: bool
    embedder: str
    revision: int
    access: int
    asked_at: datetime


def body_of(asked: Asked) -> str:
    """Everything about a query except its place in the log, as JSON."""
    body = {
        "query": query_to_json(asked.query),
        "hits": [_hit_to_json(hit) for hit in asked.hits[:MOST_HITS]],
        "recalled": len(asked.hits),
        "given": list(asked.given),
        "touched": asked.touched,
        "embedder": asked.embedder,
    }
    return orjson.dumps(body).decode()


def logged_of(row: Any) -> LoggedQuery:
    """The logged query of a row of the journal."""
    body = json.loads(row.body)
    weights = Weights(**body["query"]["scoring"]["weights"])
    return LoggedQuery(
        row.number,
        query_from_json(row.cue, datetime.fromisoformat(row.at), body["query"]),
        tuple(_hit_from_json(hit, weights) for hit in body["hits"]),
        body["recalled"],
        tuple(body["given"]),
        row.author,
        body["touched"],
        body["embedder"],
        row.revision,
        row.access,
        datetime.fromisoformat(row.noted_at),
    )


def query_to_json(query: Query) -> dict[str, Any]:
    """All parameters of a query except its cue and time, JSON-ready."""
    facets = {name: value for name, value in vars(query.facets).items() if value not in (None, (), "")}
    for name in ("since", "until"):
        if name in facets:
            facets[name] = facets[name].isoformat()
    return {
        "top_k": query.top_k,
        "threshold": query.threshold,
        "static_threshold": query.static_threshold,
        "static_share": query.static_share,
        "scoring": {**vars(query.scoring), "weights": dict(vars(query.scoring.weights))},
        "facets": facets,
        "requery": query.requery,
        "instances": list(query.instances),
        "unexpanded": query.unexpanded,
        **({"addressed": True} if query.addressed else {}),  # older versions do not know it
    }


def query_from_json(cue: str, now: datetime, body: Mapping[str, Any]) -> Query:
    """The query that ``query_to_json`` was given."""
    fields = dict(body)
    scoring, facets = dict(fields.pop("scoring")), dict(fields.pop("facets"))
    for name in ("since", "until"):
        if name in facets:
            facets[name] = parse_time(facets[name])
    return Query(
        cue,
        now,
        scoring=Scoring(Weights(**scoring.pop("weights")), **scoring),
        facets=Facets(**facets),
        **fields,
    )


def _hit_to_json(hit: Candidate) -> list[Any]:
    score = hit.score
    return [
        hit.entry.id,
        hit.entry.tier,
        hit.rank,
        [score.relevancy, score.recency, score.importance, dict(score.sub_parts), score.confidence],
        hit.via,
    ]


def _hit_from_json(hit: list[Any], weights: Weights) -> LoggedHit:
    entry_id, tier, rank, (relevancy, recency, importance, sub_parts, *sure), via = hit  # older ones have no confidence
    return LoggedHit(entry_id, Tier(tier), rank, Score(relevancy, recency, importance, weights, sub_parts, *sure), via)
