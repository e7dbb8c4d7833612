"""Routes: agents, made, copied, renamed, deleted and brought back."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ....agent import AgentMemory
from ....errors import AgentNotFound
from ....world.folders import Binned
from ....world.world import World
from ..cursors import cursor, text_after
from ..deps import AgentName, Cursor, Desk, IfMatch, Limit, documents_key, refuse_stale, tag
from ..schemas import shapes, telling
from ..schemas.bodies import BinnedBody, NewAgent, To


def routes(desk: Desk) -> APIRouter:
    """What can be done with agents as wholes."""
    router = APIRouter(tags=["agents"])

    def agents(limit: Limit = 100, cursor: Cursor = None) -> JSONResponse:
        """The world's agents by name, rehearsals included."""
        world = desk.world()
        after = text_after("agents", cursor)
        names = [name for name in world.agents() if name > after]
        return JSONResponse(telling.page((_agent(world, name) for name in names[:limit]), _next(names, limit)))

    def create(body: NewAgent) -> JSONResponse:
        """Make an agent."""
        made = desk.world().create_agent(body.name, body.personality)
        return JSONResponse(telling.stats(made), 201, headers=tag(made.stamp[0]))

    def about(name: AgentName) -> JSONResponse:
        """Counts, settings and what is in use."""
        agent = desk.agent(name)
        return desk.told(agent, telling.stats(agent))

    def delete(name: AgentName, if_match: IfMatch = None) -> JSONResponse:
        """Move an agent to the world's bin, from where it can be restored."""
        refuse_stale(desk.agent(name), if_match)
        return JSONResponse(_binned(desk.world().delete_agent(name)))

    def rename(name: AgentName, body: To, if_match: IfMatch = None) -> JSONResponse:
        """Give an agent another name."""
        refuse_stale(desk.agent(name), if_match)
        return _new(desk.world().rename_agent(name, body.to), 200)

    def copy(name: AgentName, body: To) -> JSONResponse:
        """Copy an agent, its whole history included."""
        return _new(desk.world().duplicate_agent(name, body.to), 201)

    def binned() -> JSONResponse:
        """The agents in the world's bin."""
        return JSONResponse({"items": [_binned(one) for one in desk.world().deleted_agents()]})

    def restore(body: BinnedBody) -> JSONResponse:
        """Bring an agent back from the world's bin."""
        world = desk.world()
        for one in world.deleted_agents():
            if one.name == body.name and body.deleted_at in (None, one.deleted_at):
                return _new(world.restore_agent(one), 200)
        raise AgentNotFound(f"There is no {body.name!r:.80} in the bin, or none that was deleted then.")

    quick, write = desk.lanes.quick, [Depends(documents_key)]
    router.get("/agents", response_model=shapes.Agents)(quick(agents))
    router.post("/agents", response_model=shapes.Stats, status_code=201, dependencies=write)(quick(create))
    router.get("/agents/{name}", response_model=shapes.Stats)(quick(about))
    router.delete("/agents/{name}", response_model=shapes.BinnedTold, dependencies=write)(quick(delete))
    router.post("/agents/{name}/rename", response_model=shapes.Stats, dependencies=write)(quick(rename))
    router.post("/agents/{name}/copy", response_model=shapes.Stats, status_code=201, dependencies=write)(quick(copy))
    router.get("/bin", response_model=shapes.BinnedAgents)(quick(binned))
    router.post("/bin/restore", response_model=shapes.Stats, dependencies=write)(quick(restore))
    return router


def _new(agent: AgentMemory, status: int) -> JSONResponse:
    return JSONResponse(telling.stats(agent), status, headers=tag(agent.stamp[0]))


def _binned(one: Binned) -> dict[str, str]:
    return {"name": one.name, "deleted_at": one.deleted_at.isoformat()}


def _agent(world: World, name: str) -> dict[str, str | None]:
    played = world.rehearsal(name)
    return {"name": name, "rehearsal_of": played.of if played else None}


def _next(names: list[str], limit: int) -> str | None:
    return cursor("agents", names[limit - 1]) if len(names) > limit else None
