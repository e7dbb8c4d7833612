"""The forms of requests to memory over MCP, and of the answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from ...conversation import tool as searching
from ...conversation.gathering import Where
from ...conversation.tool import Form
from ...core.change_set import counted
from ...core.entry import MAX_DOCUMENT, Kind, Source, Tier
from ...core.known import known_to
from ...recall.query import MAX_INSTANCES
from ...recall.verdicts import Candidate
from .tool import Answer, Arguments, Cue

MOST = 200
"""The most memories in the answer to a recall."""
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Nothing(Arguments):
    """No arguments."""


class Agents(Answer):
    """The agents of the world, by the names that the other tools take."""

    agents: list[str]

    def as_text(self) -> str:
        """The names, one per line."""
        return "\n".join(self.agents) or "There are no agents in this world yet: write a personality file."


class RecallArguments(Arguments):
    """A cue, and how it is answered."""

    cue: Cue = Field(description="What to remember: a question, a name, a situation.")
    top_k: int | None = Field(None, ge=1, le=MOST, description="Most memories to recall.")
    threshold: float | None = Field(
        None, ge=0, le=30, description="The confidence, or score, that a memory has to exceed."
    )
    kinds: list[Kind] = Field(default_factory=list, description="Only memories of these kinds; all if empty.")
    tags: list[Tag] = Field(default_factory=list, max_length=100, description="Only memories with one of these tags.")
    sources: list[Source] = Field(default_factory=list, description="Only what became known in one of these ways.")
    people: list[Tag] = Field(default_factory=list, max_length=100, description="Only memories of one of these people.")
    places: list[Tag] = Field(
        default_factory=list, max_length=100, description="Only what happened at one of these places."
    )
    instances: list[Cue] = Field(
        default_factory=list,
        max_length=MAX_INSTANCES,
        description="What the cue stands for, asked as well: kayaking, painting for hobbies.",
    )
    expand: int = Field(
        0, ge=0, le=MAX_INSTANCES, description="How many instances of the cue the agent's language model is asked for."
    )
    since: AwareDatetime | None = Field(None, description="Only what happened then or later; a time with its zone.")
    until: AwareDatetime | None = Field(None, description="Only what happened before; a time with its zone.")
    touch: bool = Field(True, description="Whether what is recalled counts as accessed now, which renews its recency.")


class Remembered(BaseModel):
    """A memory that was recalled, and its score: the sum of the parts that recency, importance and relevancy have.

    What the world knows is of the tier ``world``, and ``known_to`` says who knows it: everybody, or a group.
    """

    id: str
    tier: Tier | Literal["world"]
    known_to: str
    kind: Kind
    text: str
    when: AwareDatetime | None
    tags: list[str]
    source: Source | None
    people: list[str]
    place: str
    score: float
    recency: float
    importance: float
    relevancy: float
    because: str

    @classmethod
    def of(cls, hit: Candidate) -> Remembered:
        """The form of a recalled memory."""
        entry = hit.entry
        return cls(
            id=entry.id,
            tier="world" if known_to(entry) else entry.tier,
            known_to=known_to(entry),
            kind=entry.kind,
            text=entry.document,
            when=entry.timestamp,
            tags=list(entry.tags),
            source=entry.source,
            people=list(entry.people),
            place=entry.place,
            score=hit.score.total,
            **hit.score.parts,
            because=hit.because,
        )


class Recalled(Answer):
    """What was recalled, of how many memories, and the same as a text for a prompt.

    ``left_out`` says how many were recalled but did not fit in the answer; ``instances`` are those that were asked too,
    and ``unexpanded`` says why the language model gave none.
    """

    memories: list[Remembered]
    considered: int
    left_out: int
    now: AwareDatetime
    context: str
    instances: list[str]
    unexpanded: str

    def as_text(self) -> str:
        """The memories as a text for a prompt."""
        more = [self.unexpanded] if self.unexpanded else []
        if not self.memories:
            return " ".join(
                [f"Nothing was recalled; {counted(self.considered, 'memory was', 'memories were')} considered.", *more]
            )
        if self.left_out:
            more.insert(0, f"{self.left_out} more were recalled and are too long to include.")
        return "\n".join([self.context, *more])


class RememberArguments(Arguments):
    """An event to remember."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)] = Field(
        description="What happened, in words."
    )
    when: AwareDatetime | None = Field(
        None, description="When it happened, with its zone; the world's time if not given."
    )
    kind: Literal["observation", "conversation", "fact", "procedure"] = Field("observation", description="What it is.")
    tags: list[Tag] = Field(default_factory=list, max_length=100, description="Short words to find it by.")
    source: Source | None = Field(None, description="How the character came to know of it.")
    people: list[Tag] = Field(
        default_factory=list, max_length=50, description="Whom it is about; if it was told, the teller comes first."
    )
    place: str = Field("", max_length=200, description="Where it happened.")
    rating: float | None = Field(
        None, ge=1, le=10, description="How poignant it is, 1 mundane to 10 extremely; judged on arrival if not given."
    )
    wait: bool | None = Field(
        None, description="Whether to wait until a language model has judged it; otherwise that happens later."
    )


