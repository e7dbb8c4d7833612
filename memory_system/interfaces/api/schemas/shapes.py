"""The shapes of answers, as the API's description tells them; ``telling`` makes them, and the client reads them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from ....core.entry import Kind, Scalar, Tier
from ....recall.verdicts import Verdict
from ....world.auth import Role

Share = Annotated[float, Field(ge=0, le=1)]


class Entry(BaseModel):
    """One memory. ``importance`` is rating / 10; ``metadata`` are the caller's own values."""

    id: str
    document: str
    tier: Tier
    kind: Kind
    timestamp: datetime | None
    last_access: datetime | None
    rating: float | None
    importance: float | None
    explanation: str
    tags: list[str]
    pinned: bool
    authored: bool
    protected: bool
    evidence: list[str]
    depth: int
    metadata: dict[str, Scalar]


class Entries(BaseModel):
    """A page of memories, by id; ``next`` is the cursor of the next page, ``null`` at the end."""

    items: list[Entry]
    next: str | None


class ChangeTold(BaseModel):
    """What happens to one memory, and why; no ``before`` = it is added, no ``after`` = it leaves recall."""

    id: str
    verb: str
    reason: str
    before: Entry | None
    after: Entry | None


class TextTold(BaseModel):
    """What happens to a text that is no memory, such as the settings."""

    name: str
    before: str | None
    after: str | None


class KeptTold(BaseModel):
    """A memory that was looked at and left where it is, and why."""

    id: str
    reason: str


class CallTold(BaseModel):
    """A call of a language model."""

    task: str
    model: str
    prompt: str
    answer: str
    milliseconds: float
    tokens: int | None
    error: str | None


class ChangeSetTold(BaseModel):
    """What was changed, or would be: ``revision`` is ``null`` until it has been applied.

    With ``preview=true`` it waits under its ``id`` for ``expires_in`` seconds, to be applied.
    """

    id: str
    agent: str
    operation: str
    title: str
    author: str
    reason: str
    planned_at: datetime
    base_revision: int
    revision: int | None
    undoes: int | None
    changes: list[ChangeTold]
    texts: list[TextTold]
    kept: list[KeptTold]
    notes: list[str]
    calls: list[CallTold]
    purges: list[str]
    expires_in: float | None = None


class OutcomeTold(BaseModel):
    """What became of one event: ``added``, ``overwritten`` or ``skipped``, and whether it has a rating."""

    id: str
    action: str
    rated: bool
    why: str
    entry: Entry


class AddedTold(BaseModel):
    """What became of each event, in their order; ``unrated`` are the ids of what is to be rated later."""

    outcomes: list[OutcomeTold]
    unrated: list[str]
    change_set: ChangeSetTold


class AppliedTold(BaseModel):
    """A change set as the history tells it: when it was really applied, and by which revision it stands undone."""

    change_set: ChangeSetTold
    applied_at: datetime
    undone_by: int | None


class History(BaseModel):
    """A page of the history, the newest first."""

    items: list[AppliedTold]
    next: str | None


class ClashTold(BaseModel):
    """Where an undo would overwrite later work: ``key`` goes into ``keep`` or ``overwrite``."""

    key: str
    sentence: str
    purged: bool


class Clashes(BaseModel):
    """All of them."""

    items: list[ClashTold]


class ForgottenTold(BaseModel):
    """A memory that is gone and can be restored, and how that came."""

    entry: Entry
    revision: int
    title: str
    author: str
    operation: str
    reason: str
    at: datetime
    applied_at: datetime


class Bin(BaseModel):
    """A page of the bin, the last forgotten first."""

    items: list[ForgottenTold]
    total: int
    next: str | None


class Stats(BaseModel):
    """Counts, settings and what is in use."""

    agent: str
    display_name: str
    static: int
    stm: int
    stm_size: int
    ltm: int
    unrated: int
    reflection_weight: float
    reflection_trigger: float
    revision: int
    model: str
    embedder: str
    now: datetime
    read_only: str | None
    messages: list[str]


class Weighed(BaseModel):
    """How much each part of a score counts."""

    recency: float
    importance: float
    relevancy: float


class ScoringTold(BaseModel):
    """A way of scoring."""

    weights: Weighed
    decay: float
    measure: str
    normalise: bool


class SettingsTold(BaseModel):
    """The agent's own settings."""

    stm_size: int
    top_k: int
    threshold: float
    static_threshold: Share
    static_share: Share
    migration_threshold: Share
    reflection_trigger: float
    scoring: ScoringTold
    query_log: int
    token_budget: int
    cost_budget: float


class PersonalityTold(BaseModel):
    """The static memory's JSON text, and what is wrong with the file on disk, if anything."""

    text: str | None
    problem: str | None


class Agent(BaseModel):
    """An agent; ``rehearsal_of`` is whom it rehearses, ``null`` for a character of its own."""

    name: str
    rehearsal_of: str | None


class Agents(BaseModel):
    """A page of the world's agents, by name."""

    items: list[Agent]
    next: str | None


class BinnedTold(BaseModel):
    """An agent in the world's bin."""

    name: str
    deleted_at: datetime


class BinnedAgents(BaseModel):
    """The agents in the world's bin, the last deleted first."""

    items: list[BinnedTold]


class World(BaseModel):
    """This server's world; ``standing`` is where its clock stands, ``null`` if it follows the real time.

    ``role`` is what the asker may do: ``curator``, or ``viewer`` who changes nothing.
    """

    name: str
    title: str
    about: str
    first: str
    now: datetime
    standing: datetime | None
    agents: int
    model: str
    role: Role


class WorldName(BaseModel):
    """A world; a server serves one, and ``served`` says which."""

    name: str
    served: bool


class Worlds(BaseModel):
    """The worlds in the folder of all worlds."""

    items: list[WorldName]


class PromptTold(BaseModel):
    """A prompt: what it says here and as it ships, and what is filled in: ``needed`` has to stand in it."""

    name: str
    title: str
    used: str
    text: str
    shipped: str
    needed: list[str]
    allowed: list[str]


class PromptsTold(BaseModel):
    """Every prompt of the world."""

    items: list[PromptTold]


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
