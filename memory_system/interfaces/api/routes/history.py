"""Routes: what has happened to an agent, where undoing it would clash, how it was, and what happens as it happens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import StrictStr

from ..deps import AgentName, Desk
from ..feed import Feed
from ..sse import TOLD

Words = Annotated[str, Query(max_length=1000)]
RevisionNumber = Annotated[int | None, Query(ge=0, le=2**62)]


def routes(desk: Desk) -> APIRouter:
    """What can be asked of the history."""
    router = APIRouter(tags=["history"])
    feed = Feed(desk)

    async def changes(
        name: AgentName,
        since: RevisionNumber = None,
        seconds: Annotated[float | None, Query(gt=0, le=86_400, description="How long to listen at most.")] = None,
        last: Annotated[StrictStr | None, Header(alias="Last-Event-ID", max_length=30)] = None,
    ) -> StreamingResponse:
        """Changes as they happen, whoever makes them, as server-sent events: ``now``, then a ``change`` each.

        The id of an event is its revision, so that whoever comes back with ``Last-Event-ID`` misses none. With
        ``since`` those after that revision are told first. ``gone`` ends it: the agent was renamed or deleted.
        """
        return await feed.listen(name, _after(since, last), seconds)

    router.get(
        "/agents/{name}/changes",
        response_class=StreamingResponse,
        responses=TOLD,
    )(changes)
    return router


def _after(since: int | None, last: str | None) -> int | None:
    return int(last) if last is not None and last.isascii() and last.isdigit() else since
