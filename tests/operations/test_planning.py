"""Planning: the rest of today in timed actions, from the routine and from what was promised."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest

from memory_system import AgentMemory, ChangeSet, Kind, MemoryEntry, Tier
from memory_system.errors import InvalidParameter, ModelError, ModelNonsense, StaleChange
from tests.fake_server import FakeServer, error, says

Remember = Callable[..., str]


def _at(agent: AgentMemory, clock: str) -> datetime:
    hour, minute = map(int, clock.split(":"))
    return agent.now.replace(hour=hour, minute=minute)


def _plans(agent: AgentMemory) -> list[MemoryEntry]:
    return sorted(
        (entry for entry in agent.entries(Tier.LTM) if entry.kind is Kind.PLAN), key=lambda e: str(e.extras["start"])
    )


def _spans(done: ChangeSet) -> list[tuple[str, str]]:
    added = [change.after for change in done.of("add") if change.after]
    return [(str(entry.extras["start"]), str(entry.extras["end"])) for entry in added]


def _action(start: str, end: str, **more: object) -> dict[str, object]:
    return {"start": start, "end": end, "activity": "bakes", "place": "Bakery", **more}


@pytest.mark.parametrize("clock", ["00:00", "04:29", "06:15", "12:00", "18:00", "19:30"])
def test_a_plan_is_of_today_ahead_of_now_and_without_overlaps(
    agent: AgentMemory, remember: Remember, clock: str
) -> None:
    remember("Promised Ines to come at half past eight tonight.", hours_ago=18)
    now = _at(agent, clock)
    spans = _spans(agent.plan_from_memory(now))
    assert spans
    assert all(f"{now:%H:%M}" < start < end for start, end in spans)
    assert all(ended <= start for (_, ended), (start, _) in pairwise(spans))
    assert {entry.extras["plan_day"] for entry in _plans(agent)} == {"2026-03-27"}


def test_the_routine_brings_its_places(agent: AgentMemory) -> None:
    agent.plan_from_memory(_at(agent, "04:00"))
    assert [(e.extras["start"], e.extras["end"], e.extras["place"]) for e in _plans(agent)] == [
        ("04:30", "08:00", "Bakery"),
        ("19:00", "20:00", "Three Herons"),
    ]
    plan = _plans(agent)[1]
    assert plan.document == "Plan for Friday 27 March, 19:00 to 20:00: eats at the inn (Three Herons)"
    assert (plan.rating, plan.timestamp, plan.depth) == (5, _at(agent, "04:00"), 1)


@pytest.mark.parametrize(
    ("text", "hours_ago", "start"),
    [
        ("Promised Ines to come at half past eight tonight.", 6, "20:30"),
        ("Promised Ines to come at eight tomorrow evening.", 30, "20:00"),
        ("Tobias wants the key back by 8:15 pm today.", 6, "20:15"),
        ("The vote is on Friday at 21.", 72, "21:00"),
        ("Agreed to meet about nine this evening at the quay.", 1, "21:00"),
    ],
)
def test_appointments_are_kept_and_cite_the_memory_that_names_them(
    agent: AgentMemory, remember: Remember, text: str, hours_ago: float, start: str
) -> None:
    source = remember(text, hours_ago=hours_ago)
    agent.plan_from_memory()
    (kept,) = (entry for entry in _plans(agent) if entry.evidence)
    assert kept.evidence == (source,)
    assert kept.extras["start"] == start
    assert f"“{text.rstrip('.')}”" in kept.document


@pytest.mark.parametrize(
    "text",
    [
        "Promised Ines to come at half past eight tomorrow.",
        "Tobias came at four this afternoon.",
        "They say that by 2040 the mill will stand no more; I heard it today.",
        "Counted about 100 boats today.",
        "Met Ines at her door tonight.",
    ],
)
def test_what_is_not_ahead_today_is_no_appointment(agent: AgentMemory, remember: Remember, text: str) -> None:
    remember(text, hours_ago=1)
    agent.plan_from_memory()
    assert not [entry for entry in _plans(agent) if entry.evidence]


def test_a_promise_of_thirty_thousand_characters_can_be_planned(agent: AgentMemory, remember: Remember) -> None:
    source = remember("Promised Ines to come at half past eight tonight. " + "She was glad. " * 2200, hours_ago=1)
    agent.plan_from_memory()
    assert [entry.evidence for entry in _plans(agent) if entry.evidence] == [(source,)]


def test_the_old_plan_of_the_day_is_replaced_and_that_of_another_day_kept(agent: AgentMemory) -> None:
    agent.plan_from_memory(agent.now - timedelta(days=1))
    yesterday = {entry.id for entry in _plans(agent)}
    agent.plan_from_memory()
    first = {entry.id for entry in _plans(agent)} - yesterday
    assert first
    done = agent.plan_from_memory()
    left = {entry.id for entry in _plans(agent)}
    assert yesterday <= left
    assert not first & left
    assert {change.entry_id for change in done.of("forget")} == first


@pytest.mark.parametrize("promise", [None, "Promised Ines to be there at 11:59 pm tonight."])
def test_two_minutes_before_midnight_nothing_is_left_to_plan(
    agent: AgentMemory, remember: Remember, promise: str | None
) -> None:
    if promise:
        remember(promise, hours_ago=1)
    done = agent.plan_from_memory(_at(agent, "23:58"))
    assert not done
    assert "Nothing is left to do today" in done.notes[0]


def test_the_day_is_that_of_the_zone_of_now(agent: AgentMemory, remember: Remember) -> None:
    remember("Promised Ines to come at half past eight tonight.", hours_ago=4)
    later = agent.now.astimezone(timezone(timedelta(hours=7)))  # 01:00 on the 28th
    agent.plan_from_memory(later)
    assert {entry.extras["plan_day"] for entry in _plans(agent)} == {"2026-03-28"}
    assert _plans(agent)[0].extras["start"] == "04:30"


def test_a_preview_stores_nothing_and_applies_later(agent: AgentMemory) -> None:
    plan = agent.plan_from_memory(preview=True)
    assert plan
    assert _plans(agent) == []
    assert agent.apply(plan).revision is not None
    assert [entry.id for entry in _plans(agent)] == [change.entry_id for change in plan.changes]


def test_a_plan_is_refused_if_the_day_was_planned_meanwhile(agent: AgentMemory) -> None:
    preview, later = (agent.plan_from_memory(_at(agent, "09:00"), preview=True) for _ in range(2))
    other_day = agent.plan_from_memory(_at(agent, "09:00") + timedelta(days=1), preview=True)
    done = agent.apply(preview)
    assert agent.apply(preview) == done  # once
    with pytest.raises(StaleChange, match="both would stand"):
        agent.apply(later)
    agent.apply(other_day)
    assert {entry.id for entry in _plans(agent)} == {
        change.entry_id for plan in (preview, other_day) for change in plan.changes
    }


def test_a_time_without_zone_is_refused(agent: AgentMemory) -> None:
    with pytest.raises(InvalidParameter, match="zone"):
        agent.plan_from_memory(agent.now.replace(tzinfo=None))


INVALID = {
    "in the past": [_action("08:00", "09:00")],
    "beginning now": [_action("18:00", "19:00")],
    "backwards": [_action("20:00", "19:00")],
    "of no length": [_action("20:00", "20:00")],
    "overlapping": [_action("19:00", "20:00"), _action("19:30", "21:00")],
    "out of order": [_action("20:00", "21:00"), _action("19:00", "19:30")],
}


@pytest.mark.parametrize("actions", INVALID.values(), ids=INVALID.keys())
def test_an_invalid_plan_is_asked_for_again_once(agent: AgentMemory, server: FakeServer, actions: object) -> None:
    agent.model = server.model()
    server.queue(says({"actions": actions}), says({"actions": [_action("19:00", "20:00")]}))
    done = agent.plan_from_memory()
    assert _spans(done) == [("19:00", "20:00")]
    assert len(done.calls) == 2
    assert "An earlier plan was wrong" in server.requests[1]["messages"][0]["content"]


@pytest.mark.parametrize("actions", INVALID.values(), ids=INVALID.keys())
def test_a_plan_that_stays_invalid_is_refused_and_the_old_one_kept(
    agent: AgentMemory, server: FakeServer, actions: object
) -> None:
    agent.plan_from_memory()
    before, revision = _plans(agent), agent.get_stats()["revision"]
    agent.model = server.model()
    server.on("plan", says({"actions": actions}))
    with pytest.raises(ModelNonsense, match="Nothing was changed"):
        agent.plan_from_memory()
    assert len(server.requests) == 2
    assert _plans(agent) == before
    assert agent.get_stats()["revision"] == revision


def test_a_model_that_fails_leaves_the_old_plan(agent: AgentMemory, server: FakeServer) -> None:
    agent.plan_from_memory()
    before = _plans(agent)
    agent.model = server.model()
    server.on("plan", error(401))
    with pytest.raises(ModelError):
        agent.plan_from_memory()
    assert _plans(agent) == before


def test_a_models_plan_cites_the_records_it_numbers(agent: AgentMemory, server: FakeServer, remember: Remember) -> None:
    remember("Promised Ines to come at half past eight tonight.")
    agent.model = server.model()
    server.on("plan", says({"actions": [_action("20:30", "21:00", because_of=[1, 99, 0, -1])]}))
    agent.plan_from_memory()
    (plan,) = _plans(agent)
    assert len(plan.evidence) == 1
    assert agent.find(plan.evidence[0]) is not None
