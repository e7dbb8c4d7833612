"""Places, and who is where: by the latest memories, else by plan or routine, else by the last known place."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from ...agent import AgentMemory
from ...core.entry import DECAYING, LIVED, MemoryEntry
from ...core.kinds import Kind
from ...core.times import moment_given
from ...errors import MemorySystemError
from ..places import Located, lies_in, places_of
from ..trail import Cast

JUST_NOW = timedelta(hours=1)
"""How long a memory of a place says more about where somebody is than their plan does."""


class By(StrEnum):
    """What shows where somebody is."""

    MEMORY = "memory"
    PLAN = "plan"
    ROUTINE = "routine"
    BEFORE = "last memory"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Whereabouts:
    """Where a character is.

    Args:
        agent: the character's name.
        place: where; empty if unknown.
        by: what shows it: a memory of the last hour, the plan of the day, the routine, or the last memory of a place.
        memory: the id of the memory that shows it; empty if none does.
        doing: what it does there according to its plan or routine; empty if that is not known.
        since: when that was remembered; ``None`` if no memory shows it.
    """

    agent: str
    place: str
    by: By
    memory: str = ""
    doing: str = ""
    since: datetime | None = None


def places(world: Cast) -> tuple[Located, ...]:
    """The places of the characters' environments and routines, and of what they remember, by name.

    Each comes with the place that it is in.
    """
    cast = [world.agent(name) for name in world.characters()]
    remembered = (entry.place for agent in cast for tier in LIVED for entry in agent.entries(tier))
    return places_of((agent.personality for agent in cast), remembered)


def lying_in(world: Cast, named: Sequence[str]) -> list[str]:
    """The places of the characters' environments and routines that are one of these or in one of them."""
    about = []
    for name in world.characters():
        with suppress(MemorySystemError):  # the agent itself reports the problem
            about.append(world.agent(name).personality)
    there = places_of(about)
    within = {location.place.casefold(): location.within for location in there}
    return [location.place for location in there if any(lies_in(location.place, place, within) for place in named)]


def whereabouts(world: Cast, *, at: datetime | None = None) -> tuple[Whereabouts, ...]:
    """Where each character is, in their order; changes and touches nothing.

    Args:
        world: the characters' world.
        at: at which time of the world, with its zone; now if not given.

    Raises:
        InvalidParameter: the time has no zone.
    """
    moment = None if at is None else moment_given("'at'", at)
    return tuple(_of(world.agent(name), moment) for name in world.characters())


def _of(agent: AgentMemory, at: datetime | None) -> Whereabouts:
    now = agent.now if at is None else at
    seen = max(
        (entry for tier in DECAYING for entry in agent.entries(tier) if _tells(entry, now)),
        key=lambda entry: (entry.timestamp or now, entry.id),
        default=None,
    )
    if seen is not None and seen.timestamp is not None and now - seen.timestamp <= JUST_NOW:
        return Whereabouts(agent.name, seen.place, By.MEMORY, seen.id, since=seen.timestamp)
    day = agent.plan_now(now)
    if day.doing is not None and day.doing.place:
        doing = day.doing
        return Whereabouts(agent.name, doing.place, By(day.by), doing.entry_id or "", doing.activity)
    if seen is not None:
        return Whereabouts(agent.name, seen.place, By.BEFORE, seen.id, since=seen.timestamp)
    return Whereabouts(agent.name, "", By.NOTHING)


def _tells(entry: MemoryEntry, now: datetime) -> bool:
    return bool(entry.place) and entry.kind is not Kind.PLAN and entry.timestamp is not None and entry.timestamp <= now
