"""The feed that notifies an open page of changes to its agent and to the clock: one line over a socket, unasked.

The page keeps the socket open as long as it is shown, and nothing of Streamlit runs before a line comes.
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
ELSEWHERE = "elsewhere"
"""What is sent instead of news once the served world is not the one that the page shows."""
_REFUSED = 1008


def news_of(world: World, name: str) -> str:
    """What a page has to know: the revision of its agent, and how the clock goes."""
    return f"{world.agent(name).stamp[0]} {clock_of(world)}"


def clock_of(world: World) -> str:
    """How a world's clock goes: another text once it is set, stopped, started or in another zone; not as it runs."""
    stands = world.standing
    return f"{stands.isoformat() if stands else 'runs'} {world.speed:g} {world.zone or ''}".rstrip()


class Newsfeed:
    """Sends each socket the revision of its agent and how the clock goes, at once and whenever either changes.

    It also says when the world changes.

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
        last_sent, here = "", self._world()
        cookie = cookie_parser(socket.headers.get("cookie", "")).get(COOKIE)
        while self._visitors.signed_in(cookie):
            try:
                elsewhere = self._world() is not here
                news = ELSEWHERE if elsewhere else await anyio.to_thread.run_sync(news_of, here, name)
            except MemorySystemError:  # it is gone, or busy for a moment: a redrawn page says so
                return
            if news != last_sent:
                last_sent = news
                await socket.send_text(news)
            await anyio.sleep(LOOK_SECONDS)


async def _until_left(socket: WebSocket, listening: anyio.CancelScope) -> None:
    """Wait until the page is closed; what it sends meanwhile is ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
    listening.cancel()
