"""Routes: the world that is served, and which others there are."""

from __future__ import annotations

import dataclasses

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from ...reads import WORLD, world_told
from ..deps import Desk, documents_key
from ..schemas.bodies import WorldBody
from .reads import JSON


def routes(desk: Desk) -> APIRouter:
    """What can be asked of the world."""
    router = APIRouter(tags=["world"])

    def change(body: WorldBody) -> Response:
        """Change what the world says of itself, or let its clock stand at a time; what is not named stays."""
        world, named = desk.world(), body.model_fields_set
        words = {name: getattr(body, name) or "" for name in ("title", "about", "first") if name in named}
        if "standing" in named:
            world.stand_at(body.standing)
        if words:
            world.describe(dataclasses.replace(world.about, **words))
        return Response(WORLD.dumped(**world_told(world)), media_type=JSON)

    quick = desk.lanes.quick
    router.patch("/world", response_model=WORLD.model, dependencies=[Depends(documents_key)])(quick(change))
    return router
