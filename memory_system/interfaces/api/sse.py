"""Answers sent as they arise: progress, pieces of speech and then the whole answer, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, cast

from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ...errors import MemorySystemError
from ...operations.context import Progress

EVENTS = "text/event-stream"
TOLD: dict[int | str, dict[str, Any]] = {200: {"content": {EVENTS: {"schema": {"type": "string"}}}}}
"""The description of an answer that can be streamed on request."""
_BREAKS = re.compile("[\x85\u2028\u2029]")
"""What some readers of lines treat as the end of one."""
_AT_ONCE_SECONDS = 0.5
"""How long an answer may take and still be refused with a status of its own, before the stream begins."""
_QUIET_SECONDS = 15.0

Tell = Callable[[str, dict[str, Any]], None]
"""Called with the name of an event and its content during the work; raises ``Left`` once nobody listens any more."""

Begin = Callable[[Callable[[], None]], Awaitable[None]]


class Left(Exception):
    """Raised in work whose listener has left: what has not been applied yet never is."""


def untold(_kind: str, _data: dict[str, Any]) -> None:
    """Report to nobody."""


def progress(tell: Tell) -> Progress:
    """The progress callback for long work."""
    return lambda done, doing: tell("progress", {"done": done, "doing": doing})


def event(kind: str, data: Any, number: int | None = None) -> str:
    """One server-sent event."""
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {json.dumps(data)}\n\n"


class Listened(StreamingResponse):
    """A stream that shows when nobody is listening any more, even if the listener left before it began."""

    def __init__(self, events: AsyncIterator[str], left: Callable[[], None], headers: Mapping[str, str]) -> None:
        super().__init__(events, media_type=EVENTS, headers=headers)
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._left()


class Pieces:
    """One piece of work in a thread, and its reports while it runs.

    Args:
        begin: runs a function in a thread.
        work: the work; it gets the callback for reports, and returns the response for when nobody is listening.
    """

    def __init__(
        self, begin: Callable[[Callable[[], None]], Awaitable[None]], work: Callable[[Tell], Response]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._reports: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()
        self._left = threading.Event()
        self._work = work
        self._running = asyncio.ensure_future(begin(self._carry_out))

    async def response(self) -> Response:
        """The stream; what is refused at once is refused as without a stream.

        Raises:
            MemorySystemError: the work was refused before it reported anything.
        """
        first = await self._next(_AT_ONCE_SECONDS)
        if first is not None and first[0] == "problem":
            raise cast("MemorySystemError", first[1])
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return Listened(self._events(first), self._left.set, headers)

    def _tell(self, kind: str, data: Any) -> None:
        if self._left.is_set():
            raise Left
        self._loop.call_soon_threadsafe(self._reports.put_nowait, (kind, data))

    def _carry_out(self) -> None:
        try:
            answer = self._work(self._tell)
            self._tell("answer", answer.body)
        except MemorySystemError as error:
            if not self._left.is_set():
                self._tell("problem", error)
        except Left:
            return
        finally:
            if not self._left.is_set():
                self._loop.call_soon_threadsafe(self._reports.put_nowait, None)

    async def _next(self, seconds: float) -> tuple[str, Any] | None:
        """The next report; ``None`` if there is none for this long."""
        try:
            report = await asyncio.wait_for(self._reports.get(), seconds)
        except TimeoutError:
            return None
        return ("end", None) if report is None else report

    async def _events(self, first: tuple[str, Any] | None) -> AsyncIterator[str]:
        report = first
        yield ": it begins\n\n"
        while report is None or report[0] != "end":
            if report is not None:
                yield _said(*report)
            report = await self._next(_QUIET_SECONDS)
            if report is None:
                yield ": still at it\n\n"
        await self._running


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def _said(kind: str, data: Any) -> str:
    if isinstance(data, MemorySystemError):
        return event(kind, {"code": data.code, "status": data.status, "detail": data.sentence})
    if isinstance(data, bytes | memoryview):  # the answer's body, which is JSON on one line already
        return f"event: {kind}\ndata: {_BREAKS.sub(_escaped, bytes(data).decode())}\n\n"
    return event(kind, data)
