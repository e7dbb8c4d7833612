"""A conversation to be imported: its turns in any of the accepted forms, as entries for STM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...core.entry import Kind, MemoryEntry, new_id
from ...errors import InvalidEntry, kind_of, shown

MAX_TURNS = 2000
MAX_SPEAKER = 100

Turns = str | Sequence[Mapping[str, Any] | Sequence[str]]
"""Mappings ``{"speaker": ..., "text": ..., "timestamp": ...}`` (the time may be left out), pairs of speaker and text,
or one text of lines ``Name: what is said``, where a line that names nobody continues the turn before it."""

_LINE_END = re.compile(r"\r\n|\r|\n")
SPOKEN = re.compile(r"\s*(?P<speaker>[^\W_][^:\n]{0,59}?)\s*:(?:\s+(?P<text>.*))?$", re.DOTALL)
NAME_WORDS = 5
"""How many words may be before the colon; more are a sentence."""
_KEYS = ("speaker", "text", "timestamp")
_MEANT = {
    "role": "speaker",
    "name": "speaker",
    "who": "speaker",
    "content": "text",
    "message": "text",
    "document": "text",
    "time": "timestamp",
    "date": "timestamp",
    "when": "timestamp",
}


def read(turns: Turns, now: datetime) -> list[MemoryEntry]:
    """The entries of the turns, as ``conversation`` (one new id) with their position as ``turn`` (0, 1, 2 ...).

    A turn without a time happened when the one before it did; those before the first time, at that time; and
    if no turn has one, now.

    Raises:
        InvalidEntry: a turn cannot be accepted; the message says which, counted from 1. Then none is accepted.
    """
    items: object = spoken(turns) if isinstance(turns, str) else turns
    if isinstance(items, bytes | bytearray) or not isinstance(items, Sequence):
        raise InvalidEntry(f"A conversation comes as a list of turns or as a text, not as {kind_of(turns)}.")
    if not items:
        raise InvalidEntry("The conversation is empty: it needs at least one turn.")
    if len(items) > MAX_TURNS:
        raise InvalidEntry(f"The conversation has {len(items):,} turns; at most {MAX_TURNS:,} are allowed.")
    conversation = new_id()
    entries = []
    for place, item in enumerate(items):
        try:
            entries.append(_entry(item, conversation, place))
        except InvalidEntry as error:
            raise InvalidEntry(f"Turn {place + 1} of {len(items)}: {error}") from error
    moment = next((entry.timestamp for entry in entries if entry.timestamp is not None), now)
    dated = []
    for entry in entries:
        moment = entry.timestamp or moment
        dated.append(entry.evolve(timestamp=moment))
    return dated


def spoken(text: str) -> list[tuple[str, str]]:
    """Who says what in lines ``Name: what is said``; a line that names nobody continues the one before it.

    Raises:
        InvalidEntry: the first line names nobody.
    """
    turns: list[tuple[str, str]] = []
    for number, line in enumerate(_LINE_END.split(text), start=1):
        if not line.strip():
            continue
        spoken = SPOKEN.match(line)
        if spoken is not None and len(spoken["speaker"].split()) <= NAME_WORDS:
            turns.append((spoken["speaker"], spoken["text"] or ""))
        elif turns:
            speaker, said = turns[-1]
            turns[-1] = (speaker, f"{said}\n{line.strip()}".strip())
        else:
            raise InvalidEntry(f"Turn 1 (line {number}) names no speaker; write it like “Mira: Good morning.”")
    return turns


def _entry(item: Any, conversation: str, place: int) -> MemoryEntry:
    speaker, text, when = _fields(item)
    if not isinstance(speaker, str) or not speaker.strip():
        raise InvalidEntry(
            f"the speaker must be a name, not {'empty' if isinstance(speaker, str) else kind_of(speaker)}."
        )
    name = speaker.strip()
    if len(name) > MAX_SPEAKER or not name.isprintable():
        raise InvalidEntry(f"the speaker must be a name on one line, of at most {MAX_SPEAKER} characters.")
    if not isinstance(text, str):
        raise InvalidEntry(f"the text must be text, not {kind_of(text)}.")
    if not text.strip():
        raise InvalidEntry("the text is empty; leave out a turn in which nothing is said.")
    return MemoryEntry(
        f"{name}: {text.strip()}",
        {"conversation": conversation, "turn": place, "speaker": name},
        f"{conversation}-{place:04}",  # sorted by age and id, turns of the same time stay in order
        kind=Kind.CONVERSATION,
        timestamp=when,
    )


def _fields(item: Any) -> tuple[Any, Any, Any]:
    if isinstance(item, Mapping):
        if unknown := sorted(key if isinstance(key, str) else shown(key) for key in item if key not in _KEYS):
            meant = _MEANT.get(unknown[0])
            hint = f"write '{meant}'" if meant else f"there are {', '.join(_KEYS)}"
            raise InvalidEntry(f"unknown field {unknown[0][:60]!r}: {hint}.")
        return tuple(item.get(key) for key in _KEYS)  # type: ignore[return-value]  # as many as there are keys
    if isinstance(item, Sequence) and not isinstance(item, str | bytes | bytearray) and len(item) == 2:
        return item[0], item[1], None
    raise InvalidEntry(f"a turn is a mapping with speaker and text, or a pair of them, not {kind_of(item)}.")
