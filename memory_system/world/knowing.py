"""Changes to what a world knows: each is a change set in the history of the world's own agent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from ..agent import AgentMemory
from ..agent_parts.knowledge import Knowledge
from ..core.change_set import Change, ChangeSet, excerpt, short, text_given
from ..core.entry import MemoryEntry
from ..core.kinds import Tier
from ..core.known import EVERYBODY, OF_GROUP, WORLD_AGENT, Fact, Group, Label, group_name, new_fact_id
from ..core.names import checked_name
from ..core.times import Clock, stamp
from ..errors import AgentNotFound, Conflict, EntryNotFound, InvalidEntry, InvalidParameter, MemorySystemError, shown
from ..operations.edit import listed

KNOW, UNKNOW, GROUP = "fact", "unknow", "group"
"""The names of the change sets in the history."""


@dataclass(frozen=True)
class Kept:
    """What a world stores about what is known, and who changes it when.

    Args:
        entries: the long-term memory of the world's agent, by id.
        now: the world's time.
        author: who is behind it, as the history shows it.
        revision: that agent's newest change set; 0 if there is no such agent yet.
    """

    entries: Sequence[MemoryEntry]
    now: datetime
    author: str
    revision: int = 0

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is known, by id."""
        return tuple(fact for entry in self.entries if (fact := Fact.of(entry)) is not None)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, by name."""
        return tuple(group for entry in self.entries if (group := Group.of(entry)) is not None)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The corrections by hand of who knows what, by id."""
        return tuple(label for entry in self.entries if (label := Label.of(entry)) is not None)

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id, without its access time."""
        return next((entry.accessed(None) for entry in self.entries if entry.id == entry_id), None)

    def plan(self, operation: str, title: str, changes: Sequence[Change]) -> ChangeSet:
        """A change set of the world's agent."""
        return ChangeSet(
            operation, title, tuple(changes), self.now, self.revision, author=self.author, agent=WORLD_AGENT
        )


class Keeps(Protocol):
    """What a world must offer here."""

    @property
    def author(self) -> str:
        """Who is behind the changes, as the history shows it."""

    @property
    def clock(self) -> Clock:
        """The world's time."""

    @property
    def knowledge(self) -> Knowledge:
        """What the world knows."""


class Casts(Protocol):
    """What a world must offer to name its characters."""

    def agent(self, name: str) -> AgentMemory:
        """The agent of this name."""

    def characters(self) -> list[str]:
        """The names of its characters."""


def kept_by(world: Keeps, author: str | None = None) -> Kept:
    """What a world stores about what is known, for a change by this author or, if not given, by the world's author."""
    by = world.author if author is None else text_given("author", author)
    agent = world.knowledge.agent()
    if agent is None:
        return Kept((), world.clock(), by)
    return Kept(agent.entries(Tier.LTM), world.clock(), by, agent.revision)


