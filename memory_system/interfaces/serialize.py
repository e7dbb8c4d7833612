"""The one JSON of each value: what the API returns and describes, its client reads, the shell prints and MCP returns.

A value is declared once, as a frozen dataclass. Its JSON is a pydantic model made from the dataclass's fields, and
from what ``_json`` says here about those that are renamed, left out or computed. Stored values have a codec of their
own, with versions.

    plain(entry)                        # {"id": "mira-0327-13", "document": "...", ...}
    read(MemoryEntry, plain(entry))     # the same entry
    model(MemoryEntry)                  # the pydantic model, for a description
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import orjson
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    TypeAdapter,
    WithJsonSchema,
    create_model,
)

from ..agent import AgentMemory
from ..agent_parts.cues import CueResult
from ..agent_parts.rating import Rerated
from ..agent_parts.replay import Difference, Relived
from ..conversation import Action, Step
from ..conversation.context import Context
from ..conversation.duet import Said
from ..conversation.functions import Page
from ..conversation.replaying import Replay
from ..conversation.talk import Talk
from ..conversation.tool import Found
from ..core.change_set import Change, ChangeSet, Kept, ModelCall, TextChange
from ..core.dismissed import Dismissed
from ..core.entry import MemoryEntry, Scalar
from ..core.known import Fact, Group, Label
from ..core.scoring import Score, Scoring, Weights
from ..core.settings import AgentSettings
from ..llm.prices import Price
from ..llm.usage import Spent
from ..maintenance.worlds import Saved
from ..maintenance.worlds_compared import CharacterDiffers, MemoryDiffers, TextDiffers, WorldsCompared
from ..operations import Clash, Kin, Lineage, Reembedded
from ..operations.day import Intended, PlanNow
from ..operations.duplicates.suspicions import Look, Sort, Suspicion
from ..operations.importing.events import Added, Outcome
from ..operations.importing.taking_in import Imported
from ..operations.narrative import Dropped, Narrative, Sentence
from ..recall.cues import Judgment, SavedCue
from ..recall.forecast import Forecast
from ..recall.query import Facets, Query
from ..recall.rank import Recall
from ..recall.verdicts import Candidate
from ..recall.why import Lever, Way
from ..store.journal.history import Applied
from ..store.journal.trash import Forgotten
from ..store.query_log import LoggedHit, LoggedQuery
from ..store.rehearsal import Rehearsal
from ..store.slot import Branched
from ..store.staleness import Alteration, Stale, Trace
from ..world.advancing import Advanced
from ..world.branches.diff import Apart, MemoryApart, TextApart
from ..world.cast import Answer, Beside, Bond, Chart, Cluster, Point, Recollection, Whereabouts
from ..world.due import Step as DueStep
from ..world.folders import Binned
from ..world.happening import Happened, Known
from ..world.inbox import Decision, Inbox
from ..world.knows import Cell, Knower, Spread, StoryTest, Telling, TestResult
from ..world.places import Located
from ..world.rerating import Rerating
from ..world.together import ShareOf, Together
from ..world.trail import Hop

Json = dict[str, Any]
T = TypeVar("T")
Time = Annotated[
    datetime,
    PlainSerializer(datetime.isoformat, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
"""A time, written with the offset of its zone."""
Share = Annotated[float, Field(ge=0, le=1)]


class Value(BaseModel):
    """The JSON of a value: made from the value's attributes, or from their written form."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)
    fields_of: ClassVar[Mapping[str, str]] = {}
    """The arguments of ``back``, by their names in JSON."""
    back: ClassVar[Callable[..., Any]]

    def unwritten(self) -> Any:
        """The value that this is the JSON of."""
        return type(self).back(**{of: _unwritten(getattr(self, name)) for name, of in self.fields_of.items()})


def _unwritten(part: Any) -> Any:
    if isinstance(part, Value):
        return part.unwritten()
    if isinstance(part, list | tuple):
        return tuple(map(_unwritten, part))
    return {key: _unwritten(value) for key, value in part.items()} if isinstance(part, dict) else part


