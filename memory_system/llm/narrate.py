"""The tasks of telling: memories joined into a narrative, what a conversation shows, and what a person is like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from ..core.entry import MemoryEntry
from .extractive import short
from .prompts import shipped
from .tasks import AnswerForm, Task, Text, storable, when
from .tokens import packed

MAX_PROMPT = 24_000
"""Characters of memory text in one prompt: some 6,000 tokens, which small local models still accept."""
MAX_RECORD = 2000
"""Characters of one memory in a prompt; a longer one is cut."""
_ENVELOPE = 100
"""Characters for a record's number, time and punctuation."""
MAX_STATEMENT = 600


class Statement(AnswerForm):
    """One sentence, and the numbers of the records that it rests on."""

    text: Annotated[Text, Field(max_length=MAX_STATEMENT)]
    because_of: list[int]


class Story(AnswerForm):
    """A narrative, sentence by sentence."""

    sentences: list[Statement] = Field(max_length=300)


class Shown(AnswerForm):
    """What a conversation shows: of each sort the statements, none where it shows nothing."""

    told: list[Statement] = Field(default_factory=list, max_length=50)
    asked: list[Statement] = Field(max_length=50)
    done: list[Statement] = Field(max_length=50)
    felt: list[Statement] = Field(max_length=50)
    preferred: list[Statement] = Field(max_length=50)
    reasons: list[Statement] = Field(max_length=50)


class Learned(Statement):
    """Something that is known of a person, and the number of the line that it corrects, if it does."""

    replaces: int | None = None


class Known(AnswerForm):
    """What was learned of a person, and how far they are trusted now, 0 to 1, if anything bears on it."""

    learned: list[Learned] = Field(default_factory=list, max_length=20)
    trust: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    why: Annotated[str, Field(max_length=MAX_STATEMENT), AfterValidator(storable)] = ""
    because_of: list[int] = Field(default_factory=list, max_length=100)


def parts(entries: Iterable[MemoryEntry]) -> Iterator[list[MemoryEntry]]:
    """The entries in order, in as few parts as possible that each fit in one prompt."""
    return packed(entries, MAX_PROMPT, lambda entry: min(len(entry.document), MAX_RECORD) + _ENVELOPE)


def narrate(who: str, cue: str, entries: Sequence[MemoryEntry], now: datetime | None = None) -> Task[Story]:
    """Join memories into one narrative whose every sentence cites what it rests on."""
    return Task(
        "narrate",
        Story,
        shipped("narrate"),
        {"character": who, "cue": short(cue, MAX_RECORD), "records": _records(entries, now)},
    )


def reflect_on_person(
    who: str,
    person: str,
    known: Sequence[str],
    trust: float | None,
    entries: Sequence[MemoryEntry],
    now: datetime | None = None,
) -> Task[Known]:
    """Say what is new about a person, and how far they are trusted now; everything cites its evidence.

    Args:
        who: whose memories they are.
        person: the person it is about.
        known: what is known of them so far, one line each.
        trust: how far they are trusted so far, 0 to 1; ``None`` if unknown.
        entries: memories about them, oldest first.
        now: the world's time, in whose zone their times are.
    """
    lines = [{"number": number, "text": line} for number, line in enumerate(known, start=1)]
    told = zip(_records(entries, now), entries, strict=True)
    records = [{**record, "rating": entry.rating} for record, entry in told]
    data = {"character": who, "person": person, "known": lines, "trust": trust, "records": records}
    return Task("person", Known, shipped("person"), data)


def read_conversation(who: str, turns: Sequence[MemoryEntry], now: datetime | None = None) -> Task[Shown]:
    """Say what a conversation shows, each statement citing the turns it rests on.

    Args:
        who: whose memory it is.
        turns: the entries of the turns, with their ``speaker`` in the metadata.
        now: the world's time, in whose zone their times are.
    """
    return Task(
        "synopsis",
        Shown,
        shipped("synopsis"),
        {"character": who, "turns": [_turn(number, turn, now) for number, turn in enumerate(turns, start=1)]},
    )


def _records(entries: Sequence[MemoryEntry], now: datetime | None) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "when": when(entry, now),
            "text": short(entry.document, MAX_RECORD),
        }
        for number, entry in enumerate(entries, start=1)
    ]


def _turn(number: int, turn: MemoryEntry, now: datetime | None) -> dict[str, Any]:
    speaker = str(turn.extras["speaker"])
    return {
        "number": number,
        "when": when(turn, now),
        "speaker": speaker,
        "text": short(turn.document.removeprefix(f"{speaker}: "), MAX_RECORD),
    }
