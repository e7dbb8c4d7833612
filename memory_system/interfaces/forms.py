"""The forms that several front ends share, and the words that explain their fields to people.

The words are separate from the fields: the description of the HTTP API is a contract, and is elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool, StringConstraints
from pydantic.fields import FieldInfo

from ..agent import AgentMemory
from ..core.decay import DecayForm
from ..core.entry import MAX_DOCUMENT, Kind
from ..core.kinds import MAX_ID, MAX_PEOPLE, Source
from ..core.names import MAX_NAME
from ..core.scoring import Measure, Passing, Scoring, Seats
from ..core.settings import AgentSettings, RatedBy, Replan, Retention
from ..operations.importing.dates import Order
from ..operations.importing.events import MAX_FILE
from ..operations.importing.forms import Origin
from ..operations.importing.taking_in import Take
from ..recall.cues import MAX_JUDGED
from ..recall.query import MAX_CUE, MAX_INSTANCES, MAX_REQUERY, MAX_TOP_K, Facets, Query


@dataclass(frozen=True)
class Says:
    """The explanation of a field for people and, if its name will not do, its form on the command line.

    Args:
        help: what it is, in a sentence.
        option: the name of the option, such as ``--tag`` for ``tags``; the field's name with dashes if not given.
        empties: whether ``null``, on the command line ``none``, empties it.
        piped: whether ``-`` reads it from a pipe.
        filed: whether it is a file; what is sent is its text, or an address that contains it.
        words: the words for its values, if these have none of their own.
        label: its name on the page; the field's name if not given.
    """

    help: str
    option: str = ""
    empties: bool = False
    piped: bool = False
    filed: bool = False
    words: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""


def says(form: type[BaseModel]) -> dict[str, Says]:
    """The explanation of each field of a form; fields without one are left out."""
    explanations = {}
    for name, known in form.model_fields.items():
        for part in known.metadata:
            if isinstance(part, Says):
                explanations[name] = part
    return explanations


@dataclass(frozen=True)
class FormField:
    """A field of a form, as a front end asks for it.

    Args:
        name: its name.
        kind: its type, without bounds and without ``None``.
        several: whether it is a list of these.
        required: whether it must be given.
        optional: whether it may be ``None``.
        default: its value if it is not given.
        said: its explanation; empty for fields that only programs fill in.
        least: the least that a number may be, if that is useful to people.
        most: the most that it may be.
    """

    name: str
    kind: Any
    several: bool
    required: bool
    optional: bool
    default: Any
    said: Says
    least: float | None
    most: float | None

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.said.label or self.name.replace("_", " ").capitalize()

    @property
    def is_json(self) -> bool:
        """Whether it has parts of its own, which need JSON."""
        return get_origin(self.kind) is dict or (isinstance(self.kind, type) and issubclass(self.kind, BaseModel))

    @property
    def is_id(self) -> bool:
        """Whether it names memories."""
        return self.name in _OF_IDS


_OF_IDS = frozenset({"id", "ids", "keep", "overwrite", "must", "must_not", "memory", "entry_id"})
_LARGEST = 10**12
"""Bounds above it are those of files, and not useful to people."""


def fields(form: type[BaseModel], without: Collection[str] = ()) -> dict[str, FormField]:
    """The fields of a form by name, except those that are never accepted."""
    said, found = says(form), {}
    for name, known in form.model_fields.items():
        kind, several, beside = _plain(known.annotation, known.metadata)
        flat = [inner for part in beside for inner in (part.metadata if isinstance(part, FieldInfo) else (part,))]
        bounds = {
            end: next(
                (at for constraint in flat if (at := getattr(constraint, end, None)) is not None and at <= _LARGEST),
                None,
            )
            for end in ("ge", "le")
        }
        found[name] = FormField(
            name,
            kind,
            several,
            known.is_required(),
            type(None) in get_args(known.annotation),
            known.get_default(call_default_factory=True),
            said.get(name, Says("")),
            bounds["ge"],
            bounds["le"],
        )
    return {name: form_field for name, form_field in found.items() if name not in without}


def _plain(annotation: Any, beside: Any) -> tuple[Any, bool, tuple[Any, ...]]:
    """A field's bare type, whether there are several, and its bounds."""
    several, bounds = False, tuple(beside)
    while True:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            annotation, bounds = arguments[0], (*bounds, *annotation.__metadata__)
        elif origin in (Union, UnionType):
            (annotation,) = (argument for argument in arguments if argument is not type(None))
        elif origin is list:
            annotation, several = arguments[0], True
        else:
            return annotation, several, bounds


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Ids = Annotated[list[Id], Field(max_length=10_000)]
RETENTION = "What is kept: memories likely enough to be asked for (learned), or important enough (importance)."