@dataclass(frozen=True)
class _Declared:
    """How a dataclass is written as JSON.

    Args:
        kind: the dataclass.
        name: the name of its form in the description of the API.
        about: what it is.
        leave: fields that JSON leaves out.
        names: the names of fields in JSON, if they differ; ``entry_id`` is always ``id``.
        taken: the attribute that something comes from, by its name in JSON, if it differs; a dot leads on to
            an attribute of the attribute.
        changed: how an attribute is converted for JSON, by its name in JSON.
        back: makes the value from everything in JSON; ``None`` if the dataclass's fields are enough.
        more: further values, or fields of another type, by their names in JSON.
    """

    kind: type
    name: str
    about: str
    leave: Collection[str]
    names: Mapping[str, str]
    taken: Mapping[str, str]
    changed: Mapping[str, Callable[[Any], Any]]
    back: Callable[..., Any] | None
    more: Mapping[str, Any]

    @property
    def fields_of(self) -> dict[str, str]:
        """The field of the dataclass for each name in JSON."""
        return {
            self.names.get(field.name, "id" if field.name == "entry_id" else field.name): field.name
            for field in dataclasses.fields(self.kind)
            if field.name not in self.leave
        }

    def made(self) -> type[Value]:
        """Its model."""
        hints = get_type_hints(self.kind, include_extras=True)
        fields_of = self.fields_of
        forms = {name: hints[of] for name, of in fields_of.items()} | dict(self.more)
        choices: dict[str, tuple[str | AliasPath, str]] = {
            name: (name, of) for name, of in fields_of.items() if name != of
        }
        choices |= {name: (AliasPath(*of.split(".")) if "." in of else of, name) for name, of in self.taken.items()}
        fields: dict[str, Any] = {
            name: (
                form_of(form),
                Field(
                    validation_alias=AliasChoices(*choices[name]) if name in choices else None,
                    **self._default(name, fields_of),
                ),
            )
            for name, form in forms.items()
        }
        made = create_model(self.name, __base__=Value, __doc__=self.about, **fields)
        made.back = staticmethod(self.back or self.kind)
        worked_out = {name: name for name in forms if name not in {*fields_of, *fields_of.values()}}
        made.fields_of = fields_of | worked_out if self.back else fields_of
        return made

    def writer(self, kind: type) -> Callable[[Any], Json]:
        """The function that turns a value of this kind, or of a subclass, into its JSON by name, without validation."""
        fields_of, known = self.fields_of, {field.name for field in dataclasses.fields(kind)}

        def has(name: str) -> bool:
            return name in known or hasattr(kind, name)

        names = dict.fromkeys([*fields_of, *self.more])
        absent = {name: None for name in names if name in _OPTIONAL and not has(name)}
        present = [name for name in names if name not in absent]
        attributes: Callable[[Any], Any] = attrgetter(
            *(self.taken.get(name) or (name if has(name) else fields_of[name]) for name in present)
        )
        if self.changed:
            return lambda value: {
                name: self.changed[name](part) if name in self.changed else part
                for name, part in zip(present, attributes(value), strict=True)
            }
        if absent:
            return lambda value: dict(zip(present, attributes(value), strict=True)) | absent
        if len(present) == 1:
            return lambda value: {present[0]: attributes(value)}
        return lambda value: dict(zip(present, attributes(value), strict=True))

    def _default(self, name: str, fields_of: Mapping[str, str]) -> Json:
        """The default for a field that an older server does not send, if the value itself has one."""
        if name in _OPTIONAL:
            return {"default": None}
        of = next((field for field in dataclasses.fields(self.kind) if field.name == fields_of.get(name)), None)
        if of is None or (of.default is dataclasses.MISSING and of.default_factory is dataclasses.MISSING):
            return {}
        made = of.default_factory
        return {"default_factory": made if made is not dataclasses.MISSING else partial(_same, of.default)}


def _same(default: Any) -> Any:
    return default


_DECLARED: dict[type, _Declared] = {}
_OPTIONAL = frozenset({"expires_in", "interview"})
"""What only the server knows about a pending plan and an interview in progress."""


@cache
def model(kind: type) -> type[Value]:
    """The JSON of a kind of value, as a pydantic model."""
    return _DECLARED[kind].made()


def described(kind: type) -> Any:
    """The reference to the form of a kind of value, in a description of an API."""
    return model(kind) if kind in _DECLARED else kind


