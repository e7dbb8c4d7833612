"""Time passes: what is due is done in order, by the world, with its reason, once, and can be undone."""

from __future__ import annotations

import dataclasses
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.conversation import Conversation, TalkSettings
from memory_system.core.authors import BY_ITSELF
from memory_system.errors import AgentNotFound, InvalidEntry, InvalidParameter, ModelUnavailable
from memory_system.llm import LanguageModel
from memory_system.llm.prices import Price
from memory_system.world.advancing import Advanced
from memory_system.world.due import Step, morning_of
from tests.conftest import NOW
from tests.waiting import LAST_RESORT

HOUR = timedelta(hours=1)


def own(agent: AgentMemory) -> list[str]:
    """What the agent did by itself, the first first."""
    return [one.change_set.operation for one in reversed(agent.history(1000, author=BY_ITSELF))]


def whats(done: Advanced) -> list[str]:
    return [step.what for step in done.steps]


def fill(agent: AgentMemory, count: int, rating: int = 8, at: datetime = NOW) -> None:
    for number in range(count):
        when = at - timedelta(minutes=count - number)
        event = {"document": f"Sold loaf {number} to Tobias.", "rating": rating, "timestamp": when}
        agent.add_short_term(event, rate=False)


@pytest.fixture
def lived(world: World, agent: AgentMemory) -> AgentMemory:
    """Mira, with more than there is room for, a talk, and enough to reflect on."""
    agent.configure(stm_size=5, retention="importance", reflection_trigger=40)
    fill(agent, 8)
    Conversation.begin(agent, human="Ana", settings=TalkSettings(budget=4000)).step("I give a party on Friday.")
    return agent


def test_what_is_due_is_done_in_order_and_told_with_its_reason(world: World, lived: AgentMemory) -> None:
    done = world.advance(NOW + 26 * HOUR)
    assert whats(done) == ["migrate", "reflect", "plan", "synopsis", "migrate", "plan"] == own(lived)
    assert [(step.at - NOW) / HOUR for step in done.steps] == [0, 0, 0, 1, 1, 10]
    told = [lived.change(step.revision).change_set for step in done.steps if step.revision]
    assert [one.reason for one in told] == [step.why for step in done.steps]
    assert [one.planned_at for one in told] == [step.at for step in done.steps]
    assert done.now == world.standing == NOW + 26 * HOUR
    assert not done.waiting
    assert not world.advance().steps, "what was done is not due"


def test_a_preview_says_the_same_and_changes_nothing(world: World, lived: AgentMemory) -> None:
    before = lived.stamp
    told = world.advance(NOW + 26 * HOUR, preview=True)
    assert (lived.stamp, world.standing) == (before, NOW)
    done = world.advance(NOW + 26 * HOUR)
    assert [(one.what, one.at, one.why) for one in told.steps] == [(one.what, one.at, one.why) for one in done.steps]


def test_each_step_can_be_undone_and_stays_undone(world: World, lived: AgentMemory) -> None:
    done = world.advance(NOW + 2 * HOUR)
    for step in reversed(done.steps):
        assert step.revision, "it was done"
        lived.undo(step.revision)
    assert not world.advance(NOW + 3 * HOUR).steps
    fill(lived, 6, at=NOW + 3 * HOUR)
    assert whats(world.advance(NOW + 4 * HOUR)) == ["migrate", "reflect"], "until something new has happened"


def test_long_term_memory_is_summarised_down_to_its_size_where_one_is_set(world: World, agent: AgentMemory) -> None:
    agent.configure(reflection_trigger=100_000)
    fill(agent, 20)
    agent.migrate_stm2ltm(ids=[entry.id for entry in agent.entries(Tier.STM)])
    world.advance()
    assert "summarise" not in own(agent)
    agent.configure(ltm_size=12)
    assert "summarise" in whats(world.advance())
    assert len(agent.entries(Tier.LTM)) <= 12


