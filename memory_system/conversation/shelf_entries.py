"""A message as an entry of recall memory, and back."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ..entry import MAX_DOCUMENT, Kind, MemoryEntry, Scalar, Tier
from ..errors import InvalidParameter, StoreDamaged
from ..llm.chat import ToolCall
from .messages import Message, Role

_CALLS = "calls"
_PIECE = MAX_DOCUMENT
"""Characters that one value of an entry's metadata may have."""
_MOST_PIECES = 40


def message_id(talk_id: str, number: int) -> str:
    """The id of a message; in the order of the ids messages stand as they were said."""
    return f"{talk_id}-{number:08}"


def summary_id(talk_id: str) -> str:
    """The id of the summary of what has left a conversation's prompt."""
    return f"{talk_id}-summary"


def entry_of(talk_id: str, message: Message) -> MemoryEntry:
    """The entry that keeps a message.

    What was said by the one or the other is of the kind ``conversation``; thoughts, notices, and what functions
    answered, of the kind ``procedure``, so that a search for what was said passes over them.

    Raises:
        InvalidParameter: its text has more than 32,000 characters, or its calls more than 40 times as many.
    """
    text = storable(message.text)
    if len(text) > MAX_DOCUMENT:
        raise InvalidParameter(
            f"This message has {len(text):,} characters; at most {MAX_DOCUMENT:,} can be said at once. Say it in "
            "parts, or load it as a document."
        )
    extras: dict[str, Scalar] = {
        "conversation": talk_id,
        "number": message.number,
        "turn": message.number,  # by which a search knows what stands beside it, see relevancy.neighbours
        "role": message.role.value,
    }
    given: dict[str, Scalar] = {
        "speaker": storable(message.speaker)[:200],
        "call_id": message.call_id,
        "tokens": message.tokens,
    }
    extras |= {name: value for name, value in given.items() if value}
    if message.calls:
        extras |= _pieces(message)
    document = text
    if not text.strip():
        extras["text"] = text
        names = ", ".join(dict.fromkeys(call.name for call in message.calls))
        document = storable(f"(calls {names:.200})" if names else "(nothing)")
    kind = Kind.CONVERSATION if message.said.strip() else Kind.PROCEDURE
    return MemoryEntry(
        document, extras, message_id(talk_id, message.number), tier=Tier.RECALL, kind=kind, timestamp=message.at
    )


def _pieces(message: Message) -> dict[str, Scalar]:
    # ASCII only, so that whatever a model wrote can be kept as it is
    told = json.dumps([[call.id, call.name, call.arguments] for call in message.calls])
    pieces = [told[start : start + _PIECE] for start in range(0, len(told), _PIECE)]
    if len(pieces) > _MOST_PIECES:
        raise InvalidParameter(
            f"The calls of this message have {len(told):,} characters; at most {_MOST_PIECES * _PIECE:,} are kept."
        )
    return {f"{_CALLS}_{place}" if place else _CALLS: piece for place, piece in enumerate(pieces)}


def message_of(entry: MemoryEntry) -> Message:
    """The message that an entry keeps.

    Raises:
        StoreDamaged: it keeps none.
    """
    extras: dict[str, Any] = entry.extras
    try:
        told = "".join(str(extras[f"{_CALLS}_{place}" if place else _CALLS]) for place in _places(extras))
        calls = tuple(ToolCall(*map(_text, one)) for one in json.loads(told or "[]"))
        return Message(
            _number(extras["number"]),
            Role(extras["role"]),
            _text(extras.get("text", entry.document)),
            _known(entry.timestamp),
            _text(extras.get("speaker", "")),
            calls,
            _text(extras.get("call_id", "")),
            _number(extras.get("tokens", 0)),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreDamaged(f"The message {entry.id!r:.80} is not as it was written: {error!s:.100}.") from error


def _places(extras: dict[str, Any]) -> range:
    most = next((place for place in range(1, _MOST_PIECES) if f"{_CALLS}_{place}" not in extras), _MOST_PIECES)
    return range(most if _CALLS in extras else 0)


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r:.40} is no number")
    return value


def _known(at: datetime | None) -> datetime:
    if at is None:
        raise TypeError("it has no time")
    return at


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def storable(text: str) -> str:
    """The text with a sign in the place of what is no text: NUL, and halves of surrogate pairs."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
