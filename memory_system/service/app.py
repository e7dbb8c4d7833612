"""The app: every route over one world, behind the guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.responses import HTMLResponse

from ..access import Door
from ..onlookers import for_role
from ..world import World
from . import (
    agent_routes,
    archive_routes,
    character_routes,
    event_routes,
    history_routes,
    inspection_routes,
    interview_routes,
    keeping_routes,
    known,
    memory_routes,
    operation_routes,
    problems,
    prompt_routes,
    rating_routes,
    recall_routes,
    rehearsal_routes,
    search_routes,
    talk_routes,
    talking_routes,
    testing_routes,
    world_routes,
)
from .desk import Desk, names_itself
from .docs import page
from .entrance import Entrance, asking
from .express import Express
from .guard import Guard
from .hosts import Hosts
from .idempotency import Idempotency

_PARTS = (
    world_routes,
    prompt_routes,
    agent_routes,
    character_routes,
    memory_routes,
    event_routes,
    recall_routes,
    operation_routes,
    history_routes,
    inspection_routes,
    rehearsal_routes,
    testing_routes,
    talk_routes,
    talking_routes,
    interview_routes,
    archive_routes,
    search_routes,
    keeping_routes,
    rating_routes,
)


class _Described(FastAPI):
    """An app whose description tells the form of a problem once."""

    def openapi(self) -> dict[str, Any]:
        """The API's description."""
        told = super().openapi()
        told["components"]["schemas"].setdefault("Problem", problems.Problem.model_json_schema())
        told["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        told["security"] = [{}, {"token": []}]  # a server on its own machine may want none
        return told


def create_app(world: Callable[[], World], door: Door | None = None, hosts: Hosts | None = None) -> FastAPI:
    """The API over a world, which is opened at the first request that needs it.

    Args:
        world: answers the world.
        door: which tokens let somebody in; without, everybody may do everything.
        hosts: the names of this server; without, those of this machine.
    """
    app = _Described(
        title="Memory system",
        summary="Memory for generative agents",
        description="Errors are application/problem+json. Writes take an Idempotency-Key; edits take an If-Match.",
        version="1.0.0",
        responses=problems.documented(),
        docs_url=None,  # FastAPI's pages fetch scripts from elsewhere
        redoc_url=None,
    )
    desk = Desk(lambda: for_role(world(), asking()))
    app.add_middleware(Express, desk)
    app.add_middleware(Idempotency)
    app.add_middleware(Entrance, door=door or Door())
    app.add_middleware(Guard, hosts=hosts)  # the last added is asked first
    problems.handle(app)

    @app.get("/", include_in_schema=False)
    async def about() -> dict[str, str]:
        return {"name": "memory system", "documentation": "/docs", "api": "/v1", "rate": "/rate", "plan": "/plan"}

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(app.openapi()))

    app.include_router(known.routes(desk))
    for part in _PARTS:
        app.include_router(part.routes(desk), prefix="/v1", dependencies=[Depends(names_itself)])
    return app
