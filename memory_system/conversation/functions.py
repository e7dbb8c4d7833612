"""Functions: what an agent can do in a talk, by MemGPT's names (arXiv 2310.08560), with their schemas.

A call comes as the model wrote it, and whatever is wrong with it goes back to the model as a result in words.

Schemas: the functions of an agent by MemGPT's names (arXiv 2310.08560), in the form of OpenAI's tools.

They are in every prompt of the strategy ``virtual``, and are therefore short.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from ..core.change_set import is_text
from ..errors import MemorySystemError, shown
from ..llm.base import ToolCall
from ..llm.tokens import estimate
from .actions import HEARTBEAT, TYPES, Action, carried_out, cut, handed_in, result_of, words_of
from .talk import SEND, Blocks

_BLOCK = {"type": "string", "enum": ["persona", "human"], "description": "You, or the other."}
_PAGE = {"type": "integer", "description": "From 0."}
_DAY = "A date, or 2026-03-27T18:00."


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


_QUERY = _text("What to look for.")


def _definition(name: str, description: str, required: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    properties = {**required, **more}
    if name != SEND:
        properties[HEARTBEAT] = {"type": "boolean", "description": "Go on afterwards."}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def brief(definition: Mapping[str, Any]) -> dict[str, Any]:
    """A definition without a description of each argument."""
    function = definition["function"]
    taken = function["parameters"]["properties"].items()
    bare = {
        name: {key: value for key, value in schema.items() if key != "description"}
        if isinstance(schema, dict)
        else schema
        for name, schema in taken
    }
    return {"type": "function", "function": {**function, "parameters": {**function["parameters"], "properties": bare}}}


DEFINITIONS: tuple[Mapping[str, Any], ...] = (
    _definition(SEND, "Say something.", {"message": _text("What you say.")}, {}),
    _definition("core_memory_append", "Add to core memory.", {"name": _BLOCK, "content": _text("A line.")}, {}),
    _definition(
        "core_memory_replace",
        "Replace exact text in core memory.",
        {"name": _BLOCK, "old_content": _text("Every place of it."), "new_content": _text("Empty to delete.")},
        {},
    ),
    _definition("conversation_search", "Search all that was ever said.", {"query": _QUERY}, {"page": _PAGE}),
    _definition(
        "conversation_search_date",
        "What was said between two dates such as 2026-03-27.",
        {"start_date": _text(_DAY), "end_date": _text(_DAY)},
        {"page": _PAGE},
    ),
    _definition("archival_memory_insert", "Remember an event.", {"content": _text("What happened.")}, {}),
    _definition("archival_memory_search", "Search your life and documents.", {"query": _QUERY}, {"page": _PAGE}),
)
"""The functions in the form of OpenAI's tools; each but ``send_message`` accepts ``request_heartbeat`` too."""
BRIEF: tuple[Mapping[str, Any], ...] = tuple(brief(definition) for definition in DEFINITIONS)
"""The same without a description of each argument, for prompts that are short of room."""
NAMES = tuple(str(definition["function"]["name"]) for definition in DEFINITIONS)
PARAMETERS = {name: definition["function"]["parameters"] for name, definition in zip(NAMES, DEFINITIONS, strict=True)}

PAUSE = _definition(
    "pause_heartbeats",
    "Let nobody wake you to speak for some minutes.",
    {"minutes": {"type": "integer", "description": "1 to 360."}},
    {},
)
"""The function by which an agent pauses its heartbeats; as MemGPT's, for at most six hours."""
MOST_PAUSED = 360
"""Minutes."""
_PAUSE = str(PAUSE["function"]["name"])
RESERVED = (*NAMES, _PAUSE)
"""Names that an action cannot have."""
MAX_ARGUMENTS = 100_000
"""How many characters the arguments of one call may have."""


@dataclass(frozen=True)
class Found:
    """One thing that a search found.

    Args:
        text: what it says.
        when: when it was said or happened; ``None`` = timeless.
        source: who said it, or its document and page, or which memory it is from.
        entry_id: the id of the message, passage or memory; empty if it is not stored.
        score: how well it answers, 0 or more; comparable only within its own kind of source.
    """

    text: str
    when: datetime | None
    source: str
    entry_id: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class Page:
    """One page of what was found: ``number`` from 0, ``total`` over all pages, ``size`` of a full one."""

    found: tuple[Found, ...]
    number: int
    total: int
    size: int


