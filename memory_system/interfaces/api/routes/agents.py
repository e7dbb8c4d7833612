"""Routes: agents, made, copied, renamed, deleted and brought back."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ....agent import AgentMemory
from ....errors import AgentNotFound
from ....world.folders import Binned
from ... import serialize
from ...reads import STATS
from ...serialize import model
from ..deps import AgentName, Desk, IfMatch, documents_key, refuse_stale, tag
from ..schemas.bodies import BinnedBody, NewAgent, To


def routes(desk: Desk) -> APIRouter:
    """What can be done with agents as wholes."""
    router = APIRouter(tags=["agents"])

    def create(body: NewAgent) -> JSONResponse:
        """Make an agent."""
        made = desk.world().create_agent(body.name, body.personality)
        return JSONResponse(serialize.stats(made), 201, headers=tag(made.stamp[0]))

    def delete(name: AgentName, if_match: IfMatch = None) -> JSONResponse:
        """Move an agent to the world's bin, from where it can be restored."""
        refuse_stale(desk.agent(name), if_match)
        return JSONResponse(serialize.plain(desk.world().delete_agent(name)))

    def rename(name: AgentName, body: To, if_match: IfMatch = None) -> JSONResponse:
        """Give an agent another name."""
        refuse_stale(desk.agent(name), if_match)
        return _new(desk.world().rename_agent(name, body.to), 200)

    def copy(name: AgentName, body: To) -> JSONResponse:
        """Copy an agent, its whole history included."""
        return _new(desk.world().duplicate_agent(name, body.to), 201)

    def restore(body: BinnedBody) -> JSONResponse:
        """Bring an agent back from the world's bin."""
        world = desk.world()
        for one in world.deleted_agents():
            if one.name == body.name and body.deleted_at in (None, one.deleted_at):
                return _new(world.restore_agent(one), 200)
        raise AgentNotFound(f"There is no {body.name!r:.80} in the bin, or none that was deleted then.")

    quick, write = desk.lanes.quick, [Depends(documents_key)]
    router.post("/agents", response_model=STATS.model, status_code=201, dependencies=write)(quick(create))
    router.delete("/agents/{name}", response_model=model(Binned), dependencies=write)(quick(delete))
    router.post("/agents/{name}/rename", response_model=STATS.model, dependencies=write)(quick(rename))
    router.post("/agents/{name}/copy", response_model=STATS.model, status_code=201, dependencies=write)(quick(copy))
    router.post("/bin/restore", response_model=STATS.model, dependencies=write)(quick(restore))
    return router


def _new(agent: AgentMemory, status: int) -> JSONResponse:
    return JSONResponse(serialize.stats(agent), status, headers=tag(agent.stamp[0]))
