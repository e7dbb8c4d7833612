"""One character and one fact: which memories are near it, what each contains of it, and the verdict.

Changes and touches nothing: memories are read directly, and no query is logged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from ...agent import AgentMemory
from ...core.entry import MemoryEntry, Source, Tier
from ...core.kinds import Kind
from ...core.memory import Vectors
from ...errors import ModelError
from ...llm.knowing import knows as asked_of
from ...llm.prompts import prompts_of
from ...operations.grounding import names
from ...recall.hybrid.states import PackedStates
from .cell import Cell, Verdict
from .rules import Found, Remembered, Soft, may_say, own_words, weigh
from .sentence import Claim, Part, name_words

_NEAREST = {Tier.STM: 20, Tier.LTM: 28, Tier.STATIC: 10}
"""How many memories of each tier are read, those nearest in meaning."""
_READ_CLOSELY = 14
_SHOWN = 10
"""How many memories a language model is shown."""
_COSINE = 0.6
_HOPELESS = 0.25
"""The least share of a fact that must be in a memory literally for it to be read closely."""
_AS_GOOD = 0.1
"""How much less of the fact a later, contradicting memory may contain and still count."""
_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "  # noqa: SIM905
    "september october november december christmas sundays mondays thursdays".split()
)
_TELLING = re.compile(
    r"(?P<who>[A-Z][\w’']+(?: [A-Z][\w’']+)?)(?: \w+){0,2}? (?:(?:told|tells|informed|informs) (?:me|us)|owned up|"
    r"confessed|admitted)\b|\bheard (?:it )?from (?P<from>[A-Z]\w+)"
)
_READING = re.compile(
    r"\b(?:letter|note|book|log|newspaper|paper) (?:from|says?|said|of)\b|\bI? ?[Rr]ead (?:in|it|the|a)\b"
)
_DERIVED = frozenset({Kind.REFLECTION, Kind.SUMMARY, Kind.PLAN})
_RANK = {Verdict.KNOWS: 3, Verdict.WRONG: 2, Verdict.HALF: 1, Verdict.UNAWARE: 0}


@dataclass(frozen=True)
class Weighed:
    """A memory, and what it contains of the fact."""

    entry: MemoryEntry
    found: Found

    @property
    def order(self) -> tuple[int, float, str]:
        """Its sort key: a memory that says more sorts later, and of two equal ones the earlier one."""
        return _RANK[self.found.verdict], self.found.share, self.entry.id


def known_names(personalities: Iterable[str | None]) -> frozenset[str]:
    """The words, in small letters, that are names in the personalities of a cast, given as JSON texts."""
    found = frozenset[str]().union(*(_names_of(text) for text in personalities if text))
    return found - _CALENDAR


@lru_cache(maxsize=2_000)
def _names_of(text: str) -> frozenset[str]:
    try:
        personality = json.loads(text)
    except ValueError:
        return frozenset()
    people = [personality.get("identity", {})] if isinstance(personality, dict) else []
    people += (
        [person for person in personality.get("relationships", ()) if isinstance(person, dict)]
        if isinstance(personality, dict)
        else []
    )
    called = [str(person["name"]) for person in people if isinstance(person, dict) and "name" in person]
    return names(_texts(personality)) | frozenset(word for name in called for word in name_words(name))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


@dataclass(frozen=True)
class View:
    """A view of an agent.

    Args:
        agent: the agent, now or at an earlier moment.
        until: only what happened by this time of the world; ``None`` = everything.
        then: whether the agent is as it was at that time, so that memories without a time count too.
    """

    agent: AgentMemory
    until: datetime | None = None
    then: bool = False

    def shows(self, entry: MemoryEntry, *, static: bool) -> bool:
        """Whether a memory is in the view."""
        if self.until is None:
            return True
        return static if entry.timestamp is None else entry.timestamp <= self.until


def near(views: Sequence[View], claim: Claim, cue: Vectors, more: Sequence[MemoryEntry] = ()) -> list[MemoryEntry]:
    """The memories of a character nearest to a fact, the nearest first.

    Args:
        views: the character, as it was and as it is: an event from before then may have been remembered later, and
            what it knew then may be forgotten now. Of two versions of a memory, the first view's counts.
        claim: the fact.
        cue: its vector, shape (d,).
        more: whatever else it knows, such as facts of its world.
    """
    own = own_words(views[-1].agent.display_name, views[-1].agent.name)
    scored: dict[str, tuple[float, MemoryEntry]] = {}
    for view in views:
        for tier, most in _NEAREST.items():
            for cosine, entry in _nearest(view, tier, cue, most):
                if entry.id not in scored:
                    scored[entry.id] = _COSINE * cosine + may_say(claim, entry.document, own), entry
    for entry in more:
        scored.setdefault(entry.id, (may_say(claim, entry.document, own), entry))
    ordered = sorted(scored.values(), key=lambda pair: (-pair[0], pair[1].id))
    return [entry for _, entry in ordered[:_READ_CLOSELY]]


def _nearest(view: View, tier: Tier, cue: Vectors, most: int) -> list[tuple[float, MemoryEntry]]:
    with view.agent.contents.shelf(tier) as table:
        vectors, count = table.vectors[: len(table)], len(table)
        if not count:
            return []
        fits = vectors.ndim == 2 and vectors.shape[1] == len(cue)
        cosines = np.nan_to_num(vectors @ cue, nan=0.0) if fits else np.zeros(count)
        if view.until is not None and tier is not Tier.STATIC:
            times = table.columns["timestamp"][:count]
            cosines = np.where(times <= view.until.timestamp(), cosines, -2.0)
        rows = np.argpartition(-cosines, min(most, count) - 1)[:most].tolist()
        pairs = [(float(cosines[row]), table.entries[int(row)]) for row in rows if cosines[row] > -2.0]
    pairs = [(cosine, entry) for cosine, entry in pairs if entry.kind is not Kind.PLAN]  # it has not happened
    return [(cosine, entry) for cosine, entry in pairs if view.shows(entry, static=tier is Tier.STATIC or view.then)]


def weighed(
    agent: AgentMemory, claim: Claim, entries: Sequence[MemoryEntry], cast: frozenset[str], now: datetime
) -> list[Weighed]:
    """What each of some memories contains of a fact, by rules; the deciding one first."""
    own = own_words(agent.display_name, agent.name)
    tokens = agent.contents.tokens
    states = tokens.get([claim.text, *(entry.document for entry in entries)]) if tokens.available and entries else []
    found = []
    for place, entry in enumerate(entries):
        if place and may_say(claim, entry.document, own) < _HOPELESS:
            continue
        soft = _softness(states[0], states[place + 1]) if states else _hard
        found.append(Weighed(entry, weigh(claim, Remembered(entry.document, entry.timestamp, own, cast, now), soft)))
    found.sort(key=lambda memory: memory.order, reverse=True)
    return _decided(found)


def _hard(_part: Part) -> float:
    return 0.0


def _softness(asked: PackedStates, states: PackedStates) -> Soft:
    @cache
    def best() -> NDArray[np.float32]:
        theirs, mine = states.vectors, asked.vectors
        return (mine @ theirs.T).max(axis=1) if len(theirs) else np.zeros(len(mine), np.float32)

    def soft(part: Part) -> float:
        inside = (asked.spans[:, 0] >= part.start) & (asked.spans[:, 0] < part.end)
        return float(best()[inside].mean()) if inside.any() else 0.0

    return soft


def _decided(found: list[Weighed]) -> list[Weighed]:
    """The same, with the deciding one first: among what is believed and known, the one remembered last.

    A report of what somebody else believes decides only if no memory contradicts it.
    """
    says = [weighed for weighed in found if weighed.found.verdict is Verdict.KNOWS]
    sure = [weighed for weighed in says if not weighed.found.doubted]
    wrong = [weighed for weighed in found if weighed.found.verdict is Verdict.WRONG]
    first = found[0] if found else None
    if (wrong and not sure) or (
        wrong and sure and _when(sure) < _when(wrong) and sure[0].found.share <= wrong[0].found.share + _AS_GOOD
    ):
        first = wrong[0]
    elif sure:
        first = sure[0]
    return found if first is None else [first, *(weighed for weighed in found if weighed is not first)]


def _when(some: Sequence[Weighed]) -> float:
    return max(
        (weighed.entry.timestamp.timestamp() if weighed.entry.timestamp else float("inf") for weighed in some),
        default=0.0,
    )


def by_rules(agent: AgentMemory, claim: Claim, found: Sequence[Weighed]) -> Cell:
    """The verdict from what the memories contain of a fact."""
    if not found or found[0].found.verdict is Verdict.UNAWARE:
        share = max((weighed.found.share for weighed in found), default=0.0)
        nearest = f" The nearest memory, {found[0].entry.id}, is about something else." if found else ""
        return Cell(
            agent.name,
            claim.text,
            Verdict.UNAWARE,
            sure=round(1 - share, 3),
            why=f"Nothing of it is remembered.{nearest}",
        )
    first = found[0]
    cell = resting_on(Cell(agent.name, claim.text, first.found.verdict), first.entry)
    others = [weighed.entry for weighed in found[1:] if weighed.found.verdict is first.found.verdict]
    return replace(cell, sure=round(first.found.share, 3), why=first.found.why, others=_earliest_first(others))


def by_model(agent: AgentMemory, claim: Claim, entries: Sequence[MemoryEntry]) -> Cell | None:
    """The language model's verdict; ``None`` if it fails."""
    shown = list(entries[:_SHOWN])
    task = asked_of(agent.display_name, claim.text, shown).worded(prompts_of(agent.model))
    try:
        done = agent.model.complete(task).answer
    except ModelError:
        return None
    verdict = Verdict(done.verdict)
    cell = Cell(agent.name, claim.text, verdict, why=" ".join(done.why.split()), judge=agent.model.name, sure=1.0)
    if verdict is Verdict.UNAWARE:
        return cell
    if not 1 <= done.record <= len(shown):  # it cites nothing, so it counts as unknown
        return None
    return resting_on(cell, shown[done.record - 1])