def test_what_waits_for_its_rating_is_rated_first(world: World, lived: AgentMemory) -> None:
    there = lived.model
    lived.model = Away()  # type: ignore[assignment]  # it has what is asked of it here
    lived.add_short_term({"document": "The tide mill burned down.", "id": "fire"})
    done = world.advance()
    assert done.waiting[0].what == "rate"
    lived.model = there
    assert whats(world.advance())[0] == "rate"
    held = lived.find("fire")
    assert held is not None
    assert held.rating is not None


def test_nothing_to_plan_is_told_once(world: World) -> None:
    agent = world.create_agent("ines", json.dumps({"identity": {"name": "Ines"}}))
    assert whats(world.advance(NOW + HOUR)) == whats(world.advance(NOW + 13 * HOUR)) == ["plan"]
    assert not agent.entries(Tier.LTM)
    assert own(agent) == ["plan", "plan"]


class Away:
    """A language model whose server is away, and counts how often it is asked."""

    name, label = "away", "a server that is away"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, _task: Any, _deadline: float | None = None) -> Any:
        self.asked += 1
        raise ModelUnavailable("The server is away.")

    chat = complete


def test_a_model_that_is_down_leaves_all_queued_and_nothing_lost(world: World, lived: AgentMemory) -> None:
    there, away = lived.model, Away()
    lived.model = away  # type: ignore[assignment]  # it has what is asked of it here
    done = world.advance(NOW + 2 * HOUR)
    assert whats(done) == ["migrate"] == own(lived)
    assert [(step.what, step.waits) for step in done.waiting] == [
        (what, "The server is away.") for what in ("reflect", "plan", "synopsis")
    ]
    assert away.asked == 1, "a server that is down is waited for once"
    assert world.standing == NOW + 2 * HOUR
    assert whats(world.due()) == ["reflect", "plan", "synopsis", "migrate"]
    lived.model = there
    assert whats(world.advance()) == ["reflect", "plan", "synopsis", "migrate"]


def test_it_is_cancelled_between_two_steps_and_goes_on_there(world: World, lived: AgentMemory) -> None:
    asked: list[int] = []
    done = world.advance(NOW + 26 * HOUR, cancelled=lambda: len(asked) == 3 or bool(asked.append(1)))
    assert done.stopped
    assert whats(done) == ["migrate", "reflect", "plan"]
    assert world.standing == done.now == NOW
    assert whats(world.advance(NOW + 26 * HOUR)) == ["synopsis", "migrate", "plan"]


class Slow:
    """The offline rules under another name, which answer a call when the gate is open."""

    name, label = "slow", "a model that takes its time"

    def __init__(self, rules: LanguageModel) -> None:
        self._rules = rules
        self.asked, self.gate = threading.Semaphore(0), threading.Event()

    def complete(self, task: Any, deadline: float | None = None) -> Any:
        self.asked.release()
        assert self.gate.wait(LAST_RESORT), "nobody opened the gate"
        return self._rules.complete(task, deadline)


def test_a_step_that_is_cancelled_while_a_model_is_asked_is_given_up_and_done_the_next_time(
    world: World, lived: AgentMemory
) -> None:
    lived.model = slow = Slow(lived.model)  # type: ignore[assignment]  # it has what is asked of it here
    told: list[str] = []
    done = world.advance(
        NOW + 26 * HOUR,
        cancelled=lambda: slow.asked.acquire(blocking=False),
        progress=lambda _, what: told.append(what),
    )
    assert done.stopped
    assert whats(done) == ["migrate"] == own(lived), "the model has not answered, and is not waited for"
    assert any("add up" in one for one in told)
    slow.gate.set()
    (thread,) = (one for one in threading.enumerate() if one.name == "advance")
    thread.join(LAST_RESORT)
    assert own(lived) == ["migrate"], "its answer is too late"
    assert not slow.asked.acquire(blocking=False), "and nothing more is asked for it"
    assert whats(world.advance(NOW + 26 * HOUR)) == ["reflect", "plan", "synopsis", "migrate", "plan"]


