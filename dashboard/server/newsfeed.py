"""The feed that notifies an open page of changes to its agent: one number over a socket, so that no page has to ask.

The page keeps the socket open as long as it is shown, and nothing of Streamlit runs before a number comes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.to_thread
from starlette.requests import cookie_parser
from starlette.websockets import WebSocket, WebSocketDisconnect

from memory_system import MemorySystemError, World

from .visitors import COOKIE, Visitors

PATH = "/news"
LOOK_SECONDS = 1.0
"""How often to check whether anything has changed: another process may write, and would not notify us."""
ELSEWHERE = -2
"""What is sent instead of a revision once the served world is not the one that the page shows."""
_REFUSED = 1008


class Newsfeed:
    """Sends each socket the revision of its agent, at once and whenever it changes; and when the world changes.

    Args:
        world: returns the world of the agents.
        visitors: who has signed in; the entrance admits nobody else, and after signing out nothing more is sent.
    """

    def __init__(self, world: Callable[[], World], visitors: Visitors) -> None:
        self._world = world
        self._visitors = visitors
        self.listening = 0
        """How many sockets are open."""

    async def listen(self, socket: WebSocket) -> None:
        """Notify one page until it is closed."""
        await socket.accept()
        self.listening += 1
        try:
            async with anyio.create_task_group() as both:
                both.start_soon(_until_left, socket, both.cancel_scope)
                with suppress(WebSocketDisconnect):
                    await self._tell(socket, socket.query_params.get("agent", ""))
                    await socket.close(_REFUSED)
                both.cancel_scope.cancel()
        finally:
            self.listening -= 1

    async def _tell(self, socket: WebSocket, name: str) -> None:
        last_sent, here = -1, self._world()

        def revised() -> int:
            return here.agent(name).stamp[0]

        cookie = cookie_parser(socket.headers.get("cookie", "")).get(COOKIE)
        while self._visitors.signed_in(cookie):
            try:
                revision = ELSEWHERE if self._world() is not here else await anyio.to_thread.run_sync(revised)
            except MemorySystemError:  # it is gone, or busy for a moment: a redrawn page says so
                return
            if revision != last_sent:
                last_sent = revision
                await socket.send_text(str(revision))
            await anyio.sleep(LOOK_SECONDS)


async def _until_left(socket: WebSocket, listening: anyio.CancelScope) -> None:
    """Wait until the page is closed; what it sends meanwhile is ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
    listening.cancel()
