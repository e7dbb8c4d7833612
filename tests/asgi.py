"""One request to an ASGI app, without a server: its result, and how often its body was requested."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass
class Exchange:
    """What an app sent, and how often it requested more of the body."""

    sent: list[Message] = field(default_factory=list)
    received: int = 0

    @property
    def status(self) -> int:
        """The status of the only answer."""
        (started,) = [message for message in self.sent if message["type"] == "http.response.start"]
        return int(started["status"])

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer, by name in lower case."""
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> str:
        """The body of the answer."""
        return b"".join(message.get("body", b"") for message in self.sent[1:]).decode()


async def ask(
    app: ASGIApp,
    path: str = "/rate",
    body: Sequence[bytes | float] = (b"",),
    *,
    method: str = "POST",
    kind: str = "http",
    ends: bool = True,
    **headers: str,
) -> Exchange:
    """Ask an app.

    Args:
        app: the app.
        path: the address.
        body: its pieces in order; a number means a pause in seconds.
        method: the HTTP method.
        kind: the type of the connection.
        ends: whether the last piece is marked as the last.
        headers: by name, with ``_`` for ``-``; the host is ``localhost`` unless given.
    """
    exchange = Exchange()
    left = list(body)
    last = len([piece for piece in body if isinstance(piece, bytes)])

    async def receive() -> Message:
        exchange.received += 1
        while left and not isinstance(left[0], bytes):
            await asyncio.sleep(left.pop(0))  # type: ignore[arg-type]
        if not left:
            await asyncio.sleep(0.5)  # after which nothing waits any longer
            return {"type": "http.disconnect"}
        piece = left.pop(0)
        number = last - len([one for one in left if isinstance(one, bytes)])
        more = {"more_body": True} if number < last or not ends else {}  # leaving it out means that there is no more
        return {"type": "http.request", "body": piece, **more}

    async def send(message: Message) -> None:
        exchange.sent.append(message)

    told = {"host": "localhost"} | headers
    scope: dict[str, Any] = {
        "type": kind,
        "method": method,
        "path": path,
        "headers": [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in told.items()],
        "client": ("10.0.0.1", 50_000),
    }
    await app(scope, receive, send)
    return exchange