def test_whoever_is_told_how_far_it_is_may_stop_it_while_a_model_is_asked(world: World, lived: AgentMemory) -> None:
    lived.model = slow = Slow(lived.model)  # type: ignore[assignment]  # it has what is asked of it here

    def left(_share: float, _what: str) -> None:
        if slow.asked.acquire(blocking=False):
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        world.advance(NOW + 26 * HOUR, progress=left)
    slow.gate.set()
    assert whats(world.advance()) == ["reflect", "plan"]


def test_one_whose_files_cannot_be_used_keeps_nobody_from_living(world: World, lived: AgentMemory) -> None:
    broken = world.folder / "broken"
    broken.mkdir()
    (broken / "journal.sqlite3").write_text("This is no journal.")
    done = world.advance(NOW + HOUR)
    assert "migrate" in whats(done)
    (waits,) = (step for step in done.waiting if step.agent == "broken")
    assert waits.waits


@pytest.mark.parametrize(
    ("to", "told"),
    [(NOW - HOUR, "back"), (datetime(2026, 3, 28), "zone"), ("tomorrow", "'to'")],
)
def test_a_time_that_cannot_be_is_refused(world: World, agent: AgentMemory, to: Any, told: str) -> None:
    for preview in (True, False):
        with pytest.raises(InvalidParameter, match=told):
            world.advance(to, preview=preview)
    assert world.standing == NOW


@pytest.mark.parametrize("at", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 20, tzinfo=UTC)])
def test_at_the_ends_of_all_times_none_passes(world: World, agent: AgentMemory, at: datetime) -> None:
    world.stand_at(at)
    before = agent.stamp
    for look in (world.due, world.advance):
        with pytest.raises(InvalidParameter, match="from the year 2 to 9998"):
            look()
    assert agent.stamp == before


def test_a_clock_that_runs_goes_no_faster(world: World, agent: AgentMemory) -> None:
    world.stand_at(None)
    with pytest.raises(InvalidParameter, match="pause"):
        world.advance(world.clock() + HOUR)
    assert world.due(world.clock() + 24 * HOUR).steps, "but what comes can be foreseen"
    world.advance()
    assert world.standing is None


def test_of_two_who_advance_at_once_one_does_each_step(world: World, lived: AgentMemory) -> None:
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: world.advance(NOW + 26 * HOUR), range(2)))
    assert sorted(whats(both[0]) + whats(both[1])) == sorted(own(lived))
    assert own(lived) == ["migrate", "reflect", "plan", "synopsis", "migrate", "plan"]


@pytest.mark.parametrize(
    ("first", "morning"), [(None, "06:00"), ("07:00", "06:00"), ("04:30", "04:00"), ("00:10", "00:00")]
)
def test_the_day_is_planned_before_it_begins(first: str | None, morning: str) -> None:
    assert f"{morning_of(first):%H:%M}" == morning


class Paid:
    """The offline rules under another name, as a model that is paid for."""

    name, label = "paid", "a model that is paid for"

    def __init__(self, rules: LanguageModel) -> None:
        self._rules = rules

    def complete(self, task: Any, deadline: float | None = None) -> Any:
        done = self._rules.complete(task, deadline)
        return dataclasses.replace(done, call=dataclasses.replace(done.call, model=self.name, tokens=100))


