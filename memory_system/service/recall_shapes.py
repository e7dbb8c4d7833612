"""The shapes of what is recalled, explained and told; see ``shapes`` for the others."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from ..entry import Kind, Tier
from ..verdicts import Verdict
from .shapes import Entry, ScoringTold, Weighed


class ScoreTold(BaseModel):
    """A score: ``parts`` are weighted and add up to ``total``; all are ``null`` where there is no vector."""

    total: float | None
    relevancy: float | None
    recency: float | None
    importance: float | None
    weights: Weighed
    parts: dict[str, float | None]
    sub_parts: dict[str, float | None]


class CandidateTold(BaseModel):
    """A memory beside its score, its rank within its tier, its verdict, and the verdict in words."""

    entry: Entry
    score: ScoreTold
    rank: int
    verdict: Verdict
    because: str
    via: str


class FacetsTold(BaseModel):
    """Which memories could be found."""

    kinds: list[Kind]
    tags: list[str]
    since: datetime | None
    until: datetime | None
    min_importance: float | None
    max_importance: float | None
    contains: str
    without: list[str]


class QueryTold(BaseModel):
    """What was asked, complete."""

    cue: str
    now: datetime
    top_k: int
    threshold: float
    static_threshold: float
    static_share: float
    scoring: ScoringTold
    facets: FacetsTold
    requery: int


class Recalled(BaseModel):
    """The answer to a query; ``context`` can be put into a prompt."""

    agent: str
    query: QueryTold
    hits: list[CandidateTold]
    considered: int
    milliseconds: float
    context: str


class Explained(Recalled):
    """The answer with the candidates that were not recalled, the highest scores first; ``total`` counts them all."""

    candidates: list[CandidateTold]
    total: int


class SentenceTold(BaseModel):
    """A sentence of a narrative, and the ids of the memories it rests on."""

    text: str
    ids: list[str]


class DroppedTold(SentenceTold):
    """A sentence that the model gave and that is not told, since it rests on nothing or says more."""

    reason: str


class NarrativeTold(BaseModel):
    """What memories tell, sentence by sentence, and by which model; ``left_out`` are ids that found no room."""

    text: str
    sentences: list[SentenceTold]
    dropped: list[DroppedTold]
    left_out: list[str]
    told_by: str


class LoggedHitTold(BaseModel):
    """A memory of a logged answer: its tier, its rank in it, and its score."""

    id: str
    tier: Tier
    rank: int
    score: ScoreTold
    via: str


class LoggedTold(BaseModel):
    """A query of the log: what was asked, when, by whom, and the ids of what was recalled.

    ``query`` is complete; ``given`` are the parameters that the caller named. ``answer`` has at most 200 memories.
    """

    number: int
    cue: str
    now: datetime
    asked_at: datetime
    author: str
    recalled: int
    hits: list[str]
    touched: bool
    revision: int
    access: int
    query: QueryTold
    answer: list[LoggedHitTold]
    given: list[str]
    embedder: str


class Log(BaseModel):
    """A page of the log, the newest first."""

    items: list[LoggedTold]
    next: str | None
