"""Planning: the rest of today in timed actions with places (Park et al. 2023, section 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ..core.change_set import Change, ChangeSet, Kept, excerpt
from ..core.entry import Kind, MemoryEntry, Source, Tier, new_id
from ..core.personality import RoutineItem
from ..errors import ModelNonsense, StaleChange
from ..llm import tasks
from .context import Ground, cited

PLAN = "plan"
CONTEXT = 15
"""How many memories of what was promised for today are used at most, and as many of what happened today."""
_ROUTINE = 3
"""How many items of a routine a note names."""
RATING = 5
"""The rating of plans, for which no model is asked: the published code gives them 5."""


def plan(ground: Ground, routine: Sequence[RoutineItem], heeded: Sequence[MemoryEntry] = ()) -> ChangeSet:
    """Plan the rest of the day of ``ground.now``, in its zone; the old plan of that day is replaced.

    Actions of the old plan that are pinned, protected or marked "by a person" stay; what would overlap them is left
    out.

    Args:
        ground: what to plan on.
        routine: what the agent usually does.
        heeded: memories that come before the recalled ones.

    Raises:
        ModelNonsense: the actions overlap, are in the past or run backwards, even on a second try.
        ModelError: the language model gave no usable answer. Nothing was changed.
    """
    now = ground.now
    ground.progress(0.1, "Recalling what today holds")
    today = f"today, {now:%A} {now.day} {now:%B}"
    cues = (f"What has {ground.who} promised, agreed or arranged to do {today}?", f"What happened {today}?")
    recalled = (entry for cue in cues for entry in ground.recall(cue, CONTEXT) if entry.kind is not Kind.PLAN)
    context = list({entry.id: entry for entry in (*heeded, *recalled)}.values())
    items = [item.model_dump(exclude_none=True) for item in routine]
    task = tasks.plan_day(ground.who, now, items, context)
    ground.progress(0.4, "Planning the day")
    done = ground.model.complete(task)
    actions = done.answer.actions
    calls = [done.call]
    if (problem := _problem(actions, now)) is not None:
        more = " An earlier plan was wrong: 'mistake' says how."
        again = replace(task, more=more, data={**task.data, "mistake": problem})  # it quotes the plan
        done = ground.model.complete(again)
        actions = done.answer.actions
        calls.append(done.call)
        if (problem := _problem(actions, now)) is not None:
            raise ModelNonsense(f"The language model's plan cannot be used: {problem} Nothing was changed.")
    if not actions:
        note = "Nothing is left to do today: no routine or appointment is ahead."
        if ahead := [item for item in routine if (item.until or item.time) > f"{now:%H:%M}"]:
            note = f"The language model planned nothing, although the routine lies ahead: {_listing(ahead)}."
        return ground.plan(PLAN, "Nothing to plan", [], calls=tuple(calls), notes=(note,))
    day = now.date().isoformat()
    earlier = [old for old in ground.ltm if old.kind is Kind.PLAN and old.extras.get("plan_day") == day]
    standing = [old for old in earlier if old.pinned or old.protected or old.authored]
    free = [action for action in actions if not any(_overlaps(action, old) for old in standing)]
    changes = [Change(old, None, "The new plan of the day replaces it.") for old in earlier if old not in standing]
    changes += [
        Change(None, entry(now, action, cited(action.because_of, context)), "An action of today's plan.")
        for action in free
    ]
    kept = tuple(Kept(old.id, "It is pinned, protected or marked “by a person”, so it stands.") for old in standing)
    over = len(actions) - len(free)
    left_out = f"{over} new actions are" if over > 1 else "A new action is"
    notes = (f"{left_out} left out because of an overlap with what stands of the earlier plan.",) if over else ()
    title = f"Plan {now:%A} {now.day} {now:%B}: {len(free)} action{'s' if len(free) != 1 else ''}"
    return ground.plan(PLAN, title, changes, calls=tuple(calls), kept=kept, notes=notes)


def is_ahead(entry: MemoryEntry, now: datetime) -> bool:
    """Whether a memory is a planned action of a day that is not over, in the zone of ``now``."""
    return entry.kind is Kind.PLAN and str(entry.extras.get("plan_day", "")) >= now.date().isoformat()


def refuse_planned_since(change_set: ChangeSet, later: Iterable[ChangeSet]) -> None:
    """Refuse a plan of a day that was planned since this was made: both would stand.

    Args:
        change_set: the plan.
        later: what was done since it was made.

    Raises:
        StaleChange: one of them plans the same day.
    """
    days = _newly_planned(change_set)
    for other in later:
        if days & _newly_planned(other):
            raise StaleChange(
                f"{excerpt(other.title)} by {other.author} was done after this was planned, and both would stand. "
                "Plan it again."
            )


def _newly_planned(change_set: ChangeSet) -> set[object]:
    added = (change.after for change in change_set.changes if change.before is None)
    return {entry.extras.get("plan_day") for entry in added if entry is not None and entry.kind is Kind.PLAN}


def _listing(routine: Sequence[RoutineItem]) -> str:
    items = [f"{item.time} {item.activity}" for item in routine[:_ROUTINE]]
    return "; ".join(items) + (f" and {len(routine) - _ROUTINE} more" if len(routine) > _ROUTINE else "")


def _overlaps(action: tasks.Action, old: MemoryEntry) -> bool:
    return action.start < str(old.extras.get("end", "")) and str(old.extras.get("start", "")) < action.end


def _problem(actions: Sequence[tasks.Action], now: datetime) -> str | None:
    """What is wrong with a plan, in a sentence; ``None`` if it is possible."""
    clock, ended = f"{now:%H:%M}", ""
    for action in actions:
        span = f"{action.start} to {action.end} ({action.activity[:60]})"
        if action.end <= action.start:
            return f"{span} does not end after it begins."
        if action.start <= clock:
            return f"{span} does not lie after now, {clock}."
        if action.start < ended:
            return f"{span} overlaps the action before it, or is out of order."
        ended = action.end
    return None


def entry(now: datetime, action: tasks.Action, evidence: Sequence[MemoryEntry]) -> MemoryEntry:
    """The memory of one planned action of the day of ``now``."""
    day = f"{now:%A} {now.day} {now:%B}"
    place = f" ({action.place})" if action.place else ""
    return MemoryEntry(
        f"Plan for {day}, {action.start} to {action.end}: {action.activity}{place}",
        {
            "plan_day": now.date().isoformat(),
            "start": action.start,
            "end": action.end,
            "place": action.place,
            "activity": action.activity,
        },
        f"plan-{new_id()}",
        tier=Tier.LTM,
        kind=Kind.PLAN,
        timestamp=now,
        rating=RATING,
        explanation="Plans are given 5.",
        source=Source.DERIVED,
        tags=("plan",),
        evidence=tuple(entry.id for entry in evidence),
        depth=1 + max((entry.depth for entry in evidence), default=0),
    )
