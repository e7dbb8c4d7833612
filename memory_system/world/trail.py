"""Who told whom: how something came to a character, back through the talks of a world to who first knew of it."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Protocol

import numpy as np

from ..agent import AgentMemory
from ..core.entry import MemoryEntry, MemoryId, Source, Tier, id_of
from ..errors import AgentNotFound, EntryNotFound, InvalidParameter, shown
from ..recall.query import Facets
from .happening import named

MOST = 50
"""How many characters a trail may have."""
_LOOKED_AT = 20
_RESTS_ON = 200
"""How many memories that one rests on, directly or not, are checked."""
_NEAR = 0.8
"""The share of the highest relevancy from which an earlier memory is preferred."""


@dataclass(frozen=True)
class Hop:
    """One of those through whom something came.

    Args:
        agent: the agent's name.
        teller: who told it, as the memory names them; empty if nobody told it, and if it was derived from a memory that
            somebody told, which is then the next hop.
        talk: the id of the agent's conversation in which it was told; empty if that is not known.
        entry: what the agent remembers of it.
    """

    agent: str
    teller: str
    talk: str
    entry: MemoryEntry


class Cast(Protocol):
    """What a world must offer to find its characters."""

    def characters(self) -> list[str]:
        """The names of the agents that are not rehearsals."""

    def agent(self, name: str) -> AgentMemory:
        """An agent by its name."""


def trail(world: Cast, name: str, entry_id: MemoryId, about: str = "") -> tuple[Hop, ...]:
    """Who told whom: how a memory came to a character, back to somebody who was not told it by anybody here.

    The teller is a field of the memory. Where the teller knew it from is found by recall at that moment: the first of
    their memories that best match what they said. A derived memory leads on to the evidence that was told. Changes and
    touches nothing.

    Args:
        world: the characters' world.
        name: whose memory it is.
        entry_id: the memory, or its id; it may be forgotten.
        about: which part of it is meant, such as "the party", if it is about more than that.

    Returns:
        the character first, then who told it, and so on; at most 50.

    Raises:
        AgentNotFound, EntryNotFound: there is no such agent, or it never had the memory.
        InvalidParameter: ``about`` is not a text.
    """
    if not isinstance(about, str):
        raise InvalidParameter(f"'about' must be a text, not {shown(about)}.")
    agents, agent = {character: partial(world.agent, character) for character in world.characters()}, world.agent(name)
    entry: MemoryEntry | None = agent.last_version(id_of(entry_id))
    hops: list[Hop] = []
    while entry is not None and len(hops) < MOST and agent.name not in {hop.agent for hop in hops}:
        if (source := heard(agent, entry, about)) is not entry:
            hops.append(Hop(agent.name, "", "", entry))
            entry = source
        hearsay = is_told(entry)
        hops.append(
            Hop(agent.name, entry.people[0] if hearsay else "", str(entry.extras.get("conversation", "")), entry)
        )
        try:
            teller = named(agents, entry.people[0]) if hearsay else agent
        except AgentNotFound:  # the teller is not a character of this world
            break
        cue = about.strip() or _words_of(teller.display_name, entry.document)
        entry, agent = _known_before(teller, agent, entry, cue), teller
    return tuple(hops)


def is_told(entry: MemoryEntry) -> bool:
    """Whether somebody told it, and the memory names who."""
    return entry.source is Source.TOLD and bool(entry.people)


def heard(agent: AgentMemory, entry: MemoryEntry, about: str) -> MemoryEntry:
    """The told memory that a memory rests on, directly or not; if there are several, the nearest to what is meant.

    The memory itself, if it was told, or if nothing that it rests on was.
    """
    if is_told(entry):
        return entry
    found: dict[str, MemoryEntry] = {}
    waiting = list(entry.evidence)
    while waiting and len(found) < _RESTS_ON:
        with suppress(EntryNotFound):  # purged, or never the agent's
            if (basis := agent.last_version(waiting.pop(0))).id not in found:
                found[basis.id] = basis
                waiting += () if is_told(basis) else basis.evidence
    entries = [entry for entry in found.values() if is_told(entry)]
    if not entries:
        return entry
    cue, *rest = agent.contents.embedded([about.strip() or entry.document, *(entry.document for entry in entries)])
    return entries[int(np.argmax([cue @ vector for vector in rest]))]


def _words_of(teller: str, text: str) -> str:
    """What somebody said, out of a memory of a talk; all of it if it does not say who said what."""
    said = re.findall(rf"^{re.escape(teller)}: (.+)$|{re.escape(teller)}: “([^”]+)”", text, re.MULTILINE)
    return " ".join(line or quoted for line, quoted in said) or text


def _known_before(teller: AgentMemory, to: AgentMemory, memory: MemoryEntry, cue: str) -> MemoryEntry | None:
    """The memory by which somebody knew what they told: the first of those that best match it at that moment."""
    if memory.timestamp is None or teller is to:
        return None
    until = memory.timestamp + timedelta(seconds=1)
    asked = teller.query(cue, _LOOKED_AT, now=memory.timestamp, facets=Facets(until=until))
    found = [hit for hit in teller.answer(asked) if hit.entry.tier is not Tier.STATIC and not _between(hit.entry, to)]
    best = max((hit.score.relevancy for hit in found), default=0.0)
    near = [hit.entry for hit in found if hit.score.relevancy >= _NEAR * best]
    return min(near, key=lambda entry: (entry.timestamp or memory.timestamp, entry.id), default=None)


def _between(entry: MemoryEntry, to: AgentMemory) -> bool:
    """Whether a memory is of a talk with this one."""
    return "conversation" in entry.extras and to.display_name in entry.people