def know(
    kept: Kept,
    text: str,
    *,
    to: str,
    known_from: datetime | None,
    known_until: datetime | None,
    rating: float | None,
    fact_id: str | None,
) -> ChangeSet:
    """Plan to let everybody, or a group, know a fact; see ``World.know``."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidEntry("The fact has no text: say what is known.")
    name = new_fact_id() if fact_id is None else text_given("fact_id", fact_id) or new_fact_id()
    before = kept.find(name)
    if str(name).startswith(OF_GROUP):
        raise InvalidParameter(f"The id {shown(name)} is that of a group; a fact needs another.")
    if before is not None and Fact.of(before) is None:
        raise InvalidParameter(f"The id {shown(name)} belongs to something else that the world keeps.")
    fact = Fact(name, text.strip(), _known_to(kept, to), known_from, known_until, rating)
    entry = fact.entry
    reason = "It was edited." if before is not None else _known(fact, kept.now)
    changes = [] if before is not None and before == entry else [Change(before, entry, reason)]
    who = "Everybody knows" if fact.known_to == EVERYBODY else f"Known to {fact.known_to}:"
    return kept.plan(KNOW, f"{who} {excerpt(fact.text)}" if changes else "Nothing to change", changes)


def _known(fact: Fact, now: datetime) -> str:
    """From when to when it is known, in a sentence."""
    if fact.known_until is not None and fact.known_until <= now:
        return f"It was known until {stamp(fact.known_until)}."
    since = f"from {stamp(fact.known_from)}" if fact.known_from is not None and fact.known_from > now else "from now on"
    return (
        f"It is known {since}." if fact.known_until is None else f"It is known {since} until {stamp(fact.known_until)}."
    )


def unknow(kept: Kept, ids: str | Sequence[str]) -> ChangeSet:
    """Plan to forget facts, and to dissolve groups; see ``World.unknow``."""
    known, there = {fact.id: fact for fact in kept.facts}, kept.groups
    names = listed(ids)
    gone = {item.id: item for name in names if (item := known.get(name) or _named(there, name)) is not None}
    if len(gone) < len(names):
        unknown = next(name for name in names if name not in known and _named(there, name) is None)
        raise EntryNotFound(f"The world keeps no fact of the id {shown(unknown)}, and no group of this name.")
    for group in (item for item in gone.values() if isinstance(item, Group)):
        facts = [fact for fact in known.values() if fact.known_to == group.name and fact.id not in gone]
        if facts:
            first_of = f"{excerpt(facts[0].text)}"
            raise Conflict(
                f"{len(facts):,} facts are known to {shown(group.name)}, such as {first_of}. Forget them too, or let "
                "others know them."
                if len(facts) > 1
                else f"{first_of} is known to {shown(group.name)}. Forget it too, or let others know it."
            )
    changes = [Change(kept.find(item.id), None, _gone(item)) for item in gone.values()]
    first = next(iter(gone.values()), None)
    what = f"{excerpt(first.text)}" if isinstance(first, Fact) else f"the group {first.name if first else ''}"
    title = (
        f"Forget {what}" if len(gone) == 1 else f"Forget {len(gone)} facts or groups" if gone else "Nothing to forget"
    )
    return kept.plan(UNKNOW, title, changes)


def _gone(item: Fact | Group) -> str:
    return "It is not known any more." if isinstance(item, Fact) else "The group is dissolved."


def _named(there: Collection[Group], name: str) -> Group | None:
    return next((group for group in there if group.name.casefold() == name.strip().casefold()), None)


def group(kept: Kept, world: Casts, name: str, members: str | Sequence[str]) -> ChangeSet:
    """Plan to define a group; see ``World.group``."""
    called, names = group_name(name), listed(members, "'members'")
    if not names:
        raise InvalidParameter(f"Say who is in {shown(called)}; “unknow” dissolves a group.")
    characters = world.characters()
    for member in names:
        if member not in characters:
            raise AgentNotFound(f"There is no character {shown(member)}; there are {', '.join(characters) or 'none'}.")
    namesake = _named(kept.groups, called)
    after = Group(called if namesake is None else namesake.name, tuple(names))
    before = None if namesake is None else namesake.entry
    changes = (
        []
        if before == after.entry
        else [Change(before, after.entry, f"{len(names)} {'are' if len(names) > 1 else 'is'} in it.")]
    )
    title = (
        f"{after.name}: {short(', '.join(_called(world, member) for member in names))}"
        if changes
        else "Nothing to change"
    )
    return kept.plan(GROUP, title, changes)


def _called(world: Casts, name: str) -> str:
    """A character's name for people; one that cannot be opened keeps its file's name."""
    try:
        return world.agent(name).display_name
    except MemorySystemError:
        return name


def renamed(kept: Kept, name: str, to: str) -> ChangeSet:
    """Plan to use a character's new name in its groups and in the corrections about it."""
    changes = []
    for group in kept.groups:
        after = replace(group, members=tuple(to if member == name else member for member in group.members))
        if after != group:
            changes.append(Change(group.entry, after.entry, f"{name} was renamed."))
    for label in (label for label in kept.labels if label.agent == name):
        said = replace(label, agent=to).entry
        changes += [Change(label.entry, None, f"{name} was renamed."), Change(None, said, f"{name} was renamed.")]
    return kept.plan(GROUP, f"{name} is called {to}", changes)


def newcomer(kept: Kept, name: str) -> ChangeSet:
    """Plan to remove the name of a new character from the groups and labels of a former one of that name."""
    changes = []
    for group in kept.groups:
        if name in group.members:
            after = replace(group, members=tuple(member for member in group.members if member != name))
            changes.append(Change(group.entry, after.entry, f"{name} is another character now."))
    gone = [label for label in kept.labels if label.agent == name]
    changes += [Change(label.entry, None, f"{name} is another character now.") for label in gone]
    return kept.plan(GROUP, f"{name} is new, and in no group", changes)


def _known_to(kept: Kept, to: object) -> str:
    """Everybody, or the group of this name, as it is written in the group.

    Raises:
        InvalidParameter: there is no such group.
    """
    there = kept.groups
    for name in (EVERYBODY, *(group.name for group in there)):
        if isinstance(to, str) and name.casefold() == to.strip().casefold():
            return name
    names = ", ".join((EVERYBODY, *(group.name for group in there)))
    raise InvalidParameter(f"There is no group {shown(to)}; a fact is known to one of: {names}. Make the group first.")


def refuse_knowledge(name: str) -> None:
    """Raise if an agent is the one that stores what the world knows.

    Raises:
        Conflict: it is that one.
    """
    if checked_name(name) == WORLD_AGENT:
        raise Conflict(
            f"{WORLD_AGENT!r} keeps what the world knows, and stays where it is; “unknow” forgets facts and groups."
        )