class External(Protocol):
    """External context: what is searched and stored outside of the prompt. Pages count from 0."""

    def search(self, query: str, page: int) -> Page:
        """What was said, by text and meaning."""

    def search_dates(self, start: str, end: str, page: int) -> Page:
        """What was said between two dates.

        Raises:
            MemorySystemError: they are not dates.
        """

    def archive(self, query: str, page: int) -> Page:
        """The agent's life and the documents that were loaded."""

    def insert(self, text: str) -> str:
        """Remember an event; returns what became of it, in words.

        Raises:
            MemorySystemError: it cannot be remembered.
        """


@dataclass(frozen=True)
class FunctionRun:
    """One call of a function, and its result.

    Args:
        call_id: the id of the model's call.
        name: the function's, as the model wrote it.
        arguments: JSON, as the model wrote them.
        result: JSON, as it goes back to the model.
        milliseconds: how long it took.
        tokens: how long the result is, estimated.
        failed: whether the result is an error.
        heartbeat: whether the model asked to go on.
        said: what ``send_message`` says.
        blocks: core memory afterwards.
        action: what was done in the game, such as "open_gate (gate: north)"; empty for functions of memory, and for
            calls that could not be carried out.
        paused: for how many minutes the agent pauses its heartbeats.
    """

    call_id: str
    name: str
    arguments: str
    result: str
    milliseconds: float
    tokens: int
    failed: bool
    heartbeat: bool
    said: str
    blocks: Blocks
    action: str = ""
    paused: int = 0


class _Wrong(Exception):
    """What is wrong with a call, in a sentence for the model."""


