"""Killed after it has answered: a query of more than half a second ago is in the log, and lived through as it was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memory_system import Settings, World
from memory_system.embedding import CachedEmbedder
from tests.conftest import NOW, PERSONALITY, ROOT


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


def _killed(folder: Path, after: float) -> list[str]:
    """What a child recalled that was killed so many seconds after it had told it."""
    settings = _settings(folder)
    order: dict[str, Any] = {"operation": "ask", "cue": "event 20"}
    order |= {"database": str(settings.database), "personalities": str(settings.personalities)}
    command = [sys.executable, "-m", "tests.faults.child", json.dumps(order)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as child:  # type: ignore[call-overload]
        assert json.loads(child.stdout.readline()) == {"open": True}
        recalled: list[str] = json.loads(child.stdout.readline())["recalled"]
        time.sleep(after)
        child.kill()
        child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    return recalled


def test_a_query_of_a_second_ago_survives_a_kill(folder: Path, embedder: CachedEmbedder) -> None:
    recalled = _killed(folder, 2.5)
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
    recalled = _killed(folder, after)
    with World(_settings(folder), embedder=embedder) as world:
        agent = world.agent("mira")
        found = agent.queries()
        accessed = [entry_id for entry_id in recalled if agent.find(entry_id).last_access]  # type: ignore[union-attr]
        assert (len(found), accessed) in ((0, []), (1, recalled))
        assert all(agent.relive(one.number).faithful for one in found)
        assert agent.messages == ()
