"""What was asked is kept, bounded and at no cost; and lived through again beside what would be recalled now."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memory_system import AgentMemory, Facets, Kind, Measure, Scoring, Tier, Weights, World
from memory_system.agent_parts.replay import FORGOTTEN, Relived
from memory_system.core.authors import running_script
from memory_system.core.settings import AgentSettings
from memory_system.errors import InvalidParameter, QueryNotFound, StoreDamaged
from memory_system.store.access_buffer import AccessLog, Noted
from memory_system.store.query_log import LoggedQuery
from tests.conftest import NOW, PERSONALITY
from tests.waiting import until

Remember = Callable[..., str]
CLASSIC = Scoring()
HOUR = timedelta(hours=1)
CUE = "Who has the key to the mill?"


def rows(world: World) -> list[tuple[Any, ...]]:
    """The queries that are on disk."""
    with sqlite3.connect(world.folder / "mira/journal.sqlite3") as db:
        found = db.execute("SELECT number, cue FROM queries ORDER BY number").fetchall()
    db.close()
    return found


# -- logging ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"top_k": 3, "threshold": 0.2, "static_threshold": 1, "static_share": 0.1, "touch": False},
        {
            "scoring": Scoring(Weights(1, 2, 3), 0.9, Measure.HYBRID, normalise=True),
            "requery": 3,
            "instances": ["a", "b"],
        },
        {"facets": Facets((Kind.PLAN, Kind.OBSERVATION), ("a",), NOW - HOUR, NOW, 0.1, 0.9, "e"), "top_k": 0},
        {"now": datetime(2026, 3, 30, 9, tzinfo=NOW.astimezone(None).tzinfo), "scoring": CLASSIC},
    ],
    ids=str,
)
def test_a_query_is_kept_with_all_its_parameters_and_its_answer(
    agent: AgentMemory, remember: Remember, asked: dict[str, Any]
) -> None:
    for text in ("The key to the mill is lost.", "The smoke was grey.", "Tobias has the key."):
        remember(text, hours_ago=0.5, tags=["a"])
    before = datetime.now(UTC)
    found = agent.acting_as("game").query_memory(CUE, **asked)
    (logged,) = agent.queries()
    assert logged.query == found.query
    assert logged.query.now.utcoffset() == found.query.now.utcoffset()
    told = [(hit.entry.id, hit.entry.tier, hit.rank, hit.score, hit.via) for hit in found]
    assert [(hit.entry_id, hit.tier, hit.rank, hit.score, hit.via) for hit in logged.hits] == told
    assert [hit.score.total for hit in logged.hits] == [hit.score.total for hit in found]
    assert (logged.number, logged.recalled, logged.author, logged.revision) == (1, len(found), "game", 4)
    assert set(logged.given) == asked.keys() - {"touch", "facets", "requery", "instances", "now"}
    assert logged.touched is asked.get("touch", True)
    assert before <= logged.asked_at <= datetime.now(UTC)
    assert agent.relive(1).faithful


def test_a_query_saw_the_accesses_of_those_before_it_and_not_its_own(agent: AgentMemory, remember: Remember) -> None:
    remember("The key to the mill is lost.")
    for _ in range(3):
        agent.query_memory(CUE, threshold=0, static_threshold=1)
    assert [one.access for one in agent.queries()] == [2, 1, 0]


def test_looks_are_not_logged(agent: AgentMemory) -> None:
    explanation = agent.explain(CUE)
    agent.explanation(explanation.query)
    agent.answer(explanation.query)
    agent.ways(CUE, agent.entries(Tier.STATIC)[0].id)
    agent.forecast(CUE)
    agent.check_cues()
    agent.plan_from_memory(preview=True)
    assert agent.queries() == []


def test_queries_are_found_the_newest_first(agent: AgentMemory) -> None:
    for cue in ("the key", "Die MÜHLE", "the mill", "the KEY again"):
        agent.query_memory(cue)
    assert [one.query.cue for one in agent.queries(2)] == ["the KEY again", "the mill"]
    assert [one.query.cue for one in agent.queries(before=3)] == ["Die MÜHLE", "the key"]
    assert [one.number for one in agent.queries(contains="kEy")] == [4, 1]
    assert [one.number for one in agent.queries(1, contains="mühle")] == [2]
    assert agent.queries(contains="100%") == []


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": "5"}, {"before": -1}, {"contains": 7}], ids=str)
def test_a_wrong_look_into_the_log_is_refused(agent: AgentMemory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        agent.queries(**wrong)


@pytest.mark.parametrize(
    "asked",
    [
        {"top_k": np.int64(3), "requery": np.int32(1), "touch": np.bool_(True)},
        {"threshold": np.float32(0.25), "static_threshold": np.float64(0.5), "static_share": np.float32(0.5)},
    ],
    ids=str,
)
def test_numbers_of_numpy_are_logged_as_numbers(agent: AgentMemory, asked: dict[str, Any]) -> None:
    agent.query_memory(CUE, **asked)
    (logged,) = agent.queries()
    assert {name: getattr(logged.query, name, True) for name in asked} == asked


@pytest.mark.parametrize("part", ["contains", "tags", "people", "places", "without"])
def test_a_filter_that_cannot_be_written_is_refused_and_the_agent_goes_on(agent: AgentMemory, part: str) -> None:
    half = "key\ud83d"
    with pytest.raises(InvalidParameter, match=f"^'{part}' contains half of a surrogate pair"):
        agent.query_memory(CUE, facets=Facets(**{part: half if part == "contains" else [half]}))
    agent.query_memory(CUE)
    agent.add_short_term({"document": "Saw smoke over the field"})
    assert len(agent.queries()) == 1


def test_only_the_last_queries_are_kept(world: World, agent: AgentMemory) -> None:
    agent.configure(query_log=3)
    for number in range(5):
        agent.query_memory(f"cue {number}", touch=False)
    assert len(agent.queries()) == 3
    for number in range(5, 7):
        agent.query_memory(f"cue {number}", touch=False)
        agent._context.held.flush()
    assert [one.query.cue for one in agent.queries()] == ["cue 6", "cue 5", "cue 4"]
    assert len(rows(world)) == 3
    with pytest.raises(QueryNotFound, match="it keeps the last 3"):
        agent.relive(1)


def test_a_log_that_is_switched_off_keeps_nothing(world: World, agent: AgentMemory, remember: Remember) -> None:
    remember("The key to the mill is lost.")
    agent.query_memory(CUE)
    assert len(agent.queries()) == 1
    agent.configure(query_log=0)
    assert agent.queries() == []
    agent.query_memory(CUE, threshold=0.1, static_threshold=1)
    agent._context.held.flush()
    assert rows(world) == []
    agent.configure(query_log=10)
    agent.query_memory(CUE)
    assert [one.number for one in agent.queries()] == [2]


@pytest.mark.parametrize("value", [-1, 100_001, 2.5, True], ids=str)
def test_the_log_has_a_bound(agent: AgentMemory, value: Any) -> None:
    with pytest.raises(InvalidParameter, match="query_log must be a whole number from 0 to 100,000"):
        agent.configure(query_log=value)


def test_settings_from_before_the_log_are_read(agent: AgentMemory) -> None:
    old = json.loads(AgentSettings(top_k=7).to_json())
    del old["query_log"]
    assert AgentSettings.from_json(json.dumps(old)) == AgentSettings(top_k=7, query_log=1000)


def test_a_long_answer_is_kept_in_part(agent: AgentMemory) -> None:
    agent.add_short_term([{"document": f"key {n}", "rating": 5} for n in range(300)])
    agent.query_memory("key", 1000, 0, static_threshold=1, scoring=CLASSIC)
    (logged,) = agent.queries()
    assert (len(logged.hits), logged.recalled) == (200, 300)
    assert agent.relive(1).faithful


def test_a_query_does_not_wait_for_the_disk_and_is_there_soon(world: World, agent: AgentMemory) -> None:
    agent.query_memory(CUE)
    assert rows(world) == []
    until(lambda: rows(world))
    assert rows(world) == [(1, CUE)]


def test_a_clean_stop_loses_nothing(world: World, agent: AgentMemory) -> None:
    agent.query_memory(CUE)
    world.close()
    assert rows(world) == [(1, CUE)]


def test_what_cannot_be_written_waits_within_bounds(monkeypatch: pytest.MonkeyPatch, agent: AgentMemory) -> None:
    monkeypatch.setattr("memory_system.store.access_buffer.MOST_ASKED", 3)
    log, full, written = agent._context.held._accesses, [True], []

    def touch(notes: list[Noted]) -> int:
        if full[0]:
            raise StoreDamaged("No space is left.")
        written.extend(notes)
        return 0

    monkeypatch.setattr(agent._context.held.journal, "touch", touch)
    for number in range(6):
        agent.query_memory(f"cue {number}", touch=False)
        agent._context.held.touch(["somebody"], NOW)
        with pytest.raises(StoreDamaged):
            log.flush()
    assert len(log) == 6
    full[0] = False
    log.flush()
    assert [one.query.cue for one in written if not isinstance(one, tuple)] == ["cue 3", "cue 4", "cue 5"]
    assert (len(written), len(log)) == (9, 0)
    monkeypatch.undo()


def test_an_access_log_that_cannot_be_written_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_system.store.access_buffer.DELAY_SECONDS", 0.01)
    said: list[str] = []

    def write(_take: Callable[[], object]) -> None:
        raise StoreDamaged("No space is left.")

    AccessLog(write, said.append, lambda: NOW, nullcontext()).note(["a"], NOW, None, (1, 0))
    until(lambda: said)
    assert said == ["When 1 memory was recalled could not be written yet. No space is left."]


# -- lived through again ---------------------------------------------------------------------------------


@pytest.fixture
def ask(agent: AgentMemory, remember: Remember) -> Callable[..., LoggedQuery]:
    """Remembers three things, and asks who has the key."""
    agent.configure(scoring=CLASSIC, threshold=0.8, static_threshold=1)
    remember("A key was seen at the mill.", id="key", hours_ago=3)
    remember("The mill stands at the quay.", id="quay", hours_ago=2)
    remember("A grey heron stood on the weir.", id="heron", hours_ago=1)

    def asked(**parameters: Any) -> LoggedQuery:
        agent.query_memory(CUE, **parameters)
        return agent.queries(1)[0]

    return asked


def why(relived: Relived) -> dict[str, tuple[str, str]]:
    assert relived.doubts == ()
    return {one.entry_id: (one.shift.value, one.because) for one in relived.differences}


def test_asked_again_at_once_nothing_differs(agent: AgentMemory, ask: Callable[..., LoggedQuery]) -> None:
    logged = ask(top_k=2)
    before = agent.stamp
    again = agent.relive(logged.number)
    assert [hit.entry_id for hit in logged.hits] == ["key", "quay"]
    assert [hit.entry.id for hit in again.then.hits] == ["key", "quay"]
    assert (again.faithful, again.differences, again.parameters) == (True, (), ())
    assert (agent.stamp, len(agent.queries())) == (before, 1)


def test_what_was_forgotten_edited_and_added_since_is_told(
    world: World, agent: AgentMemory, remember: Remember, ask: Callable[..., LoggedQuery]
) -> None:
    logged = ask(top_k=3)
    world.stand_at(NOW + 2 * HOUR)
    agent.acting_as("Long-term page").forget("key")
    agent.edit("quay", document="Nothing was seen at all.")
    remember("Mira has the key to the mill now.", id="new", hours_ago=-2)
    told = why(agent.relive(logged.number))
    assert told["key"] == (
        "left",
        f"{FORGOTTEN} Fri 27 Mar 2026, 20:00 UTC (“Forget ‘A key was seen at the mill.’”).",
    )
    shift, because = told["quay"]
    assert shift == "left"
    assert because.startswith(
        "It is now below the threshold of 0.80: it was edited on Fri 27 Mar 2026, 20:00 UTC (“Edit"
    )
    assert ", relevancy fell from 0." in because
    assert told["new"] == (
        "entered",
        "It was added on Fri 27 Mar 2026, 20:00 UTC (“Remember ‘Mira has the key to the mill now.’”).",
    )


def test_what_has_faded_is_told(world: World, agent: AgentMemory, ask: Callable[..., LoggedQuery]) -> None:
    agent.configure(threshold=0.75)
    logged = ask(touch=False)
    world.stand_at(NOW + 300 * HOUR)
    told = why(agent.relive(logged.number))
    assert told["quay"] == ("left", "It is now below the threshold of 0.75: recency fell from 0.98 to 0.05.")


def test_who_was_overtaken_and_by_whom_is_told(
    agent: AgentMemory, remember: Remember, ask: Callable[..., LoggedQuery]
) -> None:
    logged = ask(top_k=2, touch=False)
    remember("Who has the key to the mill? Mira has it.", id="new", rating=10)
    told = why(agent.relive(logged.number))
    assert told["quay"] == ("left", "It was overtaken by “Who has the key to the mill? Mira has it.”.")
    assert told["new"][0] == "entered"
    number = logged.number + 1
    agent.query_memory(CUE, 2, touch=False)
    agent.forget("new")
    assert why(agent.relive(number))["quay"] == (
        "entered",
        "It took the seat of “Who has the key to the mill? Mira has it.”.",
    )


def test_settings_that_changed_stand_for_what_was_not_named(
    agent: AgentMemory, ask: Callable[..., LoggedQuery]
) -> None:
    logged = ask(touch=False)
    named = agent.query_memory(CUE, 5, 0.8, static_threshold=1, scoring=CLASSIC, touch=False)
    assert [hit.entry.id for hit in named] == [hit.entry_id for hit in logged.hits]
    agent.configure(threshold=0.95, top_k=1, scoring=Scoring(Weights(0.25, 0.25, 1), 0.5, normalise=True))
    told = agent.relive(logged.number)
    assert told.parameters == (
        "The number of seats was 5 and is 1.",
        "The threshold was 0.8 and is 0.95.",
        "The decay was 0.99 and is 0.5.",
        "The parts were taken as they are and are scaled by their minimum and maximum.",
    )
    assert told.then.query == logged.query
    assert told.now.query.threshold == 0.95
    again = agent.relive(logged.number + 1)
    assert again.parameters == ()
    assert again.differences == ()


def test_what_moved_to_another_tier_or_place_is_told(agent: AgentMemory, ask: Callable[..., LoggedQuery]) -> None:
    logged = ask(top_k=2, touch=False)
    agent.migrate_stm2ltm(ids=["key"])
    agent.edit("quay", rating=10)
    told = why(agent.relive(logged.number))
    assert told["key"][0] == "moved"
    assert told["key"][1].startswith("It stands at 2 instead of 1: it moved to long-term memory on Fri 27 Mar 2026")
    assert told["quay"][0] == "moved"
    assert "importance rose from 0.50 to 1.00" in told["quay"][1]


def test_it_is_lived_through_as_it_was_though_all_has_changed(
    world: World, agent: AgentMemory, remember: Remember
) -> None:
    agent.configure(top_k=4)
    answers = {}
    for number in range(1, 9):
        remember(f"Tobias: I saw the key number {number} at the mill.", hours_ago=number, kind=Kind.CONVERSATION)
        world.stand_at(NOW + number * HOUR)
        found = agent.query_memory(CUE, touch=number % 3 > 0, requery=number % 2, threshold=0.2)
        answers[number] = [(hit.entry.id, hit.entry.document, hit.verdict, hit.because) for hit in found]
        if number == 4:
            agent.save_personality(json.dumps(PERSONALITY | {"facts": ["There never was a key."]}))
            agent.migrate_stm2ltm(ids=[entry.id for entry in agent.entries(Tier.STM)][:2])
    agent.configure(threshold=0.9)
    agent.reset_memory()
    for number, answer in answers.items():
        relived = agent.relive(number)
        assert relived.faithful, relived.doubts
        assert [(hit.entry.id, hit.entry.document, hit.verdict, hit.because) for hit in relived.then.hits] == answer


def test_where_it_cannot_be_rebuilt_as_it_was_it_says_so(
    world: World, agent: AgentMemory, ask: Callable[..., LoggedQuery]
) -> None:
    number = ask().number
    world.close()
    with sqlite3.connect(world.folder / "mira/journal.sqlite3") as db:
        (body,) = db.execute("SELECT body FROM queries").fetchone()
        told = json.loads(body)
        told["hits"][0][3][1] = 0.5
        told["embedder"] = "another"
        db.execute("UPDATE queries SET body = ?", (json.dumps(told),))
    db.close()
    relived = world.agent("mira").relive(number)
    assert not relived.faithful
    assert relived.doubts[0].startswith("It was asked with the vectors of 'another', and is rebuilt with those of")
    assert "had a score of" in relived.doubts[1]


def test_two_agents_of_one_folder_log_into_one_list(world: World, agent: AgentMemory, ask: Any) -> None:
    settings = world.settings
    number = ask().number
    with AgentMemory(
        "mira",
        database=settings.database,
        personalities=settings.personalities,
        embedder=world.embedder,
        author="other",
    ) as other:
        other.query_memory(CUE, now=NOW + HOUR)
        agent.query_memory(CUE)
        assert [one.author for one in other.queries()] == ["other", running_script()]
        assert sorted(one.author for one in agent.queries()) == ["other", running_script(), running_script()]
        assert all(agent.relive(one.number).faithful for one in agent.queries())
        assert other.relive(number).faithful
