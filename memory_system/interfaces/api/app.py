"""The app: every route over one world, behind the guard."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from ...world.auth import Door
from ...world.viewer import for_role
from ...world.world import World
from . import problems
from .auth import Entrance, asking
from .deps import Desk, names_itself
from .docs import page
from .fast_query import Express
from .guard import Guard, Hosts
from .idempotency import Idempotency
from .routes import (
    agents,
    archive,
    branches,
    character,
    events,
    history,
    interviews,
    keeping,
    legacy,
    memories,
    operations,
    prompts,
    rating,
    reads,
    recall,
    talking,
    talks,
)
from .routes import world as world_routes

_PARTS = (
    world_routes,
    prompts,
    agents,
    character,
    memories,
    events,
    recall,
    operations,
    history,
    branches,
    talks,
    talking,
    interviews,
    archive,
    keeping,
    rating,
    reads,
)


_VERBS = {"GET": "get", "POST": "post", "PUT": "put", "PATCH": "change", "DELETE": "delete"}


def operation_id(route: APIRoute) -> str:
    """What generated clients call a route: ``migrate``, ``get_agent_memories``, ``delete_agent``.

    An operation has its own name; any other route is named by what is done and by its address, with the thing itself in
    the singular where the address names one of many.
    """
    method = next(iter(route.methods or ["GET"]))
    words: list[str] = []
    parts = [part for part in route.path.strip("/").split("/") if part != "v1"]
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        if not part.startswith("{"):
            words.append(_singular(part) if following.startswith("{") else part)
    if words[:2] == ["agent", "operations"]:
        words, verb = words[2:], []
    else:
        verb = [_VERBS[method]]
    return re.sub(r"\W+", "_", "_".join(verb + words))


def _singular(word: str) -> str:
    if word == "history":
        return "change"
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


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
        generate_unique_id_function=operation_id,
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

    app.include_router(legacy.routes(desk))
    for part in _PARTS:
        app.include_router(part.routes(desk), prefix="/v1", dependencies=[Depends(names_itself)])
    return app