@pytest.mark.parametrize("limit", [{"hourly_calls": 1}, {"hourly_tokens": 50}, {"hourly_cost": 0.0001}])
def test_what_exceeds_an_hours_budget_waits_and_says_why(
    world: World, lived: AgentMemory, limit: dict[str, float]
) -> None:
    world.models.set_prices({"paid": Price(10, 10)})
    lived.model = Paid(lived.model)  # type: ignore[assignment]  # it has what is asked of it here
    lived.configure(**limit)
    done = world.advance()
    assert whats(done) == ["migrate", "reflect"], "what begins while there is room is done"
    (waits,) = done.waiting
    assert (waits.what, "19:00" in waits.waits) == ("plan", True)
    assert world.due().waiting == done.waiting, "anybody can see what waits"
    planned = world.due(NOW + 3 * HOUR)
    later = world.advance(NOW + 3 * HOUR)
    assert [(one.what, one.at - NOW) for one in later.steps] == [
        ("plan", HOUR),
        ("synopsis", 2 * HOUR),
        ("migrate", 2 * HOUR),
    ]
    assert whats(planned) == ["plan", "synopsis", "migrate"]


def test_what_one_is_told_to_do_is_no_part_of_the_hours_budget(world: World, lived: AgentMemory) -> None:
    lived.model = Paid(lived.model)  # type: ignore[assignment]  # it has what is asked of it here
    lived.configure(hourly_calls=1)
    lived.plan_from_memory()
    assert whats(world.advance()) == ["migrate", "reflect"]


def coming(count: int) -> dict[str, list[dict[str, Any]]]:
    """Events of an hour that nobody has rated."""
    return {
        "mira": [
            {"document": f"Sold loaf {n} to Tobias.", "id": f"e{n}", "timestamp": NOW + timedelta(minutes=n)}
            for n in range(count)
        ]
    }


def test_events_wait_for_no_model_and_their_ratings_keep_to_the_budget(world: World, lived: AgentMemory) -> None:
    lived.model = Paid(lived.model)  # type: ignore[assignment]  # it has what is asked of it here
    lived.configure(hourly_calls=4, reflection_trigger=100_000)
    told = world.advance(NOW + HOUR / 2, events=coming(12), preview=True)
    assert whats(told)[:3] == ["add", "rate", "migrate"]
    done = world.advance(NOW + HOUR / 2, events=coming(12))
    assert whats(done).count("add") == 12
    calls = [call for one in lived.history(1000, author=BY_ITSELF) for call in one.change_set.calls]
    assert len(calls) == 4
    assert ("rate", True) in [(one.what, "4 model calls" in one.waits) for one in done.waiting]
    assert "rate" in whats(world.advance(NOW + 3 * HOUR))


@pytest.mark.parametrize(("limit", "most"), [({"hourly_tokens": 250}, 3), ({"hourly_cost": 0.0045}, 5)])
def test_each_rating_is_asked_for_only_while_there_is_room_for_it(
    world: World, lived: AgentMemory, limit: dict[str, float], most: int
) -> None:
    world.models.set_prices({"paid": Price(10, 10)})
    lived.model = Paid(lived.model)  # type: ignore[assignment]  # it has what is asked of it here
    lived.configure(**limit, rated_by="nobody", reflection_trigger=100_000)
    lived.add_short_term([{"document": f"Sold loaf {n} to Tobias.", "protected": n == 0} for n in range(9)])
    done = world.advance()
    assert whats(done) == ["rate", "migrate"]
    assert len(lived.unrated()) == 8 - most, "each call takes 100 tokens, or a thousandth"
    calls = [call for one in lived.history(1000, author=BY_ITSELF) for call in one.change_set.calls]
    assert len(calls) == most
    (waits,) = (one for one in done.waiting if one.what == "rate")
    assert "a world hour is spent. There is room again at Fri 27 Mar 2026, 19:00" in waits.waits


class Tired(Paid):
    """It answers some calls, and is away from then on."""

    left = 2

    def complete(self, task: Any, deadline: float | None = None) -> Any:
        self.left -= 1
        if self.left < 0:
            raise ModelUnavailable("The server is away.")
        return super().complete(task, deadline)


