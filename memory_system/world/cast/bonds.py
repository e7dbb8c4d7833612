"""Who knows whom, and how far they trust them, according to each character's personality and life."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ...conversation.people import people
from ..knows.naming import meant
from ..trail import Cast


@dataclass(frozen=True)
class Bond:
    """What one character thinks of a person.

    Args:
        agent: the character's name.
        person: the name it uses for them.
        to: the name of their character; empty if they are not a character of this world.
        relation: what they are to it; empty if that is not said.
        trust: how far it trusts them, 0 (not at all) to 1 (completely); ``None`` if that is open.
        talks: how many conversations with them are stored.
        last: when they last said something, by the world's time; ``None`` if nothing is remembered.
        why: why trust last changed, in a sentence; empty if it has not.
    """

    agent: str
    person: str
    to: str
    relation: str
    trust: float | None
    talks: int
    last: datetime | None
    why: str


def bonds(world: Cast) -> tuple[Bond, ...]:
    """Whom each character knows, and how far it trusts them: from personality, talks, and who told it something.

    In the order of the characters, and for each the last person it met first. Changes and touches nothing.

    Raises:
        StoreDamaged: the record of somebody is not as it was written.
    """
    cast = {name: world.agent(name) for name in world.characters()}
    called = {name: agent.display_name for name, agent in cast.items()}
    found = []
    for name, agent in cast.items():
        for person in people(agent):
            to = meant(person.name, called)
            if to != name:
                found.append(
                    Bond(name, person.name, to, person.relation, person.trust, person.talks, person.last, person.why)
                )
    return tuple(found)
