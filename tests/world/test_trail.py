"""Who told whom is followed through what a character worked out from what it was told."""

from __future__ import annotations

from memory_system import Kind, MemoryEntry, Source, Tier, World
from memory_system.core.change_set import Change, ChangeSet
from tests.conftest import NOW

SOLD, RUMOUR = "Tobias Finch sold the mill to Edda Marsh.", "The geese will be loud this winter."


def test_a_trail_leads_through_a_reflection_to_who_told_it(world: World) -> None:
    world.stand_at(NOW)
    for name in ("mira", "tobias"):
        world.create_agent(name)
    mira, tobias = world.agent("mira"), world.agent("tobias")
    tobias.add_short_term({"id": "deed", "document": SOLD, "rating": 8, "source": "saw", "timestamp": NOW})
    told = {"rating": 5, "source": "told", "people": ["tobias"], "timestamp": NOW}
    mira.add_short_term([{"id": "one", "document": RUMOUR, **told}, {"id": "two", "document": SOLD, **told}])
    derived = (
        ("near", "Edda owns the mill now.", ("one", "two", "purged")),
        ("far", "I should ask Edda for work at the mill.", ("near",)),
        ("own", "The winter is near.", ("far", "own")),
    )
    kind = {"tier": Tier.LTM, "kind": Kind.REFLECTION, "source": Source.DERIVED, "timestamp": NOW}
    made = [MemoryEntry(text, id=name, evidence=evidence, **kind) for name, text, evidence in derived]  # type: ignore[arg-type]
    changes = tuple(Change(None, one, "It follows.") for one in made)
    mira.apply(ChangeSet("reflect", "Reflect", changes, NOW, mira.revision, agent="mira"))
    hops = world.trail("mira", "far")
    assert [(hop.agent, hop.teller, hop.entry.id) for hop in hops] == [
        ("mira", "", "far"),
        ("mira", "tobias", "two"),
        ("tobias", "", "deed"),
    ]
    assert [hop.entry.id for hop in world.trail("mira", "own", RUMOUR)][:2] == ["own", "one"]
    assert [hop.entry.source for hop in world.trail("tobias", "deed")] == [Source.SAW]