def form_of(hint: Any) -> Any:
    """The JSON form of a type: lists for tuples, and its own JSON for each value that is declared here."""
    origin, arguments = get_origin(hint), get_args(hint)
    if isinstance(hint, Shape):
        return hint.model
    if isinstance(hint, tuple):  # several of a shape
        return list[form_of(hint[0])]  # type: ignore[misc]
    if hint is datetime:
        return Time
    if isinstance(hint, type) and hint in _DECLARED:
        return model(hint)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple[tuple(map(form_of, arguments))]  # type: ignore[misc]
    if origin in (tuple, list, Sequence):
        return list[form_of(arguments[0])]  # type: ignore[misc]
    if origin in (Mapping, dict):
        return dict[arguments[0], form_of(arguments[1])]  # type: ignore[misc,valid-type]
    if origin in (Union, UnionType):
        return Union[tuple(map(form_of, arguments))]  # noqa: UP007 - it is known at run time alone
    return hint


@dataclass(frozen=True)
class Shape:
    """An answer that is composed of values, such as a page of a list.

    Args:
        name: the name of its form in the description of the API.
        about: what it is.
        fields: its content, by name; a value's type means the value's JSON.
    """

    name: str
    about: str
    fields: Mapping[str, Any]

    @cached_property
    def model(self) -> type[BaseModel]:
        """Its form."""
        fields: dict[str, Any] = {name: (form_of(form), ...) for name, form in self.fields.items()}
        return create_model(self.name, __base__=Value, __doc__=self.about, **fields)

    def dumped(self, **told: Any) -> bytes:
        """The JSON of these values."""
        return dumped({name: told[name] for name in self.fields})


def items(name: str, about: str, kind: Any, **more: Any) -> Shape:
    """A list of values, with further fields."""
    return Shape(name, about, {"items": (kind,), **more})


def pages(name: str, about: str, kind: Any, **more: Any) -> Shape:
    """A page of a list; ``next`` is the cursor of the next page, ``null`` at the end."""
    return items(name, about, kind, **more, next=str | None)


@cache
def _reader(kind: Any) -> type[Value] | TypeAdapter[Any]:
    """The reader of a kind of value; for a subclass, that of the nearest class that is declared here."""
    known = _declared(kind)
    return model(known.kind) if known else TypeAdapter(kind)


def _declared(kind: type) -> _Declared | None:
    return next((_DECLARED[base] for base in kind.__mro__ if base in _DECLARED), None)


@cache
def _writer(kind: type) -> Callable[[Any], Any]:
    """The function that turns a value of this type into what orjson can write.

    Raises:
        TypeError: it has no JSON.
    """
    if known := _declared(kind):
        return known.writer(kind)
    if issubclass(kind, datetime):
        return cast("Callable[[Any], Any]", kind.isoformat)
    if issubclass(kind, BaseModel):
        return lambda value: value.model_dump(mode="json")
    if dataclasses.is_dataclass(kind):
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        return lambda value: adapter.dump_python(value, mode="json")
    for form, known_forms in ((dict, Mapping), (list, Iterable)):
        if issubclass(kind, known_forms):
            return form
    raise TypeError(f"{kind.__name__} has no JSON.")


def _json_value(value: Any) -> Any:
    return _writer(cast("Any", type(value)))(value)


_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_SERIALIZE_NUMPY


def dumped(value: Any) -> bytes:
    """A value as JSON in UTF-8, on one line; a number that is not finite is ``null``.

    Raises:
        TypeError: something in it has no JSON.
    """
    return orjson.dumps(value, _json_value, _OPTIONS)


def plain(value: Any) -> Any:
    """A value in JSON types: texts, numbers, lists and mappings."""
    return orjson.loads(dumped(value))


def read(kind: type[T], written: Any) -> T:
    """The value from its JSON."""
    reader = _reader(cast("Any", kind))
    if isinstance(reader, TypeAdapter):
        return cast("T", reader.validate_python(written))
    return cast("T", reader.model_validate(written).unwritten())


