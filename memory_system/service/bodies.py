"""The bodies of requests. What they say here is their form; the ranges are checked again where they are used."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from ..entry import MAX_DOCUMENT, Kind
from ..facets import Facets
from ..kinds import MAX_ID
from ..llm.prompts import MOST as MOST_OF_A_PROMPT
from ..names import MAX_NAME
from ..query import MAX_CUE, MAX_REQUERY, MAX_TOP_K
from ..scoring import Measure, Scoring, Weights

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Revision = Annotated[int, Field(strict=True, ge=0, le=2**62)]
Ids = Annotated[list[Id], Field(max_length=10_000)]
Words = Annotated[str, StringConstraints(max_length=1000)]


class Body(BaseModel):
    """What all bodies have in common: an unknown field is refused, not passed over."""

    model_config = ConfigDict(extra="forbid")


class WeightsBody(Body):
    """How much each part counts, 0 to 10 each."""

    recency: Annotated[Number, Field(ge=0, le=10)] = 0.25
    importance: Annotated[Number, Field(ge=0, le=10)] = 0.25
    relevancy: Annotated[Number, Field(ge=0, le=10)] = 1.0


class ScoringBody(Body):
    """Weights, the decay per hour, and how relevancy is measured."""

    weights: WeightsBody = WeightsBody()
    decay: Annotated[Number, Field(gt=0, lt=1)] = 0.99
    measure: Measure = Measure.SIMILARITY
    normalise: StrictBool = False

    def meant(self) -> Scoring:
        """As the memory system has it."""
        weights = Weights(self.weights.recency, self.weights.importance, self.weights.relevancy)
        return Scoring(weights, self.decay, self.measure, self.normalise)


class FacetsBody(Body):
    """Which memories may be found at all; whatever is left empty admits every memory."""

    kinds: Annotated[list[Kind], Field(max_length=100)] = Field(default_factory=list)
    tags: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    min_importance: Share | None = None
    max_importance: Share | None = None
    contains: Words = ""
    without: Ids = Field(default_factory=list)

    def meant(self) -> Facets:
        """As the memory system has it."""
        return Facets(
            tuple(self.kinds),
            tuple(self.tags),
            self.since,
            self.until,
            self.min_importance,
            self.max_importance,
            self.contains,
            tuple(self.without),
        )


class MomentBody(Body):
    """A moment of the past: a real time, a revision (with the last access since), or a time of the world."""

    at: AwareDatetime | None = None
    revision: Revision | None = None
    access: Revision | None = None
    world_time: AwareDatetime | None = None

    def given(self) -> dict[str, Any]:
        """What ``as_of`` is to be called with."""
        return {"at": self.at, "revision": self.revision, "access": self.access, "world_time": self.world_time}


class Asked(Body):
    """A query; the agent's settings stand for what is not given."""

    cue: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CUE)]
    top_k: Annotated[int, Field(strict=True, ge=0, le=MAX_TOP_K)] | None = None
    threshold: Annotated[Number, Field(ge=0, le=30)] | None = None
    static_threshold: Share | None = None
    static_share: Share | None = None
    scoring: ScoringBody | None = None
    facets: FacetsBody | None = None
    requery: Annotated[int, Field(strict=True, ge=0, le=MAX_REQUERY)] = 0
    now: AwareDatetime | None = None
    as_of: MomentBody | None = None

    def given(self) -> dict[str, Any]:
        """What ``query_memory`` and ``explain`` are to be called with."""
        return {
            "prompt": self.cue,
            "top_k": self.top_k,
            "threshold": self.threshold,
            "now": self.now,
            "static_threshold": self.static_threshold,
            "static_share": self.static_share,
            "scoring": self.scoring and self.scoring.meant(),
            "facets": self.facets and self.facets.meant(),
            "requery": self.requery,
        }


class QueryBody(Asked):
    """A query; with ``touch`` what is recalled counts as accessed now."""

    touch: StrictBool = True


class ExplainBody(Asked):
    """A query that touches nothing; ``limit`` is how many candidates are told beside the recalled ones."""

    limit: Annotated[int, Field(strict=True, ge=0, le=100_000)] = 100


