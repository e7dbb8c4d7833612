"""The feed: an agent's changes as server-sent events, whichever process made them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from fastapi.responses import StreamingResponse

from ..changes import ChangeSet
from ..errors import MemorySystemError, NotFound, TooMany
from . import telling
from .desk import Desk, tag
from .pieces import EVENTS, event

MOST_LISTENERS = 100
MOST_BEHIND = 1000
"""Changes that a listener who comes back is told of; of older ones the history tells."""
_LOOK_SECONDS, _QUIET_SECONDS = 0.25, 15.0


class Feed:
    """Looks for news of an agent for each listener: another process may write it, so nobody can tell us."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._listeners = 0

    async def listen(self, name: str, since: int | None, seconds: float | None) -> StreamingResponse:
        """A stream of changes after a revision, or from now on.

        Raises:
            AgentNotFound: there is no such agent.
            TooMany: a hundred are listening already.
        """
        if self._listeners >= MOST_LISTENERS:
            raise TooMany(f"{MOST_LISTENERS} programs are listening already. Close one, or read the history instead.")
        now = await self._desk.lanes.watch(lambda: self._desk.agent(name).stamp[0])
        until = None if seconds is None else time.monotonic() + seconds
        headers = {**tag(now), "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(name, now, since, until), media_type=EVENTS, headers=headers)

    async def _events(self, name: str, now: int, since: int | None, until: float | None) -> AsyncIterator[str]:
        self._listeners += 1
        try:
            told = now if since is None else max(0, since, now - MOST_BEHIND)
            yield "retry: 2000\n" + event("now", {"revision": now, "from": told})
            said = time.monotonic()
            while until is None or time.monotonic() < until:
                after = told
                try:
                    news = await self._desk.lanes.watch(lambda: self._news(name, after))  # noqa: B023 - awaited at once
                except NotFound as error:
                    yield event("gone", {"code": error.code, "detail": error.sentence})
                    return
                except MemorySystemError as error:  # busy for a moment: whoever listens goes on listening
                    yield event("problem", {"code": error.code, "detail": error.sentence})
                    news = []
                for plan in news:
                    assert plan.revision is not None, "what the journal tells has been applied"
                    told = plan.revision
                    yield event("change", telling.head(plan), told)
                if news:
                    said = time.monotonic()
                elif time.monotonic() - said > _QUIET_SECONDS:
                    said = time.monotonic()
                    yield ": still here\n\n"
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self._listeners -= 1

    def _news(self, name: str, since: int) -> list[ChangeSet]:
        agent = self._desk.agent(name)
        return agent.told_since(since) if agent.stamp[0] > since else []
