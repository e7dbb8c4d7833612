"""How a day compares with its plan: what is being done, what is next, and what was missed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from ..core.entry import Kind, MemoryEntry
from ..core.personality import RoutineItem
from ..recall.hybrid.words import stems

_CLOCK = re.compile(r"[0-2]\d:[0-5]\d")
_MIDNIGHT = "24:00"
_ACTION = re.compile(rf"[^:]*, ({_CLOCK.pattern}) to ({_CLOCK.pattern}): (.+)", re.DOTALL)
"""The text of a planned action, as ``planning.entry`` writes it."""
_PLACED = re.compile(r"(.+) \(([^()]+)\)", re.DOTALL)
_TELLS = (Kind.OBSERVATION, Kind.CONVERSATION)
"""The kinds of memories that say what happened at a time."""


@dataclass(frozen=True)
class Intended:
    """Something that an agent intends to do today.

    Args:
        start: when it begins, HH:MM.
        end: when it ends, HH:MM; 24:00 at midnight.
        activity: what it is.
        place: where; empty if that is not said.
        entry_id: the memory with it; ``None`` for an item of the routine.
        seen: the ids of the memories of its time that show it, in their order.
    """

    start: str
    end: str
    activity: str
    place: str = ""
    entry_id: str | None = None
    seen: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.start} to {self.end} {self.activity}{f' ({self.place})' if self.place else ''}"


@dataclass(frozen=True)
class PlanNow:
    """How a day compares with its plan.

    Args:
        at: the world's time of the comparison.
        by: ``plan`` if the day has one, else ``routine`` if the personality has one, else ``nothing``.
        doing: what is being done; ``None`` if nothing is planned for now.
        following: what comes next today; ``None`` if nothing does.
        missed: what is over, without a memory of its time that shows it.
        done: what is over, with a memory of its time that shows it.
    """

    at: datetime
    by: str
    doing: Intended | None
    following: Intended | None
    missed: tuple[Intended, ...]
    done: tuple[Intended, ...]

    def __str__(self) -> str:
        singles = (("Now", self.doing), ("Next", self.following))
        lines = [f"{name}: {action}" for name, action in singles if action]
        over = (("Done", self.done), ("Missed", self.missed))
        lines += [f"{name}: {'; '.join(map(str, some))}" for name, some in over if some]
        return "\n".join(lines) or "Nothing is planned."


def rewritten(before: MemoryEntry, after: MemoryEntry) -> MemoryEntry:
    """A planned action whose text was changed, with the time, the activity and the place that the text now gives.

    Without a time in its text it stays at its time, and all of the text is the activity. A place that the text does not
    name any more is taken off.
    """
    was = {name: str(after.extras.get(name, "")) for name in ("start", "end", "activity", "place")}
    if after.kind is not Kind.PLAN or "plan_day" not in after.extras or after.document == before.document:
        return after
    start, end, activity, place = was["start"], was["end"], after.document, was["place"]
    if (told := _ACTION.fullmatch(after.document.strip())) and told[1] < told[2]:
        start, end, activity = told.groups()
    placed = _PLACED.fullmatch(activity)
    if placed and (place or not was["activity"].endswith(f"({placed[2]})")):
        activity, place = placed.groups()
    elif place.casefold() not in activity.casefold():
        place = ""
    return after.evolve(
        metadata=after.extras | {"start": start, "end": end, "activity": activity, "place": place},
    )


def stand(at: datetime, held: Sequence[MemoryEntry], routine: Sequence[RoutineItem]) -> PlanNow:
    """How the day of ``at``, in its zone, compares with its plan, or with the routine if it has none.

    Args:
        at: the world's time.
        held: what is remembered.
        routine: what the agent usually does.

    Returns:
        what is over counts as done if a memory of its time names its place, or shares a word with its activity (by
        stem, without stop words), and as missed if none does.
    """
    day, clock = at.date().isoformat(), f"{at:%H:%M}"
    planned = sorted(_of_plan(held, day), key=lambda action: (action.start, action.end))
    intended = planned or _of_routine(routine)
    over = [_seen(action, held, at) for action in intended if action.end <= clock]
    return PlanNow(
        at,
        "plan" if planned else "routine" if intended else "nothing",
        next((action for action in reversed(intended) if action.start <= clock < action.end), None),
        next((action for action in intended if action.start > clock), None),
        tuple(action for action in over if not action.seen),
        tuple(action for action in over if action.seen),
    )


def _of_plan(entries: Iterable[MemoryEntry], day: str) -> Iterable[Intended]:
    for entry in entries:
        if entry.kind is Kind.PLAN and entry.extras.get("plan_day") == day:
            start, end, activity, place = (
                str(entry.extras.get(name, "")) for name in ("start", "end", "activity", "place")
            )
            if _CLOCK.fullmatch(start) and _CLOCK.fullmatch(end):  # a person may have changed them
                yield Intended(start, end, activity, place, entry.id)


def _of_routine(routine: Sequence[RoutineItem]) -> list[Intended]:
    """The items of a routine; one without an end lasts until the next begins."""
    items = sorted(routine, key=lambda item: item.time)
    ends = [*(routine_item.time for routine_item in items[1:]), _MIDNIGHT][: len(items)]
    return [
        Intended(routine_item.time, routine_item.until or end, routine_item.activity, routine_item.place or "")
        for routine_item, end in zip(items, ends, strict=True)
    ]


def _seen(action: Intended, entries: Iterable[MemoryEntry], at: datetime) -> Intended:
    """What is over, with the memories of its time that show it."""
    about, place = set(stems(action.activity)), action.place.casefold()
    found = [
        entry
        for entry in entries
        if entry.kind in _TELLS
        and action.start <= _clock(entry, at) < action.end
        and ((place and place in entry.document.casefold()) or about & set(stems(entry.document)))
    ]
    entry_ids = tuple(entry.id for entry in sorted(found, key=lambda entry: (entry.timestamp or at, entry.id)))
    return Intended(action.start, action.end, action.activity, action.place, action.entry_id, entry_ids)


def _clock(entry: MemoryEntry, at: datetime) -> str:
    """When a memory happened on the day of ``at``, HH:MM; empty if it was on another day or is unknown."""
    zone: tzinfo | None = at.tzinfo
    if entry.timestamp is None or abs((entry.timestamp - at).days) > 1:
        return ""
    local = entry.timestamp.astimezone(zone)
    return f"{local:%H:%M}" if local.date() == at.date() else ""
