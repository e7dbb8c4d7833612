"""Something that happened in a world, remembered by those who know of it, each in its own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..agent import AgentMemory
from ..core.entry import MemoryEntry, Source
from ..core.personality import personal
from ..core.settings import RatedBy
from ..core.times import moment_given
from ..errors import AgentNotFound, InvalidParameter, ModelError, shown
from ..llm import Task
from ..llm.offline.model import OfflineModel
from ..llm.tasks import Retold, retell
from ..operations.edit import listed
from ..operations.importing.events import Added
from .places import lies_in, places_of

Told = Mapping[str, str] | str | Sequence[str]
"""Who was told: each with the teller, or the names alone."""


@dataclass(frozen=True)
class Known:
    """What one of those who know of it remembers.

    Args:
        agent: the agent's name.
        source: how it came to know.
        teller: who told it; empty if nobody did, or nobody said.
        added: what it remembers, with its rating, and the change set: applied, or only planned.
        note: why it is not in its own words, if the language model failed; otherwise empty.
    """

    agent: str
    source: Source
    teller: str
    added: Added
    note: str = ""

    @property
    def entry(self) -> MemoryEntry:
        """The memory."""
        return self.added.outcomes[0].entry


@dataclass(frozen=True)
class Happened:
    """Something that happened, and who knows of it.

    Args:
        text: what happened.
        place: where; empty if nobody said.
        at: when, in the world's time.
        known: what each of them remembers; empty if nobody was named and nobody is at the place.
        note: that nobody knows of it, and why, in a sentence; otherwise empty.
    """

    text: str
    place: str
    at: datetime
    known: tuple[Known, ...]
    note: str = ""

    def __str__(self) -> str:
        """What each of them remembers, a line each; otherwise why nobody does."""
        return "\n".join(f"{one.agent}: {one.entry.document}" for one in self.known) or self.note


@dataclass(frozen=True)
class _Witness:
    agent: AgentMemory
    source: Source
    teller: str = ""


def happened(
    agents: Mapping[str, Callable[[], AgentMemory]],
    text: str,
    *,
    at: str,
    seen_by: str | Sequence[str],
    heard_by: str | Sequence[str],
    told: Told,
    now: datetime,
    wait: bool | None,
    preview: bool,
) -> Happened:
    """Let those who know of something remember it; see ``World.happened``.

    Args:
        agents: the characters by name, each opened when it is needed.
        text: what happened.
        at: where; empty if nobody said.
        seen_by: who saw it.
        heard_by: who heard it.
        told: who was told, and by whom.
        now: the world's time.
        wait: whether to wait for the language model; according to each agent's ``rated_by`` if ``None``.
        preview: whether to plan only.
    """
    moment_given("'now'", now)
    for name, value in (("text", text), ("at", at)):
        if not isinstance(value, str):
            raise InvalidParameter(f"'{name}' must be a text, not {shown(value)}.")
    what, place = text.strip(), at.strip()
    tellers = dict(told) if isinstance(told, Mapping) else dict.fromkeys(listed(told, "'told'"), "")
    if wrong := [teller for teller in tellers.values() if not isinstance(teller, str)]:
        raise InvalidParameter(f"'told' says by whom, with a name, not {shown(wrong[0])}; \"\" where nobody knows.")
    for teller in ("", *tellers.values()):
        MemoryEntry(what, place=place, people=(teller,) if teller else ())  # raises if it cannot be remembered
    knowing: dict[str, _Witness] = {}
    who = (("seen_by", Source.SAW, seen_by), ("heard_by", Source.HEARD, heard_by), ("told", Source.TOLD, [*tellers]))
    for field, source, names in who:
        for name in listed(names, f"'{field}'"):
            agent = named(agents, name)
            teller = tellers[name] if source is Source.TOLD else ""
            if (by := _called(agents, teller)) == agent.display_name:
                raise InvalidParameter(f"'told' has {by} told by {by}; say who told them, or that they saw it.")
            knowing.setdefault(agent.name, _Witness(agent, source, by))
    if not knowing:
        if not place:
            raise InvalidParameter("Say who knows of it (seen_by, heard_by, told), or where it happened (at).")
        opened = (open_() for open_ in agents.values())
        everyone = list(opened)
        within = {
            location.place.casefold(): location.within
            for location in places_of(agent.personality for agent in everyone)
        }
        knowing = {agent.name: _Witness(agent, Source.SAW) for agent in everyone if _is_at(agent, place, now, within)}
    everybody = [open_().display_name for open_ in agents.values()]
    nobody = "" if knowing else f"Nobody is at {shown(place)} then, and nobody was named, so nobody knows of it."
    planned = [_known(witness, what, place, now, everybody, wait) for witness in knowing.values()]
    if preview:
        return Happened(what, place, now, tuple(planned), nobody)
    done = [
        replace(plan, added=replace(plan.added, change_set=knowing[plan.agent].agent.apply(plan.added.change_set)))
        for plan in planned
    ]
    return Happened(what, place, now, tuple(done), nobody)


def retelling(agent: AgentMemory, what: str, source: Source, place: str, teller: str) -> Task[Retold]:
    """The request to a language model for the words of one of those who know of it."""
    about = agent.personality
    relations = (
        {relationship.name: relationship.relation for relationship in about.relationships if relationship.relation}
        if about
        else {}
    )
    inside = {name: relation for name, relation in relations.items() if _names(f"{what}\n{teller}", name)}
    return retell(personal(about) if about else agent.display_name, what, source, place, teller, inside)


def _known(witness: _Witness, what: str, place: str, now: datetime, others: Sequence[str], wait: bool | None) -> Known:
    """What one of them would remember, planned; without waiting for a model, in the words of the offline rules."""
    agent, note = witness.agent, ""
    waits = agent.settings.rated_by is RatedBy.MODEL if wait is None else wait
    task = retelling(agent, what, witness.source, place, witness.teller)
    try:
        words = (agent.model if waits else OfflineModel(agent.embedder)).complete(task).answer.text
    except ModelError as error:  # it happened even so
        words, note = what, f"The language model did not tell it in {agent.display_name}'s words: {error}"
    known = agent.personality.relationships if agent.personality else []
    whom = dict.fromkeys(
        [*(relationship.name for relationship in known), *(other for other in others if other != agent.display_name)]
    )
    people = [person for person in whom if _names(what, person)]
    event = {
        "document": words,
        "timestamp": now,
        "source": witness.source,
        "people": [*dict.fromkeys([*filter(None, [witness.teller]), *people])],
        "place": place,
    }
    return Known(
        agent.name, witness.source, witness.teller, agent.add_short_term(event, now=now, wait=wait, preview=True), note
    )


def _is_at(agent: AgentMemory, place: str, now: datetime, within: Mapping[str, str]) -> bool:
    """Whether an agent is at a place, or in one inside it, according to the plan of its day or its routine."""
    doing = agent.plan_now(now).doing
    return doing is not None and lies_in(doing.place, place, within)


def named(agents: Mapping[str, Callable[[], AgentMemory]], name: str) -> AgentMemory:
    """The character of this name, which is the agent's or the one in its personality.

    Raises:
        AgentNotFound: there is no such character.
    """
    if name in agents:
        return agents[name]()
    for open_ in agents.values():
        if (agent := open_()).display_name.casefold() == name.casefold():
            return agent
    raise AgentNotFound(f"There is no character {shown(name)}; there are {', '.join(agents) or 'none'}.")


def _called(agents: Mapping[str, Callable[[], AgentMemory]], teller: str) -> str:
    """What people call the teller, who need not be a character of this world."""
    return agents[teller]().display_name if teller in agents else teller


def _names(text: str, name: str) -> bool:
    """Whether a text names somebody, by the whole name or the first."""
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) for form in (name, name.split(maxsplit=1)[0]))
