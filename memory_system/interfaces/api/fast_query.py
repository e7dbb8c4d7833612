"""Express: a plain query on the shortest way there is; routing and preparing it takes longer than recall itself.

What is not plain goes the way of all requests, so that only that way ever refuses anything. What is answered is the
same on both, since both read the same body and make the same answer.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import re
from concurrent.futures import ThreadPoolExecutor

from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...core.names import MAX_NAME
from ...errors import MemorySystemError
from ..forms import QueryBody
from .deps import Desk
from .idempotency import again, whole_body
from .problems import told
from .routes.memories import answered

THREADS = 4
"""More would only wait for each other: an agent answers one after the other."""
_QUERY = re.compile(rf"/v1/agents/([^/]{{1,{MAX_NAME}}})/query")
_JSON = (b"content-type", b"application/json")


class Express:
    """Answers plain queries, and passes everything else on.

    Args:
        app: what the rest is passed to.
        desk: what all routes share.
    """

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app = app
        self._desk = desk
        self._threads = ThreadPoolExecutor(THREADS, "query")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        name = plain_query_of(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        read = await whole_body(receive)
        body = _plain(read)
        if body is None:
            await self._app(scope, again(read, receive), send)
            return
        context = contextvars.copy_context()
        asked = asyncio.get_running_loop().run_in_executor(self._threads, context.run, self._answer, name, body)
        await (await asked)(scope, receive, send)

    def _answer(self, name: str, body: QueryBody) -> Response:
        try:
            return answered(self._desk, name, body)
        except MemorySystemError as error:
            return told(error)


def plain_query_of(scope: Scope) -> str | None:
    """Whose memory is asked; ``None`` if this is no plain query."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope["query_string"]:
        return None
    found = _QUERY.fullmatch(scope["path"])
    plain = found and _JSON in scope["headers"] and all(name != b"idempotency-key" for name, _ in scope["headers"])
    return found[1] if found and plain else None


def _plain(read: list[Message]) -> QueryBody | None:
    """The body, if all of it came and can be taken."""
    if read[-1]["type"] != "http.request":
        return None
    try:
        body = QueryBody.model_validate(json.loads(b"".join(one.get("body", b"") for one in read)))
        return None if body.expand else body  # a language model keeps nobody else waiting here
    except (ValueError, RecursionError, ValidationError):
        return None
