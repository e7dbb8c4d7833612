"""The cast together: two side by side, who trusts whom, who is where, a map of memories; no look touches anything."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memory_system import Tier, World
from memory_system.conversation import describe_person
from memory_system.errors import AgentNotFound, InvalidParameter
from memory_system.interfaces.client import RemoteWorld
from memory_system.world.cast import By
from tests.conftest import NOW
from tests.served import served_api

CUP, HIDDEN = "Who hid the silver cup?", "Bo hid the silver cup."
EARLY = NOW - timedelta(days=3)


def remember(world: World, name: str, text: str, hours_ago: float, entry_id: str, **more: Any) -> None:
    event = {"id": entry_id, "document": text, "timestamp": NOW - timedelta(hours=hours_ago), "rating": 6, **more}
    world.agent(name).add_short_term([event])


@pytest.fixture
def town(world: World) -> World:
    """Ana and Bo, who met; Ana trusts Bo, and both have a day."""
    known = [{"name": "Bob Lund", "relation": "neighbour", "trust": 0.9}, {"name": "Old Pim", "relation": "ferryman"}]
    routine = [{"time": "00:00", "until": "23:59", "activity": "bakes", "place": "Bakery"}]
    world.create_agent("ana", {"identity": {"name": "Ana Reed"}, "relationships": known, "routine": routine})
    world.create_agent("bo", {"identity": {"name": "Bob Lund"}, "relationships": [{"name": "Ana", "trust": 0.2}]})
    remember(world, "ana", "Saw Bob hide the silver cup under the bridge.", 50, "cup")
    remember(world, "bo", "Hid the silver cup; Ana came by and saw it.", 50.2, "hid")
    remember(world, "ana", "Hid the silver spoon beside the cup, alone.", 30, "spoon")
    remember(world, "bo", "The silver bell rang at noon.", 20, "bell", place="Chapel")
    remember(world, "ana", "The silver bell  rang at NOON.", 10, "same")
    return world


def test_of_two_answers_it_is_told_what_the_other_lacks(town: World) -> None:
    told = town.beside("ana", "bo", CUP)
    assert [one.called for one in told.answers] == ["Ana Reed", "Bob Lund"]
    had = {one.entry.id: one.shared for answer in told.answers for one in answer.recalled}
    assert (had["cup"], had["hid"]) == ("hid", "cup")  # one event in two heads
    assert not had["spoon"]
    told = town.beside("ana", "bo", "When did the bell ring?")
    had = {one.entry.id: one.shared for answer in told.answers for one in answer.recalled}
    assert (had["same"], had["bell"]) == ("bell", "same")


def test_what_the_world_lets_everybody_know_is_lacked_by_nobody(town: World) -> None:
    town.know("The silver cup belongs to the chapel.")
    for answer in town.beside("ana", "bo", "To whom does the silver cup belong?").answers:
        (fact,) = (one for one in answer.recalled if "known_to" in one.entry.extras)
        assert fact.shared == fact.entry.id


def test_two_are_asked_as_of_an_earlier_time(town: World) -> None:
    told = town.beside("ana", "bo", CUP, at=NOW - timedelta(hours=40))
    lived = {one.entry.id for answer in told.answers for one in answer.recalled if one.entry.tier is not Tier.STATIC}
    assert lived == {"cup", "hid"}


@pytest.mark.parametrize(("other", "error"), [("ana", InvalidParameter), ("nobody", AgentNotFound)])
def test_two_characters_have_to_be_two(town: World, other: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        town.beside("ana", other, CUP)


def test_who_trusts_whom_names_the_character_where_there_is_one(town: World) -> None:
    held = {(one.agent, one.person): (one.to, one.trust, one.relation) for one in town.bonds()}
    assert held["ana", "Bob Lund"] == ("bo", 0.9, "neighbour")
    assert held["ana", "Old Pim"] == ("", None, "ferryman")
    assert held["bo", "Ana"][:2] == ("ana", 0.2)
    describe_person(town.agent("bo"), "Ana", "She saw it.", trust=0.7)
    assert [one.trust for one in town.bonds() if one.agent == "bo"] == [0.7]


def test_where_somebody_is_told_by_what_was_just_lived_then_by_the_day_then_by_the_last_place(town: World) -> None:
    def there(**at: datetime) -> dict[str, tuple[str, By]]:
        return {one.agent: (one.place, one.by) for one in town.whereabouts(**at)}

    assert there() == {"ana": ("Bakery", By.ROUTINE), "bo": ("Chapel", By.BEFORE)}
    remember(town, "ana", "Rang at the door.", 0.5, "door", place="Chapel")
    assert there()["ana"] == ("Chapel", By.MEMORY)
    assert there(at=EARLY) == {"ana": ("Bakery", By.ROUTINE), "bo": ("", By.NOTHING)}


def test_the_map_is_the_same_at_every_visit_and_near_is_alike(town: World) -> None:
    for number, what in enumerate(("loaf", "roll", "pie", "cake")):
        remember(town, "ana", f"Baked a {what} in the iron oven with butter.", 5 + number, f"bake-{number}")
        remember(town, "bo", f"The tide at the quay was {number + 2} feet at the {what}.", 5 + number, f"t{number}")
    first = town.chart()
    assert first == town.chart(["bo", "ana"])
    assert (len(first.points), first.left_out) == (sum(one.count for one in first.clusters), 0)
    assert 0 < first.kept <= 1
    assert np.abs([(one.x, one.y) for one in first.points]).max() == pytest.approx(1)
    own = {one.memory: one for one in town.chart("ana").points}
    assert {one.agent for one in own.values()} == {"ana"}
    assert own["cup"].tier is Tier.STM
    assert own["cup"].importance == pytest.approx(0.6)
    (baked,) = {one.cluster for one in first.points if one.memory.startswith("bake")}
    assert {"baked", "butter", "iron", "oven"} & set(first.clusters[baked].name.casefold().split(", "))


def test_a_world_without_memories_has_an_empty_map(world: World) -> None:
    world.create_agent("ana", {"identity": {"name": "Ana Reed"}})
    told = world.chart()
    assert (told.points, told.clusters, told.left_out) == ((), (), 0)


LOOKS: dict[str, Callable[[World | RemoteWorld], object]] = {
    "who-knows": lambda world: world.who_knows(HIDDEN, at=EARLY),
    "spread": lambda world: world.spread(HIDDEN),
    "beside": lambda world: world.beside("ana", "bo", CUP),
    "beside then": lambda world: world.beside("ana", "bo", CUP, at=EARLY),
    "bonds": lambda world: world.bonds(),
    "whereabouts": lambda world: world.whereabouts(at=EARLY),
    "chart": lambda world: world.chart("ana"),
}
"""All that the pages of the world ask of it."""


def test_no_look_at_the_cast_touches_anything_and_the_client_is_told_the_same(town: World) -> None:
    def touched() -> list[object]:
        agents = [town.agent(name) for name in town.characters()]
        held = [(one.id, one.last_access) for agent in agents for tier in Tier for one in agent.entries(tier)]
        return [*(agent.stamp for agent in agents), *held]

    before = touched()
    with served_api(town) as address, RemoteWorld(address) as there:
        for name, look in LOOKS.items():
            assert look(there) == look(town), name
            assert touched() == before, name
    assert not any(town.agent(name).queries(10) for name in town.characters())
