"""Routes: every operation, previewed or at once; and previews, looked at, applied or dropped."""

# FastAPI reads each operation's own body from the annotations, so they are not texts in this module.

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response

from ....core.change_set import ChangeSet
from ... import serialize
from ...forms import Body
from ...operations import OPERATIONS, Operation
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key
from ..schemas.bodies import ApplyBody
from ..sse import TOLD, Tell, progress


def routes(desk: Desk) -> APIRouter:
    """All operations."""
    router = APIRouter(tags=["operations"])
    changed: dict[str, Any] = {"response_model": model(ChangeSet), "dependencies": [Depends(documents_key)]}
    for operation in OPERATIONS:
        address = f"/agents/{{name}}/operations/{operation.name}"
        words: dict[str, Any] = {"summary": operation.about, "name": operation.name, **changed}
        if operation.slow:
            router.post(address, responses=TOLD, **words)(desk.lanes.told(_told(desk, operation)))
        else:
            router.post(address, **words)(desk.lanes.quick(_endpoint(desk, operation)))

    def waiting(name: AgentName, preview_id: str) -> JSONResponse:
        """A preview that waits."""
        agent = desk.agent(name)
        return desk.told(agent, serialize.plain(desk.previews.get(agent.name, preview_id)))

    def apply(name: AgentName, preview_id: str, body: ApplyBody, if_match: IfMatch = None) -> JSONResponse:
        """Carry out what a preview showed, without asking a language model again; once, however often it is sent."""
        agent = desk.agent(name)
        return desk.applied(
            agent, lambda: desk.previews.apply(agent.name, preview_id, body.without, agent.apply), if_match
        )

    def drop(name: AgentName, preview_id: str) -> Response:
        """Forget a preview."""
        desk.previews.drop(desk.agent(name).name, preview_id)
        return Response(status_code=204)

    quick, address = desk.lanes.quick, "/agents/{name}/previews/{preview_id}"
    router.get(address, response_model=model(ChangeSet))(quick(waiting))
    router.post(f"{address}/apply", **changed)(quick(apply))
    router.delete(address, status_code=204, dependencies=[Depends(documents_key)])(quick(drop))
    return router


def _endpoint(desk: Desk, operation: Operation) -> Any:
    def endpoint(name: AgentName, body: Body, preview: Preview = False, if_match: IfMatch = None) -> JSONResponse:
        return desk.change(name, lambda agent: operation.plan(agent, body), preview=preview, if_match=if_match)

    return _formed(endpoint, operation)


def _told(desk: Desk, operation: Operation) -> Any:
    def endpoint(
        tell: Tell, name: AgentName, body: Body, preview: Preview = False, if_match: IfMatch = None
    ) -> Response:
        return desk.change(
            name, lambda agent: operation.plan(agent, body, progress(tell)), preview=preview, if_match=if_match
        )

    return _formed(endpoint, operation)


def _formed(endpoint: Any, operation: Operation) -> Any:
    endpoint.__annotations__["body"] = operation.form
    endpoint.__doc__ = operation.about
    return endpoint
