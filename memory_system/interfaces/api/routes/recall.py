"""Routes: what memory is asked, now or as of then; the log of what was asked; and a memory's score explained."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from ....recall.rank import Recall
from ... import serialize
from ...forms import QueryBody
from ...serialize import model
from ..deps import AgentName, Desk, documents_key, tag


def routes(desk: Desk) -> APIRouter:
    """What can be asked."""
    router = APIRouter(tags=["recall"])

    def query(name: AgentName, body: QueryBody) -> Response:
        """The memories that answer a cue: the best of all tiers, or tier after tier where `seats` is `cascade`.

        With ``as_of`` the agent answers as it would have then, and nothing is touched.
        """
        return answered(desk, name, body)

    write = [Depends(documents_key)]
    router.post("/agents/{name}/query", response_model=model(Recall), dependencies=write)(desk.lanes.quick(query))
    return router


def answered(desk: Desk, name: str, body: QueryBody) -> Response:
    """The answer to a query.

    Raises:
        MemorySystemError: it cannot be asked.
    """
    view = body.view(desk.agent(name))
    found = view.query_memory(**body.given(view.settings), touch=body.touch)
    return Response(serialize.dumped(found), headers=tag(view.stamp[0]), media_type="application/json")