def test_what_a_model_that_went_away_did_not_rate_waits_and_is_rated_when_it_is_back(
    world: World, lived: AgentMemory
) -> None:
    lived.model = tired = Tired(lived.model)  # type: ignore[assignment]  # it has what is asked of it here
    lived.configure(rated_by="nobody", reflection_trigger=100_000)
    lived.add_short_term([{"document": f"Sold loaf {n} to Tobias."} for n in range(9)])
    done = world.advance()
    assert (whats(done)[0], len(lived.unrated())) == ("rate", 7)
    assert ("rate", "The server is away.") in [(one.what, one.waits) for one in done.waiting]
    tired.left = 100
    assert whats(world.advance())[0] == "rate", "no time has to pass"
    assert not lived.unrated()


def test_no_more_are_rated_at_once_than_there_is_room_for(world: World, lived: AgentMemory) -> None:
    lived.model = Paid(lived.model)  # type: ignore[assignment]  # it has what is asked of it here
    lived.configure(hourly_calls=4, rated_by="nobody", stm_size=100)
    lived.add_short_term([{"document": f"Sold loaf {n} to Tobias."} for n in range(9)])
    (first,) = [one for one in world.advance().steps if one.what == "rate"]
    assert first.title == "Rate 4 memories"
    assert first.revision, "it was done"
    world.advance(NOW + HOUR)
    lived.undo(first.revision)
    taken_back = {change.entry_id for change in lived.change(first.revision).change_set.changes}
    world.advance(NOW + 5 * HOUR)
    assert {one.id for one in lived.unrated()} == taken_back


def test_a_model_that_is_down_is_not_asked_about_each_event(world: World, lived: AgentMemory) -> None:
    lived.model = away = Away()  # type: ignore[assignment]  # it has what is asked of it here
    done = world.advance(NOW + HOUR / 2, events=coming(12))
    assert whats(done).count("add") == 12
    assert away.asked <= 2
    assert ("rate", "The server is away.") in [(one.what, one.waits) for one in done.waiting]


def test_events_happen_at_their_times_and_once(world: World, agent: AgentMemory) -> None:
    agent.configure(stm_size=2, retention="importance", reflection_trigger=15)
    coming = {
        "mira": [
            {"document": f"Sold loaf {n} to Tobias.", "id": f"e{n}", "rating": 8, "timestamp": NOW + n * HOUR}
            for n in range(4)
        ]
    }
    told = world.advance(NOW + 3 * HOUR, events=coming, preview=True)
    assert not agent.entries(Tier.STM)
    first = world.advance(NOW + HOUR, events=coming)
    assert whats(first) == ["add", "plan", "add"]
    rest = world.advance(NOW + 3 * HOUR, events=coming)
    assert whats(rest) == ["add", "migrate", "add", "migrate"]
    assert whats(told)[:3] == whats(first)
    assert whats(told).count("add") == 4
    added = [one.change_set for one in agent.history(20, operation="add")]
    assert [one.planned_at for one in reversed(added)] == [NOW + n * HOUR for n in range(4)]
    agent.undo(added[0].revision)
    assert not world.advance(events=coming).steps, "what was undone has happened, too"


@pytest.mark.parametrize(
    ("events", "error"),
    [
        ({"mira": [{"document": "It rains."}]}, InvalidEntry),
        ({"mira": "events.json"}, InvalidEntry),
        ({"mira": [{"id": "x"}]}, InvalidEntry),
        ({"nobody": [{"document": "It rains.", "id": "x"}]}, AgentNotFound),
        ({5: []}, AgentNotFound),
        ({"mira": 5}, InvalidEntry),
        ({"mira": None}, InvalidEntry),
        ([{"document": "It rains.", "id": "x"}], InvalidEntry),
    ],
)
def test_events_that_cannot_happen_are_refused(
    world: World, agent: AgentMemory, events: Any, error: type[Exception]
) -> None:
    before = agent.stamp
    for preview in (True, False):
        with pytest.raises(error, match=r"mira|document"):
            world.advance(NOW + HOUR, events=events, preview=preview)
    assert (agent.stamp, world.standing) == (before, NOW)


