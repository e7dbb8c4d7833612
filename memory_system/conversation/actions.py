"""Actions: what an agent can do in a game while it talks, by the game's own functions in addition to memory's.

The model gets the name, description and JSON schema of each. An action that has a callable is carried out at once; for
one without, the call is returned to the caller, who carries it out and passes its result to ``Conversation.go_on``. A
failed action is a result like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidParameter, MemorySystemError, shown
from ..llm.base import ToolCall

HEARTBEAT = "request_heartbeat"
"""The argument by which a model asks to go on after the result of a function, before it is the other's turn."""
MAX_ACTIONS = 50
MAX_SCHEMA = 8000
"""How many characters an action's schema may have, as JSON."""
MAX_DESCRIPTION = 1000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
"""The types of JSON schema, each with those of Python."""


@dataclass(frozen=True)
class Action:
    """Something that an agent can do.

    Args:
        name: 1 to 64 letters, digits, ``_`` and ``-``, not beginning with a digit.
        description: what it does, for the model; 1 to 1,000 characters.
        parameters: the JSON schema of its arguments, an object; at most 8,000 characters as JSON. Their types and
            choices are checked before it is carried out, but not nested values.
        do: carries it out: called with the arguments by name, returns a value for JSON, or a text. An exception says
            why it failed. If not given, the caller of the step has to carry it out.

    Raises:
        InvalidParameter: one is not as described.
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    do: Callable[..., object] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InvalidParameter(
                "An action's name has 1 to 64 letters, digits, _ and -, and does not begin with a digit; "
                f"{shown(self.name)} does not fit."
            )
        description = self.description
        if not isinstance(description, str) or not description.strip() or len(description) > MAX_DESCRIPTION:
            raise InvalidParameter(f"The action {self.name} needs a description of 1 to {MAX_DESCRIPTION} characters.")
        if self.do is not None and not callable(self.do):
            raise InvalidParameter(f"'do' of the action {self.name} must be a function, or be left out.")
        object.__setattr__(self, "parameters", _schema(self.name, self.parameters))

    @property
    def told(self) -> dict[str, Any]:
        """The action as JSON, without its callable."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    @property
    def definition(self) -> dict[str, Any]:
        """The action in the form of OpenAI's tools; it accepts ``request_heartbeat`` too, as functions of memory do."""
        properties = {
            **self.parameters["properties"],
            HEARTBEAT: {"type": "boolean", "description": "Go on afterwards."},
        }
        taken = {**self.parameters, "properties": properties}
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": taken},
        }


def checked_actions(actions: object, taken: Sequence[str]) -> tuple[Action, ...]:
    """The actions, checked.

    Args:
        actions: what was given.
        taken: the names of the functions that every talk has.

    Raises:
        InvalidParameter: they are not actions, there are too many, or two functions would have one name.
    """
    if not isinstance(actions, Sequence) or not all(isinstance(action, Action) for action in actions):
        raise InvalidParameter('The actions must be a list: [Action("open_gate", "Open a gate.", {...}, open_gate)].')
    if len(actions) > MAX_ACTIONS:
        raise InvalidParameter(f"A talk has at most {MAX_ACTIONS} actions, not {len(actions)}.")
    seen: set[str] = set()
    for action in actions:
        if action.name in taken:
            raise InvalidParameter(
                f"An action cannot be called {action.name}: that is a function of memory. Rename it."
            )
        if action.name in seen:
            raise InvalidParameter(f"Two actions are called {action.name}; each needs a name of its own.")
        seen.add(action.name)
    return tuple(actions)


def result_of(call: Callable[[], object], room: int) -> tuple[str, bool]:
    """The result of an action, as JSON for the model, and whether it failed.

    Args:
        call: carries it out.
        room: how many characters the result may have; a longer one is cut, and says so.
    """
    try:
        value = _plain(call())
    except Exception as error:  # noqa: BLE001 - a game may fail in any way, and the model is told of it
        return _result_json("Failed", "message", _failure(error), room), True
    if value is None:
        return json.dumps({"status": "OK"}), False
    text = json.dumps(value, ensure_ascii=False)
    return _result_json("OK", "result", text if len(text) > room and not isinstance(value, str) else value, room), False


def carried_out(action: Action, arguments: Mapping[str, Any]) -> Callable[[], object]:
    """The callable that carries an action out."""
    do = action.do
    assert do is not None, "an action without a callable is carried out by the caller of the step"
    return lambda: do(**arguments)


