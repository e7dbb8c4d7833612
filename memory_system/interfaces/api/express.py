"""Express: plain queries and events by the shortest path; routing takes longer than recall itself.

Everything else takes the path of all requests, so that only that path ever refuses anything. The answers are the
same on both, since both read the same body and make the same answer.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...core.json_source import no_twins
from ...core.names import MAX_NAME
from ...errors import MemorySystemError
from ..forms import QueryBody
from .deps import MOST_SAID, QUICK, Desk, calls_itself
from .idempotency import again, whole_body
from .problems import problem_response
from .routes.memories import add_plainly, answered
from .schemas.bodies import EventsBody
from .sse import EVENTS

QUERIES = 4
"""Threads; more would only wait for each other: an agent answers one query after another. Events wait for the disk."""
_PATH = re.compile(rf"/v1/agents/([^/]{{1,{MAX_NAME}}})/(query|events)")
_AUTHOR = b"memory-author"


@dataclass(frozen=True)
class _Plain:
    """What a plain request asks: which agent, what, and in whose name."""

    name: str
    what: str
    author: bytes | None


class Express:
    """Answers plain queries and events, and passes everything else on.

    Args:
        app: the app to which the rest is passed.
        desk: what all routes share.
    """

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app = app
        self._desk = desk
        self._threads = {"query": ThreadPoolExecutor(QUERIES, "query"), "events": ThreadPoolExecutor(QUICK, "events")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        plain = plain_request(scope)
        if plain is None:
            await self._app(scope, receive, send)
            return
        read = await whole_body(receive)
        body = _body(read, QueryBody if plain.what == "query" else EventsBody)
        answer = None
        if body is not None:
            context, loop = contextvars.copy_context(), asyncio.get_running_loop()
            answer = await loop.run_in_executor(
                self._threads[plain.what], context.run, self._answer, self._desk, plain, body
            )
        await (answer or self._app)(scope, again(read, receive), send)

    @staticmethod
    def _answer(desk: Desk, plain: _Plain, body: BaseModel) -> Response | None:
        """The answer; ``None`` if it may take long."""
        if plain.author is not None:
            calls_itself(plain.author.decode("latin-1"))
        try:
            if isinstance(body, QueryBody):
                return None if body.expand else answered(desk, plain.name, body)  # a language model may take long
            return add_plainly(desk, plain.name, body) if isinstance(body, EventsBody) else None
        except MemorySystemError as error:
            return problem_response(error)


def plain_request(scope: Scope) -> _Plain | None:
    """What is asked; ``None`` if this is not a plain request."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"]:
        return None
    found = _PATH.fullmatch(scope["path"])
    headers = dict(scope["headers"])
    once = len(headers) == len(scope["headers"])
    if found is None or not once or headers.get(b"content-type") != b"application/json":
        return None
    if b"idempotency-key" in headers or EVENTS.encode() in headers.get(b"accept", b""):
        return None
    if any(len(headers.get(name, b"")) > MOST_SAID for name in (_AUTHOR, b"memory-world")):
        return None
    return _Plain(found[1], found[2], headers.get(_AUTHOR))


def _body(read: list[Message], form: type[BaseModel]) -> BaseModel | None:
    """The body, if it is complete and can be accepted."""
    if read[-1]["type"] != "http.request":
        return None
    try:
        text = b"".join(message.get("body", b"") for message in read)
        return form.model_validate(json.loads(text, object_pairs_hook=no_twins))
    except (ValueError, RecursionError, ValidationError):
        return None