FIRE = {"id": "fire", "document": "The inn burned down.", "rating": 9, "timestamp": NOW + 15 * HOUR}


@pytest.fixture
def planned(world: World) -> AgentMemory:
    """Somebody whose next day holds a morning and an evening."""
    routine = [
        {"time": "08:00", "until": "11:00", "activity": "bakes", "place": "Bakery"},
        {"time": "19:00", "until": "20:00", "activity": "eats at the inn", "place": "Inn"},
    ]
    return world.create_agent("ines", json.dumps({"identity": {"name": "Ines"}, "routine": routine}))


def test_an_event_of_importance_has_the_day_planned_anew_where_that_is_set(world: World, planned: AgentMemory) -> None:
    planned.configure(replan="do")
    world.advance(NOW + 14 * HOUR)
    before = own(planned)
    small = {**FIRE, "id": "rain", "document": "It rained.", "rating": 7}
    done = world.advance(NOW + 16 * HOUR, events={"ines": [small, FIRE]})
    assert whats(done) == ["add", "add", "plan"]
    assert done.steps[-1].of == "fire"
    told = planned.history(1)[0].change_set
    assert told.reason == done.steps[-1].why
    (call,) = told.calls
    assert "The inn burned down." in call.prompt, "the plan heeds it"
    assert own(planned) == [*before, "add", "add", "plan"], "once"
    assert not world.advance(NOW + 17 * HOUR).steps


def test_what_comes_to_be_known_or_important_after_the_plan_counts_whatever_its_time(
    world: World, planned: AgentMemory
) -> None:
    planned.configure(replan="do")
    morning = NOW + 12 * HOUR
    assert whats(world.advance(morning)) == ["plan", "plan"]
    planned.add_short_term({**FIRE, "timestamp": morning}, rate=False)
    assert [(one.what, one.of) for one in world.advance().steps] == [("plan", "fire")], "it is the same moment"
    planned.add_short_term({**FIRE, "id": "flood", "rating": 7, "timestamp": morning - HOUR}, rate=False)
    planned.add_short_term({**FIRE, "id": "yesterday", "timestamp": NOW}, rate=False)
    assert not world.advance().steps
    planned.edit("flood", rating=9)
    assert [(one.what, one.of) for one in world.advance().steps] == [("plan", "flood")]
    assert not world.advance().steps


def test_it_may_only_be_proposed_and_somebody_decides(world: World, planned: AgentMemory) -> None:
    planned.configure(replan="propose")
    done = world.advance(NOW + 16 * HOUR, events={"ines": FIRE})
    assert [(one.what, one.of) for one in done.waiting] == [("plan", "fire")]
    assert done.waiting == world.due().waiting
    assert own(planned)[-1] == "add"
    planned.plan_from_memory(because="fire")
    assert not world.due().waiting


def test_by_itself_no_event_changes_a_plan(world: World, planned: AgentMemory) -> None:
    assert whats(world.advance(NOW + 16 * HOUR, events={"ines": FIRE})) == ["plan", "plan", "add"]
    with pytest.raises(InvalidParameter, match="propose"):
        planned.configure(replan="maybe")


def test_what_came_of_time_passing_is_short_as_text() -> None:
    steps = [Step("mira", what, NOW, "It is due.") for what in ("migrate", "plan", "plan")]
    done = Advanced(NOW, tuple(steps), (Step("bo", "reflect", NOW, "It is due.", waits="The model is down."),))
    assert str(done) == "Fri 27 Mar 2026, 18:00 UTC: 1 migrate, 2 plan done, waiting: 1 reflect"
    assert str(Advanced(NOW, ())) == "Fri 27 Mar 2026, 18:00 UTC: nothing done"
