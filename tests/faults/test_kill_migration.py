"""Killed with SIGKILL at every step of a change: nothing acknowledged is lost, nothing stands half or twice."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_system import AgentMemory, ChangeSet, ChromaMemory, Settings, Tier, World
from memory_system.changes import dump_entry
from memory_system.embedding import CachedEmbedder
from tests.conftest import NOW, PERSONALITY, ROOT

BEFORE = ("before the commit", "within the commit")
AFTER = (
    "after the commit, before the upsert",
    "after the upsert, before the delete",
    "after the delete, before it is marked done",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    """A world whose agent has 30 rated events for 20 places in STM, and a revision that forgot three more."""
    folder = tmp_path_factory.mktemp("prepared")
    with World(_settings(folder), embedder=embedder) as world:
        world.stand_at(NOW)
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        when = [NOW - timedelta(hours=number) for number in range(33)]
        agent.add_short_term(
            [{"document": f"event {n}", "id": f"m{n}", "rating": n % 10 + 1, "timestamp": when[n]} for n in range(33)]
        )
        agent.query_memory("event 20", top_k=3)
        agent.forget(["m0", "m1", "m2"])
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the prepared world, to be killed."""
    shutil.copytree(prepared, tmp_path / "world")
    return tmp_path / "world"


def _settings(folder: Path) -> Settings:
    return Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")