class Body(BaseModel):
    """What all bodies have in common: an unknown field is refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


class MaterialBody(Body):
    """A file of another program, and how it is read."""

    material: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_FILE * 4 // 3 + 200)],
        Says("A file: its text, or any file as data:;base64,...", filed=True),
    ]
    file_name: Annotated[
        Annotated[str, StringConstraints(max_length=300)], Says("What the file is called, for messages.")
    ] = ""
    form: Annotated[Origin | None, Says("Its form; by default recognised from its contents.")] = None
    take: Annotated[
        list[Take], Says("What to take from it: personality, facts, memories; by default all.", option="--take")
    ] = Field(default_factory=lambda: list(Take))
    columns: Annotated[
        Annotated[dict[str, str], Field(max_length=50)] | None,
        Says('Which name stands for which field, such as {"document": "note"}; the others are guessed.'),
    ] = None
    dates: Annotated[
        Order | None, Says("How dates such as 03/04/2026 are read; by default as the other dates show.")
    ] = None
    now: Annotated[
        AwareDatetime | None, Says("The time for anything without one, with its zone; by default the world's.")
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The arguments for reading and importing."""
        return {name: getattr(self, name) for name in MaterialBody.model_fields}


class WeightsBody(Body):
    """How much each part counts, 0 to 10 each; the agent's own weight where one is left out."""

    recency: Annotated[Number, Field(ge=0, le=10)] | None = None
    importance: Annotated[Number, Field(ge=0, le=10)] | None = None
    relevancy: Annotated[Number, Field(ge=0, le=10)] | None = None


