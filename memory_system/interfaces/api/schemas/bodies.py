"""The bodies of requests. Only their form is defined here; ranges are checked again where they are used."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, JsonValue, StrictBool, StringConstraints

from ....conversation import MAX_ACTIONS, MOST_IN_A_GROUP, Action, TalkSettings
from ....conversation.actions import MAX_DESCRIPTION
from ....conversation.conversation import MOST_OTHERS
from ....conversation.talk import MAX_TEMPLATE, Remember, Strategy
from ....core.entry import MAX_DOCUMENT, Kind
from ....core.kinds import MAX_ID, MAX_PEOPLE, Source
from ....errors import InvalidEntry
from ....llm.prompts import MOST as MOST_OF_A_PROMPT
from ....operations.importing.events import columns
from ....store.clock import SPEEDS
from ...forms import Body, Id, Ids, Name, Number, Share, Words


class Event(Body):
    """One event. Without a time, it happened now; without a rating, it is rated on arrival.

    A time without a zone is in the world's. ``importance_score`` is rating / 10, 0.1 to 1.0, or, if one in the
    request is above 1, the rating. The ``notes`` of the change set say what was read like this.
    """

    document: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
    id: Id | None = None
    kind: Kind = Kind.OBSERVATION
    timestamp: datetime | None = None
    importance_score: Annotated[Number, Field(ge=0.1, le=10)] | None = None
    rating: Annotated[Number, Field(ge=1, le=10)] | None = None
    explanation: Annotated[str, StringConstraints(max_length=4000)] = ""
    tags: Annotated[list[str], Field(max_length=50)] = Field(default_factory=list)
    pinned: StrictBool = False
    authored: StrictBool = False
    protected: StrictBool = False
    evidence: Ids = Field(default_factory=list)
    source: Source | None = None
    people: Annotated[list[str], Field(max_length=MAX_PEOPLE)] = Field(default_factory=list)
    place: Annotated[str, StringConstraints(max_length=MAX_ID)] = ""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def has_rating(self) -> bool:
        """Whether it comes with a rating."""
        return self.rating is not None or self.importance_score is not None or _RATED & self.metadata.keys() != set()

    def entry_fields(self) -> dict[str, Any]:
        """The event as ``add_short_term`` accepts it."""
        return self.model_dump(exclude_defaults=True) | {"document": self.document}


_RATED = {"rating", "importance_score"}


class EventsBody(Body):
    """One event or several, taken as a whole or not at all: as ``events``, or as columns of equal length."""

    events: Annotated[list[Event], Field(max_length=10_000)] | None = None
    documents: Annotated[list[str], Field(max_length=10_000)] | None = None
    metadatas: Annotated[list[dict[str, Any] | None], Field(max_length=10_000)] | None = None
    ids: Annotated[list[Id | None], Field(max_length=10_000)] | None = None
    overwrite_existing: StrictBool = True
    rate: StrictBool = True
    wait: StrictBool | None = None
    now: datetime | None = None

    def rated(self) -> Iterator[bool]:
        """For each event, whether it comes with a rating."""
        for event in self.events or ():
            yield event.has_rating
        for row in range(len(self.documents or ())):
            metadata = self.metadatas[row] if self.metadatas and row < len(self.metadatas) else None
            yield bool(metadata and _RATED & metadata.keys())

    def rows(self) -> list[dict[str, Any]]:
        """The events as ``add_short_term`` accepts them.

        Raises:
            InvalidEntry: they are in both forms, in neither, or in columns that do not fit together.
        """
        apart = {
            name: column for name in ("documents", "metadatas", "ids") if (column := getattr(self, name)) is not None
        }
        if (self.events is None) == (not apart):
            raise InvalidEntry("Events come as 'events', or as 'documents' with 'metadatas' and 'ids'.")
        if self.events is not None:
            return [event.entry_fields() for event in self.events]
        if "documents" not in apart:
            raise InvalidEntry("'metadatas' and 'ids' belong to 'documents', which are not there.")
        return columns(apart, "the body")


class NewAgent(Body):
    """A new agent; its personality is an object, or JSON text of it, or its name alone.

    What happened to it before becomes part of its first change set.
    """

    name: Name
    personality: Annotated[str, StringConstraints(max_length=1_000_000)] | dict[str, JsonValue] | None = None
    events: Annotated[list[Event], Field(max_length=10_000)] = Field(default_factory=list)


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


class WorldBody(Body):
    """What to change of the world; ``standing: null`` lets its clock follow the real time.

    ``speed`` is how many of its seconds pass in a real one, from now on; 0 stops it. ``lives`` says whether
    the characters do by themselves what is due. ``zone`` is a time zone's name, such as Europe/Berlin;
    ``null`` is none but that of its time.
    ``embedder: null`` is the embedder of the installation.
    """

    title: Words | None = None
    about: Annotated[str, StringConstraints(max_length=32_000)] | None = None
    first: Words | None = None
    standing: AwareDatetime | None = None
    zone: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = None
    speed: Annotated[Number, Field(ge=0, le=SPEEDS[1])] | None = None
    lives: StrictBool | None = None
    embedder: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = None


class AdvanceBody(Body):
    """Up to which time of the world, its present if not given; and what happens to whom, each event with its id.

    With ``preview`` nothing is changed, and the answer is what would happen.
    """

    to: AwareDatetime | None = None
    events: Annotated[dict[Name, Annotated[list[Event], Field(max_length=10_000)]], Field(max_length=1000)] = Field(
        default_factory=dict
    )
    preview: StrictBool = False


class PromptBody(Body):
    """The text of a prompt; ``{name}`` stands for what is filled in."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=MOST_OF_A_PROMPT)]