def _start(folder: Path, **order: Any) -> subprocess.Popen[str]:
    settings = _settings(folder)
    order |= {"database": str(settings.database), "personalities": str(settings.personalities)}
    command = [sys.executable, "-m", "tests.faults.child", json.dumps(order)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _killed_at(folder: Path, boundary: str, **order: Any) -> list[dict[str, Any]]:
    """What the child told before it was killed."""
    child = _start(folder, boundary=boundary, **order)
    out, problems = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL, problems
    return [json.loads(line) for line in out.splitlines()]


class Survivor:
    """The agent after the kill, opened again; everything that must hold whatever happened is checked at once."""

    def __init__(self, folder: Path, embedder: CachedEmbedder) -> None:
        with World(_settings(folder), embedder=embedder) as world:
            agent = world.agent("mira")
            self.messages = agent.messages
            self.history = [told.change_set for told in reversed(agent.history(10_000))]
            self.accesses = {e.id: e.last_access for e in agent.entries(Tier.STM) if e.last_access}
            self.tiers = {tier: {e.id: dump_entry(e) for e in agent.entries(tier)} for tier in Tier}
            self.personality = agent.personality_text
            self.pending = agent._ledger.journal.pending()
            self.answers = len(agent.query_memory("event 20", touch=False))
        self.file = (folder / "personalities/mira.json").read_text(encoding="utf-8")
        self._check(folder / "database/mem_test/mira/chroma")

    def _check(self, chroma: Path) -> None:
        assert self.pending == []
        assert [one.revision for one in self.history] == list(range(1, len(self.history) + 1))
        replayed: dict[str, str | None] = {}
        for change_set in self.history:
            for change in change_set.changes:
                assert replayed.get(change.entry_id) == dump_entry(change.before)
                replayed[change.entry_id] = dump_entry(change.after)
        shown = {key: body for held in self.tiers.values() for key, body in held.items()}
        assert shown == {key: body for key, body in replayed.items() if body is not None}
        stored = {}
        for tier in Tier:
            memory = ChromaMemory.at(chroma, tier)
            stored[tier] = {entry.id: dump_entry(entry) for entry in memory.snapshot().entries}
            memory.close()
        assert stored == self.tiers
        ids = Counter(entry_id for held in stored.values() for entry_id in held)
        assert [entry_id for entry_id, count in ids.items() if count > 1] == []
        assert self.answers > 0

    @property
    def last(self) -> ChangeSet:
        return self.history[-1]


@pytest.mark.parametrize("boundary", BEFORE + AFTER)
def test_a_killed_migration_is_whole_or_not_at_all(folder: Path, embedder: CachedEmbedder, boundary: str) -> None:
    before = Survivor(folder, embedder)
    assert len(before.tiers[Tier.STM]) == 30
    told = _killed_at(folder, boundary, operation="migrate")
    assert told == [{"open": True}], "nothing was acknowledged"
    after = Survivor(folder, embedder)
    if boundary in BEFORE:
        assert (after.tiers, after.history) == (before.tiers, before.history)
        assert after.messages == ()
    else:
        assert after.last.operation == "migrate"
        assert (len(after.tiers[Tier.STM]), len(after.tiers[Tier.LTM])) == (20, len(after.last.of("move")))
        assert len(after.last.of("move")) + len(after.last.of("forget")) == 10
    if boundary in AFTER[:2]:
        assert "1 interrupted change finished" in after.messages[0]
    assert Survivor(folder, embedder).messages == (), "the second opening finds all in order"


@pytest.mark.parametrize("boundary", BEFORE + AFTER)
def test_a_killed_add_is_whole_or_not_at_all(folder: Path, embedder: CachedEmbedder, boundary: str) -> None:
    _killed_at(folder, boundary, operation="add")
    added = {key for key in Survivor(folder, embedder).tiers[Tier.STM] if key.startswith("late")}
    assert added == (set() if boundary in BEFORE else {"late-0", "late-1", "late-2"})


@pytest.mark.parametrize("boundary", BEFORE + AFTER)
def test_a_killed_undo_is_whole_or_not_at_all(folder: Path, embedder: CachedEmbedder, boundary: str) -> None:
    before = Survivor(folder, embedder)
    assert before.last.operation == "forget"
    _killed_at(folder, boundary, operation="undo", revision=before.last.revision)
    after = Survivor(folder, embedder)
    brought_back = after.tiers[Tier.STM].keys() - before.tiers[Tier.STM].keys()
    assert brought_back == (set() if boundary in BEFORE else {"m0", "m1", "m2"})
    assert after.accesses.items() >= before.accesses.items()


@pytest.mark.parametrize("boundary", ["before the personality file is written", AFTER[0]])
def test_a_killed_save_of_the_personality_is_finished(folder: Path, embedder: CachedEmbedder, boundary: str) -> None:
    text = json.dumps(PERSONALITY | {"facts": ["The heron is a rumour."]})
    _killed_at(folder, boundary, operation="personality", text=text)
    after = Survivor(folder, embedder)
    assert after.personality == after.file == text
    assert any("The heron is a rumour." in str(body) for body in after.tiers[Tier.STATIC].values())


@pytest.fixture
def endless(folder: Path) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for child in started:
        child.kill()
        child.communicate()


def test_kills_at_random_moments_lose_nothing_acknowledged(
    folder: Path, embedder: CachedEmbedder, endless: list[subprocess.Popen[str]]
) -> None:
    moments = random.Random(1729)
    acknowledged: list[int] = []
    for name in ("first", "second", "third", "fourth"):
        child = _start(folder, operation="endlessly", name=name)
        endless.append(child)
        assert child.stdout is not None
        assert json.loads(child.stdout.readline()) == {"open": True}
        time.sleep(moments.uniform(0.05, 0.6))
        child.kill()
        out, problems = child.communicate(timeout=60)
        assert child.returncode == -signal.SIGKILL, problems
        lines = [line for line in out.splitlines(keepends=True) if line.endswith("\n")]
        acknowledged += [json.loads(line)["revision"] for line in lines]
        survivor = Survivor(folder, embedder)
        known = {one.revision for one in survivor.history}
        assert {revision for revision in acknowledged if revision is not None} <= known
    assert len(acknowledged) > 3
    assert {one.operation for one in survivor.history} >= {"add", "migrate"}


def test_an_acknowledged_change_needs_no_closing(folder: Path, embedder: CachedEmbedder) -> None:
    with World(_settings(folder), embedder=embedder) as world:
        copy: AgentMemory = world.agent("mira")
        revision = copy.migrate_stm2ltm(0.5).revision
        shutil.copytree(folder, folder.with_name("pulled-out"))
    assert Survivor(folder.with_name("pulled-out"), embedder).last.revision == revision
