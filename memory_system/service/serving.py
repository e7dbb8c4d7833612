"""How the servers are run: with limits on those who hold connections open without ever saying what they want."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any, NoReturn, cast

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ..intake import MAX_FILE

HEAD_SECONDS, LARGEST_HEAD, MOST_CONNECTIONS = 10.0, 65_536, 1_000
"""Within which a whole request head has to come in, the bytes it may have, and connections at once (then 503)."""
_LOOK_SECONDS = 2.0


class Impatient(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # which of uvicorn's two it is, is found out at run time
    """A connection that is closed if no whole request head comes in, in time and of bearable size (slowloris)."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._since: float | None = self.loop.time()
        self._read = 0
        self.loop.call_later(_LOOK_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        """Read on, and see whether what came is still only part of a head."""
        super().data_received(data)
        if self._busy():
            self._since, self._read = None, 0
            return
        self._since = self._since or self.loop.time()
        self._read += len(data)
        # what was answered before all of its body was read, such as an unknown address, may still be coming in
        most = MAX_FILE if self.cycle is not None and self.cycle.more_body else LARGEST_HEAD
        if self._read > most:
            self.transport.close()

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _look(self) -> None:
        transport = cast("asyncio.Transport", self.transport)
        if transport.is_closing() or transport.get_protocol() is not self:  # closed, or a websocket by now
            return
        if self._since is not None and not self._busy() and self.loop.time() - self._since > HEAD_SECONDS:
            transport.close()
            return
        self.loop.call_later(_LOOK_SECONDS, self._look)


def configured(app: Any, **more: Any) -> uvicorn.Config:
    """How an app is served. What a proxy says of its clients is not believed: anybody could say it."""
    return uvicorn.Config(
        app,
        **{
            "http": Impatient,
            "limit_concurrency": MOST_CONNECTIONS,
            "proxy_headers": False,
            "server_header": False,
            "timeout_graceful_shutdown": 3,
            **more,
        },
    )


def end_in_order() -> None:
    """Let SIGTERM end this process as Ctrl+C does: what is open is closed, and the note of who serves taken away."""
    signal.signal(signal.SIGTERM, _end)


def _end(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)