def resting_on(cell: Cell, entry: MemoryEntry) -> Cell:
    """A cell that rests on a memory: since when, and how the character came to know of it."""
    how, told_by = how_known(entry)
    return replace(cell, memory=entry.id, text=entry.document, since=entry.timestamp, how=how, told_by=told_by)


def how_known(entry: MemoryEntry) -> tuple[str, str]:
    """How a character came to know of something, and who told it, if anybody did.

    That is the memory's source or, if that was not given, what its text and its kind of memory say.
    """
    if entry.source is not None:
        by = entry.people[0] if entry.source is Source.TOLD and entry.people else ""
        return str(entry.source), by
    if entry.tier is Tier.STATIC:
        return "personality" if "known_to" not in entry.extras else "world", ""
    if entry.kind in _DERIVED:
        return str(Source.DERIVED), ""
    if entry.kind is Kind.CONVERSATION and entry.people:
        return str(Source.TOLD), entry.people[0]
    if match := _TELLING.search(entry.document):
        return str(Source.TOLD), match["who"] or match["from"]
    if _READING.search(entry.document):
        return str(Source.READ), ""
    return str(Source.SAW), ""


def _earliest_first(entries: Iterable[MemoryEntry]) -> tuple[str, ...]:
    return tuple(entry.id for entry in sorted(entries, key=lambda entry: (_time_of(entry), entry.id)))


def _time_of(entry: MemoryEntry) -> float:
    moment: datetime | None = entry.timestamp
    return moment.timestamp() if moment is not None else float("-inf")