@dataclass(frozen=True)
class Functions:
    """Carries out calls.

    Args:
        external: what is searched.
        block_room: how many characters a block of core memory may have.
        result_room: how many characters the results of one search may have.
        muted: blocks of core memory to leave out, for this step only.
        actions: further functions.
        results: what was passed in for calls of actions, by the calls' ids; an exception means a failure.
        beats: whether the agent has heartbeats, which it can pause.
    """

    external: External
    block_room: int
    result_room: int
    muted: Sequence[str] = ()
    actions: Sequence[Action] = ()
    results: Mapping[str, object] = field(default_factory=dict)
    beats: bool = False

    def waits(self, call: ToolCall) -> bool:
        """Whether the caller of the step has to carry out this call."""
        action = self._action(call.name)
        if action is None or action.do is not None or call.id in self.results:
            return False
        try:
            self._checked_arguments(call)
        except _Wrong:  # the model gets an error, and nobody is asked to carry it out
            return False
        return True

    def run(self, call: ToolCall, blocks: Blocks) -> FunctionRun:
        """Carry out a call; nothing that the model writes makes it raise.

        Args:
            call: as the model wrote it.
            blocks: core memory as it is.
        """
        started = time.perf_counter()
        said, after, failed, heartbeat, done, paused = "", blocks, False, False, "", 0
        try:
            arguments, heartbeat = self._checked_arguments(call)
            if (action := self._action(call.name)) is not None:
                done = words_of(call.name, arguments)
                carry_out = (
                    handed_in(self.results[call.id]) if call.id in self.results else carried_out(action, arguments)
                )
                result, failed = result_of(carry_out, self.result_room)
            elif call.name == _PAUSE:
                paused, result = _minutes(arguments["minutes"]), _done()
            elif call.name == SEND:
                said, result = _filled(arguments, "message"), _done()
            elif call.name in _CORE:
                after = _CORE[call.name](self, blocks, arguments)
                places = (
                    getattr(blocks, arguments["name"]).count(arguments["old_content"])
                    if "old_content" in arguments
                    else 1
                )
                result = _done(f"Replaced in {places} places." if places > 1 else "")
            else:
                result = _OUTSIDE[call.name](self, arguments)
        except _Wrong as error:
            result, failed = _failure(str(error)), True
        except MemorySystemError as error:
            result, failed = _failure(error.sentence), True
        took = (time.perf_counter() - started) * 1000
        return FunctionRun(
            call.id,
            call.name,
            call.arguments,
            result,
            took,
            estimate(result),
            failed,
            heartbeat,
            said,
            after,
            done,
            paused,
        )

    def _action(self, name: str) -> Action | None:
        return next((action for action in self.actions if action.name == name), None)

    def _checked_arguments(self, call: ToolCall) -> tuple[dict[str, Any], bool]:
        """The arguments of a call, checked, and whether the model asked to go on."""
        known = PARAMETERS | {action.name: action.parameters for action in self.actions}
        known |= {_PAUSE: PAUSE["function"]["parameters"]} if self.beats else {}
        arguments = _arguments(call, known)
        heartbeat = arguments.pop(HEARTBEAT, False) in (True, "true", "True")
        _check(call.name, known[call.name], arguments)
        return arguments, heartbeat

    def append(self, blocks: Blocks, given: Mapping[str, Any]) -> Blocks:
        """Core memory with a text added to a block, on a line of its own."""
        name, block = self._block(blocks, given)
        text = _filled(given, "content")
        return self._with(blocks, name, f"{block}\n{text}" if block else text)

    def replace(self, blocks: Blocks, given: Mapping[str, Any]) -> Blocks:
        """Core memory with every occurrence of a text in a block replaced, as in MemGPT's reference."""
        name, block = self._block(blocks, given)
        old = given["old_content"]
        if not old:
            raise _Wrong("'old_content' is empty; use core_memory_append to add.")
        if old not in block:
            raise _Wrong(f"The block {name} does not hold {shown(old)}; it must be its exact text.")
        return self._with(blocks, name, block.replace(old, given["new_content"]).strip())

    def search(self, given: Mapping[str, Any]) -> str:
        """The result of ``conversation_search``."""
        query = _filled(given, "query")
        return self._page_json(self.external.search(query, given.get("page", 0)), query)

    def search_dates(self, given: Mapping[str, Any]) -> str:
        """The result of ``conversation_search_date``."""
        start, end = given["start_date"], given["end_date"]
        return self._page_json(self.external.search_dates(start, end, given.get("page", 0)))

    def archive(self, given: Mapping[str, Any]) -> str:
        """The result of ``archival_memory_search``."""
        query = _filled(given, "query")
        return self._page_json(self.external.archive(query, given.get("page", 0)), query)

    def insert(self, given: Mapping[str, Any]) -> str:
        """The result of ``archival_memory_insert``."""
        return _done(self.external.insert(_filled(given, "content")))

    def _block(self, blocks: Blocks, arguments: Mapping[str, Any]) -> tuple[str, str]:
        name = arguments["name"]
        if name in self.muted:
            raise _Wrong(f"The block {name} is not there now.")
        return name, getattr(blocks, name)

    def _with(self, blocks: Blocks, name: str, text: str) -> Blocks:
        if len(text) > self.block_room:
            raise _Wrong(
                f"The block {name} would have {len(text):,} characters; it has room for {self.block_room:,}. "
                "Replace something in it, or keep this with archival_memory_insert."
            )
        return Blocks(text, blocks.human) if name == "persona" else Blocks(blocks.persona, text)

    def _page_json(self, page: Page, query: str = "") -> str:
        """A page as JSON; of items longer than their share of the room, only the part that matches the query."""
        pages = -(-page.total // page.size) if page.total else 0
        message = f"Nothing was found on page {page.number}."
        if page.found:
            message = f"{len(page.found)} of {page.total} results, page {page.number} of 0 to {max(pages - 1, 0)}."
        share = max(80, self.result_room // max(1, len(page.found)) - 60)
        results = [
            {
                "when": item.when.isoformat() if item.when else "always",
                "source": item.source,
                "text": part_of(item.text, query, share),
            }
            for item in page.found
        ]
        return json.dumps({"status": "OK", "message": message, "results": results}, ensure_ascii=False)


_CORE: Mapping[str, Callable[[Functions, Blocks, Mapping[str, Any]], Blocks]] = {
    "core_memory_append": Functions.append,
    "core_memory_replace": Functions.replace,
}
_OUTSIDE: Mapping[str, Callable[[Functions, Mapping[str, Any]], str]] = {
    "conversation_search": Functions.search,
    "conversation_search_date": Functions.search_dates,
    "archival_memory_insert": Functions.insert,
    "archival_memory_search": Functions.archive,
}


def part_of(text: str, query: str, room: int) -> str:
    """``room`` characters of a long text, around the longest word of a query, or its beginning if none is in it."""
    if len(text) <= room:
        return text
    folded, words = text.casefold(), sorted(set(query.casefold().split()), key=lambda word: (-len(word), word))
    place = next((at for word in words if (at := folded.find(word.strip("?!.,;:\"'"))) >= 0), 0)
    start = min(max(0, place - room // 3), len(text) - room)
    return cut(text, room) if start <= 0 else cut(f"…{text[start:]}", room)


def _arguments(call: ToolCall, known: Mapping[str, object]) -> dict[str, Any]:
    if call.name not in known:
        raise _Wrong(f"There is no function {shown(call.name)}; there are {', '.join(known)}.")
    if len(call.arguments) > MAX_ARGUMENTS:
        raise _Wrong(f"The arguments have {len(call.arguments):,} characters; at most {MAX_ARGUMENTS:,} are allowed.")
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        raise _Wrong(f"The arguments of {call.name} are not JSON: {shown(call.arguments)}.") from None
    if not isinstance(arguments, dict):
        raise _Wrong(f"The arguments of {call.name} must be a JSON object.")
    return arguments


def _check(name: str, schema: Mapping[str, Any], arguments: dict[str, Any]) -> None:
    """Check that the arguments fit the schema; a number that came as text is accepted."""
    properties = schema["properties"]
    takes = f"it takes {', '.join(properties) or 'no arguments'}."
    if missing := [key for key in schema.get("required", []) if key not in arguments]:
        raise _Wrong(f"{name} needs {missing[0]!r}; {takes}")
    unknown = sorted(key for key in arguments if key not in properties)
    if unknown and not schema.get("additionalProperties", False):
        raise _Wrong(f"{name} has no argument {shown(unknown[0])}; {takes}")
    for key in [key for key in arguments if key in properties]:
        if name in RESERVED and properties[key].get("type") == "integer":
            arguments[key] = _page(key, arguments[key])
        elif key != HEARTBEAT:
            _fits(key, arguments[key], properties[key])


def _fits(key: str, value: object, schema: Any) -> None:
    """Check that one argument has its type and is one of its choices."""
    rules = schema if isinstance(schema, Mapping) else {}
    kinds = rules.get("type", list(TYPES))
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not any(_is_a(value, kind) for kind in kinds):
        raise _Wrong(f"{key!r} must be {' or '.join(_KINDS[kind] for kind in kinds)}, not {shown(value)}.")
    if "enum" in rules and value not in rules["enum"]:
        raise _Wrong(f"{key!r} must be {' or '.join(map(str, rules['enum']))}, not {shown(value)}.")


_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _is_a(value: object, kind: str) -> bool:
    if kind == "string":
        return is_text(value)
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind]) or (kind == "integer" and isinstance(value, float) and value.is_integer())


def _minutes(value: int) -> int:
    if not 1 <= value <= MOST_PAUSED:
        raise _Wrong(f"'minutes' must be 1 to {MOST_PAUSED}, not {value}.")
    return value


def _page(key: str, value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
        raise _Wrong(f"{key!r} must be a whole number, 0 or more, not {shown(value)}.")
    return value


def _filled(arguments: Mapping[str, Any], key: str) -> str:
    text: str = arguments[key].strip()
    if not text:
        raise _Wrong(f"{key!r} is empty.")
    return text


def _done(message: str = "") -> str:
    return json.dumps({"status": "OK", "message": message} if message else {"status": "OK"}, ensure_ascii=False)


def _failure(message: str) -> str:
    return json.dumps({"status": "Failed", "message": message}, ensure_ascii=False)
