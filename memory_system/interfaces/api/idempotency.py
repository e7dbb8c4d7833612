"""Idempotency keys: a write sent again with its key gets the same answer as before, and is not done again."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from anyio import to_thread
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...errors import Conflict, InvalidParameter
from .problems import problem_response

SECONDS, MOST, MOST_BYTES = 24 * 3600.0, 10_000, 64_000_000
MAX_KEY = 255
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
REPLAYED = (b"idempotent-replayed", b"true")
_AGENT = re.compile(r"/v1/agents/([^/]+)")
_DONE_BEFORE = (
    "This was done when it was first sent. A memory has since been purged for good, so the first answer cannot be "
    "repeated; read it again."
)
_GONE_SINCE = (
    "This was done when it was first sent. The character has since been deleted, so the first answer cannot be "
    "repeated, and another character is not changed in its place; to do that, send it with another Idempotency-Key."
)


def _nobody(_name: str) -> str:
    """No origin is known for any agent."""
    return ""


def _of_nothing(_name: str, _revision: int) -> bool:
    """No purge is known for any agent."""
    return False


@dataclass
class _Remembered:
    """One key: what it was first sent with, and the answer once there is one."""

    print: bytes
    until: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    messages: list[Message] = field(default_factory=list)
    size: int = 0
    tells_of: dict[str, tuple[int, str]] = field(default_factory=dict)
    """For each agent in the answer, its revision then and what it began with; empty if it was gone then."""


class Idempotency:
    """Keeps the answers to writes that succeeded, by their ``Idempotency-Key``; one that failed may be tried again.

    Kept while the server runs, for a day, at most 10,000 answers of 64 MB together. Two requests with one key at the
    same time are done one after the other: the second gets the answer of the first. An answer about an agent that
    purged a memory since is dropped: then only the fact that the write was done is returned. The same applies if the
    agent was deleted since, as long as it is not restored.

    Args:
        app: answers what is not kept.
        tells_of_purged: whether an agent, named first, has purged a memory since this revision.
        origin: what an agent of this name began with; empty if there is none.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        app: ASGIApp,
        tells_of_purged: Callable[[str, int], bool] = _of_nothing,
        origin: Callable[[str], str] = _nobody,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        self._tells_of_purged = tells_of_purged
        self._origin = origin
        self._clock = clock
        self._answers: OrderedDict[bytes, _Remembered] = OrderedDict()
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory, or pass the request on and remember."""
        headers = scope["headers"] if scope["type"] == "http" else ()
        keys = [value for name, value in headers if name == b"idempotency-key"]
        if len(keys) > 1:  # under one of them it might be another write, and under the other be done again
            await problem_response(InvalidParameter("Send one Idempotency-Key, not several."))(scope, receive, send)
            return
        key = keys[0] if keys else b""
        if not 0 < len(key) <= MAX_KEY or scope["method"] not in _WRITES or not scope["path"].startswith("/v1/"):
            await self.app(scope, receive, send)
            return
        read = await whole_body(receive)
        where = f"{scope['method']} {scope['path']}?".encode() + scope["query_string"]
        answer = self._answer_for(
            key, hashlib.sha256(where + b"\n" + b"".join(message.get("body", b"") for message in read)).digest()
        )
        if answer is None:
            problem = problem_response(
                Conflict("This Idempotency-Key was used for another request; choose a key for each write.")
            )
            await problem(scope, receive, send)
            return
        answer.waiting += 1
        try:
            async with answer.turn:
                if answer.messages:
                    why = await to_thread.run_sync(self._kept_back, answer)
                    if why == _GONE_SINCE:  # and given again once it is restored
                        await problem_response(Conflict(why))(scope, receive, send)
                        return
                    if why == _DONE_BEFORE:
                        await self._forget(answer, scope, receive)
                    await _replay(answer.messages, send)
                else:
                    await self._first(answer, scope, again(read, receive), send)
        finally:
            answer.waiting -= 1
            if not answer.messages and not answer.waiting:
                self._answers.pop(key, None)

    def _answer_for(self, key: bytes, fingerprint: bytes) -> _Remembered | None:
        self._tidy()
        answer = self._answers.setdefault(key, _Remembered(fingerprint, self._clock() + SECONDS))
        return answer if answer.print == fingerprint else None

    async def _first(self, answer: _Remembered, scope: Scope, receive: Receive, send: Send) -> None:
        messages: list[Message] = []

        async def remembering(message: Message) -> None:
            messages.append(message)
            await send(message)

        await self.app(scope, receive, remembering)
        if messages and 200 <= messages[0].get("status", 500) < 300:
            answer.messages = messages
            answer.size = sum(len(message.get("body", b"")) for message in messages)
            self._bytes += answer.size
            answer.tells_of = await to_thread.run_sync(self._told_of, scope["path"], messages)

    def _told_of(self, path: str, messages: list[Message]) -> dict[str, tuple[int, str]]:
        return {name: (revision, self._origin(name)) for name, revision in _told_of(path, messages).items()}

    def _kept_back(self, answer: _Remembered) -> str:
        """Why an answer is not given again; empty if it is."""
        told_of = answer.tells_of.items()
        if any(origin and self._origin(name) != origin for name, (_, origin) in told_of):
            return _GONE_SINCE
        return _DONE_BEFORE if any(self._tells_of_purged(name, then) for name, (then, _) in told_of) else ""

    async def _forget(self, answer: _Remembered, scope: Scope, receive: Receive) -> None:
        """Keep only the fact that there was an answer: the write is not done again, and its content is not repeated."""
        left: list[Message] = []

        async def keeping(message: Message) -> None:
            left.append(message)

        await problem_response(Conflict(_DONE_BEFORE))(scope, receive, keeping)
        answer.messages, answer.tells_of = left, {}
        size = sum(len(message.get("body", b"")) for message in left)
        self._bytes += size - answer.size
        answer.size = size

    def _tidy(self) -> None:
        now = self._clock()
        for key, answer in list(self._answers.items()):
            if answer.until > now and len(self._answers) < MOST and self._bytes <= MOST_BYTES:
                break
            if not answer.waiting:
                self._bytes -= answer.size
                del self._answers[key]


async def whole_body(receive: Receive) -> list[Message]:
    """The messages of a request up to the end of its body."""
    read = [await receive()]
    while read[-1]["type"] == "http.request" and read[-1].get("more_body"):
        read.append(await receive())
    return read


def again(read: list[Message], receive: Receive) -> Receive:
    """A receiver of messages already read, and then of those that follow."""
    left = list(read)

    async def again() -> Message:
        return left.pop(0) if left else await receive()

    return again


async def _replay(messages: list[Message], send: Send) -> None:
    for message in messages:
        if message["type"] == "http.response.start":
            await send({**message, "headers": [*message["headers"], REPLAYED]})
        else:
            await send(message)


def _told_of(path: str, messages: list[Message]) -> dict[str, int]:
    """The agents that an answer is about, each with its revision then, the lowest if it names several."""
    headers = dict(messages[0].get("headers", ()))
    named = _AGENT.match(path)
    if named is not None and (tag := headers.get(b"etag", b"").strip(b'"')).isdigit():
        return {named[1]: int(tag)}
    try:
        waiting = [json.loads(b"".join(message.get("body", b"") for message in messages))]
    except ValueError:  # it is not JSON
        return {}
    found: dict[str, int] = {}
    while waiting:
        match waiting.pop():
            case list(several):
                waiting += several
            case {"agent": str(name), "revision": int(then), **others}:
                waiting += others.values()
                found[name] = min(then, found.get(name, then))
            case dict(one):
                waiting += one.values()
    return found
