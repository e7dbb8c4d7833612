"""What asks a person for a decision about a character, and what was put off."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta

import pytest

from memory_system import AgentMemory, Kind, MemoryEntry, Tier, World
from memory_system.core.change_set import Change, ChangeSet, together
from memory_system.errors import InvalidParameter
from memory_system.store.put_off import Matter, PutOff, mark_of, parse_put_off
from memory_system.world import Decision, morning_after

Remember = Callable[..., str]
DAY = timedelta(days=1)


def waiting(world: World, kind: Matter, *, compare: bool = False) -> tuple[Decision, ...]:
    return world.inbox("mira", compare=compare).of(kind)


@pytest.fixture
def everything(world: World, agent: AgentMemory, remember: Remember) -> None:
    """Something of every kind, but for a summary."""
    agent.configure(stm_size=4, reflection_trigger=10)
    for number in range(6):
        remember(
            ("Fed the geese", "Baked bread", "Lit the lamp", "Mended a net", "Rowed home", "Slept late")[number],
            id=f"geese{number}",
            rating=1 + number,
        )
    remember("The ferry leaves the east pier at 18:00", id="early", rating=5)
    remember("The ferry leaves the east pier at 19:30", id="late", rating=5)
    remember("Sold a loaf to Ines", id="loaf", rating=2)
    remember("Sold a loaf to Ines", id="again", rating=2)
    remember("Saw a seal", id="seal", rating=3)
    derived = {"tier": Tier.LTM, "kind": Kind.REFLECTION, "evidence": ("geese0",), "depth": 1}
    insight = MemoryEntry("Geese matter", id="insight", rating=5, timestamp=agent.now - DAY, **derived)
    agent.apply(ChangeSet("reflect", "x", (Change(None, insight, "x"),), agent.now, agent.stamp[0]))
    agent.edit("geese0", document="Fed the ducks")
    agent.save_cue("The key", "Who has the key?", must=["seal"])
    agent.forget("seal")
    remember("Saw a whale", id="whale", rating=None)


@pytest.mark.usefixtures("everything")
def test_each_kind_is_told_with_its_reason_and_nothing_is_changed(world: World, agent: AgentMemory) -> None:
    before = agent.stamp
    found = world.inbox("mira", compare=True)
    told = {one.kind: one for one in found.decisions}
    assert set(told) == set(Matter) - {Matter.PERSON, Matter.SUMMARISE}
    assert told[Matter.MIGRATE].what.startswith("Move ")
    assert set(told[Matter.MIGRATE].ids) <= {one.id for one in agent.entries(Tier.STM)}
    assert (told[Matter.RATE].what, told[Matter.RATE].ids) == ("Rate “Saw a whale”", ("whale",))
    assert (told[Matter.STALE].of, told[Matter.STALE].why) == ("insight", "Of what it rests on, 1 changed since.")
    assert (told[Matter.CUE].of, told[Matter.CUE].ids) == ("The key", ("seal",))
    assert told[Matter.CUE].what == "The key: Who has the key?"
    assert told[Matter.CUE].why == "1 memory that it must recall is not recalled."
    assert set(told[Matter.CONTRADICTION].ids) == {"early", "late"}
    assert set(told[Matter.DUPLICATE].ids) == {"loaf", "again"}
    assert all(one.why.endswith(".") and one.mark for one in found.decisions)
    assert found.put_off == ()
    assert agent.stamp == before


def test_a_summary_and_a_person_are_told_where_they_are_due(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    agent.configure(ltm_size=10, person_trigger=5)
    ids = [remember(f"Tobias mended net {number}", rating=3, people=("Tobias Finch",)) for number in range(14)]
    agent.migrate_stm2ltm(ids=ids)
    (summary,) = waiting(world, Matter.SUMMARISE)
    assert set(summary.ids) <= set(ids)
    assert f"{len(summary.ids)} memories" in summary.what
    assert [one.of for one in waiting(world, Matter.PERSON)] == ["Tobias Finch"]


def test_an_overflow_asks_since_it_overflowed_whatever_was_said_in_talks(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    agent.configure(stm_size=3)
    said = {"kind": Kind.CONVERSATION, "metadata": {"conversation": "c"}}
    for number in range(3):
        remember(f"Hello {number}", rating=2, timestamp=agent.now - (9 - number) * DAY, **said)
    for number in range(4):
        remember(f"Fed goose {number}", rating=2, timestamp=agent.now - (4 - number) * DAY)
    (migrate,) = waiting(world, Matter.MIGRATE)
    assert migrate.since == agent.now - DAY


@pytest.mark.usefixtures("everything")
def test_what_is_put_off_waits_until_its_time_or_until_it_changes(world: World, agent: AgentMemory) -> None:
    migrate, rate = waiting(world, Matter.MIGRATE)[0], waiting(world, Matter.RATE)[0]
    agent.put_off(migrate.kind, until=agent.now + DAY)
    done = agent.put_off(rate.kind, mark=rate.mark)
    assert done.title == "Put off: unrated memories"
    for kind, which in (
        (Matter.CONTRADICTION, "contradiction, “The ferry leaves the east pier at 18:00” and “The ferry leaves"),
        (Matter.DUPLICATE, "duplicate, “Sold a loaf to Ines”"),
        (Matter.STALE, "stale memory, “Geese matter”"),
        (Matter.CUE, "failing cue, “The key”"),
    ):
        of = waiting(world, kind, compare=True)[0].of
        assert agent.put_off(kind, of, mark="m", preview=True).title.startswith(f"Put off: {which}")
    found = world.inbox("mira")
    assert {(one.kind, one.until) for one in found.put_off} == {("migrate", agent.now + DAY), ("rate", None)}
    assert not waiting(world, Matter.MIGRATE)
    agent.add_short_term({"document": "Saw a shark"}, rate=False)
    assert waiting(world, Matter.RATE), "another memory is unrated"
    world.stand_at(agent.now + DAY)
    assert waiting(world, Matter.MIGRATE), "the day has passed"
    agent.put_off("rate", mark=waiting(world, Matter.RATE)[0].mark)
    assert not waiting(world, Matter.RATE)
    agent.undo(agent.stamp[0])
    assert waiting(world, Matter.RATE), "to put off is undone as any change"
    agent.put_off("stale", "insight", until=agent.now + DAY)
    agent.put_off("stale", "insight")
    assert waiting(world, Matter.STALE), "it was asked for again"


def test_what_is_put_off_is_read_strictly_and_only_so_much_is_kept(agent: AgentMemory) -> None:
    for wrong in ({"kind": "supper", "mark": "x"}, {"kind": "cue"}, {"kind": "cue", "until": "tomorrow"},
                  {"kind": "cue", "of": "x" * 500, "mark": "x"}):  # fmt: skip
        with pytest.raises(InvalidParameter):
            PutOff(**wrong)
    for kind in ("supper", ["cue"]):
        with pytest.raises(InvalidParameter, match="There is no decision about"):
            agent.put_off(kind, mark="x")
    assert not agent.put_off("cue", "none", preview=True)
    assert parse_put_off(None) == ()
    assert mark_of("a", 1) == mark_of("a", 1) != mark_of("a", 2)


def test_the_morning_after_is_at_six_in_the_worlds_zone(agent: AgentMemory) -> None:
    assert morning_after(agent.now).isoformat() == "2026-03-28T06:00:00+00:00"


def test_plans_are_applied_together_where_none_touches_what_another_does(
    agent: AgentMemory, remember: Remember
) -> None:
    for name in ("a", "b", "c", "d"):
        remember("Fed the geese", id=name)
    agent.save_cue("geese", "Who fed the geese?", must=["d"])
    plans = [agent.merge(ids, preview=True) for ids in (["a", "b"], ["b", "c"])]
    named = agent.merge(["c", "d"], preview=True)
    one, left = together([(plans[0], "ab"), (plans[1], "bc"), (named, "cd")], "All")
    assert (one.title, left) == ("All", (plans[1], named))
    assert one.changes == plans[0].changes
    assert one.id not in {plan.id for plan in plans}
    agent.apply(one)
    assert agent.find("b") is None
    assert dataclasses.replace(one, id="x").problem() is None
