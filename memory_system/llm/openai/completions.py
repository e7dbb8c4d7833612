"""Answers of a form: how to ask a server for one, and how to read it whatever the server promised.

Completions: the text of a whole answer, however a server returned it; the openai package validates nothing of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ...errors import ModelNonsense, problem_words
from ..base import Answer, Usage
from ..tasks import Task
from .streaming import usage_of


@dataclass(frozen=True)
class Answered:
    """A whole answer.

    Args:
        text: what was said; the arguments of an unsolicited call, if there was nothing else.
        tokens: the server's total count, ``None`` if there is none.
        usage: the counts of the prompt and of the answer, as far as they are plausible.
        cut: whether the answer ends because it reached the limit.
    """

    text: str
    tokens: int | None
    usage: Usage | None
    cut: bool


def answered(completion: Any) -> Answered:
    """The contents of an answer.

    Raises:
        ModelNonsense: it is empty; the message says what came instead.
    """
    choices: Any = completion.choices
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        raise ModelNonsense("The language model server gave an answer without content.")
    finish = getattr(choice, "finish_reason", None)
    text = _filled(getattr(message, "content", None)) or _of_a_call(getattr(message, "tool_calls", None))
    if not text:
        raise ModelNonsense(_instead(message, finish))
    tokens = getattr(completion.usage, "total_tokens", None)
    return Answered(text, tokens if isinstance(tokens, int) else None, usage_of(completion.usage), finish == "length")


def _filled(text: object) -> str:
    return text if isinstance(text, str) and text.strip() else ""


def _of_a_call(calls: object) -> str:
    """What some models write into a call of a tool that they invented, though none was offered."""
    listed = calls if isinstance(calls, list) else []
    found = (_filled(getattr(getattr(call, "function", None), "arguments", None)) for call in listed)
    return next(filter(None, found), "")


def _instead(message: Any, finish: object) -> str:
    if _filled(getattr(message, "refusal", None)) or finish == "content_filter":
        return "The language model refused to answer."
    if finish == "length":
        return "The language model had no room left for an answer: its context is full."
    return "The language model gave an empty answer."


FORMATS = ("json_schema", "json_object", "text")
"""What to ask a server for, the best first."""
_JSON = json.JSONDecoder()
_BRACES = 50
"""Opening braces at which to look for an answer's JSON object."""


def response_format(form: str, task: Task[Any]) -> dict[str, Any]:
    """The request's parameters for an answer in this form, one of ``FORMATS``."""
    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": task.name, "schema": task.form.model_json_schema()}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def parsed(text: str, task: Task[Answer]) -> Answer:
    """The first JSON object in the text that has the task's form; models may also think aloud in braces.

    Raises:
        ModelNonsense: there is none; the message says what the first candidate lacks.
    """
    problem: ModelNonsense | None = None
    start = text.find("{")
    for _brace in range(_BRACES):
        if start < 0:
            break
        try:
            return _parsed_at(text, start, task)
        except ModelNonsense as error:
            problem = problem or error
        start = text.find("{", start + 1)
    raise problem or ModelNonsense(f"The language model's answer to '{task.name}' is not a JSON object.")


def _parsed_at(text: str, start: int, task: Task[Answer]) -> Answer:
    try:
        value, _ = _JSON.raw_decode(text, start)
        return task.form.model_validate(value)
    except json.JSONDecodeError as error:
        raise ModelNonsense(f"The language model's answer to '{task.name}' is broken JSON.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ModelNonsense(
            f"The language model's answer to '{task.name}' does not have the form: {where}: {problem_words(first)}."
        ) from None  # the original quotes the answer, which may hold the key
    except RecursionError as error:
        raise ModelNonsense(f"The language model's answer to '{task.name}' is nested too deep.") from error
