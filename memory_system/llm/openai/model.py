"""Any OpenAI-compatible server as a language model. The only module that imports openai."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import queue
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import httpx
import openai
from openai.types.chat import ChatCompletion

from ...core.change_set import ModelCall, paired
from ...errors import ModelError, ModelNonsense, ModelOverflow, ModelUnavailable
from .. import text_tools
from ..base import Answer, Completion, Heard, Reply, Usage, speaks_by_tool, traced, unheard
from ..redaction import Redaction
from ..servers import host_of
from ..tasks import Task
from . import retry
from .chat import Form, told_error
from .completions import FORMATS, Answered, answered, parsed, response_format
from .errors import Kind, Refusal, alone, in_words, late
from .streaming import Gathering

_OVER = object()
"""Marks the end of a stream."""
_NOT_IMPLEMENTED = 501
"""The status from which a refusal is never about the form of the request."""


class OpenAIModel:
    """Asks for a JSON schema, then for a JSON object, then for text, as far down as the server needs.

    Every answer is validated, whatever the server promised. The deadline covers everything: connecting,
    retries, a body that trickles. The key is never in an error, an answer or a trace.
    """

    def __init__(self, *, model: str, key: str | None, base_url: str | None, deadline: float = 60.0) -> None:
        self.name = model
        self._key = key or ""
        self._redaction = Redaction(self._key)
        self._deadline = deadline
        self._base_url = base_url
        self._format = 0  # index into FORMATS of the best one that this server accepts
        self._cool = True  # whether this model accepts a temperature of 0
        self._form = Form()  # of chats, as far as this server accepts it

    @property
    def label(self) -> str:
        """The model and its server."""
        where = (host_of(self._base_url) or "an invalid address") if self._base_url else "OpenAI"
        return f"{self.name} at {where}"

    def complete(self, task: Task[Answer], deadline: float | None = None) -> Completion[Answer]:
        """As ``LanguageModel.complete``.

        Raises:
            ModelUnavailable, ModelTimeout, ModelNonsense: see there.
        """
        allowed = self._deadline if deadline is None else deadline
        started = time.monotonic()
        messages: list[dict[str, str]] = task.messages()
        problem = ""
        spent: Usage | None = None  # of all attempts together
        with alone():
            for _attempt in range(2):
                try:
                    got = self._ask(messages, task, started + allowed)
                except ModelError as error:
                    error.usage = _pair(spent)
                    raise
                spent = got.usage if spent is None or got.usage is None else spent + got.usage
                text = paired(self._redaction.text(got.text))  # otherwise it could not be sent back
                try:
                    answer = parsed(text, task)
                except ModelNonsense as error:
                    room = " It was cut off where the model had no more room." if got.cut else ""
                    problem = f"{self._redaction.strict(str(error))}{room}"
                    messages = [
                        *messages,
                        {"role": "assistant", "content": text[:4000]},
                        {"role": "user", "content": f"{problem} Answer again with the JSON object alone."},
                    ]
                    continue
                reply, milliseconds = self._redaction.strict(text), (time.monotonic() - started) * 1000
                call = ModelCall(task.name, self.name, task.prompt(), reply, milliseconds, got.tokens)
                return Completion(answer, call, spent)
            nonsense = ModelNonsense(problem)
            nonsense.usage = _pair(spent)
            raise nonsense

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        deadline: float | None = None,
        heard: Heard = unheard,
    ) -> Reply:
        """As ``ChatModel.chat``. Streams if ``heard`` is given, and offers tools in the form that the server accepts.

        Raises:
            ModelOverflow, ModelUnavailable, ModelTimeout, ModelNonsense: see there.
        """
        with alone():
            return self._conversed(messages, tools, self._deadline if deadline is None else deadline, heard)

    def _conversed(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], allowed: float, heard: Heard
    ) -> Reply:
        started = time.monotonic()
        until = started + allowed
        streaming, form, sure = heard is not unheard, self._form, True
        while True:
            gathering = Gathering(text_tools.names(tools), heard, speaks_by_tool(tools), self._redaction)
            try:
                self._talk(form.body(messages, tools, streaming=streaming), gathering, until)
            except (
                openai.BadRequestError,
                openai.UnprocessableEntityError,
                openai.InternalServerError,
                openai.NotFoundError,
            ) as error:
                refused = self._refused(error)
                simpler = form.simpler(str(error), tools=bool(tools), streaming=streaming)
                if simpler is None and not isinstance(error, openai.NotFoundError):
                    simpler = form.plainer(tools=bool(tools), streaming=streaming)
                    lost = form.tools and simpler is not None and not simpler.tools
                    luck = isinstance(error, openai.InternalServerError)  # or the content was the problem, not the form
                    sure = sure and not luck and not (lost and isinstance(error, openai.BadRequestError))
                busy = error.status_code > _NOT_IMPLEMENTED
                if isinstance(refused, ModelOverflow) or simpler is None or busy:
                    raise refused from None
                form = simpler
                continue
            except openai.OpenAIError as error:
                raise self._refused(error) from None
            if streaming and form.stream and not gathering.pieces:
                form = dataclasses.replace(form, stream=False)  # the reply was not a stream
                continue
            text, calls = gathering.done()
            self._form = form if sure else self._form
            return traced(self.name, messages, text, calls, gathering.usage, (time.monotonic() - started) * 1000)

    def _talk(self, body: dict[str, Any], gathering: Gathering, until: float) -> None:
        """One request. Pieces are handled in the caller's thread, so that the listener may belong to it."""
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        stop = threading.Event()

        def ask(client: openai.OpenAI) -> Any:
            answer = self._sent(client, body, until)
            if not isinstance(answer, openai.Stream):
                return answer
            with answer:
                for piece in answer:
                    arrived.put(piece)
                    if stop.is_set():
                        break
            return answer

        def wait(asked: concurrent.futures.Future[Any]) -> Any:
            asked.add_done_callback(lambda _done: arrived.put(_OVER))
            try:
                while (piece := arrived.get(timeout=max(0.0, until - time.monotonic()))) is not _OVER:
                    self._in_time(until)
                    gathering.piece(piece)
            except queue.Empty:
                raise late(self.name) from None
            finally:
                stop.set()
            return asked.result()

        answer = self._beside(ask, wait, until)
        if isinstance(answer, openai.Stream):
            return
        self._checked(answer)
        gathering.whole(answer)

    def _sent(self, client: openai.OpenAI, body: dict[str, Any], until: float) -> Any:
        """The answer to one request; sent again, as ``retry`` decides, if it may be answered a moment later."""
        for times in itertools.count():
            try:
                return client.chat.completions.create(model=self.name, **body)
            except (openai.APIStatusError, openai.APIConnectionError) as error:
                wait = retry.pause(_refusal(error), times, until - time.monotonic())
                if wait is None:
                    raise
            time.sleep(wait)
        raise AssertionError("the loop answers or raises")

    def _checked(self, answer: Any) -> None:
        """Refuse what is not a completion; some servers report errors with a status of 200."""
        if not isinstance(answer, ChatCompletion):
            raise ModelNonsense("The server's answer is not a chat completion; is the address right?")
        if wrong := (answer.model_extra or {}).get("error"):
            said, code = told_error(wrong)
            raise self._worded(Refusal(Kind.TOLD, None, said, code))

    def _ask(self, messages: list[dict[str, str]], task: Task[Any], until: float) -> Answered:
        while True:
            chosen = self._format
            try:
                return self._bounded(messages, task, FORMATS[chosen], until)
            except (
                openai.BadRequestError,
                openai.UnprocessableEntityError,
                openai.InternalServerError,
            ) as error:
                if self._cool and "temperature" in str(error).lower():
                    self._cool = False
                    continue
                refused = self._refused(error)
                if isinstance(refused, ModelOverflow) or error.status_code > _NOT_IMPLEMENTED:
                    raise refused from None
                # some servers answer 400 or 500 to a form they do not know: try the next simpler one
                if chosen + 1 == len(FORMATS):
                    self._format = 0
                    raise refused from None
                self._format = chosen + 1
            except openai.OpenAIError as error:
                raise self._refused(error) from None

    def _bounded(self, messages: list[dict[str, str]], task: Task[Any], form: str, until: float) -> Answered:
        body: dict[str, Any] = {"messages": messages, **response_format(form, task)}
        if self._cool:
            body["temperature"] = 0
        answer = self._beside(
            lambda client: self._sent(client, body, until),
            lambda asked: asked.result(timeout=max(0.0, until - time.monotonic())),
            until,
        )
        self._checked(answer)
        return answered(answer)

    def _beside(
        self,
        ask: Callable[[openai.OpenAI], Any],
        wait: Callable[[concurrent.futures.Future[Any]], Any],
        until: float,
    ) -> Any:
        """One request in a thread of its own: a socket's timeout starts again with every byte that trickles in."""
        left = self._in_time(until)
        if self._base_url and not host_of(self._base_url):
            raise ModelUnavailable(
                "The address of the language model server is not valid. Correct it, on the Installation page "
                "or in OPENAI_BASE_URL."
            )
        client = openai.OpenAI(
            api_key=self._key or "none",
            base_url=self._base_url,
            timeout=left,
            max_retries=0,
            # memories go to the chosen address, not on to where its server redirects
            http_client=openai.DefaultHttpxClient(verify=_trusted(), follow_redirects=False),
        )
        executor = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        try:
            return wait(executor.submit(_readable, ask, client))
        except concurrent.futures.TimeoutError as error:
            raise late(self.name) from error
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
            client.close()

    def _in_time(self, until: float) -> float:
        """The seconds that are left, if there are any."""
        left = until - time.monotonic()
        if left <= 0:
            raise late(self.name)
        return left

    def _refused(self, error: openai.OpenAIError) -> ModelError:
        return self._worded(_refusal(error))

    def _worded(self, refusal: Refusal) -> ModelError:
        return in_words(refusal, self.name, self.label, self._redaction)


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted certificates; reading them takes 20 ms, more than the rest of a request does here."""
    return httpx.create_ssl_context()


def _refusal(error: openai.OpenAIError) -> Refusal:
    """The refusal in an error of the openai package."""
    if isinstance(error, openai.APITimeoutError):
        return Refusal(Kind.LATE)
    if isinstance(error, openai.APIConnectionError):
        return Refusal(Kind.UNREACHED if "Connect" in type(error.__cause__).__name__ else Kind.BROKEN_OFF)
    said, code = told_error(error.body) if isinstance(error, openai.APIError) else ("", None)
    if isinstance(error, openai.APIStatusError):
        pause = retry.retry_after(error.response.headers)
        return Refusal(Kind.TOLD, error.status_code, said or error.message, code, pause)
    shapeless = isinstance(error, openai.APIResponseValidationError)
    return Refusal(Kind.SHAPELESS if shapeless else Kind.TOLD, None, said or str(error), code)


def _readable(ask: Callable[[openai.OpenAI], Any], client: openai.OpenAI) -> Any:
    """The result of ``ask``; the openai package does not handle errors in reading what a server sent."""
    try:
        return ask(client)
    except httpx.HTTPError as error:  # only older versions of the package raise these
        raise ModelUnavailable("The language model server broke off before its answer was whole.") from error
    except UnicodeEncodeError as error:
        raise ModelUnavailable("The key or the messages hold characters that cannot be sent.") from error
    except ValueError as error:  # broken JSON, invalid UTF-8, numbers of thousands of digits
        raise ModelNonsense("The language model server's answer is not JSON.") from error
    except (RecursionError, TypeError, AttributeError, LookupError) as error:
        raise ModelNonsense("The language model server's answer is not of the OpenAI form.") from error


def _pair(usage: Usage | None) -> tuple[int, int] | None:
    return None if usage is None else (usage.prompt, usage.completion)
