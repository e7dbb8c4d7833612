"""Summarise and forget: the least important of LTM become one summary, so that LTM stays bounded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..core.change_set import Change, ChangeSet, so_many
from ..core.entry import Kind, MemoryEntry, Tier, new_id
from ..llm import tasks
from .context import Ground, by_age, derived
from .planning import is_ahead

MARKED = "marked “by a person”"


def plan(ground: Ground, count: int) -> ChangeSet:
    """Plan to replace the ``count`` least important LTM entries by one summary.

    The summary keeps its sources' ids (``evidence``) and dates; it has the date of its latest source and is as
    important as its most important one. The sources leave recall and stay in the journal, from where they can be
    restored. Pinned, protected and authored entries are never chosen, nor are plans for a day that is not over, nor
    unrated ones, whose importance is unknown.

    Raises:
        ModelError: the language model gave no usable answer. Nothing was changed.
    """
    free = to_summarise(ground.ltm, ground.now)
    chosen = sorted(free, key=lambda entry: (entry.importance or 0, *by_age(entry)))[:count]
    if len(chosen) < 2:
        return ground.plan("summarise", "Nothing to summarise", [], notes=(_too_few(ground, len(free)),))
    chosen.sort(key=by_age)
    ground.progress(0.1, f"Summarising {len(chosen):,} memories")
    done = ground.model.complete(tasks.summarise(ground.who, chosen, ground.now))
    summary = entry(done.answer.summary, chosen)
    changes = [Change(None, summary, f"Stands for the {len(chosen):,} least important of long-term memory.")]
    changes += [
        Change(
            entry,
            None,
            f"Importance {entry.importance:.2f} is among the {len(chosen):,} lowest; it can be restored.",
        )
        for entry in chosen
    ]
    return ground.plan("summarise", f"Summarise {len(chosen):,} memories into one", changes, calls=(done.call,))


def to_summarise(ltm: Sequence[MemoryEntry], now: datetime) -> list[MemoryEntry]:
    """The memories of LTM that may become part of a summary; see ``plan``."""
    return [
        entry
        for entry in ltm
        if not (entry.pinned or entry.protected or entry.authored or is_ahead(entry, now))
        and entry.importance is not None
    ]


def _too_few(ground: Ground, free: int) -> str:
    """Why there is nothing to summarise: how many memories are left out for which reason, and what can be done."""
    entries = ground.ltm
    marked = sum(entry.authored for entry in entries)
    left_out = {
        MARKED: marked,
        "pinned": sum(entry.pinned for entry in entries),
        "protected": sum(entry.protected for entry in entries),
        "unrated": sum(entry.importance is None for entry in entries),
        "of today's plan": sum(is_ahead(entry, ground.now) for entry in entries),
    }
    words = ", ".join(f"{count:,} {why}" for why, count in left_out.items() if count)
    note = f"Long-term memory holds {so_many(len(entries))}, of which {free} can be summarised; it takes two."
    note += f" Left out: {words}." if words else ""
    return f"{note} Take the mark “by a person” off those that need not keep their words." if marked else note


def entry(text: str, sources: Sequence[MemoryEntry]) -> MemoryEntry:
    """The memory that replaces others: with the date of the latest, as important as the most important."""
    times = [entry.timestamp for entry in sources if entry.timestamp is not None]
    highest = max(sources, key=lambda entry: entry.rating or 0)
    dates: dict[str, str | int | float | bool] = {}
    if times:
        dates = {
            "covers_from": min(times).isoformat(),
            "covers_until": max(times).isoformat(),
            "evidence_times": " ".join(e.timestamp.isoformat() if e.timestamp else "-" for e in sources),
        }
    return MemoryEntry(
        text,
        dates,
        f"summary-{new_id()}",
        tier=Tier.LTM,
        kind=Kind.SUMMARY,
        timestamp=max(times, default=None),
        rating=highest.rating,
        explanation=f"As important as the most important of its {len(sources):,} sources.",
        tags=("summary",),
        evidence=tuple(entry.id for entry in sources),
        depth=1 + max(entry.depth for entry in sources),
        **derived(sources),
    )
