"""How the servers are run: with limits on clients that hold connections open without sending a request."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ...operations.importing.events import MAX_FILE
from ..endings import HANGUP, SIGNALS, Ended, at_once, end_in_time

HEAD_SECONDS, LARGEST_HEAD, MOST_CONNECTIONS = 10.0, 65_536, 1_000
"""Seconds and bytes within which a request head must be complete, and the most connections (then 503)."""
_LOOK_SECONDS = 2.0


class Impatient(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # one of uvicorn's two, chosen at run time
    """A connection that is closed unless a whole request head arrives in time and is not too large (slowloris)."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin waiting for a request."""
        super().connection_made(transport)
        self._since: float | None = self.loop.time()
        self._read = 0
        self.loop.call_later(_LOOK_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        """Read on, and check whether only part of a head has arrived."""
        super().data_received(data)
        if self._busy():
            self._since, self._read = None, 0
            return
        self._since = self._since or self.loop.time()
        self._read += len(data)
        # a request answered before its whole body was read, such as for an unknown address, may still be arriving
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
    """How an app is served. What a proxy says about its clients is ignored: anybody could say it."""
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


class Server(uvicorn.Server):
    """A server that a signal ends without delay or noise: streams and open pages are disconnected.

    In the main thread ``run`` raises ``Ended`` when a signal has ended it; a second signal ends the process at once.
    """

    ended_by: int | None = None

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal comes, or until ``should_exit`` is set.

        Raises:
            Ended: a signal came.
        """
        with self.capture_signals():  # before there is an event loop, which an exception would leave half made
            super().run(sockets)
        if self.ended_by is not None:
            raise Ended(self.ended_by)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; the second time, end at once."""
        if self.should_exit:
            at_once(sig, frame)
        self.ended_by, self.should_exit = sig, True
        end_in_time(sig)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals that end a program, including a closed terminal's, while this serves."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heeded = [number for number in SIGNALS if number != HANGUP or signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self.handle_exit) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, at_once if self.ended_by is not None else handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give running answers three seconds to finish, and streams none."""
        log = logging.getLogger("uvicorn.error")
        level = log.level
        log.setLevel(logging.CRITICAL)  # open connections are not an error
        try:
            for connection in list(self.server_state.connections):
                cycle = getattr(connection, "cycle", None)
                if cycle is not None and cycle.response_started and not cycle.response_complete:
                    cast("Impatient", connection).transport.close()
            await super().shutdown(sockets)
        finally:  # answers broken off after those seconds end only now, and log it
            ending = asyncio.gather(*self.server_state.tasks, return_exceptions=True)
            ending.add_done_callback(lambda _: log.setLevel(level))
