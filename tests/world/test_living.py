"""A world's clock stands or runs at a speed, and its characters live by themselves while the switch is on."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from memory_system import AgentMemory, World
from memory_system.core.times import real_clock
from memory_system.errors import InvalidParameter, StoreDamaged
from memory_system.world.living import Living
from tests.conftest import NOW
from tests.waiting import until
from tests.world.test_advance import Away, fill, own


def test_the_clock_stands_runs_and_follows_the_real_time(world: World) -> None:
    assert (world.speed, world.standing) == (0, NOW)
    world.play(3600)
    assert (world.speed, world.standing) == (3600, None)
    told = json.loads((world.folder / "world.json").read_text())
    (world.folder / "world.json").write_text(
        json.dumps({**told, "since": (real_clock() - timedelta(seconds=10)).isoformat()})
    )
    assert NOW + timedelta(hours=10) <= world.clock() < NOW + timedelta(hours=24)
    world.pause()
    assert (world.speed, world.standing) == (0, world.clock())
    assert world.clock() >= NOW + timedelta(hours=10)
    world.stand_at(None)
    assert (world.speed, world.standing) == (1, None)
    assert abs(world.clock() - real_clock()) < timedelta(minutes=5)


@pytest.mark.parametrize("speed", [0, -1, 1e6, float("nan"), "fast", None])
def test_a_speed_that_cannot_be_is_refused(world: World, speed: object) -> None:
    with pytest.raises(InvalidParameter, match="speed"):
        world.play(speed)  # type: ignore[arg-type]
    assert world.standing == NOW


def test_a_clock_that_cannot_be_read_says_which_file(world: World) -> None:
    world.play(2)
    told = json.loads((world.folder / "world.json").read_text())
    for wrong in ({"speed": "fast"}, {"since": "once"}, {"speed": 0}):
        (world.folder / "world.json").write_text(json.dumps({**told, **wrong}))
        with pytest.raises(StoreDamaged, match=r"world\.json"):
            world.clock()


def test_a_world_lives_while_its_switch_is_on(world: World, agent: AgentMemory) -> None:
    agent.configure(stm_size=2, retention="importance", reflection_trigger=100_000)
    agent.plan_from_memory()
    fill(agent, 4)
    life = Living(world, seconds=0.01)
    life.start()
    try:
        until(lambda: life.state.on)
        assert not world.lives
        world.live()
        until(lambda: own(agent) == ["migrate"])
        world.live(on=False)
        assert not world.lives
    finally:
        life.stop()
    until(lambda: not life.state.on)


def test_what_the_background_could_not_do_waits_in_what_is_due(world: World, agent: AgentMemory) -> None:
    there = agent.model
    agent.model = Away()  # type: ignore[assignment]  # it has what is asked of it here
    world.live()
    world.life._look()
    (waits,) = world.due().waiting
    assert (waits.what, waits.waits) == ("plan", "The server is away.")
    assert not world.due().steps
    agent.model = there
    world.life._look()
    assert own(agent) == ["plan"]
    assert world.life._look() is None, "nothing has changed since"
    assert not world.due().waiting


def test_a_clock_that_runs_stands_at_the_end_of_the_calendar(world: World, agent: AgentMemory) -> None:
    world.stand_at(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    world.play(100_000)
    until(lambda: world.clock() == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    agent.add_short_term({"document": "The end is near"})
    assert agent.query_memory("What is near?").hits
