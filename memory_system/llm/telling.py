"""The tasks of telling: memories joined into one narrative, and what a conversation shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from ..entry import MemoryEntry
from .extractive import short
from .tasks import AnswerForm, Task, Text

MAX_PROMPT = 24_000
"""Characters of memory text that one prompt holds: some 6,000 tokens, which small local models still take."""
MAX_RECORD = 2000
"""Characters of one memory that go into a prompt; the rest of a longer one is cut."""
_ENVELOPE = 100
"""Characters that a record's number, time and punctuation take."""
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

    asked: list[Statement] = Field(max_length=50)
    done: list[Statement] = Field(max_length=50)
    felt: list[Statement] = Field(max_length=50)
    preferred: list[Statement] = Field(max_length=50)
    reasons: list[Statement] = Field(max_length=50)


def parts(entries: Iterable[MemoryEntry]) -> Iterator[list[MemoryEntry]]:
    """The entries in their order, in as few parts as have room in one prompt each."""
    part: list[MemoryEntry] = []
    filled = 0
    for entry in entries:
        size = min(len(entry.document), MAX_RECORD) + _ENVELOPE
        if part and filled + size > MAX_PROMPT:
            yield part
            part, filled = [], 0
        part.append(entry)
        filled += size
    if part:
        yield part


def narrate(who: str, cue: str, entries: Sequence[MemoryEntry]) -> Task[Story]:
    """Join memories into one narrative whose every sentence cites what it rests on."""
    records = [
        {
            "number": number,
            "when": entry.timestamp.isoformat() if entry.timestamp else "always",
            "text": short(entry.document, MAX_RECORD),
        }
        for number, entry in enumerate(entries, start=1)
    ]
    return Task(
        "narrate",
        Story,
        "Join the records, which are memories of a character, into one narrative that answers the cue, in the order "
        "of time. Say of everything when it happened, with its date as the record gives it. Add nothing: no name, "
        "number, date, cause or feeling that no record gives. Answer sentence by sentence, and list under "
        "'because_of' the numbers of all records that a sentence rests on; leave out what rests on none.",
        {"character": who, "cue": short(cue, MAX_RECORD), "records": records},
    )


def read_conversation(who: str, turns: Sequence[MemoryEntry]) -> Task[Shown]:
    """Say what a conversation shows, each statement citing the turns it rests on.

    Args:
        who: whose memory it is.
        turns: the entries of the turns, with their ``speaker`` in the metadata.
    """
    return Task(
        "synopsis",
        Shown,
        "Read this conversation, and state in short sentences what it shows: 'asked', what somebody asked or wanted; "
        "'done', what was done, promised or answered; 'felt', how a speaker felt, if it is said; 'preferred', what a "
        "speaker likes, dislikes or prefers; 'reasons', why an answer was given. Name the speaker in each. Add "
        "nothing, and leave a list empty where the conversation shows nothing of its sort. List under 'because_of' "
        "the numbers of all turns that a statement rests on, also those from which it has a name, number or date.",
        {"character": who, "turns": [_turn(number, turn) for number, turn in enumerate(turns, start=1)]},
    )


def _turn(number: int, turn: MemoryEntry) -> dict[str, Any]:
    speaker = str(turn.extras["speaker"])
    return {
        "number": number,
        "when": turn.timestamp.isoformat() if turn.timestamp else "always",
        "speaker": speaker,
        "text": short(turn.document.removeprefix(f"{speaker}: "), MAX_RECORD),
    }
