"""The texts that a conversation is kept by, written in one form only and read strictly.

``talk:<id>`` says how it is held, ``conversation:<id>`` how far it is, and ``core:<id>`` what its core memory says.
What is as it always is at first is left out, so that a step writes some fifty characters.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..changes import is_text
from ..entry import MemoryEntry
from ..errors import InvalidDocument, InvalidParameter, StoreDamaged
from ..json_source import parse_strict
from .messages import Message
from .talk import Blocks, Talk, TalkSettings

MAX_NAME = 200
"""Characters of a conversation's title, and of the name of whom the agent talks with."""
MAX_BLOCK = 20_000
_MOST_BYTES = 2_000_000
_MOST_NUMBER = 99_999_999
"""Messages have eight digits in their ids."""
_SETTINGS = TalkSettings()
_NUMBERS = {"summarised": _MOST_NUMBER, "next_number": _MOST_NUMBER, "remembered": _MOST_NUMBER, "ceiling": 10_000_000}


def dump_held(talk: Talk) -> str:
    """How a conversation is held.

    Raises:
        InvalidParameter: the title or the name is no text, or has more than 200 characters.
    """
    for what, name in (("title", talk.title), ("name of whom the agent talks with", talk.human)):
        if not is_text(name) or len(name) > MAX_NAME or "\x00" in name:
            raise InvalidParameter(f"The {what} must be a text of at most {MAX_NAME} characters.")
    given = dataclasses.asdict(talk.settings)
    settings = {name: value for name, value in given.items() if value != getattr(_SETTINGS, name)}
    return _dumped({"title": talk.title, "human": talk.human, **({"settings": settings} if settings else {})})


def dump_state(talk: Talk) -> str:
    """How far a conversation is: the first message of its queue, the number of the next one, and the like."""
    first = talk.queue[0].number if talk.queue else talk.next_number
    fresh = Talk(talk.id)
    names = (*_NUMBERS, "warned", "scale")
    told = {name: getattr(talk, name) for name in names if getattr(talk, name) != getattr(fresh, name)}
    return _dumped({"first": first, **told})


def dump_blocks(talk: Talk) -> str:
    """What a conversation's core memory says.

    Raises:
        InvalidParameter: a block is no text, or has more than 20,000 characters.
    """
    told = dataclasses.asdict(talk.blocks)
    for name, text in told.items():
        if not is_text(text) or len(text) > MAX_BLOCK:
            raise InvalidParameter(f"The block {name!r} must be a text of at most {MAX_BLOCK:,} characters.")
    return _dumped(told)


def parse_held(talk: Talk, text: str) -> Talk:
    """The conversation with what ``dump_held`` wrote.

    Raises:
        StoreDamaged: it is not as that writes it.
    """
    told = _told(talk, text, {"title", "human", "settings"})
    try:
        settings = TalkSettings(**told.pop("settings", {}))
        found = replace(talk, settings=settings, **told)
        dump_held(found)
    except (TypeError, InvalidParameter) as error:
        raise _damaged(talk, str(error)) from error
    return found


def parse_state(talk: Talk, text: str | None) -> tuple[Talk, int]:
    """The conversation with what ``dump_state`` wrote, and the number of the first message of its queue.

    Raises:
        StoreDamaged: it is not as that writes it.
    """
    told = _told(talk, text or '{"first":0}', {"first", "warned", "scale", *_NUMBERS})
    first = told.pop("first", 0)
    numbers = {**told, "first": first}
    for name, most in {**_NUMBERS, "first": _MOST_NUMBER}.items():
        value = numbers.get(name, 0)
        if type(value) is not int or not 0 <= value <= most:
            raise _damaged(talk, f"{name!r} is {value!r:.40}")
    if type(told.get("warned", False)) is not bool:
        raise _damaged(talk, "'warned' is not true or false")
    scale = told.get("scale", 1.0)
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.01 <= scale <= 100:
        raise _damaged(talk, f"'scale' is {scale!r:.40}")
    if first > told.get("next_number", 0):
        raise _damaged(talk, "its queue begins after its last message")
    return replace(talk, **told), first


def parse_blocks(talk: Talk, text: str | None, summary: MemoryEntry | None, queue: Sequence[Message]) -> Talk:
    """The conversation with what ``dump_blocks`` wrote, with its summary and its queue.

    Raises:
        StoreDamaged: it is not as that writes it.
    """
    told = _told(talk, text or "{}", {"persona", "human"})
    found = replace(
        talk, blocks=Blocks(**told), summary=summary.document if summary is not None else "", queue=tuple(queue)
    )
    try:
        dump_blocks(found)
    except InvalidParameter as error:
        raise _damaged(talk, str(error)) from error
    return found


def _dumped(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _told(talk: Talk, text: str, names: set[str]) -> dict[str, Any]:
    try:
        told, _ = parse_strict(text, f"the conversation {talk.id}", _MOST_BYTES, InvalidDocument)
    except InvalidDocument as error:
        raise _damaged(talk, error.sentence) from error
    if not isinstance(told, dict) or not told.keys() <= names:
        raise _damaged(talk, f"an object with {', '.join(sorted(names))} is wanted")
    return told


def _damaged(talk: Talk, why: str) -> StoreDamaged:
    return StoreDamaged(f"What is kept of the conversation {talk.id!r:.80} is not as it was written: {why:.300}")