class ScoringBody(Body):
    """Weights, decay and its form, measure, who gets the seats, what passes; the agent's own way where left out."""

    weights: WeightsBody = WeightsBody()
    decay: Annotated[Number, Field(gt=0, lt=1)] | None = None
    decay_form: DecayForm | None = None
    measure: Measure | None = None
    normalise: StrictBool | None = None
    seats: Seats | None = None
    passing: Passing | None = None

    def over(self, own: Scoring) -> Scoring:
        """The agent's own scoring, with what is given here replaced."""
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
        Annotated[Number, Field(ge=0, le=30)] | None,
        Says("The confidence, or score, that a memory has to exceed to be recalled."),
    ] = None
    static_threshold: Annotated[Share | None, Says("The same for static memory.")] = None
    static_share: Annotated[Share | None, Says("The share of the answer that static memory may fill.")] = None
    retention: Annotated[Retention | None, Says(RETENTION)] = None
    retention_threshold: Annotated[
        Share | None, Says("With learned retention, the chance of being asked for that a memory has to exceed.")
    ] = None
    migration_threshold: Annotated[
        Share | None,
        Says("The importance that the overflow has to exceed; given alone, it chooses retention by importance."),
    ] = None
    reflection_trigger: Annotated[
        Annotated[Number, Field(ge=1, le=100_000)] | None,
        Says("The sum of recent ratings at which the agent wants to reflect."),
    ] = None
    scoring: Annotated[
        ScoringBody | None,
        Says('Weights, decay per hour and measure, such as {"weights": {"recency": 0.5}}; the rest stays.'),
    ] = None
    bin_days: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=36_500)] | None,
        Says("Days after which a migration purges what was forgotten; 0 = never."),
    ] = None
    history_changes: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=10**9)] | None,
        Says("How many of the newest changes the history keeps, at least 1,000; 0 = all. Older ones are deleted."),
    ] = None
    history_days: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=36_500)] | None,
        Says("For how many days of real time the history keeps changes; 0 = for ever. Older ones are deleted."),
    ] = None
    query_log: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=100_000)] | None,
        Says("How many of the last queries are kept for replay; 0 = none."),
    ] = None
    token_budget: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=10**12)] | None,
        Says("The most tokens that its calls of a language model may use; 0 = no limit."),
    ] = None
    auto_migrate: Annotated[
        StrictBool | None,
        Says("Whether what overflows short-term memory migrates by itself, as soon as something is added."),
    ] = None
    rated_by: Annotated[
        RatedBy | None,
        Says("Who rates events on arrival: model (they wait), rules or nobody; then the model rates them later."),
    ] = None
    replan: Annotated[
        Replan | None,
        Says("Whether an event rated 8 or more has the rest of a planned day planned again: never, propose or do."),
    ] = None
    person_trigger: Annotated[
        Annotated[Number, Field(ge=0, le=100_000)] | None,
        Says("The sum of ratings about one person at which the agent reflects on them as time passes; 0 = never."),
    ] = None
    ltm_size: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=10_000_000)] | None,
        Says("How many memories long-term memory holds before some become a summary as time passes; 0 = any number."),
    ] = None
    hourly_calls: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=1_000_000)] | None,
        Says(
            "Calls of a language model in a world hour, after which what the agent does by itself waits; 0 = no limit."
        ),
    ] = None
    hourly_tokens: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=10**12)] | None,
        Says("The same in tokens; 0 = no limit."),
    ] = None
    hourly_cost: Annotated[
        Annotated[Number, Field(ge=0, le=10**9)] | None,
        Says("The same in the currency of the prices; 0 = no limit."),
    ] = None
    cost_budget: Annotated[
        Annotated[Number, Field(ge=0, le=10**9)] | None,
        Says("The most that these calls may cost, in the currency of the prices; 0 = no limit."),
    ] = None

    def arguments(self, own: AgentSettings) -> dict[str, Any]:
        """The arguments of ``configure``, given the present settings."""
        named = {
            name: value for name in self.model_fields_set & _SETTINGS if (value := getattr(self, name)) is not None
        }
        return named | ({"scoring": self.scoring.over(own.scoring)} if self.scoring else {})


