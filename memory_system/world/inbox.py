"""Inbox: what needs a person's decision about a character, read from what is stored; nothing is changed.

It lists what is due, as ``World.due`` does, what is unrated or stale, and the saved cues that fail. Memories that may
be duplicates or contradict each other are listed only on request, since that compares all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from ..agent import AgentMemory
from ..core.change_set import excerpt
from ..core.entry import MemoryEntry, Tier
from ..operations.context import Progress, by_age, no_progress
from ..operations.duplicates.suspicions import Look, Sort
from ..operations.migration import in_rooms
from ..operations.summarisation import to_summarise
from ..store.put_off import TEXT, Matter, mark_of, parse_put_off
from .advancing import life_of
from .due import Life, Step, due

_STEPS = frozenset({Matter.MIGRATE, Matter.REFLECT, Matter.PERSON, Matter.SUMMARISE, Matter.PLAN})
"""Which due steps need a decision; talks are left to where they are held, and ratings are listed as unrated."""
_SORTS = {Sort.CONTRADICTION: Matter.CONTRADICTION, Sort.DUPLICATE: Matter.DUPLICATE}


@dataclass(frozen=True)
class Decision:
    """Something that needs a decision.

    Args:
        kind: what it is about.
        what: what that is, in a sentence or the words of the memory.
        why: why it needs one, in sentences.
        of: which one of its kind; see ``store.put_off.PutOff``.
        ids: the memories that it is about, the oldest first.
        since: the world's time since which it needs one; ``None`` if that is not known.
        mark: a value that stays the same as long as nothing about it changes.
        until: when it is listed again, if it was put off until a time.
    """

    kind: Matter
    what: str
    why: str
    of: str = ""
    ids: tuple[str, ...] = ()
    since: datetime | None = None
    mark: str = ""
    until: datetime | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What distinguishes it from all others of its agent."""
        return self.kind, self.of


@dataclass(frozen=True)
class Inbox:
    """What needs a decision.

    Args:
        now: the world's time.
        decisions: what waits, kind by kind.
        put_off: what was put off, and still is.
    """

    now: datetime
    decisions: tuple[Decision, ...] = ()
    put_off: tuple[Decision, ...] = field(default=())

    def of(self, kind: Matter) -> tuple[Decision, ...]:
        """What waits of one kind."""
        return tuple(decision for decision in self.decisions if decision.kind is kind)


def inbox(
    agent: AgentMemory, folder: Path, waiting: Sequence[Step], *, compare: bool, progress: Progress = no_progress
) -> Inbox:
    """What needs a decision about a character.

    Args:
        agent: the character.
        folder: the world's folder, which has the prices.
        waiting: steps of the world that failed; each says why.
        compare: whether memories are compared with each other.
        progress: called with the progress so far.
    """
    found = [*_due(agent, folder, waiting), *_unrated(agent), *_stale(agent), *_cues(agent)]
    if compare:
        found += suspected(agent.suspicions(ask_model=False, progress=progress))
    return sorted_out(agent, found)


def sorted_out(agent: AgentMemory, found: Sequence[Decision]) -> Inbox:
    """Decisions, with those that are still put off in a list of their own."""
    now = agent.now
    put_offs = {(put_off.kind, put_off.of): put_off for put_off in parse_put_off(agent.text(TEXT))}
    waits: list[Decision] = []
    later: list[Decision] = []
    for decision in found:
        put_off = put_offs.get(decision.key)
        if put_off is not None and put_off.holds(now, decision.mark):
            later.append(replace(decision, until=put_off.at))
        else:
            waits.append(decision)
    return Inbox(now, tuple(waits), tuple(later))


def suspected(look: Look) -> list[Decision]:
    """Decisions about memories that were compared with each other."""
    found = []
    for suspicion in look.suspicions:
        of = " ".join(suspicion.mark.texts)
        texts = " and ".join(dict.fromkeys(f"{excerpt(entry.document)}" for entry in suspicion.entries))
        since = max((entry.timestamp for entry in suspicion.entries if entry.timestamp), default=None)
        why = " ".join((*suspicion.reasons, *suspicion.doubts))
        found.append(
            Decision(_SORTS[suspicion.sort], texts, why, of, suspicion.ids, since, mark_of(of, *suspicion.ids))
        )
    return found


def morning_after(now: datetime) -> datetime:
    """The next morning of the world, at six, in its zone."""
    return (now + timedelta(days=1)).replace(hour=6, minute=0, second=0, microsecond=0)


