"""Routes: what memory is asked, now or as of then; the log of what was asked; and a memory's score explained."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse, Response

from ....core.entry import MemoryEntry
from ....errors import EntryNotFound, shown
from ....recall.query import Query as ToAsk
from ..cursors import cursor as cursor_of
from ..cursors import number_before
from ..deps import AgentName, Cursor, Desk, Limit, View, documents_key, tag
from ..schemas import shapes, telling
from ..schemas.bodies import Asked, ExplainBody, NarrateBody, QueryBody


def routes(desk: Desk) -> APIRouter:
    """What can be asked."""
    router = APIRouter(tags=["recall"])

    def query(name: AgentName, body: QueryBody) -> Response:
        """The memories that answer a cue: static first, then short-term, then long-term while the answer is short.

        With ``as_of`` the agent answers as it would have then, and nothing is touched.
        """
        return answered(desk, name, body)

    def explain(name: AgentName, body: ExplainBody) -> JSONResponse:
        """As a query, with the candidates that were not recalled, each with the reason; touches nothing."""
        view = desk.view(name, body.as_of)
        return desk.told(view, telling.explanation(view.explain(**body.given(view.settings)), body.limit))

    def narrate(name: AgentName, body: NarrateBody) -> JSONResponse:
        """What was recalled as one text, each sentence with the memories it rests on; touches and stores nothing."""
        agent = desk.agent(name)
        hits: list[MemoryEntry] = []
        for entry_id in body.ids or ():
            found = agent.find(entry_id)
            if found is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
            hits.append(found)
        told = agent.narrate(body.cue, agent.explain(body.cue).hits if body.ids is None else hits)
        return desk.told(agent, telling.narrative(told))

    def log(
        name: AgentName,
        limit: Limit = 100,
        cursor: Cursor = None,
        contains: Annotated[str, Query(max_length=1000)] = "",
        before: Annotated[int | None, Query(ge=0, le=2**62, description="Only those of a lower number.")] = None,
    ) -> JSONResponse:
        """What was asked of the agent through queries, the newest first."""
        agent = desk.agent(name)
        before = before if cursor is None else number_before("queries", cursor)
        found = agent.queries(limit, before, contains=contains)
        following = cursor_of("queries", found[-1].number) if len(found) == limit else None
        return desk.told(agent, telling.page((telling.logged(one) for one in found), following))

    quick, slow = desk.lanes.quick, desk.lanes.slow
    write = [Depends(documents_key)]
    of = "/agents/{name}"
    router.post(f"{of}/query", response_model=shapes.Recalled, dependencies=write)(quick(query))
    router.post(f"{of}/explain", response_model=shapes.Explained)(quick(explain))
    router.post(f"{of}/narrate", response_model=shapes.NarrativeTold)(slow(narrate))
    router.get(f"{of}/queries", response_model=shapes.Log)(quick(log))
    return router


def answered(desk: Desk, name: str, body: QueryBody) -> Response:
    """The answer to a query.

    Raises:
        MemorySystemError: it cannot be asked.
    """
    view = desk.view(name, body.as_of)
    found = view.query_memory(**body.given(view.settings), touch=body.touch)
    return Response(orjson.dumps(telling.recall(found)), headers=tag(view.stamp[0]), media_type="application/json")


def asked_query(view: View, body: Asked) -> ToAsk:
    """The query of a body, complete."""
    return view.explain(**body.given(view.settings)).query
