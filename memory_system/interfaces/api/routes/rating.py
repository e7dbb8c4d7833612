"""Routes: what is unrated rated, what calls of language models took, what they cost, and the work in the background."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StrictBool, StringConstraints

from ....llm import prices
from ....llm.prices import Price
from ....llm.usage import total
from ...forms import Body, Id, Number
from ..deps import AgentName, Desk, documents_key

_Price = Annotated[Number, Field(ge=0, le=100_000)]
_Model = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class RateUnrated(Body):
    """How many memories are asked about at most; whether those added with ``rate=False`` are left alone; and others."""

    most: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 100
    only_wanted: StrictBool = False
    but: Annotated[list[Id], Field(max_length=10_000)] = Field(default_factory=list)


class RatedTold(BaseModel):
    """Ids that have a rating now, ids that got none, how many are left, and why it stopped, if it did."""

    rated: list[str]
    failed: list[str]
    left: int
    stopped: str


class SpentLine(BaseModel):
    """What calls took: tokens sent (``prompt``) and received (``answer``), and their cost."""

    model: str
    task: str
    calls: int
    prompt: int
    answer: int
    cost: float


class SpentTold(BaseModel):
    """What an agent's calls took by model and task, in all, and its budget; 0 = no limit."""

    items: list[SpentLine]
    total: SpentLine
    token_budget: int
    cost_budget: float


class PriceBody(Body):
    """What a million tokens cost, of what is sent and of what comes back."""

    prompt: _Price
    answer: _Price


class PricesBody(Body):
    """The prices by the model's name; those that are not named are no more."""

    items: Annotated[dict[_Model, PriceBody], Field(max_length=prices.MOST)]


class PriceTold(BaseModel):
    """What a million tokens cost."""

    prompt: float
    answer: float


class PricesTold(BaseModel):
    """The prices by the model's name."""

    items: dict[str, PriceTold]


class ReratingTold(BaseModel):
    """How the work in the background stands, as ``memory_system.world.rerating.Rerating``."""

    on: bool
    agent: str
    share: float
    rated: int
    problem: str
    next: datetime | None


def routes(desk: Desk) -> APIRouter:
    """Ratings, tokens and cost."""
    router = APIRouter(tags=["rate and plan"])

    def rate_unrated(name: AgentName, body: RateUnrated) -> JSONResponse:
        """Rate memories that have no rating, stored in pieces: what was rated stays. Send it again to go on."""
        agent = desk.agent(name)
        done = agent.rate_unrated(most=body.most, only_wanted=body.only_wanted, but=body.but)
        return desk.told(
            agent,
            {"rated": list(done.rated), "failed": list(done.failed), "left": done.left, "stopped": done.stopped},
        )

    def spent(name: AgentName) -> JSONResponse:
        """What the agent's calls of language models took, by model and task, and its budget."""
        agent = desk.agent(name)
        lines, settings = agent.spent, agent.settings
        told = {"items": [asdict(one) for one in lines], "total": asdict(total(lines))}
        return desk.told(agent, told | {"token_budget": settings.token_budget, "cost_budget": settings.cost_budget})

    def the_prices() -> JSONResponse:
        """What the world's language models cost; one that is not there costs nothing."""
        return JSONResponse(_told(prices.read(desk.world().folder)))

    def set_prices(body: PricesBody) -> JSONResponse:
        """Take these prices in the place of the former ones; what was spent keeps what it cost."""
        world = desk.world()
        world.models.set_prices({name: Price(one.prompt, one.answer) for name, one in body.items.items()})
        return JSONResponse(_told(prices.read(world.folder)))

    def rerating() -> JSONResponse:
        """How the rating in the background stands."""
        state = desk.world().rerater.state
        return JSONResponse(asdict(state) | {"next": state.next and state.next.isoformat()})

    quick, write, of = desk.lanes.quick, [Depends(documents_key)], "/agents/{name}"
    router.post(f"{of}/rate-unrated", response_model=RatedTold, dependencies=write)(desk.lanes.slow(rate_unrated))
    router.get(f"{of}/spent", response_model=SpentTold)(quick(spent))
    router.get("/prices", response_model=PricesTold)(quick(the_prices))
    router.put("/prices", response_model=PricesTold, dependencies=write)(quick(set_prices))
    router.get("/rerating", response_model=ReratingTold)(quick(rerating))
    return router


def _told(held: dict[str, Price]) -> dict[str, Any]:
    return {"items": {name: asdict(price) for name, price in sorted(held.items())}}
