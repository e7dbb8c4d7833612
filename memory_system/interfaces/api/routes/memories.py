"""Routes: memories, listed, looked at, edited."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.responses import JSONResponse, Response
from pydantic import AwareDatetime

from ....agent import AgentMemory
from ....core.change_set import ChangeSet
from ....core.kinds import MAX_ID
from ...forms import Body, EditBody, Ids
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key

EntryId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The memory's id.")]


class TouchBody(Body):
    """Which memories count as recalled, and when; by the world's clock if not given."""

    ids: Ids
    now: AwareDatetime | None = None


def routes(desk: Desk) -> APIRouter:
    """What can be done with memories."""
    router = APIRouter(tags=["memories"])

    def edit(
        name: AgentName, entry_id: EntryId, body: EditBody, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Change fields of a memory; those that are not named stay."""

        def plan(agent: AgentMemory) -> ChangeSet:
            return agent.edit(entry_id, preview=True, **body.given())

        return desk.change(name, plan, preview=preview, if_match=if_match)

    def forget(name: AgentName, entry_id: EntryId, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        """Take a memory out of recall; it lies in the agent's bin then."""
        return desk.change(name, lambda agent: agent.forget(entry_id, preview=True), preview=preview, if_match=if_match)

    def touch(name: AgentName, body: TouchBody) -> Response:
        """Let memories count as recalled, which renews their recency; those that are not there are passed over."""
        desk.agent(name).touch(body.ids, now=body.now)
        return Response(status_code=204)

    quick, write = desk.lanes.quick, [Depends(documents_key)]
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": write}
    of = "/agents/{name}"
    router.patch(f"{of}/memories/{{entry_id:path}}", **changed)(quick(edit))
    router.delete(f"{of}/memories/{{entry_id:path}}", **changed)(quick(forget))
    router.post(f"{of}/touch", status_code=204, dependencies=write)(quick(touch))
    return router
