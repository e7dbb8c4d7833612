"""Routes: the world that is served, and which others there are."""

from __future__ import annotations

import dataclasses
from datetime import datetime

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ....core.names import checked_name
from ....errors import InvalidAgentName
from ....store.journal.location import holds_journal
from ....world.world import World
from ..auth import asking
from ..deps import Desk, documents_key
from ..schemas import shapes
from ..schemas.bodies import WorldBody


def routes(desk: Desk) -> APIRouter:
    """What can be asked of the world."""
    router = APIRouter(tags=["world"])

    def worlds() -> JSONResponse:
        """The worlds in the folder of all worlds; this server serves one of them."""
        world = desk.world()
        names = {world.name, *(path.name for path in world.folder.parent.glob("*") if path.is_dir())}
        items = [{"name": name, "served": name == world.name} for name in sorted(names) if _is_world(world, name)]
        return JSONResponse({"items": items})

    def about() -> JSONResponse:
        """This server's world: what it is about, and its clock."""
        return JSONResponse(_told(desk.world()))

    def change(body: WorldBody) -> JSONResponse:
        """Change what the world says of itself, or let its clock stand at a time; what is not named stays."""
        world, named = desk.world(), body.model_fields_set
        words = {name: getattr(body, name) or "" for name in ("title", "about", "first") if name in named}
        if "standing" in named:
            world.stand_at(body.standing)
        if words:
            world.describe(dataclasses.replace(world.about, **words))
        return JSONResponse(_told(world))

    quick = desk.lanes.quick
    router.get("/worlds", response_model=shapes.Worlds)(quick(worlds))
    router.get("/world", response_model=shapes.World)(quick(about))
    router.patch("/world", response_model=shapes.World, dependencies=[Depends(documents_key)])(quick(change))
    return router


def _is_world(world: World, name: str) -> bool:
    try:
        return name == world.name or (checked_name(name, "world name") == name and _holds_agents(world, name))
    except InvalidAgentName:
        return False


def _holds_agents(world: World, name: str) -> bool:
    return any(map(holds_journal, (world.folder.parent / name).glob("*")))


def _told(world: World) -> dict[str, object]:
    standing: datetime | None = world.standing
    return {
        **dataclasses.asdict(world.about),
        "name": world.name,
        "now": world.clock().isoformat(),
        "standing": standing and standing.isoformat(),
        "agents": len(world.agents()),
        "model": world.model.label,
        "role": asking(),
    }
