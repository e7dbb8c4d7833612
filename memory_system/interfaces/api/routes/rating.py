"""Routes: what is unrated rated, what calls of language models took, what they cost, and the work in the background."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response
from pydantic import Field, StrictBool, StringConstraints

from ....agent_parts.rating import Rerated
from ....llm import prices
from ....llm.prices import Price
from ... import serialize
from ...forms import Body, Id, Number
from ...reads import PRICES, prices_told
from ...serialize import model
from ..deps import AgentName, Desk, documents_key
from .reads import JSON

_Price = Annotated[Number, Field(ge=0, le=100_000)]
_Model = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class RateUnrated(Body):
    """How many memories are asked about at most; whether those added with ``rate=False`` are left alone; and others."""

    most: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 100
    only_wanted: StrictBool = False
    but: Annotated[list[Id], Field(max_length=10_000)] = Field(default_factory=list)


class PriceBody(Body):
    """What a million tokens cost, of what is sent and of what comes back."""

    prompt: _Price
    answer: _Price


class PricesBody(Body):
    """The prices by the model's name; those that are not named are no more."""

    items: Annotated[dict[_Model, PriceBody], Field(max_length=prices.MOST)]


def routes(desk: Desk) -> APIRouter:
    """Ratings, tokens and cost."""
    router = APIRouter(tags=["rate and plan"])

    def rate_unrated(name: AgentName, body: RateUnrated) -> JSONResponse:
        """Rate memories that have no rating, stored in pieces: what was rated stays. Send it again to go on."""
        agent = desk.agent(name)
        done = agent.rate_unrated(most=body.most, only_wanted=body.only_wanted, but=body.but)
        return desk.told(agent, serialize.plain(done))

    def set_prices(body: PricesBody) -> Response:
        """Take these prices in the place of the former ones; what was spent keeps what it cost."""
        world = desk.world()
        world.models.set_prices({name: Price(one.prompt, one.answer) for name, one in body.items.items()})
        return Response(PRICES.dumped(**prices_told(world)), media_type=JSON)

    quick, write, of = desk.lanes.quick, [Depends(documents_key)], "/agents/{name}"
    router.post(f"{of}/rate-unrated", response_model=model(Rerated), dependencies=write)(desk.lanes.slow(rate_unrated))
    router.put("/prices", response_model=PRICES.model, dependencies=write)(quick(set_prices))
    return router
