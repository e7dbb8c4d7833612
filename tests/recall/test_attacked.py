"""What an attack on recall found, so that it stays mended."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from datetime import timedelta, timezone
from pathlib import Path

import pytest
from filelock import FileLock

from memory_system import AgentMemory, Scoring, Tier, Weights, World
from memory_system.errors import InvalidParameter
from memory_system.recall.hybrid.states import PackedStates
from tests.conftest import NOW
from tests.waiting import LAST_RESORT, ended, until

Remember = Callable[..., str]


@pytest.mark.parametrize(
    "text",
    ["Sent off on ſeptember 3, 2023", "next FRİDAY", "WİNTER 2020", "wınter of 2021", "ſpring 2020", "yeſterday"],
)
def test_letters_that_only_look_like_a_date_are_passed_over(agent: AgentMemory, text: str) -> None:
    agent.add_short_term({"document": "The lamp fell.", "id": "lamp"}, rate=False)
    assert agent.explain(text).considered
    agent.add_short_term({"document": text, "id": "odd"}, rate=False)
    agent.edit("odd", document="The lamp rose.")
    assert {one.entry.id for one in agent.explain("lamp").candidates} >= {"lamp", "odd"}


def test_equal_texts_have_equal_hybrid_scores_and_their_ids_decide(agent: AgentMemory) -> None:
    texts = ["A lamp stood there", "The ferry was late again because of the tide, said Tobias.", "Rain. All day, rain."]
    agent.add_short_term(
        [{"document": texts[n % 3], "id": f"t{n:02d}", "rating": 5, "timestamp": NOW} for n in range(36)]
    )
    asked = {"threshold": 0, "static_share": 0}
    found = agent.query_memory("A lamp stood there", 3, touch=False, **asked)  # type: ignore[arg-type]
    answered = [hit.entry.id for hit in found]
    assert (answered[0], set(answered)) == ("t00", {"t00", "t01", "t02"})
    agent.forget(["t01"])
    scores: dict[str, set[float]] = {}
    for one in agent.explain("A lamp stood there").candidates:
        scores.setdefault(one.entry.document, set()).add(one.score.total)
    assert all(len(scores[text]) == 1 for text in texts)


def test_an_explanation_stays_as_it_was(agent: AgentMemory) -> None:
    moment = NOW - timedelta(days=3)
    agent.add_short_term(
        [{"document": f"lamp {n}", "id": f"s{n}", "rating": 10 - n, "timestamp": moment} for n in range(4)]
    )
    told = agent.explain("lamp", scoring=Scoring())
    before = {one.entry.id: one.score.total for one in agent.explain("lamp", scoring=Scoring()).candidates}
    agent.edit("s0", rating=1)
    agent.forget(["s1"])
    assert {one.entry.id: one.score.total for one in told.candidates} == before


def test_a_timeless_memory_has_no_accesses(world: World, agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("lamp")
    agent.edit(entry_id, timestamp=None)
    agent.query_memory("lamp", threshold=0)
    agent.edit(entry_id, timestamp=NOW - timedelta(days=30))
    before = agent.find(entry_id)
    world.close()
    assert world.agent("mira").find(entry_id) == before
    assert before is not None
    assert before.last_access is None


def test_a_path_is_no_stronger_than_its_first_step_where_parts_are_scaled(agent: AgentMemory) -> None:
    for number, text in enumerate(["zebra crossing sign", "My name is Mira", "Fish for dinner"]):
        agent.add_short_term({"document": text, "id": f"m{number}", "rating": 5}, rate=False)
    scoring = Scoring(Weights(0, 0, 1), normalise=True)
    found = agent.explain("zebra name", threshold=0.1, static_threshold=0.3, scoring=scoring, requery=5)
    strength = {hit.entry.id: hit.score.relevancy for hit in found.hits}
    assert all(hit.score.relevancy <= strength[hit.via] for hit in found.hits if hit.via)


def test_damaged_token_states_are_computed_anew(world: World, agent: AgentMemory, remember: Remember) -> None:
    for number in range(5):
        remember(f"The lamp of keeper {number} was lit.")
    before = [(one.entry.id, one.score.total) for one in agent.explain("Whose lamp?").candidates]
    world.close()
    with sqlite3.connect(world.folder / "token-states.sqlite3") as file:
        rows = file.execute("SELECT place, states FROM states").fetchall()
        assert len(rows) >= 5
        for place, states in rows[:3]:
            flipped = bytearray(states)
            flipped[len(flipped) // 2] ^= 64
            file.execute("UPDATE states SET states = ? WHERE place = ?", (bytes(flipped), place))
        file.execute("UPDATE states SET states = NULL WHERE place = ?", (rows[3][0],))
    file.close()
    again = world.agent("mira").explain("Whose lamp?")
    assert [(one.entry.id, one.score.total) for one in again.candidates] == before
    with pytest.raises(ValueError, match="damaged"):
        PackedStates.from_bytes(bytes(20))


# -- kept tables and accesses ------------------------------------------------------------------------


@pytest.fixture
def kept(world: World, agent: AgentMemory, small_tables_are_kept: None) -> Path:
    """The folder of a closed agent whose short-term memory has a kept table."""
    agent.add_short_term([{"document": f"lamp {n}", "id": f"l{n}", "rating": 5} for n in range(12)])
    world.close()
    return world.folder / "mira"


def test_the_table_of_another_tier_is_not_believed(world: World, kept: Path) -> None:
    shutil.copy(kept / "stm.table", kept / "ltm.table")
    shutil.copy(kept / "stm.table", kept / "static.table")
    agent = world.agent("mira")
    assert agent.entries(Tier.LTM) == []
    assert {entry.tier for entry in agent.entries(Tier.STATIC)} == {Tier.STATIC}
    assert agent.messages == ()


def test_a_pipe_or_a_strange_note_does_not_keep_an_agent_from_opening(world: World, kept: Path) -> None:
    (kept / "stm.table").unlink()
    os.mkfifo(kept / "stm.table")
    (kept / "closed.json").write_text("[" * 200_000)
    assert len(world.agent("mira").entries(Tier.STM)) == 12
    world.close()
    (kept / "closed.json").unlink()
    (kept / "closed.json").mkdir()
    assert len(world.agent("mira").entries(Tier.STM)) == 12
    world.close()
    assert not list(kept.glob("*.part"))


def test_a_query_does_not_wait_for_another_program_that_writes(
    world: World, agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("The lamp fell.")
    agent.query_memory("lamp", threshold=0)
    log = agent._context.held._accesses
    written, begun = log._write, threading.Event()

    def write(accesses: object) -> None:
        begun.set()
        written(accesses)  # type: ignore[arg-type]

    monkeypatch.setattr(log, "_write", write)
    with FileLock(world.folder / "mira" / "lock", thread_local=False):
        agent.query_memory("lamp", threshold=0, now=NOW + timedelta(hours=1))
        assert begun.wait(LAST_RESORT)  # to write the accesses
        ended(lambda: agent.query_memory("lamp", threshold=0, now=NOW + timedelta(hours=2)))


def test_closing_waits_for_accesses_that_are_being_written(
    world: World, agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry_id = remember("The lamp fell.")
    log = agent._context.held._accesses
    written, begun, closing = log._write, threading.Event(), threading.Event()

    def slowly(accesses: object) -> None:
        begun.set()
        closing.wait(LAST_RESORT)
        time.sleep(0.3)  # so that it is mostly waited for
        written(accesses)  # type: ignore[arg-type]

    monkeypatch.setattr(log, "_write", slowly)
    agent.query_memory("lamp", threshold=0)
    assert begun.wait(LAST_RESORT)
    closing.set()
    world.close()
    found = world.agent("mira").find(entry_id)
    assert found is not None
    assert found.last_access == NOW


def test_the_stamp_never_goes_back(agent: AgentMemory, remember: Remember) -> None:
    remember("The lamp fell.")
    stamps = [agent.stamp]
    agent.query_memory("lamp", threshold=0)
    until(lambda: stamps.append(agent.stamp) or len(set(stamps)) > 1)
    stamps += [agent.stamp for _ in range(1000)]
    assert stamps == sorted(stamps)
    assert len(set(stamps)) == 2


# -- questions that cannot be ---------------------------------------------------------------------------


def test_the_first_year_has_ways_west_of_greenwich(agent: AgentMemory) -> None:
    agent.add_short_term({"document": "lamp", "id": "y", "rating": 5, "timestamp": "0001-01-01T00:00:00Z"}, rate=False)
    west = NOW.astimezone(timezone(timedelta(hours=-5)))
    assert isinstance(agent.ways(agent.explain("lamp", now=west, threshold=3), "y"), tuple)


def test_one_cue_is_not_taken_for_its_letters(agent: AgentMemory, remember: Remember) -> None:
    entry_id = remember("The lamp fell.")
    assert len(agent.retrieval.forecast_of(entry_id, "the lamp fell")) <= 1
    with pytest.raises(InvalidParameter, match="'cues' must be a list"):
        agent.retrieval.forecast_of(entry_id, 5)  # type: ignore[arg-type]
