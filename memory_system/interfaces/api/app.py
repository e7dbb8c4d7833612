"""The app: every route to one world, behind the guard."""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel

from ...conversation.talk import Role as Speaks
from ...core.json_source import Twin, no_twins
from ...errors import InvalidInput, did_you_mean, shown
from ...maintenance import InUse
from ...recall.verdicts import Verdict
from ...world.auth import Door, Role
from ...world.knows import Verdict as Knowing
from ...world.viewer import for_role
from ...world.world import World
from . import problems
from .auth import Entrance, asking, meant
from .deps import Desk, names_itself
from .express import Express
from .guard import Guard, Hosts
from .idempotency import Idempotency
from .routes import imports, interviews, legacy, many, memories, reads, talking, talks, together, worlds
from .routes import world as world_routes

_PARTS = (
    world_routes.routes,
    world_routes.prompt_routes,
    world_routes.agent_routes,
    memories.character_routes,
    memories.routes,
    memories.event_routes,
    many.routes,
    imports.routes,
    memories.recall_routes,
    memories.operation_routes,
    memories.history_routes,
    world_routes.branch_routes,
    talks.routes,
    talking.steps,
    talking.routes,
    interviews.routes,
    together.routes,
    world_routes.archive_routes,
    world_routes.keeping_routes,
    world_routes.rating_routes,
    worlds.routes,
    reads.routes,
)


_SCHEMAS = "#/components/schemas/"
_VERBS = {"GET": "get", "POST": "post", "PUT": "put", "PATCH": "change", "DELETE": "delete"}


def operation_id(route: APIRoute) -> str:
    """What generated clients call a route: ``migrate``, ``get_agent_memories``, ``delete_agent``.

    An operation has its own name; any other route is named after its action and its address, with the thing itself in
    the singular if the address names one of many.
    """
    method = next(iter(route.methods or ["GET"]))
    words: list[str] = []
    parts = [part for part in route.path.strip("/").split("/") if part != "v1"]
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        if not part.startswith("{"):
            words.append(_singular(part) if following.startswith("{") else part)
    if "operations" in words[:2]:
        words, verb = words[words.index("operations") + 1 :], []
    else:
        verb = [_VERBS[method]]
    return re.sub(r"\W+", "_", "_".join(verb + words))


def _singular(word: str) -> str:
    if word == "history":
        return "change"
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


_WORDS: tuple[tuple[type[StrEnum], str], ...] = (
    (Role, "Role"),
    (Speaks, "MessageRole"),
    (Verdict, "Verdict"),
    (Knowing, "KnowingVerdict"),
)
"""The names in the description of enumerations that share a name in Python: client generators drop one of two."""


class _Described(FastAPI):
    """An app whose description contains the form of a problem once, and gives each form a plain name of its own."""

    def openapi(self) -> dict[str, Any]:
        """The API's description."""
        if self.openapi_schema is not None:
            return self.openapi_schema
        description = super().openapi()
        description["components"]["schemas"].setdefault("Problem", problems.Problem.model_json_schema())
        description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        description["security"] = [{}, {"token": []}]  # a server for its own machine may need none
        self.openapi_schema = _told_apart(description)
        return self.openapi_schema


def _told_apart(description: dict[str, Any]) -> dict[str, Any]:
    """The description with enumerations of the same name renamed; before, they are under the names of their modules."""
    schemas = description["components"]["schemas"]
    names = {
        key: name
        for kind, name in _WORDS
        for key, schema in schemas.items()
        if schema.get("enum") == [member.value for member in kind]
    }
    called = {names.get(key, key): schema for key, schema in schemas.items()}
    for name in set(names.values()):
        called[name] = called[name] | {"title": name}
    description["components"]["schemas"] = dict(sorted(called.items()))
    openapi: dict[str, Any] = _referring(
        description, {f"{_SCHEMAS}{key}": f"{_SCHEMAS}{name}" for key, name in names.items()}
    )
    return openapi


def _referring(part: Any, names: Mapping[str, str]) -> Any:
    """A part of the description that refers to forms by other names."""
    if isinstance(part, list):
        return [_referring(item, names) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: names.get(value, value) if key == "$ref" and isinstance(value, str) else _referring(value, names)
        for key, value in part.items()
    }


