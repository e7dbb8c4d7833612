"""Reflection: from recent memories to insights that cite their evidence (Park et al. 2023, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..core.change_set import Change, ChangeSet, ModelCall, so_many
from ..core.entry import Kind, MemoryEntry, Tier, new_id
from ..llm import tasks
from .context import Ground, by_age, cited, derived, rated

RECENT = 100
"""How many records the questions are drawn from (section 4.2)."""
QUESTIONS = 3
CONTEXT = 12
"""How many memories are recalled for each question."""
INSIGHTS = 2
"""How many insights per question at most; the paper asks for five for all three."""
_PERCEIVED = (Kind.OBSERVATION, Kind.CONVERSATION)


def weight(entries: Sequence[MemoryEntry], since: datetime | None = None) -> float:
    """The sum of ratings (1-10 scale) of what was perceived since the last reflection, and since a time."""
    times = [e.timestamp for e in entries if e.kind is Kind.REFLECTION and e.timestamp]
    last = max([*times, *([since] if since else [])], default=None)
    return sum(
        entry.rating or 0
        for entry in entries
        if entry.kind in _PERCEIVED and entry.timestamp and (last is None or entry.timestamp > last)
    )


def plan(ground: Ground, *, only_if_due: bool = False) -> ChangeSet:
    """Plan reflections on the recent memories in STM.

    Three questions are drawn from the (at most 100) most recent records; for each, memory is queried, and the
    insights that answer it are stored with the ids of their evidence. An insight that cites nothing is dropped.

    Args:
        ground: what to plan on.
        only_if_due: plan nothing unless the ratings since the last reflection add up to the trigger.

    Raises:
        ModelError: the language model gave no usable answer. Nothing was changed.
    """
    recent = sorted(ground.stm, key=by_age)[-RECENT:]
    felt = weight((*ground.stm, *ground.ltm))
    if only_if_due and felt < ground.settings.reflection_trigger:
        note = f"The ratings since the last reflection add up to {felt:g} of {ground.settings.reflection_trigger:g}."
        return ground.plan("reflect", "Not yet due to reflect", [], notes=(note,))
    if len(recent) < 3:
        note = f"Short-term memory holds {so_many(len(recent))}; reflecting takes at least three."
        return ground.plan("reflect", "Nothing to reflect on", [], notes=(note,))
    ground.progress(0.05, "Finding questions")
    asked = ground.model.complete(tasks.ask_questions(ground.who, recent, QUESTIONS, ground.now))
    calls: list[ModelCall] = [asked.call]
    changes: list[Change] = []
    dropped = 0
    questions = asked.answer.questions[:QUESTIONS]
    for number, question in enumerate(questions):
        ground.progress(0.1 + 0.9 * number / len(questions), f"Answering: {question}")
        context = ground.recall(question, CONTEXT)
        done = ground.model.complete(tasks.find_insights(ground.who, question, context, INSIGHTS, ground.now))
        calls.append(done.call)
        for insight in done.answer.insights[:INSIGHTS]:
            evidence = cited(insight.because_of, context)
            if not evidence:
                dropped += 1
                continue
            made, call = rated(entry(ground.now, question, insight.insight, evidence), ground.model)
            calls.append(call)
            changes.append(Change(None, made, f"Answers “{question}” from {so_many(len(evidence))}."))
    notes = (f"{dropped} insights cited no evidence and were dropped.",) if dropped else ()
    title = f"Reflect: {len(changes)} insight{'s' if len(changes) != 1 else ''}"
    return ground.plan("reflect", title, changes, calls=tuple(calls), notes=notes)


def entry(now: datetime, question: str, text: str, evidence: Sequence[MemoryEntry]) -> MemoryEntry:
    """The memory of one insight, one level deeper than its deepest evidence."""
    return MemoryEntry(
        text,
        {"question": question},
        f"reflection-{new_id()}",
        tier=Tier.LTM,
        kind=Kind.REFLECTION,
        timestamp=now,
        tags=("reflection",),
        evidence=tuple(entry.id for entry in evidence),
        depth=1 + max(entry.depth for entry in evidence),
        **derived(evidence),
    )