class Event(Body):
    """One event. What has no time happened now; what has no rating is rated on arrival."""

    document: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
    id: Id | None = None
    kind: Kind = Kind.OBSERVATION
    timestamp: AwareDatetime | None = None
    rating: Annotated[Number, Field(ge=1, le=10)] | None = None
    explanation: Annotated[str, StringConstraints(max_length=4000)] = ""
    tags: Annotated[list[str], Field(max_length=50)] = Field(default_factory=list)
    pinned: StrictBool = False
    authored: StrictBool = False
    protected: StrictBool = False
    evidence: Ids = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)

    def given(self) -> dict[str, Any]:
        """The event as ``add_short_term`` takes it."""
        return self.model_dump(exclude_defaults=True) | {"document": self.document}


class EventsBody(Body):
    """One event or several, taken as a whole or not at all."""

    events: Annotated[list[Event], Field(max_length=10_000)]
    overwrite_existing: StrictBool = True
    rate: StrictBool = True
    now: AwareDatetime | None = None


class NewAgent(Body):
    """A new agent; its personality is JSON text, or its name alone."""

    name: Name
    personality: Annotated[str, StringConstraints(max_length=1_000_000)] | None = None


class To(Body):
    """Another name."""

    to: Name


class BinnedBody(Body):
    """Which agent comes back from the bin: the last deleted of this name, or the one deleted then."""

    name: Name
    deleted_at: AwareDatetime | None = None


class PersonalityBody(Body):
    """The whole personality as JSON text."""

    text: Annotated[str, StringConstraints(max_length=1_000_000)]


class SettingsBody(Body):
    """Settings to change; those that are not named stay."""

    stm_size: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = None
    top_k: Annotated[int, Field(strict=True, ge=0, le=MAX_TOP_K)] | None = None
    threshold: Annotated[Number, Field(ge=0, le=30)] | None = None
    static_threshold: Share | None = None
    static_share: Share | None = None
    migration_threshold: Share | None = None
    reflection_trigger: Annotated[Number, Field(ge=1, le=100_000)] | None = None
    scoring: ScoringBody | None = None
    query_log: Annotated[int, Field(strict=True, ge=0, le=100_000)] | None = None
    token_budget: Annotated[int, Field(strict=True, ge=0, le=10**12)] | None = None
    cost_budget: Annotated[Number, Field(ge=0, le=10**9)] | None = None

    def given(self) -> dict[str, Any]:
        """What ``configure`` is to be called with."""
        named = {name: getattr(self, name) for name in self.model_fields_set if getattr(self, name) is not None}
        return named | ({"scoring": self.scoring.meant()} if self.scoring else {})


class EditBody(Body):
    """Fields of a memory to change; those that are not named stay, ``null`` empties."""

    document: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)] | None = None
    timestamp: AwareDatetime | None = None
    kind: Kind | None = None
    rating: Annotated[Number, Field(ge=1, le=10)] | None = None
    explanation: Annotated[str, StringConstraints(max_length=4000)] | None = None
    tags: Annotated[list[str], Field(max_length=50)] | None = None
    pinned: StrictBool | None = None
    authored: StrictBool | None = None
    protected: StrictBool | None = None
    metadata: dict[str, Any] | None = None

    def given(self) -> dict[str, Any]:
        """What ``edit`` is to be called with."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class WorldBody(Body):
    """What to change of the world; ``standing: null`` lets its clock follow the real time."""

    title: Words | None = None
    about: Annotated[str, StringConstraints(max_length=32_000)] | None = None
    first: Words | None = None
    standing: AwareDatetime | None = None


class PromptBody(Body):
    """What a prompt is to say; ``{name}`` stands for what is filled in."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=MOST_OF_A_PROMPT)]


class ApplyBody(Body):
    """Which memories of a preview are left as they are."""

    without: Ids = Field(default_factory=list)


class NarrateBody(Body):
    """What the narrative answers, and the ids of the memories to tell, the best first; recalled if not given."""

    cue: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CUE)]
    ids: Annotated[list[Id], Field(max_length=200)] | None = None