class EditBody(Body):
    """Fields of a memory to change; those that are not named stay, ``null`` empties."""

    document: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)] | None,
        Says("Its new text.", option="--text", piped=True),
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
        Annotated[list[str], Field(max_length=50)] | None, Says("All its tags, which replace those it has.", "--tag")
    ] = None
    pinned: Annotated[StrictBool | None, Says("Whether it is never forgotten or moved.")] = None
    authored: Annotated[StrictBool | None, Says("Whether a person wrote it.")] = None
    protected: Annotated[StrictBool | None, Says("Whether no operation changes it.")] = None
    source: Annotated[Source | None, Says("How the character came to know of it.", empties=True)] = None
    people: Annotated[
        Annotated[list[str], Field(max_length=MAX_PEOPLE)] | None,
        Says("All whom it is about; if it was told, the teller comes first.", "--person"),
    ] = None
    place: Annotated[Annotated[str, StringConstraints(max_length=MAX_ID)] | None, Says("Where it happened.")] = None
    metadata: Annotated[dict[str, Any] | None, Says('Further fields, such as {"mood": "calm"}.')] = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``edit``, without the further fields of a larger form."""
        return {name: getattr(self, name) for name in self.model_fields_set & _FIELDS}


_SETTINGS, _FIELDS = frozenset(SettingsBody.model_fields), frozenset(EditBody.model_fields)
"""The fields of these forms themselves, not of those derived from them."""


# -- what memory is asked ------------------------------------------------------------------------------------

View = AgentMemory
Cue = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CUE)]
TopK = Annotated[int, Field(strict=True, ge=0, le=MAX_TOP_K)]
Revision = Annotated[int, Field(strict=True, ge=0, le=2**62)]
Words = Annotated[str, StringConstraints(max_length=1000)]
_NOW = Says("The world's time, with its zone; its clock if not given.")


class HappenedBody(Body):
    """Something that happened, and who knows of it; if nobody is named, everyone at the place saw it."""

    text: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)], Says("What happened.", piped=True)
    ]
    at: Annotated[Annotated[str, StringConstraints(max_length=MAX_ID)], Says("Where it happened.")] = ""
    seen_by: Annotated[Annotated[list[Name], Field(max_length=1000)], Says("The characters who saw it.")] = Field(
        default_factory=list
    )
    heard_by: Annotated[Annotated[list[Name], Field(max_length=1000)], Says("The characters who heard it.")] = Field(
        default_factory=list
    )
    told: Annotated[
        Annotated[dict[Name, Words], Field(max_length=1000)],
        Says('The characters who were told of it, each with by whom, such as {"ana": "Tobias Finch"}.'),
    ] = Field(default_factory=dict)
    wait: Annotated[StrictBool | None, Says("Whether it waits for the language model.")] = None
    now: Annotated[AwareDatetime | None, _NOW] = None


class FacetsBody(Body):
    """Which memories may be found at all; a filter that is left empty admits every memory."""

    kinds: Annotated[list[Kind], Field(max_length=100)] = Field(default_factory=list)
    tags: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    min_importance: Share | None = None
    max_importance: Share | None = None
    contains: Words = ""
    without: Ids = Field(default_factory=list)
    sources: Annotated[list[Source], Field(max_length=100)] = Field(default_factory=list)
    people: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)
    places: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)

    def meant(self) -> Facets:
        """As a value of the memory system."""
        lists = {name: tuple(value) for name, value in self if isinstance(value, list)}
        return Facets(**dict(self) | lists)


class MomentBody(Body):
    """A moment of the past: a real time, a revision (with the last access since), or a time of the world."""

    at: AwareDatetime | None = None
    revision: Revision | None = None
    access: Revision | None = None
    world_time: AwareDatetime | None = None

    def view(self, agent: AgentMemory) -> View:
        """The agent as it was then."""
        return agent.as_of(**dict(self))


class Asked(Body):
    """A query; the agent's settings stand for what is not given."""

    cue: Annotated[Cue, Says("What memory is asked.")]
    top_k: Annotated[TopK | None, Says("Most memories to recall; the agent's setting if not given.")] = None
    threshold: Annotated[
        Annotated[Number, Field(ge=0, le=30)] | None,
        Says("The confidence, or score, to exceed; the agent's setting if not given."),
    ] = None
    static_threshold: Annotated[Share | None, Says("The same for static memory.")] = None
    static_share: Annotated[Share | None, Says("The share of the answer that static memory may fill.")] = None
    scoring: Annotated[
        ScoringBody | None, Says('Weights, decay and measure, such as {"weights": {"recency": 0.5}}; the rest stays.')
    ] = None
    facets: Annotated[FacetsBody | None, Says('Which memories may be found, such as {"tags": ["key"]}.')] = None
    requery: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=MAX_REQUERY)],
        Says("How many of the best hits become cues of a second round."),
    ] = 0
    instances: Annotated[
        Annotated[list[Cue], Field(max_length=MAX_INSTANCES)],
        Says("What the cue stands for, asked as well, such as “kayaking” for “hobbies”."),
    ] = Field(default_factory=list)
    expand: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=MAX_INSTANCES)],
        Says("How many instances of the cue the language model is asked for."),
    ] = 0
    addressed: Annotated[
        StrictBool, Says("Whether somebody says the cue to the agent: “you” is then the agent, and “I” is not.")
    ] = False
    now: Annotated[AwareDatetime | None, _NOW] = None
    as_of: Annotated[MomentBody | None, Says('Ask the agent as it was, such as {"revision": 7}.')] = None

    def view(self, agent: AgentMemory) -> View:
        """The agent to ask: as it is now, or as it was."""
        return agent if self.as_of is None else self.as_of.view(agent)

    def arguments(self, own: AgentSettings) -> dict[str, Any]:
        """The arguments of ``query_memory`` and ``explain``, given the agent's own settings."""
        return {
            "prompt": self.cue,
            "top_k": self.top_k,
            "threshold": self.threshold,
            "now": self.now,
            "static_threshold": self.static_threshold,
            "static_share": self.static_share,
            "scoring": self.scoring and self.scoring.over(own.scoring),
            "facets": self.facets and self.facets.meant(),
            "requery": self.requery,
            "instances": self.instances,
            "expand": self.expand,
            "addressed": self.addressed,
        }

    def query(self, view: View) -> Query:
        """The complete query."""
        values = self.arguments(view.settings)
        return view.query(values.pop("prompt"), **values)


