"""The feed: an agent's changes as server-sent events, whichever process made them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from fastapi.responses import StreamingResponse

from ...agent import AgentMemory
from ...core.change_set import ChangeSet
from ...errors import AgentGone, MemorySystemError, NotFound, TooMany
from .. import serialize
from .deps import Desk, tag
from .sse import Listened, event

MOST_LISTENERS = 100
MOST_BEHIND = 1000
"""The most changes that a returning listener is sent; older ones are in the history."""
_LOOK_SECONDS, _QUIET_SECONDS = 0.25, 15.0


class Feed:
    """Checks for changes of an agent for each listener: another process may write it, and would not notify us."""

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
        self._listeners += 1  # at once, or too many who come together would all be let in
        try:
            agent, now = await self._desk.lanes.watch(lambda: self._begun(name))
        except BaseException:
            self._left()
            raise
        until = None if seconds is None else time.monotonic() + seconds
        headers = {**tag(now), "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return Listened(self._events(agent, now, since, until), self._left, headers)

    async def _events(self, agent: AgentMemory, now: int, since: int | None, until: float | None) -> AsyncIterator[str]:
        revision = now if since is None else max(0, min(since, now), now - MOST_BEHIND)  # of one restored, what follows
        yield "retry: 2000\n" + event("now", {"revision": now, "from": revision})
        said = time.monotonic()
        while until is None or time.monotonic() < until:
            after = revision
            try:
                news = await self._desk.lanes.watch(lambda: self._news(agent, after))  # noqa: B023 - awaited at once
            except (NotFound, AgentGone) as error:
                yield event("gone", {"code": error.code, "detail": error.sentence})
                return
            except MemorySystemError as error:  # busy for a moment: listeners stay connected
                yield event("problem", {"code": error.code, "detail": error.sentence})
                news = []
            for plan in news:
                revision = plan.number
                yield event("change", serialize.head(plan), revision)
            if news:
                said = time.monotonic()
            elif time.monotonic() - said > _QUIET_SECONDS:
                said = time.monotonic()
                yield ": still here\n\n"
            await asyncio.sleep(_LOOK_SECONDS)

    def _begun(self, name: str) -> tuple[AgentMemory, int]:
        agent = self._desk.agent(name)
        return agent, agent.stamp[0]

    def _left(self) -> None:
        self._listeners -= 1

    def _news(self, former: AgentMemory, since: int) -> list[ChangeSet]:
        agent = self._desk.agent(former.name)
        if former.gone:  # one of this name is another agent, or will be opened again
            raise AgentGone(
                f"The agent {former.name!r} was renamed, deleted or replaced. Listen to it again by its name."
            )
        return agent.timeline.told_since(since) if agent.stamp[0] > since else []
