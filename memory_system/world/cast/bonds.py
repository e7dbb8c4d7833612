"""Who knows whom, and how far they trust them: what each of a cast holds of people, by its personality and its life."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ...conversation.people import people
from ..knows.naming import meant
from ..trail import Cast


@dataclass(frozen=True)
class Bond:
    """What one character holds of a person.

    Args:
        agent: the character's name.
        person: what it calls them.
        to: the name of the character that they are; empty where they are none of this world.
        relation: what they are to it; empty where that is not said.
        trust: how far it trusts them, 0 (not at all) to 1 (wholly); ``None`` where that is open.
        talks: how many conversations with them are kept.
        last: when they last said something, by the world's time; ``None`` where nothing is remembered.
        why: why trust changed last, in a sentence; empty where it has not.
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
    """Whom each character knows, and how far it trusts them: by its personality, its talks, and who told it something.

    In the order of the characters; of each, whom it met last comes first. Changes and touches nothing.

    Raises:
        StoreDamaged: what is kept of somebody is not as it was written.
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
