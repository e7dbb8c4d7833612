"""The task of comparing: do two memories say the same, contradict each other, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from ..core.entry import MemoryEntry
from .extractive import short
from .narrate import MAX_PROMPT, MAX_RECORD
from .prompts import shipped
from .tasks import AnswerForm, Task, Text

MOST_AT_ONCE = 10
"""Pairs that are put into one prompt."""
_ENVELOPE = 150

Pair = tuple[MemoryEntry, MemoryEntry]


class Judged(AnswerForm):
    """What one pair is, by its number, and why."""

    pair: int
    why: Annotated[Text, Field(max_length=400)]
    relation: Literal["same", "contradiction", "neither"]


class Comparison(AnswerForm):
    """What each pair is."""

    verdicts: list[Judged] = Field(max_length=50)


def parts(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """The pairs in order, in as few parts as possible that each fit in one prompt."""
    part: list[Pair] = []
    filled = 0
    for pair in pairs:
        size = sum(min(len(entry.document), MAX_RECORD) + _ENVELOPE for entry in pair)
        if part and (filled + size > MAX_PROMPT or len(part) == MOST_AT_ONCE):
            yield part
            part, filled = [], 0
        part.append(pair)
        filled += size
    if part:
        yield part


def compare(who: str, pairs: Sequence[Pair]) -> Task[Comparison]:
    """Judge each pair of memories. There is no offline rule for it: what rules can judge is judged without a model."""
    return Task(
        "compare",
        Comparison,
        shipped("compare"),
        {
            "character": who,
            "pairs": [
                {"number": number, "first": _record(entry), "second": _record(other)}
                for number, (entry, other) in enumerate(pairs, start=1)
            ],
        },
    )


def _record(entry: MemoryEntry) -> dict[str, Any]:
    return {
        "when": entry.timestamp.isoformat() if entry.timestamp else "always",
        "text": short(entry.document, MAX_RECORD),
    }
