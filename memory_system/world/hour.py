"""What a character may still ask of a language model in an hour of the world's time, by what it took in that hour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from ..agent import AgentMemory
from ..core.authors import BY_ITSELF
from ..core.change_set import ModelCall
from ..core.times import stamp
from ..llm import prices, tokens
from ..llm.offline.model import OfflineModel
from ..llm.prices import Price
from .rerating import AUTHOR

HOUR = timedelta(hours=1)
_ANY = 1_000_000
_PIECE = 10
"""Calls that are made at once where tokens or money are limited, which are known only afterwards."""
_PAGE = 200


@dataclass(frozen=True)
class Room:
    """What may still be asked in the hour up to a time.

    Args:
        calls: how many calls may be made at once.
        spent: why none is left, in a sentence; empty if there is room.
        at: when there is room again; ``None`` where there is.
    """

    calls: int = _ANY
    spent: str = ""
    at: datetime | None = None


def room(agent: AgentMemory, at: datetime, folder: Path) -> Room:
    """What a character may still ask; read from its history: the calls of what it did by itself and of rating.

    Args:
        agent: the character.
        at: the world's time.
        folder: the world's, which has the prices.
    """
    settings = agent.settings
    limits = (settings.hourly_calls, settings.hourly_tokens, settings.hourly_cost)
    if not any(limits):
        return Room()
    known = prices.read(folder)
    took = [one for author in (BY_ITSELF, AUTHOR) for one in _took(agent, author, at)]
    sums = (len(took), sum(_tokens(call) for _, call in took), sum(_cost(call, known) for _, call in took))
    for limit, spent, what in zip(limits, sums, ("model calls", "tokens", "in money"), strict=True):
        if limit and spent >= limit:
            again = (min(when for when, _ in took) + HOUR).astimezone(at.tzinfo)
            told = f"The budget of {limit:,g} {what} a world hour is spent. There is room again at {stamp(again)}."
            return Room(0, told, again)
    calls = settings.hourly_calls - len(took) if settings.hourly_calls else _ANY
    return Room(min(calls, _PIECE) if any(limits[1:]) else calls)


def _took(agent: AgentMemory, author: str, at: datetime) -> Iterator[tuple[datetime, ModelCall]]:
    before = None
    while page := agent.history(_PAGE, before, author=author):
        for one in page:
            when, before = one.change_set.planned_at, one.change_set.revision
            if when <= at - HOUR:
                return
            yield from ((when, call) for call in one.change_set.calls if when <= at and call.model != OfflineModel.name)


def _tokens(call: ModelCall) -> int:
    return call.tokens if call.tokens is not None else sum(map(tokens.estimate, (call.prompt, call.answer)))


def _cost(call: ModelCall, known: Mapping[str, Price]) -> float:
    """What a call cost; how its tokens are shared between prompt and answer is estimated from their texts."""
    price = known.get(call.model, Price(0, 0))
    answer = min(_tokens(call), tokens.estimate(call.answer))
    return price.of(_tokens(call) - answer, answer)