def _json(
    kind: type,
    name: str,
    about: str,
    /,
    leave: Collection[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
    taken: Mapping[str, str] = MappingProxyType({}),
    changed: Mapping[str, Callable[[Any], Any]] = MappingProxyType({}),
    back: Callable[..., Any] | None = None,
    **more: Any,
) -> None:
    _DECLARED[kind] = _Declared(kind, name, about, leave, names, taken, changed, back, more)


# -- what is lost on the way: what the server keeps to itself ------------------------------------------------


@dataclass(frozen=True)
class RemoteChangeSet(ChangeSet):
    """A change set of the server. One that was previewed waits there under ``preview``; ``shown`` are its memories."""

    preview: str = ""
    shown: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """The ids that were shown but are not to be changed."""
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
        """The recalled candidates, in the order of the answer."""
        return tuple(candidate for candidate in self.candidates if candidate.recalled)


@dataclass(frozen=True)
class RemoteClash(Clash):
    """Where an undo would overwrite later work: its ``key``, whether it is ``purged``, and in words what happened."""

    words: str = ""

    def __str__(self) -> str:
        return self.words


def _change_set(expires_in: float | None = None, **fields: Any) -> RemoteChangeSet:
    plan = RemoteChangeSet(**fields)
    if expires_in is None:
        return plan
    return dataclasses.replace(plan, preview=plan.id, shown=tuple(change.entry_id for change in plan.changes))


def _score(relevancy: float | None, sub_parts: Mapping[str, float | None], **fields: Any) -> Score:
    """A score; NaN if it could not be computed."""
    counted = {name: fields[name] for name in ("recency", "importance", "weights", "confidence")}
    made_of = {name: math.nan if value is None else value for name, value in sub_parts.items()}
    return Score(math.nan if relevancy is None else relevancy, sub_parts=made_of, **counted)


def _cue_result(name: str, cue: str, must: Any, must_not: Any, **fields: Any) -> CueResult:
    del fields["passed"]
    return CueResult(SavedCue(name, cue, must, must_not), **fields)


def _logged(cue: str, now: datetime, **fields: Any) -> LoggedQuery:  # noqa: ARG001 - the query has them, too
    return LoggedQuery(**fields)


def _way(lever: str, value: Any, query: Query, **fields: Any) -> Way:
    return Way(Lever(lever), query.facets if value is None else value, query=query, **fields)


# -- memories and changes ------------------------------------------------------------------------------------

_json(
    MemoryEntry,
    "Entry",
    "One memory. ``importance`` is rating / 10; ``metadata`` are the caller's own values.",
    taken={"metadata": "extras"},
    metadata=dict[str, Scalar],
    importance=float | None,
)
_json(
    Change,
    "ChangeTold",
    "What happens to one memory, and why; no ``before`` = it is added, no ``after`` = it leaves recall.",
    taken={"id": "entry_id"},
    id=str,
    verb=str,
)
_json(TextChange, "TextTold", "What happens to a text other than a memory, such as the settings.")
_json(Kept, "KeptTold", "A memory that was looked at and left where it is, and why.")
_json(ModelCall, "CallTold", "A call of a language model.")
_json(
    ChangeSet,
    "ChangeSetTold",
    "What was changed, or would be: ``revision`` is ``null`` until it has been applied.\n\n"
    "With ``preview=true`` it waits under its ``id`` for ``expires_in`` seconds, to be applied.",
    back=_change_set,
    expires_in=float | None,
)
_json(
    Outcome, "OutcomeTold", "What became of an event: ``added``, ``overwritten`` or ``skipped``; whether it is rated."
)
_json(Imported, "ImportedTold", "What was taken in as one change set, and what became of each line.")
_json(
    Added,
    "AddedTold",
    "What became of each event, in their order; ``unrated`` are the ids of what is to be rated later.",
    unrated=list[str],
)
_json(
    Applied,
    "AppliedTold",
    "A change set as the history tells it: when it was really applied, and by which revision it stands undone.",
)
_json(
    Clash,
    "ClashTold",
    "Where an undo would overwrite later work: ``key`` goes into ``keep`` or ``overwrite``.",
    leave=("was", "now", "would_be", "later"),
    back=lambda key, purged, sentence: RemoteClash(key, None, None, None, purged=purged, words=sentence),
    sentence=str,
)
_json(Forgotten, "ForgottenTold", "A memory that is gone and can be restored, and how that came.")
_json(Kin, "KinTold", "A memory's relative: ``level`` steps below it (evidence, negative) or above it.")
_json(
    Lineage,
    "LineageTold",
    "What a memory rests on and what rests on it; a link is a pair of ids.",
    links=list[list[str]],
)
_json(Trace, "TraceTold", "A change to a memory, as the history tells it.")
_json(
    Alteration,
    "AlterationTold",
    "What a stale memory rests on, as it was then and as it is, and by what; no ``after`` = it was deleted.",
)
_json(Stale, "StaleTold", "A memory that rests on what has changed since a revision.")
_json(
    Suspicion,
    "SuspicionTold",
    "Memories that may be duplicates, or contradict each other, and why.",
    back=lambda sort, ids, **fields: Suspicion(Sort(sort), **fields),  # noqa: ARG005 - its memories have them
    sort=str,
    ids=list[str],
)
_json(
    Look,
    "Suspicions",
    "The suspicions, how many pairs were compared, and how many are left out because a person dismissed them.",
    leave=("calls", "related"),
    names={"suspicions": "items"},
)
_json(Dismissed, "DismissedTold", "A suspicion that a person dismissed: the fingerprints of the two texts.")

_json(
    Intended,
    "IntendedTold",
    "Something intended today, HH:MM; ``memory`` holds it (``null``: the routine), and ``seen`` tell of it.",
    names={"entry_id": "memory"},
)
_json(PlanNow, "PlanNowTold", "How a day stands beside its plan, or (``by``) beside the routine where it has none.")

# -- what memory is asked, and what it answers ---------------------------------------------------------------

_json(Weights, "Weighed", "How much each part of a score counts.")
_json(Scoring, "ScoringTold", "A way of scoring.", measure=str)
_json(
    AgentSettings,
    "SettingsTold",
    "The agent's own settings.",
    static_threshold=Share,
    static_share=Share,
    retention=str,
    retention_threshold=Share,
    migration_threshold=Share,
)
_json(Facets, "FacetsTold", "Which memories could be found.")
_json(Query, "QueryTold", "What was asked, complete.")
_json(
    Score,
    "ScoreTold",
    "A score: ``parts`` are weighted and add up to ``total``; all are ``null`` where there is no vector.",
    back=_score,
    total=float | None,
    relevancy=float | None,
    parts=dict[str, float | None],
    sub_parts=dict[str, float | None],
)
_json(Candidate, "CandidateTold", "A memory beside its score, its rank within its tier, and its verdict, in words too.")
_json(
    Recall,
    "Recalled",
    "The answer to a query; ``context`` can be put into a prompt.\n\n"
    "``nearest`` is what came nearest where nothing passed a threshold, and says by how much it missed.",
    names={"candidates": "hits"},
    context=str,
)
_json(
    CueResult,
    "CueTold",
    "A saved cue, and what became of it when it was asked now.",
    leave=("saved",),
    back=_cue_result,
    taken={name: f"saved.{name}" for name in ("name", "cue", "must", "must_not")},
    name=str,
    cue=str,
    must=list[str],
    must_not=list[str],
    passed=bool,
)
_json(Judgment, "JudgmentTold", "A cue, with the memories that were called right and wrong answers to it.")
_json(Sentence, "SentenceTold", "A sentence of a narrative, and the ids of the memories it rests on.")
_json(
    Dropped,
    "DroppedTold",
    "A sentence of the model's that is left out, since it rests on nothing or says more than its memories.",
)
_json(
    Narrative,
    "NarrativeTold",
    "What memories tell, sentence by sentence, and by which model; ``left_out`` are ids that found no room.",
    leave=("call",),
)
_json(LoggedHit, "LoggedHitTold", "A memory of a logged answer: its tier, its rank in it, and its score.")
_json(
    LoggedQuery,
    "LoggedTold",
    "A query of the log: what was asked, when, by whom, and the ids of what was recalled.\n\n"
    "``query`` is complete; ``given`` are the parameters that the caller named. ``answer`` has at most 200 memories.",
    names={"hits": "answer"},
    taken={"cue": "query.cue", "now": "query.now"},
    changed={"hits": lambda hits: [hit.entry_id for hit in hits]},
    back=_logged,
    cue=str,
    now=datetime,
    hits=list[str],
)
_json(
    Difference,
    "DifferenceTold",
    "A memory that entered, left or moved between two answers, and why; places count from 1.",
)
_json(
    Relived,
    "RelivedTold",
    "A logged query as it was answered then, and as it would be answered now; why they differ, in sentences.",
    then=Recall,
    now=Recall,
)
_json(
    Way,
    "WayTold",
    "One change that would recall a memory, and the query with it; a smaller ``size`` is a smaller change.\n\n"
    "``value`` is a number or a time, and ``null`` where it is the facets that change.",
    leave=("what_if",),
    changed={"value": lambda value: None if isinstance(value, Facets) else value},
    back=_way,
    lever=str,
    value=float | Time | None,
)
_json(Forecast, "ForecastTold", "When a memory falls out of an answer; ``null`` = not within the horizon.")

# -- talks ---------------------------------------------------------------------------------------------------

_json(
    Talk,
    "TalkTold",
    "A conversation as it stands; ``queue`` are the messages that its strategy shows, if they were asked for.",
)
_json(
    Action,
    "ActionTold",
    "What an agent can do in a game while it talks; who offers it carries it out.",
    leave=("do",),
)
_json(
    Context,
    "ContextTold",
    "A prompt, section by section; ``tokens`` never exceed the ``budget``.",
    tokens=int,
)
_json(
    Step,
    "StepTold",
    "What came of a message; ``problem`` says why there is no ``answer``, and the message is stored all the same.\n\n"
    "Where it is ``pending``, carry the calls out and hand in their results; nothing is stored before.\n\n"
    "``change_set`` is ``null`` for an interview, which goes on under the id ``interview`` for a while, and where a "
    "step was replayed.",
    interview=str | None,
)
_json(Replay, "ReplayTold", "A step replayed without the model, and where the result differs from what is stored.")
_json(Said, "SaidTold", "One thing that was said in a talk of several, and the step by which the speaker came to it.")
_json(
    Found,
    "Searched",
    "What a search of memory found; ``text`` is the answer as a model reads it.",
    leave=("hits",),
    form=str,
    text=str,
    sources=list[str],
)
_json(
    Page,
    "FoundPage",
    "One page of what was found: ``number`` from 0, ``total`` over all pages, ``size`` of a full one.",
)

# -- agents and their world ----------------------------------------------------------------------------------

_json(
    Known,
    "KnownTold",
    "What one of those who know of it remembers: how it came to know, who told it, and what became of its memory.",
)
_json(Happened, "HappenedTold", "Something that happened, and what each of those who know of it remembers.")
_json(ShareOf, "ShareTold", "What becomes of one of several agents, and its change set; ``null`` if it is left alone.")
_json(Together, "TogetherTold", "What is done to several agents in one go, or would be, and what was found.")
_json(Fact, "FactTold", "A fact that everybody knows, or a group; ``known_from`` and ``known_until`` say when.")
_json(Label, "LabelTold", "What a person said of a character and a fact, and the memory that shows it.")
_json(Cell, "CellTold", "How a character stands to a fact, by which memory, since when, how it came; who judged.")
_json(Knower, "KnowerTold", "A character who has something of a fact, by the first memory that says as much.")
_json(
    Telling,
    "TellingTold",
    "That somebody told a fact to a character; ``outside``: the teller is not a character of this world.",
)
_json(Spread, "SpreadTold", "How a fact spread: who has it, the first before all others, who told whom, who has not.")
_json(Recollection, "RecollectionTold", "A memory that a cue recalls; ``shared`` is the other's of the same, if any.")
_json(Answer, "AnswerTold", "What one of two characters recalls, the best first.")
_json(Beside, "BesideTold", "Two characters and one cue: what each recalls, in the order in which they were named.")
_json(Bond, "BondTold", "What a character holds of a person; ``to`` is the character that they are, if there is one.")
_json(Whereabouts, "WhereaboutsTold", "Where a character is, and what tells it: a memory, its plan or its routine.")
_json(Point, "PointTold", "A memory on the map, -1 to 1 from left to right and from bottom to top.")
_json(Cluster, "ClusterTold", "Memories that are near each other, and the words that tell them from the others.")
_json(Chart, "ChartTold", "A map of memories; ``kept`` is the share of all differences that it shows.")
_json(StoryTest, "StoryTestTold", "What must be true of a story: ``by`` is a time, or a day counted from its first.")
_json(TestResult, "TestResultTold", "What became of a test; ``cell`` and ``chain`` lead to the memory that leaked.")
_json(Group, "GroupTold", "A group, and the characters who are in it.")
_json(Located, "PlaceTold", "A place, and the one that it lies in; empty where no personality says so.")
_json(Hop, "HopTold", "One of those through whom something came: what they remember of it, and who told it to them.")
_json(Rehearsal, "RehearsalTold", "An agent that was branched from another, to be played with.")
_json(
    MemoryApart,
    "ApartTold",
    "A memory that differs in a rehearsal; ``clash``: the original has changed it too.",
    leave=("steps", "meanwhile"),
    back=lambda **fields: MemoryApart(**fields, steps=(), meanwhile=()),
)
_json(TextApart, "TextApartTold", "A text that differs in a rehearsal.", clash=bool)
_json(Apart, "Comparison", "All in which a rehearsal differs from its original, which has ``moved_on`` changes since.")
_json(Saved, "SavedTold", "A world, as its files tell it; ``served`` says whether it is the one in use.")
_json(Branched, "BranchedTold", "Of which world another is a branch, since when, and how far its agents were then.")
_json(MemoryDiffers, "MemoryDiffersTold", "A memory that differs between two worlds; ``null`` where it is missing.")
_json(TextDiffers, "TextDiffersTold", "A text that differs between two worlds: what, on the left, on the right.")
_json(CharacterDiffers, "CharacterDiffersTold", "What differs between two worlds in an agent that is in both.")
_json(WorldsCompared, "WorldsComparedTold", "Two worlds, beside each other.")
_json(
    Binned,
    "BinnedTold",
    "An agent in the world's bin.",
    leave=("folder",),
    back=lambda **fields: Binned(**fields, folder=Path()),
)
_json(
    Rerated,
    "RatedTold",
    "Ids that have a rating now, ids that got none, how many are left, and why it stopped, if it did.",
    leave=("problem",),
)
_json(Spent, "SpentLine", "What calls took: tokens sent (``prompt``) and received (``answer``), and their cost.")
_json(Price, "PriceTold", "What a million tokens cost.")
_json(
    DueStep,
    "DueStep",
    "Something a character does by itself: ``what``, as the history calls it, when and why; its change set's title and "
    "``revision`` once it is done, and what it ``waits`` for, if for anything. ``of`` is the id of a talk.",
)
_json(
    Advanced,
    "Advanced",
    "The world's time afterwards, the steps that were or would be done in order, those that wait, and whether it was "
    "stopped before its end.",
)
_json(
    Decision,
    "DecisionTold",
    "What asks for a decision: of which kind, which one of it (``of``), about which memories, why, and since when; "
    "``mark`` is the same for as long as nothing about it changes. ``until`` is when it asks again, if it was put off "
    "until a time.",
    kind=str,
)
_json(
    Inbox,
    "Inbox",
    "What asks a person for a decision at a time of the world, and what does and was put off.",
    names={"decisions": "items"},
)
_json(Rerating, "ReratingTold", "How the work in the background stands, as ``memory_system.world.rerating.Rerating``.")
_json(
    Reembedded,
    "ReembeddedTold",
    "The result of re-embedding: texts embedded, texts still waiting, and whether the store was rewritten.",
)


def read_explanation(written: Mapping[str, Any]) -> RemoteExplanation:
    """The answer that ``explained`` wrote, with every candidate in it."""
    answer = read(Recall, written)
    others = tuple(read(Candidate, candidate) for candidate in written["candidates"])
    return RemoteExplanation(**vars(answer) | {"candidates": (*answer.candidates, *others)})


def stats(agent: AgentMemory) -> Json:
    """Counts, and the model and embedder in use."""
    more = {"display_name": agent.display_name, "read_only": agent.read_only, "messages": list(agent.messages)}
    return agent.get_stats() | more


def head(plan: ChangeSet) -> Json:
    """A change set without what it changes."""
    fields: Json = plain(dataclasses.replace(plan, changes=(), texts=(), kept=(), calls=(), purges=()))
    return {name: value for name, value in fields.items() if name not in _CHANGED}


def waiting(plan: ChangeSet, expires_in: float) -> Json:
    """A change set that waits to be applied."""
    fields: Json = plain(plan)
    return fields | {"expires_in": expires_in}


_CHANGED = frozenset({"changes", "texts", "kept", "calls", "purges", "expires_in"})
