"""Tools for models without tool support: explained in the prompt, called by a JSON object in the text.

The protocol: the system message lists the tools and asks for ``{"calls": [{"name": ..., "arguments": {...}}]}`` alone.
Earlier calls are in the conversation in the same form, their results as the user's messages. The forms in which
models call out of habit are understood too: one bare ``{"name": ..., "arguments": ...}``, ``parameters`` for
``arguments``, and ``<tool_call>`` around them. A JSON object is only a call if it names a tool that was offered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

_DECODER = json.JSONDecoder()
_BRACES = 30
"""Opening braces of an answer at which to look for a call."""
_EXPLAINED = (
    "You can call these functions. To call some, answer with one JSON object alone, in this form and with nothing "
    'around it: {{"calls": [{{"name": "name of the function", "arguments": {{}}}}]}}\nThe functions, with the JSON '
    "schemas of their arguments:\n{functions}"
)
_RESULT = "[Result of {name}]\n{content}"
_NOTICE = "[System notice]\n{content}"

Called = tuple[str, str]
"""A function's name and the JSON text of its arguments."""


def names(tools: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The names of the tools."""
    return frozenset(str(tool["function"]["name"]) for tool in tools)


def explained(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The conversation with the tools explained in its system message, and all calls and results as text."""
    functions = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    conversation, made = list[dict[str, Any]](), dict[str, str]()
    for message in messages:
        calls = message.get("tool_calls") or ()
        made.update({str(call["id"]): str(call["function"]["name"]) for call in calls})
        content = str(message.get("content") or "")
        if calls:
            content = f"{content}\n{_written(calls)}".strip()
        if message["role"] == "tool":
            name = made.get(str(message.get("tool_call_id")), "a function")
            conversation.append({"role": "user", "content": _RESULT.format(name=name, content=content)})
        else:
            conversation.append({"role": message["role"], "content": content})
    if tools:
        note = _EXPLAINED.format(functions=functions)
        if conversation and conversation[0]["role"] == "system":
            conversation[0] = {"role": "system", "content": f"{conversation[0]['content']}\n\n{note}"}
        else:
            conversation.insert(0, {"role": "system", "content": note})
    return conversation


def alternating(messages: Sequence[Mapping[str, Any]], *, system: bool) -> list[dict[str, Any]]:
    """The conversation for templates that require user and assistant to alternate.

    Args:
        messages: without calls of tools; see ``explained``.
        system: whether the first message may be the system's; otherwise it is put at the beginning of the user's first.
    """
    turns = list[dict[str, Any]]()
    for place, message in enumerate(messages):
        role, content = message["role"], str(message.get("content") or "")
        if role == "system" and (place or not system):
            role = "user"
            content = _NOTICE.format(content=content) if place else content
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += f"\n\n{content}"
        else:
            turns.append({"role": role, "content": content})
    opening = next((place for place, turn in enumerate(turns) if turn["role"] != "system"), None)
    if opening is not None and turns[opening]["role"] == "assistant":
        turns.insert(opening, {"role": "user", "content": "(The conversation begins.)"})
    return turns


def read(text: str, known: Set[str]) -> tuple[str, tuple[Called, ...]]:
    """The text around the calls, and the calls; the text itself and no calls if it contains none.

    Args:
        text: a model's answer.
        known: the names of the tools that were offered.
    """
    found = list[Called]()
    first, last = len(text), 0
    for start, end, value in _objects(text):
        if calls := _calls(value, known):
            found.extend(calls)
            first, last = min(first, start), max(last, end)
    if not found:
        return text, ()
    around = f"{text[:first]}\n{text[last:]}"
    for mark in ("<tool_call>", "</tool_call>", "```json", "```"):
        around = around.replace(mark, "")
    return around.strip(" \n\t[],"), tuple(found)


def _objects(text: str) -> Iterator[tuple[int, int, Any]]:
    start = text.find("{")
    for _brace in range(_BRACES):
        if start < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, start)
            yield start, end, value
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)


def _calls(value: Any, known: Set[str]) -> list[Called]:
    listed = value.get("calls", value.get("tool_calls", [value])) if isinstance(value, dict) else []
    if not isinstance(listed, list):
        return []
    return [call for item in listed if (call := _call(item, known)) is not None]


def _call(item: Any, known: Set[str]) -> Called | None:
    inner = item.get("function", item) if isinstance(item, dict) else None
    made = inner if isinstance(inner, dict) else item
    if not isinstance(made, dict) or not isinstance(made.get("name"), str) or made["name"] not in known:
        return None
    arguments = made.get("arguments", made.get("parameters", {}))
    return made["name"], arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _written(calls: Sequence[Mapping[str, Any]]) -> str:
    listed = list[dict[str, Any]]()
    for call in calls:
        try:
            arguments = json.loads(call["function"]["arguments"])
        except (ValueError, RecursionError):
            arguments = str(call["function"]["arguments"])
        listed.append({"name": call["function"]["name"], "arguments": arguments})
    return json.dumps({"calls": listed}, ensure_ascii=False)
