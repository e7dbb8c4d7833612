"""What a server refuses before a request is read: wrong host names, foreign pages, bodies too large or too slow.

It knows the names under which a server answers, and the pages that may send requests to it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...core.settings import Settings
from ...errors import ServerUnavailable, shown
from ...operations.importing.events import MAX_FILE
from ...world.auth import is_this_machine
from .problems import problem_json

_LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]", "testserver"})


@dataclass(frozen=True)
class Hosts:
    """The names of one server.

    Args:
        names: those that it answers to, in lower case, without ports.
        numbers: whether it also answers to any numeric address. Those cannot lead a page to another server: that
            takes a name whose address can be changed.
    """

    names: frozenset[str] = _LOCAL
    numbers: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The names from the installation's settings."""
        added = {name.strip().lower() for name in settings.hosts.split(",")} - {""}
        if is_this_machine(settings.host):
            return cls(_LOCAL | added)
        return cls(_LOCAL | added | {settings.host.lower(), socket.gethostname().lower()}, numbers=True)

    def answers(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = _without_port(host).lower()
        return name in self.names or (self.numbers and _is_number(name))

    def plain(self) -> Iterable[str]:
        """The names in the form of Streamlit's ``server.allowedHosts``, which must list all of them."""
        return ["*"] if self.numbers else sorted(name.strip("[]") for name in self.names)


def from_elsewhere(headers: dict[bytes, bytes], allowed: Collection[str] = ()) -> bool:
    """Whether a page of another server asks: the browser names it in ``Origin``, or calls the request cross-site.

    Pages from ``allowed`` origins may.
    """
    host = headers.get(b"host", b"").decode("latin-1").lower()
    origin = headers.get(b"origin")
    if origin is not None:
        address = origin.decode("latin-1")
        return address not in allowed and _host_of(address) != host
    site, mode = headers.get(b"sec-fetch-site", b""), headers.get(b"sec-fetch-mode", b"")
    return site == b"cross-site" and mode != b"navigate"  # a link from elsewhere may be followed


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _without_port(host: str) -> str:
    return host[: host.rindex("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]


MAX_BODY = 2_000_000
FILES = ("/events.ndjson", "/documents", "/material", "/operations/import-material", "/imports")
"""The endings of the addresses that accept as much as a file may have."""
AS_BASE64 = ("/material", "/operations/import-material", "/imports")
"""Those of them whose file is a part of the body, which makes it a third larger."""
PATIENCE, SLOWEST = 10.0, 10_000
"""Seconds within which a body must begin to arrive, and the bytes per second that it must keep up afterwards."""
_POLICY_VIOLATION = 1008
_NOT_ALLOWED = "Pages of another server may not call this API; its MEMORY_ORIGINS lists those that may."
_STOPPED = "The server was stopped before it had answered. Check whether a change was made before you make it again."
_ZONE = re.compile(rb"(T\d\d(?:%3A|:)\d\d[\d:.A%]*)\+(?=\d\d)", re.IGNORECASE)
"""A time in an address up to the sign of its zone: ``+`` means a space there, which is never intended."""
_READ_ON, _PAUSE = 16_000_000, 1.0
"""How many bytes of a refused body are still read, and after how many seconds without any, reading stops."""


def largest_body(path: str) -> int:
    """How many bytes the API accepts at an address: 2 MB, and 50 MB of a stream of events or a document."""
    return MAX_FILE * 4 // 3 + MAX_BODY if path.endswith(AS_BASE64) else MAX_FILE if path.endswith(FILES) else MAX_BODY


class _Refused(Exception):
    pass


class Guard:
    """Answers 400 to another host name (DNS rebinding), 403 to pages from elsewhere.

    Compressed bodies get 415, large ones 413 and slow ones 408.

    Args:
        app: the guarded app.
        hosts: the names of this server.
        largest: how many bytes an address accepts.
        origins: the other servers whose pages may ask, such as ``https://game.example``.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Hosts | None = None,
        largest: Callable[[str], int] = largest_body,
        origins: Collection[str] = (),
    ) -> None:
        self.app = app
        self._hosts = hosts or Hosts()
        self._largest = largest
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if allowed."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refused = None
        if not self._hosts.answers(headers.get(b"host", b"").decode("latin-1")):
            refused = problem_json(
                400, "foreign-host", "Foreign host", "This server answers to its own names only; MEMORY_HOSTS adds one."
            )
        elif from_elsewhere(headers, self._origins):
            refused = problem_json(403, "foreign-origin", "Foreign origin", _NOT_ALLOWED)
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
        encoding = headers.get(b"content-encoding", b"").decode("latin-1")
        if {name.strip().lower() for name in encoding.split(",")} - {"", "identity"}:
            await _let_finish(receive)
            await _packed(encoding)(scope, receive, send)
            return
        most = self._largest(scope["path"])
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > most:
            await _let_finish(receive)
            await _too_large(most)(scope, receive, send)
            return
        seen, whole, began, answered = 0, False, time.monotonic(), False
        refusal: JSONResponse | None = None

        async def counted() -> Message:
            nonlocal seen, whole, refusal
            if whole:
                return await receive()
            try:
                async with asyncio.timeout(max(0.0, began + PATIENCE + seen / SLOWEST - time.monotonic())):
                    message = await receive()
            except TimeoutError:
                refusal = _last(408, "too-slow", "Too slow", "The body did not arrive. Send it in one go.")
                raise _Refused from None
            seen += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if seen > most:
                refusal = _too_large(most)
                raise _Refused
            return message

        async def unless_refused(message: Message) -> None:
            nonlocal answered
            if refusal is None:  # FastAPI answers 400 to any error raised while it reads a body
                answered = True
                await send(message)

        method = "GET" if scope["method"] == "HEAD" else scope["method"]  # the server sends no body to HEAD
        asked = {**scope, "method": method, "query_string": _ZONE.sub(rb"\1%2B", scope.get("query_string", b""))}
        try:
            with suppress(_Refused, ClientDisconnect):  # a client that leaves in the middle of a body gets no answer
                await self.app(asked, counted, unless_refused)
        except asyncio.CancelledError:  # the server is told to end, and has waited long enough
            if answered:
                raise
            refusal, whole = _last(503, ServerUnavailable.code, ServerUnavailable.__name__, _STOPPED), True
        if refusal is not None and not answered:
            if seen > most and not whole:
                await _let_finish(receive)
            await refusal(scope, receive, send)


def _too_large(most: int) -> JSONResponse:
    return _last(413, "too-large", "Too large", f"A body may have {most:,} bytes at most.")


def _packed(encoding: str) -> JSONResponse:
    what = f"Compressed bodies are not supported, and this one is {shown(encoding)}"
    return _last(415, "compressed", "Compressed body", f"{what}. Send it as it is, without 'Content-Encoding'.")


def _last(status: int, code: str, title: str, detail: str) -> JSONResponse:
    """A refusal after which the connection is closed: the rest of the request is not read."""
    refused = problem_json(status, code, title, detail)
    refused.headers["Connection"] = "close"
    return refused


async def _let_finish(receive: Receive) -> None:
    """Read on for a while: a client whose connection is closed while it is sending may miss the answer."""
    until, read, more = time.monotonic() + PATIENCE, 0, True
    with suppress(TimeoutError):
        while more and read < _READ_ON:
            async with asyncio.timeout(min(_PAUSE, until - time.monotonic())):
                message = await receive()
            read += len(message.get("body", b""))
            more = message.get("more_body", False)