class ApplyBody(Body):
    """Which memories of a preview are left as they are."""

    without: Ids = Field(default_factory=list)


class OnePreview(Body):
    """A preview that waits, and whose it is."""

    agent: Name
    id: Id


class ApplyAllBody(Body):
    """Previews of several agents, one of each."""

    previews: Annotated[list[OnePreview], Field(min_length=1, max_length=10_000)]


Line = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Block = Literal["persona", "human"]
Blocks = Annotated[list[Block], Field(max_length=2)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
BlockText = Annotated[str, StringConstraints(max_length=20_000)]


def _whole(least: int, most: int) -> Any:
    return Field(strict=True, ge=least, le=most)


class TalkSettingsBody(Body):
    """The settings of a conversation; others stay as they are, or have their defaults in a new conversation.

    A budget below 1,800 tokens is for strategies without functions only.
    """

    strategy: Strategy | None = None
    budget: Annotated[int, _whole(500, 1_000_000)] | None = None
    warn_at: Share | None = None
    evict_at: Share | None = None
    window: Annotated[int, _whole(1, 10_000)] | None = None
    summary_frequency: Annotated[int, _whole(1, 1000)] | None = None
    template: Annotated[str, StringConstraints(max_length=MAX_TEMPLATE)] | None = None
    block_limit: Annotated[int, _whole(100, 20_000)] | None = None
    most_calls: Annotated[int, _whole(1, 100)] | None = None
    recalled: Annotated[int, _whole(0, 50)] | None = None
    remember: Remember | None = None
    heartbeat: Annotated[int, _whole(0, 10_080)] | None = None

    def over(self, settings: TalkSettings) -> TalkSettings:
        """These settings with the given changes.

        Raises:
            InvalidParameter: they do not fit together.
        """
        return dataclasses.replace(settings, **self.model_dump(exclude_none=True))


class BeginBody(Body):
    """A new conversation: with whom, and its settings; the first texts of core memory may be given.

    ``others`` are the names of all with whom the agent talks, where they are several, in the place of ``human``.
    """

    human: Line = "You"
    others: Annotated[list[Line], Field(max_length=MOST_OTHERS)] = Field(default_factory=list)
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    settings: TalkSettingsBody = TalkSettingsBody()
    persona: BlockText | None = None
    human_block: BlockText | None = None
    now: AwareDatetime | None = None


class Asking(Body):
    """What is said; ids of memories and names of blocks of core memory that are not there for this once."""

    text: Text
    now: AwareDatetime | None = None
    muted: Ids = Field(default_factory=list)
    without: Blocks = Field(default_factory=list)

    def arguments(self) -> dict[str, Any]:
        """The arguments for ``step``."""
        return {"text": self.text, "now": self.now, "muted": self.muted, "without": list(self.without)}


class ActionBody(Body):
    """Something that an agent can do in a game: a name, what it does, and the JSON schema of its arguments."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    description: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DESCRIPTION)]
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


class Acting(Body):
    """What an agent can do in the game; with ``hold`` the events that it would store are offered instead.

    Calls of ``actions`` are answered as ``pending``: carry them out, and send their results.
    """

    hold: StrictBool = False
    actions: Annotated[list[ActionBody], Field(max_length=MAX_ACTIONS)] = Field(default_factory=list)

    def offered(self) -> list[Action]:
        """The actions.

        Raises:
            InvalidParameter: one is not an action.
        """
        return [Action(action.name, action.description, action.parameters) for action in self.actions]


class BeatBody(Acting):
    """When the agent may speak unprompted, and what it can do."""

    now: AwareDatetime | None = None


class AgainBody(Body):
    """When the last message is answered again; with ``hold`` the events that would be stored are offered instead."""

    now: AwareDatetime | None = None
    hold: StrictBool = False


class SayBody(Asking, Acting):
    """What is said in a conversation, by its human or another ``speaker``; see ``Acting``."""

    speaker: Annotated[str, StringConstraints(max_length=100)] = ""


class ResultBody(Body):
    """What came of one call of an action; of one that ``failed`` the result says why."""

    call_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    result: Any = None
    failed: StrictBool = False


class ResultsBody(Body):
    """What came of the calls that a step waits for."""

    results: Annotated[list[ResultBody], Field(max_length=100)]
    hold: StrictBool = False

    def results_by_call(self) -> dict[str, object]:
        """The results as ``go_on`` accepts them."""
        return {
            result.call_id: RuntimeError(str(result.result)) if result.failed else result.result
            for result in self.results
        }


class InterviewBody(Body):
    """An interview: one that an answer named, or one as it would begin."""

    interview: Id | None = None
    conversation: Id | None = None
    human: Line = "You"
    settings: TalkSettingsBody = TalkSettingsBody()


class LookBody(InterviewBody):
    """An interview, and the time for which its prompt is shown."""

    now: AwareDatetime | None = None


class AskBody(Asking, InterviewBody):
    """A question that leaves no trace.

    ``interview`` continues one that an answer named; else a new one begins, which continues from the present state of
    ``conversation`` if that is given.
    """

    keep: StrictBool = True


class CoreBody(Body):
    """The text of a block of core memory."""

    text: BlockText
    now: AwareDatetime | None = None


class NoteBody(Body):
    """What was said elsewhere: what the agent heard, from its human or another ``speaker``, and what it said."""

    heard: Annotated[str, StringConstraints(max_length=MAX_DOCUMENT)] = ""
    speaker: Annotated[str, StringConstraints(max_length=100)] = ""
    said: Annotated[str, StringConstraints(max_length=MAX_DOCUMENT)] = ""
    now: AwareDatetime | None = None


class When(Body):
    """When it happens; by the world's clock if not given."""

    now: AwareDatetime | None = None


class DuetBody(Body):
    """Two agents who are to talk with each other."""

    first: Name
    second: Name
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    settings: TalkSettingsBody = TalkSettingsBody()
    now: AwareDatetime | None = None


class GroupBody(Body):
    """Three agents or more who are to talk with each other."""

    agents: Annotated[list[Name], Field(min_length=3, max_length=MOST_IN_A_GROUP)]
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    settings: TalkSettingsBody = TalkSettingsBody()
    now: AwareDatetime | None = None


class Half(Body):
    """One side of a talk: the agent, and its conversation with the other."""

    agent: Name
    conversation: Id


class Turns(Body):
    """How many things are said at most, and what makes the first one speak."""

    turns: Annotated[int, _whole(1, 200)] = 4
    opening: Annotated[str, StringConstraints(max_length=MAX_DOCUMENT)] = ""
    now: AwareDatetime | None = None


class TurnsBody(Turns):
    """How many things two say at most, and what makes the first one speak."""

    first: Half
    second: Half


class GroupTurnsBody(Turns):
    """How many things a group says at most, and what makes one of them speak."""

    parts: Annotated[list[Half], Field(min_length=3, max_length=MOST_IN_A_GROUP)]


class QuestionBody(Body):
    """A question of an interview, with its category."""

    category: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    question: Text


class SitBody(Body):
    """What is asked, all ready questions if not given; ``keep`` keeps the interview, to be compared later."""

    questions: Annotated[list[QuestionBody], Field(min_length=1, max_length=100)] | None = None
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    settings: TalkSettingsBody = TalkSettingsBody()
    now: AwareDatetime | None = None
    keep: StrictBool = True
