"""The entrance of the HTTP API: who is asking, identified by a token, and what a viewer may ask for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import unquote

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ...errors import NotAllowed, NotSignedIn, TooMany
from ...world.auth import Door, Role
from ...world.viewer import VIEWING
from ...world.world import World
from ..reads import READS
from .problems import problem_response

_OPEN = frozenset({"/", "/docs", "/openapi.json"})
"""Addresses that only describe the API."""
_LOOKS = frozenset({"GET", "HEAD", "OPTIONS"})
_ASKED = "|".join(
    ("query", "interview", "interview/context", *(re.escape(read.address) for read in READS if read.asks))
)
_ASKS = re.compile(rf"/v1/agents/[^/]+/({_ASKED})|/v1/query|/rate")
"""Requests that change nothing although sent by POST, because questions are long."""
_ASKING: ContextVar[Role | None] = ContextVar("asking", default=None)


def asking() -> Role:
    """The role of the sender of the current request; a viewer's outside any request."""
    return _ASKING.get() or Role.VIEWER


@dataclass
class Meant:
    """Which world the current request is about.

    Args:
        name: its name, from a header; ``None`` if the request is for the served one, whichever that is.
        writes: whether the request may change something, and so stays in one world from its beginning to its end.
        world: the one that it stays in, once known.
        leave: called once it is answered.
    """

    name: str | None
    writes: bool
    world: World | None = None
    leave: Callable[[], object] = lambda: None


_MEANT: ContextVar[Meant | None] = ContextVar("meant", default=None)


def meant() -> Meant:
    """What is known about the world of the current request; nothing outside any request."""
    return _MEANT.get() or Meant(None, writes=False)


class Entrance:
    """Answers 401 without a right token, 429 after too many wrong ones, and 403 to a viewer trying to change something.

    Args:
        app: the app behind it.
        door: the valid tokens; a door without any lets everybody in.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if allowed."""
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self.app(scope, receive, send)
            return
        role = self._let_in(scope)
        if isinstance(role, JSONResponse):
            role.headers["Connection"] = "close"  # its body is not read
            await role(scope, receive, send)
            return
        about = Meant(_named(scope), writes=not _only_looks(scope))
        told_by, of = _ASKING.set(role), _MEANT.set(about)
        try:
            await self.app(scope, receive, send)
        finally:
            _ASKING.reset(told_by)
            _MEANT.reset(of)
            about.leave()

    def _let_in(self, scope: Scope) -> Role | JSONResponse:
        role: Role | None = self._door.most
        if self._door.locked:
            kind, _, token = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1").partition(" ")
            if kind.lower() != "bearer" or not token:
                return _no_token(
                    "This server requires a token: send 'Authorization: Bearer ...'. MEMORY_TOKEN holds it."
                )
            address = scope["client"][0] if scope.get("client") else ""
            try:
                role = self._door.role(token.strip(), address)
            except TooMany as error:
                answer = problem_response(error)
                answer.headers["Retry-After"] = str(math.ceil(self._door.throttle.wait(address)) or 1)
                return answer
        if role is None:
            return _no_token("This is not a token of this server.")
        if role is Role.VIEWER and not _only_looks(scope):
            return problem_response(NotAllowed(VIEWING))
        return role


def _only_looks(scope: Scope) -> bool:
    return scope["method"] in _LOOKS or _ASKS.fullmatch(scope["path"]) is not None


def _named(scope: Scope) -> str | None:
    name = dict(scope["headers"]).get(b"memory-world")
    return None if name is None else unquote(name.decode("latin-1"))


def _no_token(sentence: str) -> JSONResponse:
    answer = problem_response(NotSignedIn(sentence))
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer
