"""The forms of what is said over MCP, of core memory, and of what is searched."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from ..entry import MAX_DOCUMENT
from .tool import Answer, Arguments, Cue

Message = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
Heartbeat = Annotated[bool, Field(description="Taken for the sake of MemGPT's schema; you decide when to go on.")]


class TalkArguments(Arguments):
    """What is said."""

    message: Message = Field(description="What you say to the character.")


class Used(BaseModel):
    """A function that the character called while it thought, and what it got."""

    name: str
    arguments: str
    result: str
    milliseconds: float


class Talked(Answer):
    """The answer, the functions that were called on the way, and the change in the history."""

    answer: str
    functions: list[Used]
    recalled: list[str]
    conversation: str
    revision: int | None
    notes: list[str]

    def told(self) -> str:
        """The answer."""
        return "\n".join([self.answer, *(f"({note})" for note in self.notes)])


class SendArguments(Arguments):
    """What was said to the other one, and what the other one had said."""

    message: Message = Field(description="What you say to the other one.")
    heard: str = Field("", max_length=MAX_DOCUMENT, description="What the other one had said before, word for word.")
    request_heartbeat: Heartbeat = False


class Sent(Answer):
    """How many messages the conversation holds, and the change in the history."""

    conversation: str
    messages: int
    revision: int | None

    def told(self) -> str:
        """That it is kept."""
        return f"Kept; the conversation holds {self.messages} messages (revision {self.revision})."


class AppendArguments(Arguments):
    """A block of core memory, and what to add."""

    name: Literal["persona", "human"] = Field(description="The block: 'persona' is about you, 'human' the other one.")
    content: str = Field(max_length=MAX_DOCUMENT, description="What to add, on a line of its own.")
    request_heartbeat: Heartbeat = False


class ReplaceArguments(Arguments):
    """A block of core memory, and which of its words are to be others."""

    name: Literal["persona", "human"] = Field(description="The block: 'persona' is about you, 'human' the other one.")
    old_content: str = Field(max_length=MAX_DOCUMENT, description="The exact text to replace.")
    new_content: str = Field(max_length=MAX_DOCUMENT, description="What stands there instead; empty to delete.")
    request_heartbeat: Heartbeat = False


class Core(Answer):
    """Core memory as it is now; ``room`` is how many characters each block may have."""

    persona: str
    human: str
    room: int
    revision: int | None

    def told(self) -> str:
        """Both blocks as JSON, so that neither can pass for the other."""
        return json.dumps({"persona": self.persona, "human": self.human}, ensure_ascii=False, indent=1)


class QueryArguments(Arguments):
    """What to look for, page by page."""

    query: Cue = Field(description="What to look for.")
    page: int = Field(0, ge=0, le=10**6, description="Which page of the results, from 0.")
    request_heartbeat: Heartbeat = False


class DateArguments(Arguments):
    """Between which dates."""

    start_date: Annotated[str, StringConstraints(max_length=100)] = Field(description="ISO 8601, such as 2026-03-27.")
    end_date: Annotated[str, StringConstraints(max_length=100)] = Field(description="ISO 8601, such as 2026-03-28.")
    page: int = Field(0, ge=0, le=10**6, description="Which page of the results, from 0.")
    request_heartbeat: Heartbeat = False


class InsertArguments(Arguments):
    """What to remember."""

    content: Message = Field(description="The event, in words.")
    request_heartbeat: Heartbeat = False


class Result(BaseModel):
    """One thing that was found: what it says, when it was said or happened, and who said it or where it stands.

    ``score`` says how well it answers, and is comparable within its own kind of source only.
    """

    id: str
    text: str
    when: AwareDatetime | None
    source: str
    score: float


class Results(Answer):
    """One page of what was found, of ``total`` in all; pages count from 0."""

    results: list[Result]
    page: int
    pages: int
    total: int

    def told(self) -> str:
        """What was found, one a line."""
        if not self.results:
            return f"Nothing was found on page {self.page} of {self.pages}."
        lines = [
            f"- [{one.when.isoformat() if one.when else 'always'}; {one.source}] {one.text}" for one in self.results
        ]
        head = f"{len(self.results)} of {self.total} results, page {self.page} of 0 to {self.pages - 1}."
        return "\n".join([head, *lines])
