"""The relay between the workers of one port: requests that only the first worker can answer are passed to it unchanged.

Each request goes through a Unix socket in a folder of the user's own, on its own connection: first the request, then
the messages of ASGI in both directions. If it ends early, the other end has left.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .idempotency import again
from .problems import problem_json
from .serving import Server

_HEAD = struct.Struct("!II")
_PATIENCE, _AGAIN = 15.0, 0.1
"""Seconds for which a request waits while the first worker is started again, and between two attempts."""
_LINGER = 3.0
_CHANGES_NOTHING = ("GET", "HEAD")
_NO_BODY: Message = {"type": "http.request", "body": b"", "more_body": False}
_TEXTS = ("type", "http_version", "method", "scheme", "path", "root_path", "client", "server", "asgi")
_GONE = "The worker that should have answered has ended and is being restarted. {} Ask again."
_UNASKED, _UNKNOWN = (
    "Nothing was changed.",
    "It is not known whether it was done; anything it began is either complete or absent.",
)
_log = logging.getLogger("uvicorn.error")


def framed(message: Mapping[str, Any]) -> bytes:
    """An ASGI message, or a request, as bytes."""
    body: bytes = message.get("body", b"")
    fields = {name: value for name, value in message.items() if name not in ("body", "headers")}
    if "headers" in message:
        fields["headers"] = [[bytes(part).decode("latin-1") for part in pair] for pair in message["headers"]]
    head = json.dumps(fields).encode()
    return _HEAD.pack(len(head), len(body)) + head + body


async def unframed(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next message; ``None`` if the other end has left."""
    try:
        head, body = _HEAD.unpack(await reader.readexactly(_HEAD.size))
        message: dict[str, Any] = json.loads(await reader.readexactly(head))
        if "headers" in message:
            message["headers"] = [tuple(part.encode("latin-1") for part in pair) for pair in message["headers"]]
        if body or message["type"] in ("http.request", "http.response.body"):
            message["body"] = await reader.readexactly(body)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return message


def _request(scope: Scope) -> bytes:
    fields = {name: scope.get(name) for name in _TEXTS} | {"headers": scope["headers"]}
    query, raw = scope["query_string"], scope.get("raw_path") or b""
    return framed(fields | {"query_string": query.decode("latin-1"), "raw_path": raw.decode("latin-1")})


def _scope(scope: dict[str, Any]) -> Scope:
    for name in ("query_string", "raw_path"):
        scope[name] = scope[name].encode("latin-1")
    for name in ("client", "server"):
        scope[name] = scope[name] and tuple(scope[name])
    return scope


class Relay:
    """Passes requests to another worker for an answer.

    Args:
        path: the path of that worker's socket.
        patience: seconds for which a request waits while there is no such worker.
    """

    def __init__(self, path: Path, patience: float = _PATIENCE) -> None:
        self._path = path
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and the answer back; one that changes nothing is repeated if it was lost on the way."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":  # not supported here
                await send({"type": "websocket.close", "code": 1008})
            return
        for retried in (False, True):
            asked = await self._reached()
            if asked is None:
                await _gone(_UNASKED)(scope, receive, send)
                return
            if await self._answered(*asked, scope, again([_NO_BODY], receive) if retried else receive, send):
                return
            if scope["method"] not in _CHANGES_NOTHING:
                break
        await _gone(_UNKNOWN)(scope, receive, send)

    async def _answered(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, scope: Scope, receive: Receive, send: Send
    ) -> bool:
        """Pass a request on, and the answer back; returns whether one had begun."""
        up = asyncio.ensure_future(_hand_on(scope, receive, writer))
        begun, more = False, True
        try:
            while more and (message := await unframed(reader)) is not None:
                begun, more = True, message["type"] == "http.response.start" or message.get("more_body", False)
                await send(message)
            return begun or (up.done() and up.result())  # nobody is waiting for it any more
        finally:
            up.cancel()
            writer.close()

    async def _reached(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience
        while True:
            try:
                return await asyncio.open_unix_connection(self._path)
            except OSError:
                if loop.time() > until:
                    return None
            await asyncio.sleep(_AGAIN)


def _gone(what: str) -> Any:
    answer = problem_json(503, "worker-ended", "Worker ended", _GONE.format(what))
    answer.headers["Retry-After"] = "1"
    return answer


async def _hand_on(scope: Scope, receive: Receive, writer: asyncio.StreamWriter) -> bool:
    """Pass on what arrives; returns whether the client has left, rather than the other worker."""
    with suppress(ConnectionError):
        writer.write(_request(scope))
        while (message := await receive())["type"] == "http.request":
            writer.write(framed(message))
            await writer.drain()
        writer.write_eof()
        return True
    return False


class Answering(Server):
    """The first worker's server, which also answers what the other workers pass to it.

    Args:
        config: how the app is served.
        path: the path of the socket that the others use.
        ready: called once everything is listening.
    """

    def __init__(self, config: uvicorn.Config, path: Path, ready: Any) -> None:
        super().__init__(config)
        self._path, self._ready = path, ready
        self._app: ASGIApp = config.app  # type: ignore[assignment]  # never a string here
        self._asked: dict[asyncio.Task[Any], bool] = {}
        """What is being answered, and whether its answer has begun."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        self._path.unlink(missing_ok=True)  # a killed worker's
        self._listening = await asyncio.start_unix_server(self._taken, self._path)
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give running answers three seconds to finish, and streams none."""
        self._listening.close()
        for task, begun in self._asked.items():
            if begun:
                task.cancel()
        left = [task for task, begun in self._asked.items() if not begun]
        waiting = asyncio.ensure_future(asyncio.wait(left, timeout=_LINGER)) if left else None
        await super().shutdown(sockets)
        if waiting is not None:
            await waiting

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "asyncio runs it as one"
        self._asked[task] = False
        try:
            message = await unframed(reader)
            if message is not None:
                await self._answer(_scope(message), reader, writer, task)
                await _read_out(reader, writer)
        except asyncio.CancelledError:
            if not self.should_exit:
                raise
        finally:
            del self._asked[task]
            writer.close()

    async def _answer(
        self, scope: Scope, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: asyncio.Task[Any]
    ) -> None:
        async def receive() -> Message:
            return await unframed(reader) or {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._asked[task] = True
            if not writer.is_closing():
                with suppress(ConnectionError):
                    writer.write(framed(message))
                    await writer.drain()

        try:
            await self._app(scope, receive, send)
        except Exception:  # noqa: BLE001 - the app has answered 500; uvicorn, too, logs it and goes on
            _log.exception("Exception in ASGI application\n")


async def _read_out(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Wait until the other end has read the answer: it may still be sending a body nobody read, and not receiving."""
    with suppress(ConnectionError, RuntimeError, TimeoutError):
        writer.write_eof()
        async with asyncio.timeout(_LINGER):
            while await reader.read(65_536):
                pass


def mine(folder: Path) -> Path:
    """The address of a server's first worker; the folder is the user's own."""
    os.chmod(folder, 0o700)
    return folder / "asked"
