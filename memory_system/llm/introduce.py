"""The task of reading a paragraph about somebody into the parts of a personality."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from .prompts import shipped
from .tasks import AnswerForm, ClockTime, Task, Text, storable

Open = Annotated[str, Field(max_length=1000), AfterValidator(storable)]
"""A text that may be empty if the paragraph does not mention it."""


class Who(AnswerForm):
    """Who somebody is."""

    name: Open = ""
    age: int | None = Field(None, ge=0, le=100_000)
    profession: Open = ""
    home: Open = ""
    description: Open = ""


class Known(AnswerForm):
    """Somebody whom they know, and how far they trust them, from 0 (not at all) to 1 (wholly); null if that is open."""

    name: Text
    relation: Open = ""
    trust: float | None = Field(None, ge=0, le=1)
    notes: Open = ""


class Daily(AnswerForm):
    """What they do each day at a time."""

    time: ClockTime
    activity: Text
    place: Open = ""


class Introduced(AnswerForm):
    """A personality."""

    identity: Who
    traits: list[Text] = Field(default_factory=list, max_length=50)
    long_term_goals: list[Text] = Field(default_factory=list, max_length=50)
    relationships: list[Known] = Field(default_factory=list, max_length=50)
    routine: list[Daily] = Field(default_factory=list, max_length=50)
    facts: list[Text] = Field(default_factory=list, max_length=100)


def introduce(paragraph: str) -> Task[Introduced]:
    """Read a paragraph. There is no offline rule for it: ``operations.introduced`` reads it by plain rules."""
    return Task("introduce", Introduced, shipped("introduce"), {"paragraph": paragraph})
