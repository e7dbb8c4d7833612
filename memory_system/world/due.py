"""Due: what a character does next by itself, when and why, computed from a ``Life``; asks and changes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from ..core.times import after

ADD, RATE, MIGRATE, REFLECT, PERSON, SUMMARISE, PLAN, HEARTBEAT, SYNOPSIS = (
    "add",
    "rate",
    "migrate",
    "reflect",
    "reflect-on-person",
    "summarise",
    "plan",
    "heartbeat",
    "synopsis",
)
"""What can be due, as the history calls it, in the order in which it is done."""
ASKS = frozenset({RATE, REFLECT, PERSON, SUMMARISE, PLAN, HEARTBEAT, SYNOPSIS})
"""What a language model is asked for."""
LEFT = timedelta(hours=1)
"""How long nobody must speak, in the world's time, for a talk to count as left."""
MORNING = time(6)
"""When a day is planned, unless the routine begins sooner."""
BEFORE = 30
"""Minutes before the first item of a routine at which the day is planned at the latest."""
IMPORTANT = 8
"""The rating, 1 to 10, from which an event can make the rest of the day be planned again."""
PROPOSED = "It is proposed: plan the rest of the day again, or leave it as it is."
"""Why a plan waits for somebody's decision."""
AT_ONCE = 10
"""The fewest memories that become one summary: one summary for each memory too many would tell little."""
MOST_AT_ONCE = 500
MOST_RATED = 100
"""How many memories are rated in one step."""


@dataclass(frozen=True)
class Left:
    """A talk that is not fully remembered yet: its id and title, and when something was last said."""

    id: str
    title: str
    last: datetime


@dataclass(frozen=True)
class Beat:
    """A talk in which the character may speak unprompted.

    Args:
        id: of the talk.
        title: of the talk.
        at: when it may speak next.
        every: how long nobody says anything before it may.
        left: how often it still may before anybody answers.
    """

    id: str
    title: str
    at: datetime
    every: timedelta
    left: int


@dataclass(frozen=True)
class Felt:
    """A person with enough new mentions: the name, and the sum of their ratings (1-10 scale) since the last time."""

    name: str
    weight: float


@dataclass(frozen=True)
class Coming:
    """An event that is to happen: its id, when, and its rating (1-10), if it comes with one."""

    id: str
    at: datetime
    rating: float | None = None


@dataclass(frozen=True)
class Life:
    """The state that decides what a character does by itself.

    Args:
        agent: its name.
        coming: the events that are still to happen, in their order.
        unrated: the ids of memories to be rated.
        overflow: how many memories are too many for short-term memory and may leave it.
        room: how many more fit in it.
        felt: the sum of ratings (1-10 scale) of what was perceived since it last reflected.
        trigger: the sum at which it reflects.
        people: those with enough new mentions to reflect on them.
        person_trigger: how much that is; 0 = nobody is reflected on.
        recent: how many memories short-term memory has.
        ltm: how many long-term memory has.
        ltm_size: how many it may have; 0 = any number.
        free: how many of them may become part of a summary.
        planned: the last day that was planned, or for which a plan was tried; ``None`` = none.
        morning: when a day is planned, in the world's zone.
        talks: those that are not remembered yet.
        beats: those in which it may speak unprompted.
        stirring: the ids of important events that have happened since the day was planned, if that counts.
        proposes: whether a plan because of these is only proposed.
        spent: why no more calls of a language model are made in this hour, in a sentence; empty if they are.
        room_at: when they can be made again; ``None`` if they can now.
        calls: how many calls of a language model may be made at once.
        later: whether an event that comes without a rating is rated in a step of its own.
    """

    agent: str
    coming: tuple[Coming, ...] = ()
    unrated: tuple[str, ...] = ()
    overflow: int = 0
    room: int = 0
    felt: float = 0.0
    trigger: float = 150.0
    people: tuple[Felt, ...] = ()
    person_trigger: float = 0.0
    recent: int = 0
    ltm: int = 0
    ltm_size: int = 0
    free: int = 0
    planned: date | None = None
    morning: time = MORNING
    talks: tuple[Left, ...] = ()
    beats: tuple[Beat, ...] = ()
    stirring: tuple[str, ...] = ()
    proposes: bool = False
    spent: str = ""
    room_at: datetime | None = None
    calls: int = 1_000_000
    later: bool = False

    @property
    def to_rate(self) -> tuple[str, ...]:
        """The ids of the memories that are rated in one step."""
        return self.unrated[: min(self.calls, MOST_RATED)]

    @property
    def too_many(self) -> int:
        """How many memories long-term memory has more than allowed."""
        return max(0, self.ltm - self.ltm_size) if self.ltm_size else 0

    @property
    def to_summarise(self) -> int:
        """How many memories would become one summary."""
        return min(self.free, MOST_AT_ONCE, max(AT_ONCE, self.too_many + 1))


@dataclass(frozen=True)
class Step:
    """Something that a character does by itself.

    Args:
        agent: its name.
        what: what it does, as the history calls it.
        at: when, by the world's clock.
        why: why it is due, in a sentence.
        of: the id of the event or the talk that it is about, or because of which a day is planned again; the name of
            the person whom it is about; empty for everything else.
        title: of the change set; empty before there is one.
        revision: of the change set; ``None`` before it is done.
        waits: why it could not be done, in a sentence; empty if it could.
    """

    agent: str
    what: str
    at: datetime
    why: str
    of: str = ""
    title: str = ""
    revision: int | None = None
    waits: str = ""


