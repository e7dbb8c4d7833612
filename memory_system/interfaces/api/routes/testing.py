"""Routes: recall put to the test: what would recall a memory and for how long, saved cues, judgments, the log."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, Field, StringConstraints

from ....recall.query import MAX_CUE, MAX_TOP_K, Facets
from ...forms import Body, Id, Number
from ..deps import AgentName, Desk
from ..schemas import inspection as shapes
from ..schemas import talk_telling, telling
from ..schemas.bodies import Asked, Words
from .recall import asked_query


class WaysBody(Asked):
    """A query, and the memory that it is to recall."""

    id: Id


class PrecisionBody(Body):
    """A cue, and the presets to try, ``settings`` for the agent's own; all of them if not given."""

    cue: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CUE)]
    presets: Annotated[list[Words], Field(max_length=20)] | None = None
    top_k: Annotated[int, Field(strict=True, ge=0, le=MAX_TOP_K)] | None = None
    now: AwareDatetime | None = None


class ForecastBody(Asked):
    """A query, and how many days to look ahead."""

    days: Annotated[Number, Field(ge=1 / 1440, le=36_525)] = 365


def routes(desk: Desk) -> APIRouter:
    """What can be tested. All of it looks and changes nothing."""
    router = APIRouter(tags=["inspection"])

    def ways(name: AgentName, body: WaysBody) -> JSONResponse:
        """The smallest single changes that would recall a memory, each tried."""
        view = desk.view(name, body.as_of)
        found = view.ways(asked_query(view, body), body.id)
        items = [
            {
                "lever": way.lever,
                "value": None if isinstance(way.value, Facets) else talk_telling.plain(way.value),
                "words": way.words,
                "size": way.size,
                "query": telling.query(way.query),
            }
            for way in found
        ]
        return desk.told(view, {"items": items})

    def forecast(name: AgentName, body: ForecastBody) -> JSONResponse:
        """When each memory that is recalled falls out of the answer, if nothing is added and nothing is accessed."""
        view = desk.view(name, body.as_of)
        found = view.forecast(asked_query(view, body), timedelta(days=body.days))
        items = [
            {
                "id": one.entry_id,
                "leaves": one.leaves and one.leaves.isoformat(),
                "because": one.because,
                "curve": [(when.isoformat(), score) for when, score in one.curve],
                "threshold": one.threshold,
            }
            for one in found
        ]
        return desk.told(view, {"items": items})

    def cues(name: AgentName, now: AwareDatetime | None = None) -> JSONResponse:
        """The saved cues, each asked now."""
        agent = desk.agent(name)
        items = [
            {
                **dataclasses.asdict(one.saved),
                "passed": one.passed,
                **{part: list(getattr(one, part)) for part in ("missing", "unwanted", "gone", "recalled")},
            }
            for one in agent.check_cues(now)
        ]
        return desk.told(agent, {"items": items})

    def precision(name: AgentName, body: PrecisionBody) -> JSONResponse:
        """How much of what each preset, or the agent's settings, recalls for a cue was judged right."""
        agent = desk.agent(name)
        found = agent.precision(body.cue, body.presets, now=body.now, top_k=body.top_k)
        items = [{"preset": preset, **dataclasses.asdict(one), "value": one.value} for preset, one in found.items()]
        return desk.told(agent, {"items": items})

    def judgments(name: AgentName) -> JSONResponse:
        """What was said of the answers to each cue."""
        agent = desk.agent(name)
        return desk.told(agent, {"items": [dataclasses.asdict(one) for one in agent.judgments]})

    def relive(name: AgentName, number: int) -> JSONResponse:
        """A query of the log as it was answered then, beside what it would recall now; touches nothing."""
        agent = desk.agent(name)
        told = agent.relive(number)
        answers = {"then": telling.recall(told.then), "now": telling.recall(told.now)}
        why = {part: list(getattr(told, part)) for part in ("doubts", "parameters")}
        changed = [telling.difference(one) for one in told.differences]
        return desk.told(agent, {"logged": telling.logged(told.logged), **answers, **why, "differences": changed})

    quick, slow, of = desk.lanes.quick, desk.lanes.slow, "/agents/{name}"
    router.post(f"{of}/ways", response_model=shapes.Ways)(slow(ways))
    router.post(f"{of}/forecast", response_model=shapes.Forecasts)(slow(forecast))
    router.get(f"{of}/cues", response_model=shapes.Cues)(quick(cues))
    router.post(f"{of}/precision", response_model=shapes.Precisions)(slow(precision))
    router.get(f"{of}/judgments", response_model=shapes.Judgments)(quick(judgments))
    router.get(f"{of}/queries/{{number}}/relived", response_model=shapes.RelivedTold)(slow(relive))
    return router