class QueryBody(Asked):
    """A query; with ``touch`` what is recalled counts as accessed now."""

    touch: Annotated[StrictBool, Says("Recalled memories count as accessed now.")] = True


class ExplainBody(Asked):
    """A query that touches nothing; ``limit`` is how many candidates are listed beside the recalled ones."""

    limit: Annotated[
        Annotated[int, Field(strict=True, ge=0, le=100_000)],
        Says("How many memories that were not recalled to include."),
    ] = 100


class WaysBody(Asked):
    """A query, and the memory that it is to recall."""

    id: Annotated[Id, Says("The memory that should be recalled.")]


class ForecastBody(Asked):
    """A query, and how many days to look ahead."""

    days: Annotated[Annotated[Number, Field(ge=1 / 1440, le=36_525)], Says("How many days to look ahead.")] = 365


class PrecisionBody(Body):
    """A cue, and the presets to try, ``settings`` for the agent's own; all of them if not given."""

    cue: Annotated[Cue, Says("What memory is asked.")]
    presets: Annotated[
        Annotated[list[Words], Field(max_length=20)] | None, Says("The presets to try; all if not given.", "--preset")
    ] = None
    top_k: Annotated[TopK | None, Says("Most memories to recall.")] = None
    now: Annotated[AwareDatetime | None, _NOW] = None


class VersusBody(Body):
    """Two presets, ``settings`` for the agent's own."""

    first: Annotated[Words, Says("A preset, or 'settings' for the agent's own.")]
    second: Annotated[Words, Says("Another one.")]
    conversation: Annotated[Id | None, Says("Only the lines of this talk count, asked as it asks memory.")] = None
    cues: Annotated[
        Annotated[list[Cue], Field(max_length=MAX_JUDGED)] | None,
        Says("Only these count; all that were judged if not given.", "--cue"),
    ] = None
    without: Annotated[Ids | None, Says("Memories to leave out, just this once.", "--without")] = None
    top_k: Annotated[TopK | None, Says("Most memories to recall.")] = None
    now: Annotated[AwareDatetime | None, _NOW] = None


class NarrateBody(Body):
    """What the narrative answers, and the ids of the memories to tell, the best first; recalled if not given."""

    cue: Annotated[Cue, Says("What the narrative answers.")]
    ids: Annotated[
        Annotated[list[Id], Field(max_length=200)] | None, Says("The memories to tell; recalled if not given.", "--id")
    ] = None


class SearchBody(Body):
    """What a model's call of the tool ``memory_search`` says; the agent's settings stand for what is not given."""

    query: Annotated[Cue, Says("The question, in a sentence or a few words.")]
    form: Annotated[
        Literal["extractive", "summarising"], Says("Passages word for word, or one text with its sources.")
    ] = "extractive"
    top_k: Annotated[Annotated[int, Field(strict=True, ge=1, le=50)] | None, Says("Most memories to answer from.")] = (
        None
    )
    within: Annotated[
        Annotated[list[Literal["life", "conversations", "documents"]], Field(min_length=1, max_length=3)] | None,
        Says("Where to search; everywhere if not given."),
    ] = None
    touch: Annotated[StrictBool, Says("Memories that are found count as accessed now.")] = False
