"""Acquaintance: from memories about a person to what is known of them and how far they are trusted.

Trust is a number from 0 (not at all) to 1 (completely); if nothing is said about it, it begins in the middle. As with
reflections (Park et al. 2023, section 4.2), every change cites its evidence, and what cites none is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..core.change_set import Kept, ModelCall, excerpt
from ..core.entry import Kind, MemoryEntry
from ..errors import ModelNonsense, shown
from ..llm import LanguageModel, narrate
from ..llm.prompts import prompts_of
from .context import by_age, cited
from .grounding import checked, names

NEUTRAL = 0.5
"""Trust in somebody about whom nothing is said yet, 0 to 1."""
MOST_STEP = 0.3
"""How much trust may change at a time: one memory, of whatever origin, must not reverse everything."""
_TALKED = "synopsis"
"""The tag of what a talk shows."""
_TITLES = re.compile(
    r"the|an?|mrs?|ms|miss|dr|old|young|little|sir|lady|lord|captain|father|mother|brother|sister|uncle|aunt"
)
"""Words that names begin with but that are not names."""
_LEAST = 3
"""How many letters a first name needs to be searched for on its own."""


@dataclass(frozen=True)
class Acquaintance:
    """The result of a reflection on a person.

    Args:
        text: what is known of them now, one line per fact.
        trust: how far they are trusted, 0 to 1; ``None`` if that is still open.
        why: why trust has changed, in a sentence; empty if it has not.
        evidence: the ids of the memories that the change rests on; empty if nothing has changed.
        learned: how many lines are new or corrected.
        until: the time of the last memory that was read.
        seen: the ids of those that were read and happened at that time.
        kept: the evidence, each with what rests on it.
        calls: of the language model.
        notes: what was dropped or cut, and why.
    """

    text: str
    trust: float | None
    why: str
    evidence: tuple[str, ...]
    learned: int
    until: datetime
    seen: tuple[str, ...]
    kept: tuple[Kept, ...]
    calls: tuple[ModelCall, ...]
    notes: tuple[str, ...]


def about(
    entries: Sequence[MemoryEntry],
    name: str,
    others: Collection[str],
    since: datetime | None,
    until: datetime,
    seen: Collection[str] = (),
) -> list[MemoryEntry]:
    """The memories that name a person, of what was perceived and what talks showed, the oldest first.

    A person is named by a memory's ``people``, or in its text by the full name, or by the first name if nobody else
    who is known has it. A turn does not count if a synopsis rests on it.

    Args:
        entries: the memories to search.
        name: the person's.
        others: the names of everybody else who is known.
        since: only what happened then or later; ``None`` = everything.
        until: only what has happened by then.
        seen: the ids of what happened at ``since`` and was read; a clock may be stopped meanwhile.
    """
    parts = [name]
    first = name.split(maxsplit=1)[0]
    shared = {other.split()[0].casefold() for other in others if other.split()}
    if len(first) >= _LEAST and first.casefold() not in shared and not _TITLES.fullmatch(first.casefold()):
        parts.append(first)
    named = re.compile("|".join(rf"(?<!\w){re.escape(part)}(?!\w)" for part in parts), re.IGNORECASE)
    full_name = " ".join(name.split()).casefold()
    found = [
        entry
        for entry in entries
        if entry.timestamp is not None
        and (since is None or entry.timestamp >= since)
        and entry.timestamp <= until
        and not (entry.timestamp == since and entry.id in seen)
        and (entry.kind in (Kind.OBSERVATION, Kind.CONVERSATION) or _TALKED in entry.tags)
        and (any(full_name == person.casefold() for person in entry.people) or named.search(entry.document))
    ]
    turn_ids = {turn_id for entry in found if _TALKED in entry.tags for turn_id in entry.evidence}
    return sorted((entry for entry in found if entry.id not in turn_ids), key=by_age)


def weight(found: Sequence[MemoryEntry]) -> float:
    """The sum of the ratings (1-10 scale) of memories."""
    return sum(entry.rating or 0 for entry in found)


def reflect(
    model: LanguageModel,
    who: str,
    name: str,
    text: str,
    trust: float | None,
    found: Sequence[MemoryEntry],
    room: int,
    now: datetime,
) -> Acquaintance:
    """Reflect on a person by memories about them; if there are many, by the oldest that fit in one prompt.

    Args:
        model: asked once.
        who: whose memories they are.
        name: the person's.
        text: what is known of them so far.
        trust: how far they are trusted so far, 0 to 1; ``None`` if that is open.
        found: the memories, at least one, the oldest first; see ``about``.
        room: how many characters may be known of them.
        now: the world's time, in whose zone the model is told when each happened.

    Raises:
        ModelError: the model failed, or gave nothing that rests on these memories. Nothing was changed.
    """
    entries = next(iter(narrate.parts(found)))
    lines = [line for line in text.splitlines() if line.strip()]
    task = narrate.reflect_on_person(who, name, lines, trust, entries, now)
    done = model.complete(task.worded(prompts_of(model)))
    notes = (
        [f"{len(found) - len(entries)} later memories are left for the next time."] if len(entries) < len(found) else []
    )
    answer, kept, among = done.answer, dict[str, str](), names(entry.document for entry in entries)
    learned, dropped, before = 0, 0, len(lines)
    for statement in answer.learned:
        sentence = " ".join(statement.text.split())
        cites = statement.because_of
        sources, problem = checked(sentence, cites, entries, known=(who, name), among=among, now=now)
        corrects = statement.replaces
        if not problem and corrects is not None and not 1 <= corrects <= before:
            problem = f"It corrects line {corrects:,}, which there is not."
        if not problem and sentence in lines:
            problem = "It is known already."
        if not problem and sum(map(len, lines)) + len(lines) + len(sentence) > room:
            problem = f"What is known has {room:,} characters at most; shorten it by hand."
        if problem:
            dropped += problem != "It is known already."
            notes.append(f"{excerpt(sentence, 80)} was dropped. {problem}")
            continue
        if corrects is None:
            lines.append(sentence)
        else:
            lines[corrects - 1] = sentence
        learned += 1
        kept |= {source.id: f"It shows: {sentence}" for source in sources}
    became, why = trust, ""
    if answer.trust is not None and answer.trust != (NEUTRAL if trust is None else trust):
        rests = cited(answer.because_of, entries)
        if not rests:
            dropped += 1
            notes.append("Trust stays as it is: the change rests on none of the memories.")
        else:
            became = _stepped(NEUTRAL if trust is None else trust, answer.trust, notes)
            why = " ".join(answer.why.split())
            kept |= {entry.id: f"Trust: {why or f'{became:g}'}" for entry in rests if entry.id not in kept}
            kept |= {entry.id: f"{kept[entry.id]} Trust: {why}" for entry in rests if why not in kept[entry.id]}
    if dropped and not kept:
        raise ModelNonsense(f"The language model said nothing about {shown(name)} that rests on memories: {notes[-1]}")
    until = entries[-1].timestamp
    assert until is not None, "only what has a time is looked at"
    seen = tuple(entry.id for entry in entries if entry.timestamp == until)
    told_of = tuple(Kept(entry_id, reason) for entry_id, reason in kept.items())
    return Acquaintance(
        "\n".join(lines), became, why, tuple(kept), learned, until, seen, told_of, (done.call,), tuple(notes)
    )


def _stepped(was: float, trust: float, notes: list[str]) -> float:
    became = round(min(was + MOST_STEP, max(was - MOST_STEP, trust)), 2)
    if abs(trust - became) > MOST_STEP / 100:
        notes.append(f"Trust was to become {trust:.2g}; it changes by at most {MOST_STEP:g} at a time.")
    return became
