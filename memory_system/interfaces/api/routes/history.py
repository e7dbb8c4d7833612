"""Routes: what has happened to an agent, where undoing it would clash, how it was, and what happens as it happens."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import AwareDatetime, StrictStr

from ....store.journal.history import HistoryKinds
from ..cursors import cursor as cursor_of
from ..cursors import number_before
from ..deps import AgentName, Cursor, Desk, Limit
from ..feed import Feed
from ..schemas import shapes, telling
from ..schemas.bodies import MomentBody
from ..sse import TOLD

Words = Annotated[str, Query(max_length=1000)]
RevisionNumber = Annotated[int | None, Query(ge=0, le=2**62)]


def routes(desk: Desk) -> APIRouter:
    """What can be asked of the history."""
    router = APIRouter(tags=["history"])
    feed = Feed(desk)

    def history(
        name: AgentName,
        limit: Limit = 100,
        cursor: Cursor = None,
        contains: Words = "",
        author: Words = "",
        operation: Words = "",
        memory: Words = "",
        since: AwareDatetime | None = None,
        until: AwareDatetime | None = None,
        before: RevisionNumber = None,
    ) -> JSONResponse:
        """Applied change sets, the newest first; ``since`` and ``until`` are real times, ``before`` a revision."""
        agent = desk.agent(name)
        before = before if cursor is None else number_before("history", cursor)
        found = agent.history(
            limit,
            before,
            contains=contains,
            author=author,
            operation=operation,
            entry_id=memory,
            since=since,
            until=until,
        )
        following = cursor_of("history", found[-1].revision) if len(found) == limit else None
        return desk.told(agent, telling.page((telling.applied(one) for one in found), following))

    def change(name: AgentName, revision: int) -> JSONResponse:
        """One change set."""
        agent = desk.agent(name)
        return desk.told(agent, telling.applied(agent.change(revision)))

    def kinds(name: AgentName) -> JSONResponse:
        """Whose changes, and by which operations, there are in the history: what it can be asked for."""
        agent = desk.agent(name)
        return desk.told(agent, dataclasses.asdict(agent.history_kinds()))

    def conflicts(name: AgentName, revision: int) -> JSONResponse:
        """Where undoing a change set would overwrite later work; none if nothing stands in its way."""
        agent = desk.agent(name)
        items = [{"key": one.key, "sentence": str(one), "purged": one.purged} for one in agent.conflicts(revision)]
        return desk.told(agent, {"items": items})

    def as_of(
        name: AgentName,
        at: AwareDatetime | None = None,
        revision: RevisionNumber = None,
        access: RevisionNumber = None,
        world_time: AwareDatetime | None = None,
    ) -> JSONResponse:
        """The agent as it was at a real time, right after a revision, or at a time of its world."""
        view = desk.view(name, MomentBody(at=at, revision=revision, access=access, world_time=world_time))
        return desk.told(view, telling.stats(view))

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

    quick, of = desk.lanes.quick, "/agents/{name}"
    router.get(f"{of}/history", response_model=shapes.History)(quick(history))
    router.get(f"{of}/history-kinds", response_model=HistoryKinds)(quick(kinds))
    router.get(f"{of}/history/{{revision}}", response_model=shapes.AppliedTold)(quick(change))
    router.get(f"{of}/history/{{revision}}/conflicts", response_model=shapes.Clashes)(quick(conflicts))
    router.get(f"{of}/as-of", response_model=shapes.Stats)(quick(as_of))
    router.get(
        f"{of}/changes",
        response_class=StreamingResponse,
        responses=TOLD,
    )(changes)
    return router


def _after(since: int | None, last: str | None) -> int | None:
    return int(last) if last is not None and last.isascii() and last.isdigit() else since