def due(life: Life, at: datetime) -> list[Step]:
    """What is due at a time of the world, in order.

    Args:
        life: the character as it is.
        at: the world's time, in the world's zone.
    """
    waits = life.spent if life.room_at and at < life.room_at else ""
    return [
        Step(life.agent, what, at, why, of, waits=(waits if what in ASKS else "") or _proposed(life, what, of))
        for what, why, of in _due(life, at)
    ]


def _proposed(life: Life, what: str, of: str) -> str:
    return PROPOSED if what == PLAN and of and life.proposes else ""


def _due(life: Life, at: datetime) -> Iterator[tuple[str, str, str]]:
    for event in life.coming:
        if event.at <= at:
            yield ADD, "It happens.", event.id
    if life.unrated:
        many = f"{len(life.unrated)} memories wait for their rating"
        yield RATE, f"{many if len(life.unrated) > 1 else 'A memory waits for its rating'}.", ""
    if life.overflow:
        yield MIGRATE, f"Short-term memory holds {life.overflow:,} more than it has room for.", ""
    if life.recent >= _LEAST and life.felt >= life.trigger:
        why = f"The ratings since the last reflection add up to {life.felt:,g} of {life.trigger:,g}."
        yield REFLECT, why, ""
    for person in life.people:
        why = f"The ratings of what came up about {person.name} add up to {person.weight:g} of {life.person_trigger:g}."
        yield PERSON, why, person.name
    if life.too_many and life.free >= _TWO:
        why = f"Long-term memory holds {life.ltm:,}, and is to hold {life.ltm_size:,} at most."
        yield SUMMARISE, why, ""
    if at.time() >= life.morning and (life.planned is None or life.planned < at.date()):
        yield PLAN, f"A new day: {at:%A}, {at.day} {at:%B}.", ""
    elif life.stirring:
        many = f"{len(life.stirring)} events" if len(life.stirring) > 1 else "An event"
        yield PLAN, f"{many} of importance happened since the day was planned.", life.stirring[0]
    for beat in life.beats:
        if beat.left and beat.at <= at:
            yield HEARTBEAT, f"Nobody has said anything in “{beat.title}”, so it may speak unprompted.", beat.id
    for talk in life.talks:
        if at - talk.last >= LEFT:
            hours = (at - talk.last) / timedelta(hours=1)
            yield SYNOPSIS, f"Nothing has been said in “{talk.title}” for {hours:.0f} h.", talk.id


_LEAST = 3
"""How many memories a reflection uses; see ``reflection.plan``."""
_TWO = 2
"""How many memories a summary uses."""


def next_time(life: Life, at: datetime) -> datetime:
    """The next time after ``at`` at which something becomes due merely because time passes."""
    today = datetime.combine(at.date(), life.morning, at.tzinfo)
    times = [today if today > at else today + timedelta(days=1)]
    times += [talk.last.astimezone(UTC) + LEFT for talk in life.talks]
    times += [event.at for event in life.coming]
    times += [beat.at for beat in life.beats if beat.left]
    times += [life.room_at] if life.room_at else []
    return min(when.astimezone(UTC) for when in times if after(when, at)).astimezone(at.tzinfo)


def foreseen(life: Life, step: Step) -> Life:
    """The character as it would be after a step, as far as that can be known without carrying it out."""
    if step.what == ADD:
        (event,) = (event for event in life.coming if event.id == step.of)
        left = tuple(other for other in life.coming if other is not event)
        unrated = (*life.unrated, event.id) if event.rating is None and life.later else life.unrated
        felt = life.felt + (event.rating or 0)
        return dataclasses.replace(_fuller(life), coming=left, felt=felt, unrated=unrated)
    if step.what == RATE:
        return dataclasses.replace(life, unrated=life.unrated[len(life.to_rate) :])
    if step.what == MIGRATE:
        return dataclasses.replace(life, overflow=0, recent=life.recent - life.overflow)
    if step.what == REFLECT:
        return dataclasses.replace(life, felt=0.0)
    if step.what == PERSON:
        return dataclasses.replace(life, people=tuple(person for person in life.people if person.name != step.of))
    if step.what == SUMMARISE:
        gone = life.to_summarise - 1
        return dataclasses.replace(life, ltm=life.ltm - gone, free=life.free - gone)
    if step.what == PLAN:
        return dataclasses.replace(life, planned=step.at.date(), stirring=())
    if step.what == HEARTBEAT:
        beats = (
            dataclasses.replace(beat, at=step.at + beat.every, left=beat.left - 1) if beat.id == step.of else beat
            for beat in life.beats
        )
        return dataclasses.replace(life, beats=tuple(beats))
    talks = tuple(talk for talk in life.talks if talk.id != step.of)
    return dataclasses.replace(_fuller(life), talks=talks)


def _fuller(life: Life) -> Life:
    """The character with one memory more in short-term memory."""
    over = life.overflow + (life.room <= 0)
    return dataclasses.replace(life, overflow=over, room=max(0, life.room - 1), recent=life.recent + 1)


def morning_of(first: str | None) -> time:
    """When a day is planned whose routine begins at ``first`` (HH:MM); ``None`` = there is no routine."""
    if first is None:
        return MORNING
    begins = time.fromisoformat(first)
    minutes = max(0, begins.hour * 60 + begins.minute - BEFORE)
    return min(MORNING, time(minutes // 60, minutes % 60))
