"""Routes: the two original calls of the memory system, at their original addresses and in their original shapes."""

from __future__ import annotations

import threading
from collections import defaultdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from ....core.entry import MAX_DOCUMENT, Kind, MemoryEntry
from ....core.names import MAX_NAME
from ....llm import prices, tasks
from ....llm.metered import Metered, Terms
from ....llm.prompted import prompted
from ....llm.usage import Account, Budget
from ....world.world import World
from ..deps import Desk


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


class PromptRequest(BaseModel):
    """A prompt that describes a situation and asks for a plan."""

    model_config = ConfigDict(extra="forbid", strict=True)
    memory: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]


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


def asking(world: World) -> Metered:
    """The world's language model for calls of no agent: without a budget, counted for the world, and rating once."""
    return Metered(world.model, Account(world.folder), lambda: Terms(Budget(), prices.read(world.folder)), world.once)


def routes(desk: Desk) -> APIRouter:
    """``POST /rate`` and ``POST /plan``."""
    router = APIRouter(tags=["rate and plan"])
    planning: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def rate(body: RateRequest) -> RateAnswer:
        """Rate the poignancy of a memory; nothing is stored."""
        text = MemoryEntry(body.memory, id="memory").document  # refuses what cannot be remembered
        rated = asking(desk.world()).complete(tasks.rate(text)).answer
        return RateAnswer(rating=rated.rating, explanation=rated.explanation)

    def plan(body: PlanRequest | PromptRequest) -> PlanAnswer | dict[str, Any]:
        """Plan the rest of an agent's day; the plan is stored in its long-term memory.

        For ``{"memory": prompt}`` the language model's own JSON object for that prompt; nothing is stored.
        """
        if isinstance(body, PromptRequest):
            text = MemoryEntry(body.memory, id="memory").document
            return asking(desk.world()).complete(prompted(text, desk.world().clock())).answer.model_dump()
        return planned_day(body)

    def planned_day(body: PlanRequest) -> PlanAnswer:
        agent = desk.agent(body.agent)
        now = body.now or agent.now
        with planning[agent.name]:  # two simultaneous plans of one day would each replace the same old one
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

    router.post("/rate", response_model=RateAnswer)(desk.lanes.slow(rate))
    router.post("/plan", response_model=PlanAnswer | dict[str, Any])(desk.lanes.slow(plan))
    return router