class HappenedArguments(Arguments):
    """Something that happened, and who knows of it."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)] = Field(
        description="What happened, in words."
    )
    at: str = Field("", max_length=200, description="Where it happened.")
    seen_by: list[str] = Field(default_factory=list, max_length=1000, description="The agents who saw it.")
    heard_by: list[str] = Field(default_factory=list, max_length=1000, description="The agents who heard it.")
    told: dict[str, str] = Field(
        default_factory=dict, max_length=1000, description="The agents who were told of it, each with by whom."
    )
    now: AwareDatetime | None = Field(None, description="When, with its zone; the world's time if not given.")
    wait: bool | None = Field(
        None,
        description="Whether to wait until a language model has worded and judged it; otherwise that happens later.",
    )


class Knows(BaseModel):
    """One of those who know of it: how, what it remembers, and the change in its history."""

    agent: str
    source: Source
    text: str
    revision: int | None


class HappenedTold(Answer):
    """Something that happened, and who knows of it."""

    place: str
    at: AwareDatetime
    known: list[Knows]
    note: str

    def as_text(self) -> str:
        """Who remembers what."""
        return "\n".join(f"{knows.agent} ({knows.source}): {knows.text}" for knows in self.known) or self.note


class Stored(Answer):
    """What became of an event: its id, how it was rated and why, and the change in the history."""

    id: str
    rating: float | None
    explanation: str
    revision: int | None
    note: str

    def as_text(self) -> str:
        """What became of it, in sentences."""
        rated = f"rated {self.rating:g} of 10" if self.rating is not None else "not rated"
        why = f" ({self.explanation})" if self.explanation else ""
        note = f" {self.note}" if self.note else ""
        return f"Remembered in short-term memory, {rated}{why}; id {self.id}, revision {self.revision}.{note}"


class ReflectArguments(Arguments):
    """When to reflect."""

    only_if_due: bool = Field(False, description="Do nothing until enough has happened since the last reflection.")
    preview: bool = Field(False, description="Answer the insights without keeping them.")


class Insight(BaseModel):
    """An insight, and the memories that it rests on."""

    id: str
    text: str
    evidence: list[str]


class Reflected(Answer):
    """The insights, and the change in the history; no revision for a preview or where there was nothing to reflect."""

    insights: list[Insight]
    title: str
    notes: list[str]
    revision: int | None

    def as_text(self) -> str:
        """The insights, one per line."""
        lines = [f"- {insight.text} (rests on {', '.join(insight.evidence)})" for insight in self.insights]
        kept = f"Kept in long-term memory as revision {self.revision}." if self.revision else "Nothing was changed."
        return "\n".join([f"{self.title}.", *lines, *self.notes, kept])


class SearchArguments(Arguments):
    """A question, and the form of the answer."""

    query: Cue = Field(description="The question, in a sentence or a few words.")
    form: Form = Field(
        Form.EXTRACTIVE, description="The most relevant passages word for word, or one text with its sources."
    )
    top_k: int | None = Field(None, ge=1, le=searching.MOST, description="Most memories to answer from.")
    within: list[Where] = Field(
        default_factory=lambda: list(Where), min_length=1, max_length=3, description="Where to search."
    )
    touch: bool = Field(False, description="Whether what is found counts as accessed now, which renews its recency.")


class FoundPassage(BaseModel):
    """A passage, its sentence that answers best, where it comes from, and how well it answers."""

    id: str
    text: str
    sentence: str
    source: str
    score: float
    relevancy: float


class Searched(Answer):
    """What a search found: passages, or a summary with the ids it rests on; ``text`` is the same for a model."""

    form: Form
    passages: list[FoundPassage]
    summary: str
    sources: list[str]
    told_by: str
    note: str
    text: str

    def as_text(self) -> str:
        """The answer as a text."""
        return self.text