def _due(agent: AgentMemory, folder: Path, waiting: Sequence[Step]) -> Iterator[Decision]:
    now = agent.now
    life = life_of(agent, now, folder)
    failed = {(step.what, step.of): step.waits for step in waiting if step.agent == agent.name}
    for step in due(life, now):
        if step.what in _STEPS:
            kind = Matter(step.what)
            of = step.of if kind is Matter.PERSON else ""
            what, ids, since = _effect(agent, kind, step, life)
            why = " ".join(filter(None, (step.why, step.waits or failed.get((step.what, step.of), ""))))
            yield Decision(kind, what, why, of, ids, since, mark_of(step.why, *ids))


def _effect(agent: AgentMemory, kind: Matter, step: Step, life: Life) -> tuple[str, tuple[str, ...], datetime | None]:
    """What a step would do, with which memories, and since when it is due."""
    if kind is Matter.MIGRATE:
        plan = agent.migrate_stm2ltm(preview=True)
        moved, gone = len(plan.of("move")), len(plan.of("forget"))
        parts = [f"move {moved:,} to long-term memory"] * bool(moved) + [f"forget {gone:,}"] * bool(gone)
        rooms = in_rooms(sorted(agent.entries(Tier.STM), key=by_age))
        over = sorted((entry for room in rooms for entry in room[agent.settings.stm_size :]), key=by_age)
        phrase = " and ".join(parts)
        return f"{phrase[:1].upper()}{phrase[1:]}", tuple(change.entry_id for change in plan.changes), _first(over)
    if kind is Matter.PLAN:
        if step.of:
            return "Plan the rest of the day", life.stirring, agent.last_version(step.of).timestamp
        return "Plan the day", (), datetime.combine(step.at, life.morning, step.at.tzinfo)
    if kind is Matter.PERSON:
        return f"Reflect on {step.of}", (), None
    if kind is Matter.SUMMARISE:
        summed = to_summarise(agent.entries(Tier.LTM), step.at)[: life.to_summarise]
        return f"Make one summary of {len(summed):,} memories", tuple(entry.id for entry in summed), None
    return "Reflect on recent memories", (), None


def _unrated(agent: AgentMemory) -> Iterator[Decision]:
    if waiting := agent.unrated():
        ids = tuple(entry.id for entry in waiting)
        many = f"Rate {len(ids):,} memories" if len(ids) > 1 else f"Rate {excerpt(waiting[0].document)}"
        why = "They have no rating, so importance tells nothing of them and they do not migrate."
        if len(ids) == 1:
            why = "It has no rating, so importance tells nothing of it and it does not migrate."
        yield Decision(Matter.RATE, many, why, "", ids, _first(waiting), mark_of(*ids))


def _stale(agent: AgentMemory) -> Iterator[Decision]:
    for stale in agent.stale():
        gone = sum(altered.after is None for altered in stale.alterations)
        changed = len(stale.alterations) - gone
        parts = [f"{changed} changed"] * bool(changed) + [f"{gone} deleted"] * bool(gone)
        why = f"Of what it rests on, {' and '.join(parts)} since."
        last = max(altered.last.at for altered in stale.alterations)
        mark = mark_of(*(f"{altered.before.id} {altered.last.revision}" for altered in stale.alterations))
        yield Decision(Matter.STALE, stale.entry.document, why, stale.entry.id, (stale.entry.id,), last, mark)


def _cues(agent: AgentMemory) -> Iterator[Decision]:
    for result in agent.check_cues():
        if result.passed:
            continue
        parts = [f"{_memories(result.missing)} that it must recall {_is(result.missing)} not recalled"] * bool(
            result.missing
        )
        parts += [f"{_memories(result.unwanted)} that it must not recall {_is(result.unwanted)}"] * bool(
            result.unwanted
        )
        ids = (*result.missing, *result.unwanted)
        why = f"{', and '.join(parts)}."
        name, cue = result.saved.name, result.saved.cue
        yield Decision(Matter.CUE, cue if name == cue else f"{name}: {cue}", why, name, ids, None, mark_of(*ids))


def _memories(some: Sequence[str]) -> str:
    return f"{len(some)} {'memory' if len(some) == 1 else 'memories'}"


def _is(some: Sequence[str]) -> str:
    return "is" if len(some) == 1 else "are"


def _first(entries: Sequence[MemoryEntry]) -> datetime | None:
    return next((entry.timestamp for entry in entries if entry.timestamp), None)
