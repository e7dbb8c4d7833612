"""The task of reading a part of a chapter into memories."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from .prompts import shipped
from .tasks import AnswerForm, Task, Text


class Happened(AnswerForm):
    """A memory, and the numbers of the sentences that it rests on."""

    text: Text
    because_of: list[int] = Field(max_length=100)


class Chapter(AnswerForm):
    """What is to be remembered of a chapter, in its order."""

    memories: list[Happened] = Field(max_length=200)


def read_chapter(who: str, sentences: Sequence[str]) -> Task[Chapter]:
    """Read sentences, numbered from 1. There is no offline rule for it: without a model each is a memory."""
    lines = [{"number": number, "text": text} for number, text in enumerate(sentences, start=1)]
    return Task("chapter", Chapter, shipped("chapter"), {"character": who, "sentences": lines})
