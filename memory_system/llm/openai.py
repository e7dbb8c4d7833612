"""Any OpenAI-compatible server as a language model. The only module that imports openai."""

from __future__ import annotations

import concurrent.futures
import json
import re
import time
from typing import Any, cast

import httpx
import openai
from openai.types.chat import ChatCompletion
from pydantic import ValidationError

from ..changes import ModelCall
from ..errors import ModelError, ModelNonsense, ModelTimeout, ModelUnavailable
from .base import Answer, Completion
from .tasks import Task

_FORMATS = ("json_schema", "json_object", "text")
_JSON = json.JSONDecoder()
_SECRET = 8
"""Characters: local servers take any key, and "local" need not be blotted out of every text."""
_BRACES = 50
"""Opening braces at which an answer's JSON object is looked for."""


class OpenAIModel:
    """Asks for a JSON schema, then for a JSON object, then for text, as far down as the server needs.

    Every answer is validated, whatever the server promised. The deadline covers everything: connecting,
    retries, a body that trickles. The key never stands in an error or a trace.
    """

    def __init__(self, *, model: str, key: str | None, base_url: str | None, deadline: float = 60.0) -> None:
        self.name = model
        self._key = key or ""
        self._deadline = deadline
        self._base_url = base_url
        self._format = 0  # index into _FORMATS of the best one that this server takes
        self._cool = True  # whether this model takes a temperature of 0

    @property
    def label(self) -> str:
        """The model and where it is asked."""
        where = httpx.URL(self._base_url).host if self._base_url else "OpenAI"
        return f"{self.name} at {where}"

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """As ``LanguageModel.complete``.

        Raises:
            ModelUnavailable, ModelTimeout, ModelNonsense: see there.
        """
        allowed = self._deadline if deadline is None else deadline
        started = time.monotonic()
        messages: list[dict[str, str]] = task.messages()
        problem: ModelNonsense | None = None
        for _attempt in range(2):
            text, tokens = self._ask(messages, task, started + allowed)
            try:
                answer = _parsed(text, task)
            except ModelNonsense as error:
                problem = ModelNonsense(self._redacted(str(error)))
                messages = [
                    *messages,
                    {"role": "assistant", "content": text[:4000]},
                    {"role": "user", "content": f"{problem} Answer again with the JSON object alone."},
                ]
                continue
            milliseconds = (time.monotonic() - started) * 1000
            call = ModelCall(task.name, self.name, task.prompt(), self._redacted(text), milliseconds, tokens)
            return Completion(answer, call)
        assert problem is not None, "the loop ends with an answer or a problem"
        raise problem

    def _ask(self, messages: list[dict[str, str]], task: Task[Any], until: float) -> tuple[str, int | None]:
        while True:
            chosen = self._format
            try:
                return self._bounded(messages, task, _FORMATS[chosen], until)
            except (
                openai.BadRequestError,
                openai.UnprocessableEntityError,
                openai.InternalServerError,
            ) as error:
                if self._cool and "temperature" in str(error).lower():
                    self._cool = False
                    continue
                # some servers answer 400 or 500 to a form they do not know: try the next simpler one
                if chosen + 1 == len(_FORMATS):
                    self._format = 0
                    raise self._refused(error) from None  # the original may hold the key
                self._format = chosen + 1
            except openai.OpenAIError as error:
                raise self._refused(error) from None

    def _bounded(
        self, messages: list[dict[str, str]], task: Task[Any], form: str, until: float
    ) -> tuple[str, int | None]:
        """One request in a thread of its own: a timeout of a socket starts again with every byte that trickles in."""
        left = until - time.monotonic()
        if left <= 0:
            raise self._late()
        client = openai.OpenAI(api_key=self._key or "none", base_url=self._base_url, timeout=left, max_retries=1)
        executor = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        try:
            asked = executor.submit(self._request, client, messages, form, task)
            return _text_of(asked.result(timeout=left))
        except concurrent.futures.TimeoutError as error:
            raise self._late() from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ModelNonsense("The language model server's answer is not JSON.") from error
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
            client.close()

    def _request(self, client: openai.OpenAI, messages: list[dict[str, str]], form: str, task: Task[Any]) -> Any:
        more = _response_format(form, task)
        if self._cool:
            more["temperature"] = 0
        return client.chat.completions.create(model=self.name, messages=cast("Any", messages), **more)

    def _late(self) -> ModelTimeout:
        return ModelTimeout(f"The language model {self.name} gave no complete answer in time.")

    def _refused(self, error: openai.OpenAIError) -> ModelError:
        if isinstance(error, openai.APITimeoutError):
            return self._late()
        if isinstance(error, openai.APIResponseValidationError):
            return ModelNonsense("The language model server's answer is not of the OpenAI form.")
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return ModelUnavailable("The language model server does not accept the key. Check OPENAI_API_KEY.")
        if isinstance(error, openai.NotFoundError):
            return ModelUnavailable(f"The server has no model {self.name!r}, or its address lacks a path like /v1.")
        if isinstance(error, openai.RateLimitError):
            return ModelUnavailable("The language model server says: too many requests, or no credit left.")
        if isinstance(error, openai.APIConnectionError):
            return ModelUnavailable(f"The language model server cannot be reached ({self.label}).")
        if isinstance(error, openai.APIStatusError):
            said = self._redacted(str(error.message))[:200]
            return ModelUnavailable(f"The language model server answered {error.status_code}: {said}")
        return ModelUnavailable(f"The language model cannot be used: {self._redacted(str(error))[:200]}")

    def _redacted(self, text: str) -> str:
        if len(self._key) >= _SECRET:
            text = text.replace(self._key, "[key]")
        return re.sub(r"\bsk-[\w-]{8,}", "[key]", text)


def _response_format(form: str, task: Task[Any]) -> dict[str, Any]:
    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": task.name, "schema": task.form.model_json_schema()}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _text_of(completion: Any) -> tuple[str, int | None]:
    """The content and the token count; the openai package validates neither, so that anything may stand there."""
    if not isinstance(completion, ChatCompletion):
        raise ModelNonsense("The server answered with something that is no chat completion; is the address right?")
    choices: Any = completion.choices
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if message is None:
        raise ModelNonsense("The language model server gave an answer without content.")
    content = getattr(message, "content", None)
    if not isinstance(content, str) or not content.strip():
        raise ModelNonsense("The language model gave an empty answer.")
    tokens = getattr(completion.usage, "total_tokens", None)
    return content, tokens if isinstance(tokens, int) else None


def _parsed(text: str, task: Task[Answer]) -> Answer:
    """The first JSON object in the text that has the form; what models think aloud may hold braces too."""
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
