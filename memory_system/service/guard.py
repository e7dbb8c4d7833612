"""What a server refuses before a request is read: other names for it, other pages, and bodies too large or too slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..intake import MAX_FILE
from .hosts import Hosts, from_elsewhere
from .problems import problem_json

MAX_BODY = 2_000_000
FILES = ("/events.ndjson", "/documents")
"""How the addresses end that take as much as a file may have."""
PATIENCE, SLOWEST = 10.0, 10_000
"""Seconds within which a body has to begin to come in, and the bytes a second that it has to keep up afterwards."""
_POLICY_VIOLATION = 1008
_READ_ON, _PAUSE = 16_000_000, 1.0
"""Bytes of a body that is refused which are read all the same, and seconds without any after which no more are."""


def largest_body(path: str) -> int:
    """How many bytes the API takes at an address: 2 MB, and 50 MB of a stream of events or a document."""
    return MAX_FILE if path.endswith(FILES) else MAX_BODY


class _Refused(Exception):
    pass


class Guard:
    """Answers 400 to another host name (DNS rebinding), 403 to pages from elsewhere, 413 to large, 408 to slow bodies.

    Args:
        app: what is guarded.
        hosts: the names of this server.
        largest: how many bytes an address takes.
    """

    def __init__(self, app: ASGIApp, hosts: Hosts | None = None, largest: Callable[[str], int] = largest_body) -> None:
        self.app = app
        self._hosts = hosts or Hosts()
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if it may be passed on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refused = None
        if not self._hosts.answers(headers.get(b"host", b"").decode("latin-1")):
            refused = problem_json(
                400, "foreign-host", "Foreign host", "This server answers to its own names only; MEMORY_HOSTS adds one."
            )
        elif from_elsewhere(headers):
            refused = problem_json(
                403, "foreign-origin", "Foreign origin", "A page of another server may not ask this."
            )
        if refused is None:
            await (
                self._passed(scope, headers, receive, send)
                if scope["type"] == "http"
                else self.app(scope, receive, send)
            )
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await refused(scope, receive, send)

    async def _passed(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        most = self._largest(scope["path"])
        too_large = problem_json(413, "too-large", "Too large", f"A body may have {most:,} bytes at most.")
        too_large.headers["Connection"] = "close"  # what is still to come of it is not read
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > most:
            await _let_finish(receive)
            await too_large(scope, receive, send)
            return
        seen, whole, began, answered = 0, False, time.monotonic(), False
        refusal = None

        async def counted() -> Message:
            nonlocal seen, whole, refusal
            if whole:
                return await receive()
            try:
                async with asyncio.timeout(max(0.0, began + PATIENCE + seen / SLOWEST - time.monotonic())):
                    message = await receive()
            except TimeoutError:
                refusal = problem_json(408, "too-slow", "Too slow", "The body did not come in. Send it in one go.")
                refusal.headers["Connection"] = "close"
                raise _Refused from None
            seen += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if seen > most:
                refusal = too_large
                raise _Refused
            return message

        async def unless_refused(message: Message) -> None:
            nonlocal answered
            if refusal is None:  # FastAPI answers 400 to whatever is raised while it reads a body
                answered = True
                await send(message)

        with suppress(_Refused):
            await self.app(scope, counted, unless_refused)
        if refusal is not None and not answered:
            if refusal is too_large and not whole:
                await _let_finish(receive)
            await refusal(scope, receive, send)


async def _let_finish(receive: Receive) -> None:
    """Read on for a while: whose connection is closed in the midst of sending may not hear the answer."""
    until, read, more = time.monotonic() + PATIENCE, 0, True
    with suppress(TimeoutError):
        while more and read < _READ_ON:
            async with asyncio.timeout(min(_PAUSE, until - time.monotonic())):
                message = await receive()
            read += len(message.get("body", b""))
            more = message.get("more_body", False)
