"""Rederivation: the text of a derived memory made again, by the task that made it, from its evidence as it is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.change_set import Change, ChangeSet, Kept, ModelCall, excerpt, so_many
from ..core.entry import Kind, MemoryEntry
from ..core.personality import RoutineItem
from ..errors import InvalidParameter
from ..llm import tasks
from ..store.staleness import KEEP, REDERIVE, Stale
from . import planning, summarisation, synopsis
from .context import Ground, bare, cited

DERIVED_AGAIN = "Derived again from"

_Made = tuple[dict[str, Any] | None, tuple[ModelCall, ...], tuple[str, ...]]
"""The fields of the memory derived again, the calls, and notes; no fields = nothing follows any more."""


def plan(
    ground: Ground, entry: MemoryEntry, sources: Sequence[MemoryEntry], routine: Sequence[RoutineItem]
) -> ChangeSet:
    """Plan to derive a memory again; it keeps its id, rating, tags and marks, but no longer counts as a person's.

    If the text does not change, the change only records that it rests on its present evidence.

    Args:
        ground: what to plan on.
        entry: a reflection, summary, synopsis or action of a plan.
        sources: what is left of its evidence, as it is now.
        routine: the character's, for the action of a plan.

    Raises:
        InvalidParameter: it was not derived from memories.
        ModelError: the language model gave no usable answer. Nothing was changed.
    """
    if not entry.evidence or entry.kind not in (Kind.REFLECTION, Kind.SUMMARY, Kind.PLAN):
        raise InvalidParameter(
            "Only a reflection, a summary or an action of a plan that rests on memories can be derived again; "
            "edit this one by hand."
        )
    title = f"Derive {excerpt(entry.document)} again"
    if not sources:
        note = "Nothing is left of what it rests on: keep it as it is, or forget it."
        return ground.plan(REDERIVE, "Nothing to derive it from", [], notes=(note,))
    ground.progress(0.1, f"Deriving it from {so_many(len(sources))}")
    fields, calls, notes = _made(ground, entry, sources, routine)
    if fields is None:
        return ground.plan(REDERIVE, "Not derived again", [], calls=calls, notes=notes)
    left = tuple(source.id for source in sources)
    depth = 1 + max(source.depth for source in sources)
    after = bare(entry).evolve(**fields, evidence=left, depth=depth)
    if entry.authored and after.document != entry.document:
        after = after.evolve(authored=False)
        notes = (*notes, "A person wrote the text that this replaces.")
    gone = len(entry.evidence) - len(left)
    reason = f"{DERIVED_AGAIN} {so_many(len(left))}.{f' Left out, since deleted: {gone}.' if gone else ''}"
    if after.document == entry.document:
        reason = f"{reason} It says the same."
        notes = (*notes, "Derived again, it says the same.")
    return ground.plan(REDERIVE, title, [Change(bare(entry), after, reason)], calls=calls, notes=notes)


def keep(ground: Ground, entry: MemoryEntry, found: Stale | None) -> ChangeSet:
    """Plan to record that a person reviewed a stale memory and keeps it as it is."""
    if found is None:
        kept = (Kept(entry.id, "What it rests on is as it was."),)
        return ground.plan(KEEP, "Nothing to decide", [], kept=kept)
    changed = len(found.alterations)
    reason = f"Reviewed, and kept as it is, although {changed} of what it rests on changed."
    return ground.plan(KEEP, f"Keep {excerpt(entry.document)} as it is", [Change(bare(entry), bare(entry), reason)])


def _made(ground: Ground, entry: MemoryEntry, sources: Sequence[MemoryEntry], routine: Sequence[RoutineItem]) -> _Made:
    if entry.kind is Kind.REFLECTION:
        return _insight(ground, entry, sources)
    if entry.kind is Kind.PLAN:
        return _action(ground, entry, sources, routine)
    if "conversation" in entry.extras:
        return _synopsis(ground, entry, sources)
    done = ground.model.complete(tasks.summarise(ground.who, sources, ground.now))
    return _as_made(entry, summarisation.entry(done.answer.summary, sources)), (done.call,), ()


def _insight(ground: Ground, entry: MemoryEntry, sources: Sequence[MemoryEntry]) -> _Made:
    question = str(entry.extras.get("question") or "What do these memories show?")
    done = ground.model.complete(tasks.find_insights(ground.who, question, sources, 1, ground.now))
    found = [insight.insight for insight in done.answer.insights if cited(insight.because_of, sources)]
    if not found:
        return (
            None,
            (done.call,),
            ("The remaining evidence supports no insight: keep the memory as it is, or forget it.",),
        )
    return {"document": found[0]}, (done.call,), ()


def _action(
    ground: Ground, entry: MemoryEntry, sources: Sequence[MemoryEntry], routine: Sequence[RoutineItem]
) -> _Made:
    """The action of a plan of that day that rests on the evidence, and begins nearest to when this one did."""
    when = (entry.timestamp or ground.now).astimezone(ground.now.tzinfo)
    items = [item.model_dump(exclude_none=True) for item in routine]
    done = ground.model.complete(tasks.plan_day(ground.who, when, items, sources))
    fit = [action for action in done.answer.actions if action.start < action.end and cited(action.because_of, sources)]
    if not fit:
        return (
            None,
            (done.call,),
            ("The remaining evidence gives nothing to do: keep the memory as it is, or forget it.",),
        )
    began = str(entry.extras.get("start", ""))
    nearest = min(fit, key=lambda action: (abs(_minutes(action.start) - _minutes(began)), action.start))
    return _as_made(entry, planning.entry(when, nearest, sources), moved=False), (done.call,), ()


def _minutes(clock: str) -> int:
    hour, _, minute = clock.partition(":")
    return 60 * int(hour) + int(minute) if hour.isdigit() and minute.isdigit() else 0


def _synopsis(ground: Ground, entry: MemoryEntry, sources: Sequence[MemoryEntry]) -> _Made:
    turns = [source for source in sources if source.timestamp and _is_turn(source)]
    if not turns:
        return None, (), ("No turn of the conversation is left: keep it as it is, or forget it.",)
    speakers = list(dict.fromkeys(str(turn.extras["speaker"]) for turn in turns))
    read = synopsis.read(ground, turns, speakers)
    if not read.shown:
        return None, read.calls, read.notes
    old = {key: value for key, value in entry.extras.items() if not key.endswith("_turns")}
    made = synopsis.entry(read.shown, turns, speakers, ground.now)
    return _as_made(entry.evolve(metadata=old), made), read.calls, read.notes


def _is_turn(entry: MemoryEntry) -> bool:
    """Whether it still says which turn of which conversation it is; a person may have removed that."""
    return isinstance(entry.extras.get("turn"), int) and {"speaker", "conversation"} <= entry.extras.keys()


def _as_made(entry: MemoryEntry, made: MemoryEntry, *, moved: bool = True) -> dict[str, Any]:
    """The new text of a memory, and the metadata about its evidence."""
    metadata: Mapping[str, Any] = {**entry.extras, **made.extras}
    return {
        "document": made.document,
        "metadata": metadata,
        "timestamp": made.timestamp if moved and made.timestamp else entry.timestamp,
    }
