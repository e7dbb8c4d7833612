"""Answers of chat completions, whole or in pieces, as text, calls and usage, whatever servers send."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from ...errors import ModelNonsense, ModelOverflow
from .. import text_tools
from ..base import SPOKEN, ToolCall, Usage
from ..redaction import Redaction, Stream
from .partial_json import Spoken

_THOUGHT = re.compile(r"\s*<(think|thinking|thought)>.*?(?:</\1>\s*|\Z)", re.DOTALL)
"""What reasoning models think aloud before they answer."""
_THINKING = ("<think>", "<thinking>", "<thought>")
_MARKUP = ("{", "[", "`")
_MOST_CALLS = 64
_MOST_TEXT = 200_000
"""Characters of a text or of a call's arguments; no meaningful answer is longer."""
_MOST_ID = 200
"""Characters of a call's id; those of known servers have forty at most."""
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


@dataclass
class _Made:
    """A call as it arrives."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Gathering:
    """One answer that is being assembled.

    Args:
        known: the names of the tools that were offered.
        hears: called with what is said as it arrives.
        by_tool: whether the model speaks by ``send_message``.
        redaction: removes what must not be in the answer.
    """

    known: Set[str]
    hears: Callable[[str], None]
    by_tool: bool
    redaction: Redaction = field(default_factory=lambda: Redaction(""))
    usage: Usage | None = None
    pieces: int = 0
    told: bool = False
    finish: str = ""
    _length: int = 0
    _text: list[str] = field(default_factory=list)
    _made: list[_Made] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _spoken: dict[int, Spoken] = field(default_factory=dict)
    _begun: str | None = ""
    _aloud: Stream = field(init=False)

    def __post_init__(self) -> None:
        self._aloud = self.redaction.stream()

    def whole(self, completion: Any) -> None:
        """Process an answer that came as a whole.

        Raises:
            ModelNonsense: it has no message.
        """
        choices: Any = getattr(completion, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = getattr(choice, "message", None)
        if message is None or isinstance(message, str):
            raise ModelNonsense("The language model server gave an answer without content.")
        self.usage = usage_of(getattr(completion, "usage", None))
        self._take(choice, message)

    def piece(self, chunk: Any) -> None:
        """Process a piece of an answer that comes in many."""
        self.pieces += 1
        self.usage = usage_of(getattr(chunk, "usage", None)) or self.usage
        choices = getattr(chunk, "choices", None)
        choice = choices[0] if isinstance(choices, list) and choices else None
        delta = getattr(choice, "delta", None)
        if delta is not None and not isinstance(delta, str):
            self._take(choice, delta)

    def done(self) -> tuple[str, tuple[ToolCall, ...]]:
        """The text and the calls. Text held back is passed to the listener if it turns out to be said.

        Raises:
            ModelOverflow: the context was full before the first word.
            ModelNonsense: there is neither text nor a call.
        """
        text = self._clean(_THOUGHT.sub("", "".join(self._text), count=1)).strip()
        calls = tuple(
            ToolCall(self._fit(made.id) or _new_id(), self._clean(made.name), self._clean(made.arguments) or "{}")
            for made in self._made[:_MOST_CALLS]
            if made.name
        )
        if not calls and self.known:
            text, called = text_tools.read(text, self.known)
            calls = tuple(ToolCall(_new_id(), name, arguments) for name, arguments in called[:_MOST_CALLS])
        if not text and not calls:
            if self.finish == "length":
                raise ModelOverflow("The language model had no room left for an answer: its context is full.")
            raise ModelNonsense("The language model gave an empty answer.")
        if len({call.id for call in calls}) < len(calls):
            calls = tuple(ToolCall(_new_id(), call.name, call.arguments) for call in calls)
        if not self.told:
            self._tell(text if not calls else _said(calls))
        if rest := self._aloud.rest():
            self.hears(rest)
        return text[:_MOST_TEXT], calls

    def _take(self, choice: Any, message: Any) -> None:
        finish = getattr(choice, "finish_reason", None)
        self.finish = finish if isinstance(finish, str) else self.finish
        text = _text(getattr(message, "content", None)) or _text(getattr(message, "refusal", None))
        if text and self._length < _MOST_TEXT:
            self._length += len(text)
            self._text.append(text)
            self._hear(text)
        listed = getattr(message, "tool_calls", None)
        for place, call in enumerate(listed if isinstance(listed, list) else ()):
            self._called(call, place)

    def _called(self, call: Any, place: int) -> None:
        """Process a call. Some servers number them, some call all of them 0, some none: a new id begins a new call."""
        function = getattr(call, "function", None)
        call_id, index = getattr(call, "id", None), getattr(call, "index", None)
        number = index if isinstance(index, int) else place
        known = self._places.get(number)
        fresh = isinstance(call_id, str) and call_id and known is not None and self._made[known].id not in ("", call_id)
        if known is None or fresh:
            self._made.append(_Made())
            known = self._places[number] = len(self._made) - 1
        made = self._made[known]
        made.id = call_id if isinstance(call_id, str) and call_id else made.id
        name, arguments = getattr(function, "name", None), getattr(function, "arguments", None)
        if isinstance(name, str) and name != made.name:
            made.name += name[:200]
        if isinstance(arguments, dict | list):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and len(made.arguments) + len(arguments) <= _MOST_TEXT:
            made.arguments += arguments
            if made.name == SPOKEN[0] and self.by_tool:
                self._tell(self._spoken.setdefault(known, Spoken(SPOKEN[1])).more(arguments))

    def _hear(self, text: str) -> None:
        """Pass on text as it arrives, unless the model is thinking aloud, or speaks by a tool and only thinks here."""
        if self.by_tool:
            return
        if self._begun is None:
            self._tell(text)
            return
        self._begun += text
        start = self._begun.lstrip()
        if self.known and start[:1] in _MARKUP:
            return  # it may turn out to be calls, see text_tools
        if any(mark.startswith(start) or start.startswith(mark) for mark in _THINKING):
            start = _ended(self._begun) if ">" in text else ""
        if start:
            self._begun = None
            self._tell(start)

    def _tell(self, text: str) -> None:
        if text := _UNSTORABLE.sub("", text):
            self.told = True
            if certain := self._aloud.more(text):
                self.hears(certain)

    def _fit(self, call_id: str) -> str:
        """A call's id as the server gave it; empty if it cannot be stored, or contains what the answer must not."""
        return call_id if len(call_id) <= _MOST_ID and self._clean(call_id) == call_id else ""

    def _clean(self, text: str) -> str:
        return self.redaction.text(_UNSTORABLE.sub("", text))


def _ended(begun: str) -> str:
    """What follows a completed thought; nothing while it continues."""
    thought = _THOUGHT.match(begun)
    return begun[thought.end() :] if thought and "</" in thought.group() else ""


def _said(calls: Sequence[ToolCall]) -> str:
    said = (Spoken(SPOKEN[1]).more(call.arguments) for call in calls if call.name == SPOKEN[0])
    return "\n".join(filter(None, said))


def _text(content: object) -> str:
    """A content's text; some servers send it in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = (part.get("text") if isinstance(part, dict) else getattr(part, "text", None) for part in parts)
    return "".join(part for part in found if isinstance(part, str))


def usage_of(usage: Any) -> Usage | None:
    """The tokens that a server counted, if its counts are plausible."""
    prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    if type(prompt) is not int or prompt <= 0:
        return None
    return Usage(prompt, completion if type(completion) is int and completion >= 0 else 0)


def _new_id() -> str:
    """Nine letters and digits, which is what the strictest of the servers (Mistral's) accepts."""
    return uuid.uuid4().hex[:9]
