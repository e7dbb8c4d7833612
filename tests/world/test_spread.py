"""How a fact spread: who had it first, who told whom and when, now and as of then."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_system import World
from memory_system.errors import InvalidParameter
from memory_system.interfaces.client import RemoteWorld
from memory_system.world.knows import Spread, Verdict
from tests.conftest import NOW
from tests.served import served_api

CUP = "Bo hid the silver cup under the bridge."
TOLD = "Heard that Bo hid the silver cup under the bridge."


def remember(world: World, name: str, text: str, days_ago: float, entry_id: str, **more: Any) -> None:
    event = {"id": entry_id, "document": text, "timestamp": NOW - timedelta(days=days_ago), "rating": 6, **more}
    world.agent(name).add_short_term([event])


@pytest.fixture
def town(world: World) -> World:
    """Ana saw it, told Cy, who told Dee; a stranger told Dee as well; Eve knows nothing."""
    for name, called in (("ana", "Ana Reed"), ("cy", "Cy Moss"), ("dee", "Dee Hall"), ("eve", "Eve Brook")):
        world.create_agent(name, {"identity": {"name": called}})
    remember(world, "ana", "Saw Bo hide the silver cup under the bridge.", 9, "saw")
    remember(world, "cy", TOLD, 6, "from-ana", source="told", people=["Ana Reed"])
    remember(world, "dee", f"Cy told me that {CUP}", 4, "from-cy")
    remember(world, "dee", TOLD, 2, "from-stranger", source="told", people=["Old Pim"])
    remember(world, "eve", "Baked seven loaves of rye.", 5, "loaves")
    return world


def told(spread: Spread) -> list[tuple[str, str, str, bool, bool]]:
    return [(one.by, one.to, one.memory, one.outside, one.again) for one in spread.tellings]


def test_who_had_it_first_and_who_told_whom_in_the_order_of_the_story(town: World) -> None:
    spread = town.spread(CUP)
    assert [(one.cell.agent, one.called) for one in spread.knowers] == [
        ("ana", "Ana Reed"), ("cy", "Cy Moss"), ("dee", "Dee Hall")
    ]  # fmt: skip
    assert told(spread) == [
        ("ana", "cy", "from-ana", False, False),
        ("cy", "dee", "from-cy", False, False),
        ("Old Pim", "dee", "from-stranger", True, True),
    ]
    assert spread.tellings[1].at == NOW - timedelta(days=4)
    assert spread.tellings[1].text == town.agent("dee").last_version("from-cy").document
    assert spread.unaware == ("eve",)


@pytest.mark.parametrize(("days_ago", "who"), [(10, []), (8, ["ana"]), (5, ["ana", "cy"]), (3, ["ana", "cy", "dee"])])
def test_at_an_earlier_time_it_had_not_spread_so_far(town: World, days_ago: int, who: list[str]) -> None:
    spread = town.spread(CUP, at=NOW - timedelta(days=days_ago))
    assert [one.cell.agent for one in spread.knowers] == who
    assert len(spread.tellings) == max(0, len(who) - 1)


def test_what_was_derived_leads_to_the_telling_that_it_rests_on(town: World) -> None:
    remember(town, "eve", "Cy Moss: Something was hidden at the bridge.", 1, "talk", source="told", people=["Cy Moss"])
    remember(town, "eve", CUP, 0.5, "thought", evidence=["talk"], source="derived")
    (telling,) = [one for one in town.spread(CUP).tellings if one.to == "eve"]
    assert (telling.by, telling.memory) == ("cy", "talk")


def test_what_a_person_says_of_a_cell_stands_in_the_picture_without_a_time(town: World) -> None:
    town.correct("eve", CUP, Verdict.WRONG)
    last = town.spread(CUP).knowers[-1].cell
    assert (last.agent, last.verdict, last.since, last.memory) == ("eve", Verdict.WRONG, None, "")


def test_the_client_is_told_the_same(town: World) -> None:
    at = NOW - timedelta(days=3)
    with served_api(town) as address, RemoteWorld(address) as there:
        assert there.spread(CUP) == town.spread(CUP)
        assert there.spread(CUP, at=at, ask_model=False) == town.spread(CUP, at=at, ask_model=False)


@pytest.mark.parametrize(("fact", "at"), [("", None), (CUP, datetime(2026, 3, 1))])
def test_what_cannot_be_asked_about_is_refused(town: World, fact: str, at: datetime | None) -> None:
    with pytest.raises(InvalidParameter):
        town.spread(fact, at=at)
