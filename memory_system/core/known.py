"""What a world knows: facts that everybody in it, or a group, knows, each during its period of time.

Facts and groups are memories of the world's own agent, ``WORLD_AGENT``; everything but their text is in their
metadata. So are labels, a person's judgments of whether a character knows something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from ..errors import Conflict, InvalidParameter, shown
from .change_set import ChangeSet
from .dismissed import fingerprint
from .entry import MemoryEntry
from .kinds import Kind, Scalar, Tier, new_id
from .times import moment_given, parse_time

WORLD_AGENT = "world.knowledge"
"""The agent whose memories are what its world knows; it is not a character."""
EVERYBODY = "everybody"
MAX_GROUP = 64
OF_GROUP = "group:"
"""How the ids of groups begin; those of facts do not."""
OF_LABEL = "label:"
"""How the ids of labels begin."""
_TEXTS = frozenset({"settings"})
_TO, _FROM, _UNTIL, _GROUP, _MEMBERS = "known_to", "known_from", "known_until", "group", "members"
_ABOUT, _VERDICT, _RESTS = "label_of", "verdict", "rests_on"


@dataclass(frozen=True)
class Fact:
    """Something that everybody, or a group, knows.

    Args:
        id: its id.
        text: what is known.
        known_to: ``everybody``, or the name of a group.
        known_from: the world's time from which it is known; ``None`` = always was.
        known_until: the world's time before which it is known; ``None`` = for ever.
        rating: how important it is, 1 to 10; ``None`` = unrated. Recall scores it by relevancy alone, like all
            static memory.
    """

    id: str
    text: str
    known_to: str = EVERYBODY
    known_from: datetime | None = None
    known_until: datetime | None = None
    rating: float | None = None

    def __post_init__(self) -> None:
        for name in ("known_from", "known_until"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, moment_given(f"'{name}'", value))
        if self.known_from is not None and self.known_until is not None and self.known_from >= self.known_until:
            raise InvalidParameter("'known_from' must be earlier than 'known_until'.")

    def holds(self, now: datetime) -> bool:
        """Whether it is known at a given time of the world."""
        return (self.known_from is None or self.known_from <= now) and (
            self.known_until is None or now < self.known_until
        )

    @property
    def entry(self) -> MemoryEntry:
        """The memory that it is stored as.

        Raises:
            InvalidEntry: the text or the rating is invalid.
        """
        said: dict[str, Scalar] = {_TO: self.known_to}
        for name, when in ((_FROM, self.known_from), (_UNTIL, self.known_until)):
            if when is not None:
                said[name] = when.isoformat()
        return MemoryEntry(self.text, said, self.id, tier=Tier.LTM, kind=Kind.FACT, rating=self.rating, authored=True)

    @classmethod
    def of(cls, entry: MemoryEntry) -> Self | None:
        """The fact in a memory of the world's agent; ``None`` if it is something else or cannot be read."""
        said = entry.extras
        if _TO not in said or entry.tier is not Tier.LTM:
            return None
        try:
            since, until = (parse_time(said[name]) if name in said else None for name in (_FROM, _UNTIL))
            return cls(entry.id, entry.document, str(said[_TO]), since, until, entry.rating)
        except (ValueError, InvalidParameter):
            return None


@dataclass(frozen=True)
class Group:
    """Characters who know the same things: the group's name, as in "the guard", and theirs."""

    name: str
    members: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of the memory that it is stored as."""
        return f"{OF_GROUP}{self.name.casefold()}"

    @property
    def entry(self) -> MemoryEntry:
        """The memory that it is stored as."""
        said: Mapping[str, Scalar] = {_GROUP: self.name, _MEMBERS: "\n".join(self.members)}
        document = f"{self.name}: {', '.join(self.members)}"
        return MemoryEntry(document, said, self.id, tier=Tier.LTM, kind=Kind.FACT, authored=True)

    @classmethod
    def of(cls, entry: MemoryEntry) -> Self | None:
        """The group in a memory of the world's agent; ``None`` if it is something else."""
        said = entry.extras
        if _GROUP not in said or entry.tier is not Tier.LTM:
            return None
        return cls(str(said[_GROUP]), tuple(filter(None, str(said.get(_MEMBERS, "")).split("\n"))))


@dataclass(frozen=True)
class Label:
    """A person's judgment of whether a character knows a fact.

    Args:
        agent: the character's name.
        fact: the sentence that it is about.
        verdict: one of the words of ``Verdict``.
        memory: the id of the memory that it rests on; empty if there is none.
    """

    agent: str
    fact: str
    verdict: str
    memory: str = ""

    @property
    def id(self) -> str:
        """The id of the memory that it is stored as: the same for the same character and fact."""
        return f"{OF_LABEL}{fingerprint(self.fact)[:16]}:{self.agent}"

    @property
    def entry(self) -> MemoryEntry:
        """The memory that it is stored as.

        Raises:
            InvalidEntry: the fact is invalid.
        """
        said: dict[str, Scalar] = {_ABOUT: self.agent, _VERDICT: self.verdict, _RESTS: self.memory}
        return MemoryEntry(self.fact, said, self.id, tier=Tier.LTM, kind=Kind.FACT, authored=True)

    @classmethod
    def of(cls, entry: MemoryEntry) -> Self | None:
        """The label in a memory of the world's agent; ``None`` if it is something else."""
        said = entry.extras
        if _ABOUT not in said or _VERDICT not in said or entry.tier is not Tier.LTM:
            return None
        return cls(str(said[_ABOUT]), entry.document, str(said[_VERDICT]), str(said.get(_RESTS, "")))


def refuse_others(plan: ChangeSet) -> None:
    """Let the agent that stores what a world knows have nothing but facts, groups, labels and its settings.

    Raises:
        Conflict: the plan would store something else there, as a conversation with it would.
    """
    after = [change.after for change in plan.changes if change.after is not None]
    if all(Fact.of(entry) or Group.of(entry) or Label.of(entry) for entry in after) and all(
        text.name in _TEXTS for text in plan.texts
    ):
        return
    raise Conflict(
        f"{WORLD_AGENT} is not a character: it keeps what the world knows, and nothing else can be put there. Use "
        "'know', 'unknow' and 'group', or choose a character. Nothing was changed."
    )


def group_name(name: object) -> str:
    """The name of a group, if it is valid.

    Raises:
        InvalidParameter: it is not a text of 1 to 64 characters on one line, or it is "everybody".
    """
    if not isinstance(name, str) or not name.strip() or len(name.strip()) > MAX_GROUP or not name.strip().isprintable():
        raise InvalidParameter(f"The name of a group is a text of 1 to {MAX_GROUP} characters, not {shown(name)}.")
    if name.strip().casefold() == EVERYBODY:
        raise InvalidParameter(f"“{EVERYBODY}” means all characters; give the group another name.")
    return name.strip()


def new_fact_id() -> str:
    """A new id for a fact."""
    return f"known:{new_id()}"


def recalled(entry: MemoryEntry) -> MemoryEntry:
    """A fact as recall finds it: static memory of those who know it."""
    return replace(entry, tier=Tier.STATIC, metadata=entry.extras)


def badge(entry: MemoryEntry) -> str:
    """What marks a fact of the world among an agent's own memories: "world", or the group that knows it; else empty."""
    to = known_to(entry)
    return "world" if to == EVERYBODY else to


def known_to(entry: MemoryEntry) -> str:
    """Who knows a recalled memory: ``everybody`` or a group; empty for one of the agent's own."""
    return str(entry.extras.get(_TO, "")) if entry.tier is Tier.STATIC else ""
