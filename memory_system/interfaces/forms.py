"""The forms that several front ends have in common, and the words by which people are told what a field is.

The words stand beside the fields and not in them: the description of the HTTP API is a contract, and is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from ..core.entry import MAX_DOCUMENT, Kind
from ..core.kinds import MAX_ID
from ..core.names import MAX_NAME
from ..core.scoring import Measure, Scoring
from ..core.settings import AgentSettings
from ..recall.query import MAX_TOP_K


@dataclass(frozen=True)
class Says:
    """What a field is, for people; and, where its name would not do, how the command line has it.

    Args:
        help: what it is, in a sentence.
        option: what the option is called, such as ``--tag`` for ``tags``; the field's name with dashes if not given.
        empties: whether ``null``, on the command line ``none``, empties it.
        piped: whether ``-`` reads it from a pipe.
        words: the words for its values, where these have none of their own.
    """

    help: str
    option: str = ""
    empties: bool = False
    piped: bool = False
    words: Mapping[str, Any] = field(default_factory=dict)


def says(form: type[BaseModel]) -> dict[str, Says]:
    """What is said of each field of a form; the fields of which nothing is said are left out."""
    told = {}
    for name, known in form.model_fields.items():
        for one in known.metadata:
            if isinstance(one, Says):
                told[name] = one
    return told


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Ids = Annotated[list[Id], Field(max_length=10_000)]


class Body(BaseModel):
    """What all bodies have in common: an unknown field is refused, not passed over."""

    model_config = ConfigDict(extra="forbid")


class WeightsBody(Body):
    """How much each part counts, 0 to 10 each; the agent's own weight where one is left out."""

    recency: Annotated[Number, Field(ge=0, le=10)] | None = None
    importance: Annotated[Number, Field(ge=0, le=10)] | None = None
    relevancy: Annotated[Number, Field(ge=0, le=10)] | None = None


class ScoringBody(Body):
    """Weights, the decay per hour, and how relevancy is measured; the agent's own way where something is left out."""

    weights: WeightsBody = WeightsBody()
    decay: Annotated[Number, Field(gt=0, lt=1)] | None = None
    measure: Measure | None = None
    normalise: StrictBool | None = None

    def over(self, own: Scoring) -> Scoring:
        """The agent's own way of scoring, with what is named here in its place."""
        named = {
            name: value for name in self.model_fields_set - {"weights"} if (value := getattr(self, name)) is not None
        }
        weights = {name: value for name, value in self.weights if value is not None}
        return replace(own, weights=replace(own.weights, **weights), **named)


class SettingsBody(Body):
    """Settings to change; those that are not named stay."""

    stm_size: Annotated[
        Annotated[int, Field(strict=True, ge=1, le=100_000)] | None,
        Says("Entries that short-term memory holds before migration takes the overflow."),
    ] = None
    top_k: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=MAX_TOP_K)] | None, Says("Most memories that a query recalls.")
    ] = None
    threshold: Annotated[
        Annotated[Number, Field(ge=0, le=30)] | None, Says("The score that a memory has to exceed to be recalled.")
    ] = None
    static_threshold: Annotated[Share | None, Says("The same for static memory.")] = None
    static_share: Annotated[Share | None, Says("The share of the places that static memory may take.")] = None
    migration_threshold: Annotated[
        Share | None, Says("The importance that the overflow has to exceed to be kept in long-term memory.")
    ] = None
    reflection_trigger: Annotated[
        Annotated[Number, Field(ge=1, le=100_000)] | None,
        Says("The sum of recent ratings at which the agent wants to reflect."),
    ] = None
    scoring: Annotated[
        ScoringBody | None,
        Says('Weights, decay per hour and measure, such as {"weights": {"recency": 0.5}}; the rest stays.'),
    ] = None
    query_log: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=100_000)] | None,
        Says("How many of the last queries are kept to be lived through again; 0 = none."),
    ] = None
    token_budget: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=10**12)] | None,
        Says("Most tokens that its calls of a language model may take; 0 = no limit."),
    ] = None
    cost_budget: Annotated[
        Annotated[Number, Field(ge=0, le=10**9)] | None,
        Says("The most that these calls may cost, in the currency of the prices; 0 = no limit."),
    ] = None

    def given(self, own: AgentSettings) -> dict[str, Any]:
        """What ``configure`` is to be called with, given the settings as they are."""
        named = {
            name: value for name in self.model_fields_set & _SETTINGS if (value := getattr(self, name)) is not None
        }
        return named | ({"scoring": self.scoring.over(own.scoring)} if self.scoring else {})


class EditBody(Body):
    """Fields of a memory to change; those that are not named stay, ``null`` empties."""

    document: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)] | None,
        Says("What it says then.", option="--text", piped=True),
    ] = None
    timestamp: Annotated[
        AwareDatetime | None,
        Says("When it happened, with its zone.", option="--time", empties=True),
    ] = None
    kind: Annotated[Kind | None, Says("What it is.")] = None
    rating: Annotated[
        Annotated[Number, Field(ge=1, le=10)] | None,
        Says("How poignant it is, 1 mundane to 10 extremely.", empties=True),
    ] = None
    explanation: Annotated[Annotated[str, StringConstraints(max_length=4000)] | None, Says("Why it is rated so.")] = (
        None
    )
    tags: Annotated[
        Annotated[list[str], Field(max_length=50)] | None, Says("All its tags, in the place of those it has.", "--tag")
    ] = None
    pinned: Annotated[StrictBool | None, Says("Whether it is never forgotten or moved.")] = None
    authored: Annotated[StrictBool | None, Says("Whether a person wrote it.")] = None
    protected: Annotated[StrictBool | None, Says("Whether no operation changes it.")] = None
    metadata: Annotated[dict[str, Any] | None, Says('Further fields, such as {"mood": "calm"}.')] = None

    def given(self) -> dict[str, Any]:
        """What ``edit`` is to be called with: what a form with more fields says of those is not told."""
        return {name: getattr(self, name) for name in self.model_fields_set & _FIELDS}


_SETTINGS, _FIELDS = frozenset(SettingsBody.model_fields), frozenset(EditBody.model_fields)
"""What these forms name themselves, and not those that are made of them."""
