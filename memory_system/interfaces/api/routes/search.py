"""Routes: searches of what was said, lived and loaded, and memory as a tool. Looking touches nothing."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime

from ....conversation import MemoryTool, archival_search, conversation_search, conversation_search_date, memory_search
from ....conversation.gathering import Where
from ....core.kinds import MAX_ID
from ....recall.query import MAX_CUE
from ..deps import AgentName, Desk
from ..schemas import talk, talk_telling
from ..schemas.bodies import SearchBody

Sought = Annotated[str, Query(min_length=1, max_length=MAX_CUE, description="What is looked for.")]
Number = Annotated[int, Query(ge=0, le=10**9, description="Which page, from 0.")]
Size = Annotated[int, Query(ge=1, le=100, description="Results on a page.")]
Among = Annotated[str | None, Query(max_length=MAX_ID, description="One conversation by its id; all if not given.")]
Date = Annotated[str, Query(min_length=1, max_length=60, description="A date such as 2026-03-27, or a time.")]


def routes(desk: Desk) -> APIRouter:
    """What can be looked up."""
    router = APIRouter(tags=["searches"])

    def said(
        name: AgentName,
        query: Sought,
        page: Number = 0,
        size: Size = 5,
        conversation: Among = None,
        at: AwareDatetime | None = None,
    ) -> JSONResponse:
        """What was said in conversations that answers a query, by text and meaning, the best first."""
        agent = desk.agent(name)
        found = conversation_search(agent, query, page, conversation=conversation, at=at, size=size)
        return desk.told(agent, talk_telling.plain(found))

    def said_between(
        name: AgentName,
        start: Date,
        end: Date,
        page: Number = 0,
        size: Size = 5,
        conversation: Among = None,
        at: AwareDatetime | None = None,
    ) -> JSONResponse:
        """What was said between two dates or times, both included, the oldest first."""
        agent = desk.agent(name)
        found = conversation_search_date(agent, start, end, page, conversation=conversation, at=at, size=size)
        return desk.told(agent, talk_telling.plain(found))

    def archive(
        name: AgentName, query: Sought, page: Number = 0, size: Size = 5, at: AwareDatetime | None = None
    ) -> JSONResponse:
        """What of the agent's life and its documents answers a query, the best first."""
        agent = desk.agent(name)
        return desk.told(agent, talk_telling.plain(archival_search(agent, query, page, at=at, size=size)))

    def tool(name: AgentName) -> JSONResponse:
        """``memory_search`` as a tool in the form of OpenAI's chat completions, for ``tools=[...]``."""
        agent = desk.agent(name)
        return desk.told(agent, MemoryTool(agent).definition())

    def search(name: AgentName, body: SearchBody) -> JSONResponse:
        """What memory has to answer a question: a call of that tool. With ``touch`` it counts as accessed."""
        agent = desk.agent(name)
        within = tuple(Where) if body.within is None else body.within
        found = memory_search(agent, body.query, form=body.form, top_k=body.top_k, within=within, touch=body.touch)
        return desk.told(agent, talk_telling.searched(found))

    quick, slow, of = desk.lanes.quick, desk.lanes.slow, "/agents/{name}"
    router.get(f"{of}/search/conversations", response_model=talk.FoundPage)(quick(said))
    router.get(f"{of}/search/dates", response_model=talk.FoundPage)(quick(said_between))
    router.get(f"{of}/search/archive", response_model=talk.FoundPage)(quick(archive))
    router.get(f"{of}/search", response_model=talk.ToolTold)(quick(tool))
    router.post(f"{of}/search", response_model=talk.Searched)(slow(search))
    return router
