"""How much a character may still ask a language model in an hour of the world's time, given its use in that hour."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from ..agent import AgentMemory
from ..core.authors import BY_ITSELF, RATING
from ..core.change_set import ModelCall
from ..core.times import stamp
from ..errors import BudgetSpent, ModelError
from ..llm import prices, tokens
from ..llm.guarded import Over
from ..llm.metered import ANSWER
from ..llm.offline.model import OfflineModel
from ..llm.prices import Price

HOUR = timedelta(hours=1)
_ANY = 1_000_000
_PAGE = 200
_KINDS = ("model calls", "tokens", "in money")
_Took = tuple[float, float, float]
"""Calls, tokens and money."""
_NOTHING: _Took = (0, 0, 0)


@dataclass(frozen=True)
class Room:
    """What may still be asked in the hour up to a time.

    Args:
        left: calls, tokens and money; infinite if there is no limit.
        told: for each of them, why no more is asked once it is used up, in a sentence.
        at: when calls are allowed again.
        prices: the prices of the models, by name.
    """

    left: _Took = (math.inf, math.inf, math.inf)
    told: tuple[str, ...] = ("", "", "")
    at: datetime | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        """How many calls may be made at most."""
        return 0 if self.spent else int(min(self.left[0], _ANY))

    @property
    def spent(self) -> str:
        """Why no call is left, in a sentence; empty if one is."""
        return next((sentence for left, sentence in zip(self.left, self.told, strict=True) if left <= 0), "")


class Purse:
    """What is left of an hour while calls are made, several at a time. Thread-safe.

    A call that begins while something is left is made, so it may use a little more than that. The possible use of
    running calls counts until they end.

    Args:
        room: what was left before.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._taken = _NOTHING

    def begin(self, model: str, prompt: int) -> Over:
        """As ``llm.guarded.Begin``.

        Raises:
            BudgetSpent: nothing is left.
        """
        price = self._room.prices.get(model, Price(0, 0))
        reserve: _Took = (1, prompt + ANSWER, price.of(prompt, ANSWER))
        with self._lock:
            for left, taken, sentence in zip(self._room.left, self._taken, self._room.told, strict=True):
                if taken >= left:
                    raise BudgetSpent(sentence)
            self._take(reserve, 1)

        def over(came: ModelCall | ModelError) -> None:
            if isinstance(came, ModelCall):
                took = _took(came, self._room.prices)
            else:  # a refused call cost nothing; for a wrong answer at least the prompt was read
                took = _NOTHING if isinstance(came, BudgetSpent) else (1, prompt, price.of(prompt, 0))
            with self._lock:
                self._take(reserve, -1)
                self._take(took, 1)

        return over

    def _take(self, some: _Took, sign: int) -> None:
        calls, tokens_, cost = (taken + sign * amount for taken, amount in zip(self._taken, some, strict=True))
        self._taken = (calls, tokens_, cost)


def room(agent: AgentMemory, at: datetime, folder: Path) -> Room:
    """How much a character may still ask, from its history: the calls of what it did by itself and of rating.

    Args:
        agent: the character.
        at: the world's time.
        folder: the world's folder, which has the prices.
    """
    settings = agent.settings
    limits = (settings.hourly_calls, settings.hourly_tokens, settings.hourly_cost)
    if not any(limits):
        return Room()
    known = prices.read(folder)
    calls = [call for author in (BY_ITSELF, RATING) for call in _calls(agent, author, at)]
    taken = [_took(call, known) for _, call in calls]
    again = (min((when for when, _ in calls), default=at) + HOUR).astimezone(at.tzinfo)
    left = [limit - sum(amounts[kind] for amounts in taken) if limit else math.inf for kind, limit in enumerate(limits)]
    sentences = (
        f"The budget of {_number(limit)} {what} a world hour is spent. There is room again at {stamp(again)}."
        for limit, what in zip(limits, _KINDS, strict=True)
    )
    return Room((left[0], left[1], left[2]), tuple(sentences), again, known)


def _number(limit: float) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:,g}"


def _calls(agent: AgentMemory, author: str, at: datetime) -> Iterator[tuple[datetime, ModelCall]]:
    before = None
    while page := agent.history(_PAGE, before, author=author):
        for act in page:
            when, before = act.change_set.planned_at, act.change_set.revision
            if when <= at - HOUR:
                return
            yield from ((when, call) for call in act.change_set.calls if when <= at and call.model != OfflineModel.name)


def _took(call: ModelCall, known: Mapping[str, Price]) -> _Took:
    """What a call used; the split of its tokens between prompt and answer is estimated from their texts."""
    took = call.tokens if call.tokens is not None else sum(map(tokens.estimate, (call.prompt, call.answer)))
    answer = min(took, tokens.estimate(call.answer))
    return 1, took, known.get(call.model, Price(0, 0)).of(took - answer, answer)
