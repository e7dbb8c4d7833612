"""What the API refuses before a request is read: other names for this machine, and bodies that are too large."""

from __future__ import annotations

from contextlib import suppress

from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 2_000_000
_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]", "testserver"})


class Problem(BaseModel):
    """What went wrong (RFC 9457): ``code`` for programs, ``detail`` for people."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str


def problem_json(status: int, code: str, title: str, detail: str) -> JSONResponse:
    """A problem as the answer of the API."""
    body = Problem(title=title, status=status, code=code, detail=detail[:2000])
    return JSONResponse(body.model_dump(), status, media_type="application/problem+json")


class _TooLarge(Exception):
    pass


class Guard:
    """Answers requests by another host name (DNS rebinding) with 400, and bodies over 2 MB with 413."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if it may be passed on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if _without_port(host) not in _HOSTS:
            answer = problem_json(400, "foreign-host", "Foreign host", "This server answers to localhost only.")
            await answer(scope, receive, send)
            return
        too_large = problem_json(413, "too-large", "Too large", f"A body may have {MAX_BODY:,} bytes at most.")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > MAX_BODY:
            await too_large(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > MAX_BODY:
                raise _TooLarge
            return message

        async def unless_too_large(message: Message) -> None:
            if seen <= MAX_BODY:  # FastAPI answers 400 to whatever is raised while it reads a body
                await send(message)

        with suppress(_TooLarge):
            await self.app(scope, counted, unless_too_large)
        if seen > MAX_BODY:
            await too_large(scope, receive, send)


def _without_port(host: str) -> str:
    return host[: host.rindex("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
