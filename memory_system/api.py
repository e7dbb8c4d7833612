"""The HTTP API: parse, call, serialise. Errors are problem+json with the error tree's codes and sentences."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints
from starlette.exceptions import HTTPException

from .api_docs import page
from .api_guard import Guard, Problem, problem_json
from .authors import API
from .entry import MAX_DOCUMENT, Kind, MemoryEntry
from .errors import MemorySystemError
from .names import MAX_NAME
from .world import World


class RateRequest(BaseModel):
    """The memory to rate."""

    model_config = ConfigDict(extra="forbid", strict=True)
    memory: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]


class RateAnswer(BaseModel):
    """How poignant the memory is, 1 (mundane) to 10 (extremely poignant), and why."""

    rating: int = Field(ge=1, le=10)
    explanation: str


class PlanRequest(BaseModel):
    """Whose day to plan, and from when; the world's clock if ``now`` is not given."""

    model_config = ConfigDict(extra="forbid")
    agent: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_NAME)]
    now: AwareDatetime | None = None
    preview: bool = False


class PlannedAction(BaseModel):
    """One action of the day, from ``start`` to ``end`` (HH:MM), and the id of the memory that holds it."""

    id: str
    start: str
    end: str
    activity: str
    place: str


class PlanAnswer(BaseModel):
    """The plan; ``revision`` is the change that stored it, ``null`` for a preview or an empty plan."""

    agent: str
    now: datetime
    actions: list[PlannedAction]
    notes: list[str]
    revision: int | None


def create_app(world: Callable[[], World]) -> FastAPI:
    """The API over a world, which is opened at the first request that needs it."""
    problems: dict[int | str, dict[str, Any]] = {
        status: {"model": Problem, "content": {"application/problem+json": {}}}
        for status in (404, 409, 422, 500, 502, 503, 504)
    }
    app = FastAPI(
        title="Memory system",
        summary="Memory for generative agents",
        version="0.1.0",
        responses=problems,
        docs_url=None,  # FastAPI's pages fetch scripts from elsewhere
        redoc_url=None,
    )
    app.add_middleware(Guard)
    planning: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
    app.add_exception_handler(MemorySystemError, _told)
    app.add_exception_handler(RequestValidationError, _wrong_body)
    app.add_exception_handler(HTTPException, _wrong_request)

    @app.get("/", include_in_schema=False)
    def about() -> dict[str, str]:
        return {"name": "memory system", "documentation": "/docs", "rate": "POST /rate", "plan": "POST /plan"}

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(page(app.openapi()))

    @app.post("/rate")
    def rate(body: RateRequest) -> RateAnswer:
        """Rate the poignancy of a memory; nothing is stored."""
        from .llm import tasks  # the one task that needs no agent

        text = MemoryEntry(body.memory, id="memory").document  # refuses what could not be remembered
        rated = world().model.complete(tasks.rate(text)).answer
        return RateAnswer(rating=rated.rating, explanation=rated.explanation)

    @app.post("/plan")
    def plan(body: PlanRequest) -> PlanAnswer:
        """Plan the rest of an agent's day; the plan is stored in its long-term memory."""
        agent = world().agent(body.agent).acting_as(API)
        now = body.now or agent.now
        with planning[agent.name]:  # two plans of one day at once would each replace the other's old one
            done = agent.plan_from_memory(now, preview=body.preview)
        planned = [change.after for change in done.changes if change.after and change.after.kind is Kind.PLAN]
        actions = [
            PlannedAction(
                id=entry.id,
                **{key: str(entry.extras.get(key, "")) for key in ("start", "end", "activity", "place")},
            )
            for entry in planned
        ]
        return PlanAnswer(agent=agent.name, now=now, actions=actions, notes=list(done.notes), revision=done.revision)

    return app


def _told(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MemorySystemError), "registered for these alone"
    return problem_json(error.status, error.code, type(error).__name__, error.sentence)


def _wrong_body(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError), "registered for these alone"
    parts = []
    for problem in error.errors()[:3]:
        where = ".".join(str(part) for part in problem["loc"] if part != "body")
        parts.append(f"{where}: {problem['msg']}" if where else str(problem["msg"]))
    return problem_json(422, "invalid-input", "InvalidInput", f"The body cannot be taken. {'; '.join(parts)}.")


def _wrong_request(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException), "registered for these alone"
    words = {
        400: "The body cannot be read: it must be JSON in UTF-8, and not nested deeper than a thousand times.",
        404: "There is nothing at this address; /docs lists what there is.",
        405: "Use another method; see /docs.",
    }
    detail = words.get(error.status_code, str(error.detail))
    return problem_json(error.status_code, "http-error", "HTTP error", detail)
