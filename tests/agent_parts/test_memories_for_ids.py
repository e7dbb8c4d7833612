"""Where the id of a memory is taken, the memory itself is taken as well; and so are several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.core.entry import MemoryEntry
from memory_system.errors import InvalidParameter
from memory_system.interfaces.client import RemoteWorld
from tests.served import served_api

Remember = Callable[..., str]


@pytest.fixture
def oven(agent: AgentMemory, remember: Remember) -> MemoryEntry:
    """A memory of short-term memory, beside another one."""
    remember("The mill is shut.", id="mill")
    remember("The oven is warm.", id="oven")
    found = agent.find("oven")
    assert found is not None
    return found


def test_a_memory_is_forgotten_and_brought_back(agent: AgentMemory, oven: MemoryEntry) -> None:
    assert agent.find(oven) == oven
    assert [one.entry_id for one in agent.forget(oven).changes] == ["oven"]
    assert agent.last_version(oven).document == oven.document
    agent.restore([oven])
    assert agent.forget([oven, "mill"]).changes[1].entry_id == "mill"
    assert agent.undo(agent.revision, keep=oven).changes[0].entry_id == "mill"
    agent.purge(oven)
    assert agent.contents.lost([oven]) == {"oven"}


LOOKED: dict[str, Callable[[AgentMemory, Any], object]] = {
    "edit": lambda agent, which: agent.edit(which, rating=7, preview=True).changes,
    "edit many": lambda agent, which: agent.edit_many(which, add_tags="key", preview=True).changes,
    "migrate": lambda agent, which: agent.migrate_stm2ltm(ids=which, preview=True).changes,
    "merge": lambda agent, which: agent.merge([which, "mill"], keep=which, preview=True).changes,
    "rate again": lambda agent, which: agent.rate_again(which, preview=True).changes,
    "save": lambda agent, which: agent.save_cue("warm", "What is warm?", which, ["mill"], preview=True).texts,
    "judge": lambda agent, which: agent.judge("What is warm?", which, verdict=True, preview=True).texts,
    "dismiss": lambda agent, which: agent.dismiss([which, "mill"], preview=True).texts,
    "lineage": lambda agent, which: agent.lineage(which),
    "built on": lambda agent, which: agent.built_on(which),
    "stale": lambda agent, which: agent.stale_of(which),
    "similar": lambda agent, which: agent.similar(which),
    "ways": lambda agent, which: agent.ways("What is warm?", which),
    "history": lambda agent, which: agent.history(entry_id=which),
    "unrated": lambda agent, which: agent.rate_unrated(but=which),
}


@pytest.mark.parametrize("what", LOOKED)
def test_a_memory_stands_for_its_id(agent: AgentMemory, oven: MemoryEntry, what: str) -> None:
    assert LOOKED[what](agent, oven) == LOOKED[what](agent, "oven")


def test_what_is_neither_a_memory_nor_an_id_is_refused(agent: AgentMemory, oven: MemoryEntry) -> None:
    wrong: Any = [oven, 5]
    with pytest.raises(InvalidParameter, match="Ids must be a text or a list of texts"):
        agent.forget(wrong)
    assert agent.find(oven) is not None


def test_a_day_is_planned_and_a_touch_counts_by_the_memory_itself(agent: AgentMemory, oven: MemoryEntry) -> None:
    assert agent.plan_from_memory(because=[oven], preview=True).changes
    agent.touch(oven)
    assert agent.find(oven) != oven, "it was accessed"
    query = agent.query("warm oven")
    assert agent.retrieval.evidence(query, oven) == agent.retrieval.evidence(query, "oven")
    assert agent.retrieval.forecast_of(oven, ["warm"]) == agent.retrieval.forecast_of("oven", ["warm"])


def test_a_world_takes_the_memory_too(agent: AgentMemory, world: World, oven: MemoryEntry) -> None:
    assert world.trail("mira", oven) == world.trail("mira", "oven")
    world.correct("mira", "The oven is warm.", "knows", oven)
    assert world.labels()[0].memory == "oven"
    branch = world.branch("mira")
    branch.forget(oven)
    assert world.keep(branch.name, ids=[oven]).changes[0].entry_id == "oven"


def test_a_client_takes_the_memory_too(agent: AgentMemory, world: World, oven: MemoryEntry) -> None:
    with served_api(world) as address, RemoteWorld(address) as client:
        remote = client.agent("mira")
        (held,) = [one for one in remote.entries(Tier.STM) if one.id == "oven"]
        assert remote.find(held) == held
        assert remote.similar(held) == agent.similar(oven)
        assert remote.edit(held, rating=9).changes[0].entry_id == "oven"
        assert [one.entry_id for one in remote.forget([held, "mill"]).changes] == ["oven", "mill"]
        assert remote.lineage(held).entry_id == "oven"
        remote.touch(held)