def outcome(action: Action, call: ToolCall) -> object:
    """The result of a call that is carried out here, to be passed in; an exception if it failed."""
    arguments = json.loads(call.arguments or "{}")
    arguments.pop(HEARTBEAT, None)
    try:
        return _plain(carried_out(action, arguments)())
    except Exception as error:  # noqa: BLE001 - a game may fail in any way, and the model is told of it
        return RuntimeError(_failure(error))


def handed_in(result: object) -> Callable[[], object]:
    """A callable that returns a result that was passed in; an exception means a failure."""

    def call() -> object:
        if isinstance(result, Exception):
            raise result
        return result

    return call


def result_in(text: str) -> object:
    """The result that was passed in, from the text that ``result_of`` made of it."""
    body = json.loads(text)
    return RuntimeError(body["message"]) if body["status"] == "Failed" else body.get("result")


def cut(text: str, room: int) -> str:
    """A text cut to at most ``room`` characters, with how much was left out."""
    if len(text) <= room:
        return text
    notice = f" […{len(text):,} characters in all]"
    return text[: max(0, room - len(notice))] + notice


def words_of(name: str, arguments: Mapping[str, Any]) -> str:
    """A call in words for memory, such as "open_gate (gate: north)"."""
    parts = [
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in arguments.items()
    ]
    return f"{name} ({cut(', '.join(parts), 300)})" if parts else name


def _plain(value: object) -> object:
    """A value for JSON; what JSON cannot represent, such as NaN, as its text."""
    return json.loads(json.dumps(value, default=str), parse_constant=str)


def _result_json(status: str, name: str, value: object, room: int) -> str:
    said = cut(value, room) if isinstance(value, str) else value
    return json.dumps({"status": status, name: said}, ensure_ascii=False)


def _failure(error: Exception) -> str:
    if isinstance(error, MemorySystemError):
        return error.sentence
    return str(error) or type(error).__name__


def _schema(name: str, parameters: object) -> dict[str, Any]:
    """A copy of an action's schema, completed.

    Raises:
        InvalidParameter: it is not the schema of an object.
    """

    def refuse(why: str) -> InvalidParameter:
        return InvalidParameter(f"The parameters of the action {name} are not a JSON schema of an object: {why}.")

    if not isinstance(parameters, Mapping):
        raise refuse('write {"type": "object", "properties": {...}}')
    try:
        text = json.dumps(dict(parameters), allow_nan=False)
        schema: dict[str, Any] = json.loads(text)
        why = _wrong("it", schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise refuse(f"{error!s:.100}") from error
    if why:
        raise refuse(why)
    if len(text) > MAX_SCHEMA:
        raise refuse(f"it has {len(text):,} characters; at most {MAX_SCHEMA:,} are allowed")
    schema = {"type": "object", "properties": {}} | schema
    if schema["type"] != "object":
        raise refuse(f"its type is {shown(schema['type'])}, not 'object'")
    if HEARTBEAT in schema["properties"]:
        raise refuse(f"{HEARTBEAT!r} is an argument of every function already")
    if missing := [key for key in schema.get("required", []) if key not in schema["properties"]]:
        raise refuse(f"{shown(missing[0])} is required, but is not among its properties")
    return schema


def _wrong(where: str, schema: object) -> str:
    """What is wrong with a schema; empty if nothing is. Only the parts that calls are checked by are checked."""
    if isinstance(schema, bool):
        return ""
    if not isinstance(schema, dict):
        return f"{where} is {shown(schema)}"
    kinds = schema.get("type", [])
    named = kinds if isinstance(kinds, list) else [kinds]
    if unknown := [kind for kind in named if not isinstance(kind, str) or kind not in TYPES]:
        return f"{where} has the type {shown(unknown[0])}; there are {', '.join(TYPES)}"
    if "enum" in schema and (not isinstance(schema["enum"], list) or not schema["enum"]):
        return f"'enum' of {where} is not a list of choices"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return f"'required' of {where} is not a list of names"
    inside = schema.get("properties", {})
    if not isinstance(inside, dict):
        return f"'properties' of {where} is {shown(inside)}"
    parts = {**inside, **({"items": schema["items"]} if "items" in schema else {})}
    return next(filter(None, (_wrong(shown(key), part) for key, part in parts.items())), "")
