"""Killed after it has answered: a query is in the log a moment later, and lived through as it was."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_system import Settings, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.store.journal.moving import Journals
from tests.conftest import NOW, PERSONALITY
from tests.faults.survivor import kill, start, told_by
from tests.waiting import until


@pytest.fixture
def folder(tmp_path: Path, embedder: CachedEmbedder) -> Path:
    """A world whose agent has 30 events in STM."""
    with World(_settings(tmp_path), embedder=embedder) as world:
        world.stand_at(NOW)
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        agent.add_short_term([{"document": f"event {n}", "id": f"m{n}", "rating": n % 10 + 1} for n in range(30)])
    return tmp_path


def _settings(folder: Path) -> Settings:
    return Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")


def _killed(folder: Path, when: Callable[[], None]) -> list[str]:
    """What a child recalled that was killed some time after it had told it."""
    with start(folder, operation="ask", cue="event 20") as child:
        assert told_by(child) == {"open": True}
        recalled: list[str] = told_by(child)["recalled"]
        when()
        kill(child)
    return recalled


def _logged(folder: Path) -> None:
    """Wait until a query is in the log, as anyone sees who reads the journal."""
    settings = _settings(folder)
    home = Journals(settings.journal_url).of(settings.database / settings.world / "mira")
    with home.looked_at() as journal:
        assert journal is not None
        until(lambda: len(journal.queries.newest(5, None, "")) == 1)


def test_a_query_is_logged_while_nothing_else_happens_and_survives_a_kill(
    folder: Path, embedder: CachedEmbedder
) -> None:
    recalled = _killed(folder, lambda: _logged(folder))
    with World(_settings(folder), embedder=embedder) as world:
        agent = world.agent("mira")
        (logged,) = agent.queries()
        assert [hit.entry_id for hit in logged.hits] == recalled
        assert {agent.find(entry_id).last_access for entry_id in recalled} == {NOW}  # type: ignore[union-attr]
        again = agent.relive(logged.number)
        assert (again.faithful, [hit.entry.id for hit in again.then.hits]) == (True, recalled)
        assert agent.messages == ()


@pytest.mark.parametrize("after", [0.0, 0.45, 0.5, 0.55])
def test_a_query_killed_at_any_moment_is_whole_or_not_at_all(
    folder: Path, embedder: CachedEmbedder, after: float
) -> None:
    recalled = _killed(folder, lambda: time.sleep(after))
    with World(_settings(folder), embedder=embedder) as world:
        agent = world.agent("mira")
        found = agent.queries()
        accessed = [entry_id for entry_id in recalled if agent.find(entry_id).last_access]  # type: ignore[union-attr]
        assert (len(found), accessed) in ((0, []), (1, recalled))
        assert all(agent.relive(one.number).faithful for one in found)
        assert agent.messages == ()
