"""Answers of a form: how a server is asked for one, and how it is read whatever the server promised."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from ..errors import ModelNonsense
from .base import Answer
from .tasks import Task

FORMATS = ("json_schema", "json_object", "text")
"""What a server may be asked for, the best first."""
_JSON = json.JSONDecoder()
_BRACES = 50
"""Opening braces at which an answer's JSON object is looked for."""


def response_format(form: str, task: Task[Any]) -> dict[str, Any]:
    """What to send along to be answered in this form, one of ``FORMATS``."""
    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": task.name, "schema": task.form.model_json_schema()}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def parsed(text: str, task: Task[Answer]) -> Answer:
    """The first JSON object in the text that has the task's form; what models think aloud may hold braces too.

    Raises:
        ModelNonsense: there is none; the message says what the first that was found lacks.
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
    raise problem or ModelNonsense(f"The language model's answer to '{task.name}' holds no JSON object.")


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
            f"The language model's answer to '{task.name}' does not have the form: {where}: {first['msg']}."
        ) from None  # the original quotes the answer, which may hold the key
    except RecursionError as error:
        raise ModelNonsense(f"The language model's answer to '{task.name}' is nested too deep.") from error
