"""What each level of durability survives; a power cut is a copy of the files whose newest writes are missing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

from memory_system import Settings, Tier, World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import InvalidParameter
from memory_system.maintenance.doctor import mend
from tests.conftest import PERSONALITY
from tests.faults.conftest import Counted
from tests.faults.survivor import Survivor, settings_of

CHANGES = 6


@pytest.mark.usefixtures("journals_in_files")
@pytest.mark.parametrize(("level", "number"), [(None, 2), ("full", 2), ("normal", 1)])
def test_the_level_is_the_one_of_the_environment(
    tmp_path: Path, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch, level: str | None, number: int
) -> None:
    if level is not None:
        monkeypatch.setenv("MEMORY_DURABILITY", level)
    monkeypatch.setenv("MEMORY_DATABASE", str(tmp_path / "database"))
    monkeypatch.setenv("MEMORY_PERSONALITIES", str(tmp_path / "personalities"))
    with World(embedder=embedder) as world:
        journal = world.create_agent("mira")._context.held.journal
        with journal._connections._engine.connect() as db:
            assert db.scalar(sa.text("PRAGMA synchronous")) == number


def test_a_level_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_DURABILITY", "off")
    with pytest.raises(InvalidParameter, match="MEMORY_DURABILITY"):
        Settings()


@pytest.mark.usefixtures("journals_in_files")
@pytest.mark.parametrize("share", [0.9, *(pytest.param(n / 10, marks=pytest.mark.long) for n in range(2, 9))])
def test_a_power_cut_at_the_lower_level_leaves_whole_changes_and_what_chroma_took_in(
    tmp_path: Path, embedder: CachedEmbedder, counted: Counted, share: float
) -> None:
    with World(settings_of(tmp_path / "world").model_copy(update={"durability": "normal"}), embedder=embedder) as world:
        agent = world.create_agent("mira", json.dumps(PERSONALITY))
        for number in range(CHANGES):
            agent.add_short_term([{"document": f"{number} {n}", "id": f"{number}-{n}", "rating": 5} for n in range(4)])
        agent._context.held.settle()
        shutil.copytree(tmp_path / "world", tmp_path / "cut")
    log = tmp_path / "cut/database/mem_test/mira/journal.sqlite3-wal"
    os.truncate(log, int(log.stat().st_size * share))
    with World(settings_of(tmp_path / "cut"), embedder=embedder) as world:
        read_only = world.agent("mira").read_only
        assert read_only is None or "newest changes are missing" in read_only
        if read_only:
            assert mend(world, "mira") is None
        held = {entry.id for entry in world.agent("mira").entries(Tier.STM)}
    after = Survivor(tmp_path / "cut", embedder)
    counted("a power cut at durability normal", **after.counts)
    wanted = {f"{number}-{n}" for number in range(CHANGES) for n in range(4)}
    assert held == wanted, "Chroma had taken it in"
