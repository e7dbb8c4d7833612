"""How a day stands beside its plan: what is being done, what is next, what was missed."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.errors import InvalidParameter
from memory_system.operations.day import PlanNow
from tests.conftest import NOW

DAY = NOW.replace(hour=0)
ROUTINE = (
    '{"time": "09:00", "until": "11:00", "activity": "bakes bread", "place": "Bakery"},'
    '{"time": "12:00", "until": "13:00", "activity": "sweeps the floor", "place": "Bakery"},'
    '{"time": "14:00", "until": "16:00", "activity": "mends nets", "place": "Quay"},'
    '{"time": "20:00", "activity": "sleeps"}'
)


@pytest.fixture
def bo(world: World) -> AgentMemory:
    """Somebody who planned the day in the morning, and remembers of it what happened until three."""
    agent = world.create_agent("bo", f'{{"identity": {{"name": "Bo Reed"}}, "routine": [{ROUTINE}]}}')
    agent.plan_from_memory(DAY.replace(hour=7))
    for hour, text in ((10, "Baked forty loaves."), (12, "A stranger told me of the war."), (15, "It rains.")):
        agent.add_short_term({"document": text, "timestamp": DAY.replace(hour=hour), "rating": 3, "id": text[:5]})
    return agent


def told(state: PlanNow) -> list[object]:
    """What is done now, what follows, what was missed, what was done: each by when it begins."""
    one, other = ((one.start if one else None) for one in (state.doing, state.following))
    return [state.by, one, other, *([one.start for one in some] for some in (state.missed, state.done))]


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ((8, 59), ["plan", None, "09:00", [], []]),
        ((9, 0), ["plan", "09:00", "12:00", [], []]),
        ((11, 0), ["plan", None, "12:00", [], ["09:00"]]),
        ((15, 0), ["plan", "14:00", "20:00", ["12:00"], ["09:00"]]),
        ((20, 10), ["plan", "20:00", None, ["12:00", "14:00"], ["09:00"]]),
    ],
    ids=str,
)
def test_at_each_hour_it_says_what_is_done_what_follows_and_what_was_missed(
    bo: AgentMemory, clock: tuple[int, int], expected: list[object]
) -> None:
    before = bo.stamp
    state = bo.plan_now(DAY.replace(hour=clock[0], minute=clock[1]))
    assert told(state) == expected
    assert bo.stamp == before


def test_each_action_names_its_memory_its_place_and_what_tells_of_it(bo: AgentMemory) -> None:
    state = bo.plan_now(DAY.replace(hour=15))
    assert state.doing is not None
    held = bo.find(str(state.doing.entry_id))
    assert held is not None
    assert (held.extras["start"], state.doing.place) == ("14:00", "Quay")
    assert [one.seen for one in state.done] == [("Baked",)]
    assert "Now: 14:00 to 16:00 mends nets (Quay)" in str(state)


def test_without_a_plan_the_routine_counts_and_without_that_nothing(bo: AgentMemory, world: World) -> None:
    tomorrow = DAY + timedelta(days=1, hours=15)
    state = bo.plan_now(tomorrow)
    assert told(state) == ["routine", "14:00", "20:00", ["09:00", "12:00"], []]
    assert state.doing is not None
    assert state.doing.entry_id is None
    assert told(bo.plan_now(tomorrow + timedelta(hours=8)))[1] == "20:00", "what has no end lasts until midnight"
    assert told(world.create_agent("ana").plan_now(NOW)) == ["nothing", None, None, [], []]


def test_the_day_is_that_of_the_zone_and_the_clock_that_of_the_world(bo: AgentMemory, world: World) -> None:
    east = timezone(timedelta(hours=10))
    assert told(bo.plan_now(DAY.replace(hour=15).astimezone(east)))[0] == "routine", "it is tomorrow there"
    world.stand_at(DAY.replace(hour=15))
    assert told(bo.plan_now()) == told(bo.plan_now(DAY.replace(hour=15)))
    with pytest.raises(InvalidParameter, match="'at'"):
        bo.plan_now(NOW.replace(tzinfo=None))


def test_plans_of_the_past_are_kept_as_what_was_intended(bo: AgentMemory) -> None:
    bo.plan_from_memory(DAY + timedelta(days=1, hours=7))
    assert len({one.extras.get("plan_day") for one in bo.entries(Tier.LTM)}) == 2
    assert told(bo.plan_now(DAY.replace(hour=15)))[0] == "plan"
    past = bo.as_of(revision=bo.revision - 1)
    assert told(past.plan_now(DAY.replace(hour=15))) == told(bo.plan_now(DAY.replace(hour=15)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plan for today, 15:00 to 17:30: paints the boat (Slip)", "Now: 15:00 to 17:30 paints the boat (Slip)"),
        ("Plan for today, 14:00 to 16:00: waits for Edda", "Now: 14:00 to 16:00 waits for Edda"),
        ("Mend the nets on the quay after all", "Now: 14:00 to 16:00 Mend the nets on the quay after all (Quay)"),
        ("Plan for today, 17:00 to 16:00: sleeps", "Now: 14:00 to 16:00 Plan for today, 17:00 to 16:00: sleeps"),
    ],
)
def test_an_action_whose_text_was_changed_by_hand_is_what_is_done(bo: AgentMemory, text: str, expected: str) -> None:
    (action,) = (one for one in bo.entries(Tier.LTM) if one.extras.get("start") == "14:00")
    edited = bo.edit(action.id, document=text)
    now = str(bo.plan_now(DAY.replace(hour=15, minute=30))).splitlines()[0]
    assert now == expected
    bo.undo(edited)
    assert bo.find(action.id) == action


def test_what_a_person_made_unreadable_is_passed_over(bo: AgentMemory) -> None:
    state = bo.plan_now(DAY.replace(hour=15))
    assert state.doing is not None
    bo.edit(str(state.doing.entry_id), metadata={"plan_day": DAY.date().isoformat(), "start": "noon"})
    assert told(bo.plan_now(DAY.replace(hour=15)))[1:3] == [None, "20:00"]
