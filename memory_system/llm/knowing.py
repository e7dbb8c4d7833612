"""The task of judging whether a character knows a fact, from the memories that are nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from ..core.entry import MemoryEntry
from .prompts import shipped
from .tasks import AnswerForm, Task, Text, records


class Stands(AnswerForm):
    """How the character stands to the fact, the record that says so (0 = none), and why."""

    why: Annotated[Text, Field(max_length=400)]
    verdict: Literal["knows", "half knows", "has it wrong", "does not know"]
    record: int = 0


def knows(who: str, fact: str, entries: Sequence[MemoryEntry]) -> Task[Stands]:
    """Judge whether a character knows a fact. There is no offline rule for it: ``world.knows`` has rules of its own."""
    return Task("knows", Stands, shipped("knows"), {"character": who, "fact": fact, "records": records(entries)})