def create_app(
    world: Callable[[], World] | InUse,
    door: Door | None = None,
    hosts: Hosts | None = None,
    origins: Collection[str] = (),
) -> FastAPI:
    """The API over a world, which is opened at the first request that needs it.

    Args:
        world: returns the world, or holds the one in use, which can be switched.
        door: the valid tokens; without, everybody may do everything.
        hosts: the names of this server; without, those of this machine.
        origins: the other servers whose pages may ask, such as that of a game in the browser; none by default.
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
    in_use = world if isinstance(world, InUse) else InUse(world)

    def served() -> World:
        about = meant()
        if not about.writes:
            return for_role(in_use.expected(about.name), asking())
        if about.world is None:
            about.world, about.leave = in_use.borrow(about.name)
        return for_role(about.world, asking())

    desk = Desk(served, in_use)
    in_use.after.append(desk.previews.clear)
    app.add_middleware(Express, desk)
    app.add_middleware(Idempotency, tells_of_purged=desk.tells_of_purged, origin=desk.origin)
    app.add_middleware(Entrance, door=door or Door())
    if origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=origins, allow_methods=_METHODS, allow_headers=_SENT, expose_headers=_TOLD
        )
    app.add_middleware(Guard, hosts=hosts, origins=origins)  # the last added comes first
    problems.handle(app)

    @app.get("/", include_in_schema=False)
    async def about() -> dict[str, str]:
        return {"name": "memory system", "documentation": "/docs", "api": "/v1", "rate": "/rate", "plan": "/plan"}

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(app.openapi()))

    app.include_router(legacy.routes(desk), dependencies=[Depends(says_all_once)])
    first = [Depends(names_itself), Depends(asks_what_there_is), Depends(says_all_once)]
    for part in _PARTS:
        app.include_router(part(desk), prefix="/v1", dependencies=first)
    return app


async def asks_what_there_is(request: Request) -> None:
    """Refuse an unknown parameter in an address: ``?preveiw=true`` would do what was only to be previewed.

    Raises:
        InvalidInput: there is one.
    """
    if not request.query_params:
        return
    known = list(_parameters(request.scope["route"].dependant))
    if unknown := [name for name in request.query_params if name not in known]:
        there = f"there are {', '.join(known)}" if known else "this address has none"
        raise InvalidInput(
            f"The request is not valid. query.{unknown[0][:60]}: There is no such parameter; "
            f"{there}.{did_you_mean(unknown[0], known)}"
        )


async def says_all_once(request: Request) -> None:
    """Refuse a body in which a key appears twice: the first of two values would be ignored silently.

    Raises:
        InvalidInput: there is one.
    """
    if request.scope["route"].body_field is None:  # it is not JSON, or is read piece by piece
        return
    try:
        json.loads(await request.body(), object_pairs_hook=no_twins)
    except Twin as error:
        raise InvalidInput(
            f"The body is not valid. The key {shown(error.key)} appears twice in one object; leave one out."
        ) from error
    except (ValueError, RecursionError):  # the route has reported it, or accepts it without its being JSON
        return


def _parameters(dependant: Any) -> Iterator[str]:
    """The parameters that an address may have, for a route and its dependencies."""
    for field in dependant.query_params:
        kind = field.field_info.annotation
        yield from kind.model_fields if inspect.isclass(kind) and issubclass(kind, BaseModel) else [field.alias]
    for other in dependant.dependencies:
        yield from _parameters(other)


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_SENT = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "Last-Event-ID",
    "Memory-Author",
    "Memory-World",
)
_TOLD = ("ETag", "Idempotent-Replayed", "Retry-After")
"""Headers that the pages of an allowed origin may send and read in addition to those that every page may."""

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "pre{overflow:auto;padding:.8rem;border:1px solid #8886;border-radius:.4rem;font-size:.85rem}"
    "h2{margin-top:2.2rem;border-top:1px solid #8886;padding-top:1.2rem}"
)


def page(description: Mapping[str, Any]) -> str:
    """An HTML page from an OpenAPI description."""
    parts = []
    for path, methods in description["paths"].items():
        for method, about in methods.items():
            parts.append(_operation(description, method.upper(), path, about))
    title = html.escape(description["info"]["title"])
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}: HTTP API</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style><h1>{title}: HTTP API</h1>"
        "<p>For programs: <a href='/openapi.json'>openapi.json</a>. Errors: <code>application/problem+json</code> with "
        f"a <code>code</code> and a <code>detail</code>.</p>{''.join(parts)}</html>"
    )


def _operation(description: Mapping[str, Any], method: str, path: str, about: Mapping[str, Any]) -> str:
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    done: Mapping[str, Any] = next(
        (response for status, response in about["responses"].items() if status.startswith("2")), {}
    )
    answer = done.get("content", {}).get("application/json", {}).get("schema", {})
    schemas = [("Body", body), ("Answer", answer)]
    shown = "".join(
        f"<h3>{name}</h3><pre>{html.escape(json.dumps(_resolved(description, schema), indent=1))}</pre>"
        for name, schema in schemas
        if schema
    )
    words = html.escape(about.get("description", about.get("summary", "")))
    parameters = "".join(map(_parameter, about.get("parameters", ())))
    return f"<h2>{method} {html.escape(path)}</h2><p>{words}</p>{parameters and f'<ul>{parameters}</ul>'}{shown}"


def _parameter(parameter: Mapping[str, Any]) -> str:
    place = "" if parameter.get("required") else ", may be left out"
    words = html.escape(parameter.get("description", ""))
    return f"<li><code>{html.escape(parameter['name'])}</code> ({parameter['in']}{place}) {words}</li>"


def _resolved(description: Mapping[str, Any], schema: Any) -> Any:
    """The schema with its references resolved."""
    if isinstance(schema, list):
        return [_resolved(description, item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return _resolved(description, description["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return {key: _resolved(description, value) for key, value in schema.items()}
