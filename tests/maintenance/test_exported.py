"""An export taken back in: the same memories in the same tiers, as one change that can be undone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.core import DECAYING
from memory_system.core.change_set import entry_to_json
from memory_system.errors import InvalidFile
from memory_system.maintenance import export as exporting
from memory_system.maintenance.export import is_export, read_rows, take_in
from tests.command_line import CommandLine

Remember = Callable[..., str]


@pytest.fixture
def file(agent: AgentMemory, remember: Remember, tmp_path: Path) -> Path:
    """An export of mira, with a memory in each tier and one derived from another."""
    remember("Hid the key of the tide mill.", id="key", tags=("key",), metadata={"mood": "calm"})
    remember("Baked forty loaves.", id="loaves", rating=2, hours_ago=5)
    agent.migrate_stm2ltm(ids="key")
    agent.edit("loaves", protected=True)
    exporting.export(agent, tmp_path / "mira.jsonl", vectors=True)
    return tmp_path / "mira.jsonl"


def held(agent: AgentMemory) -> dict[str, object]:
    return {entry.id: entry_to_json(entry) for tier in DECAYING for entry in agent.entries(tier)}


def test_another_agent_gets_the_same_memories_and_undo_takes_them_back(
    world: World, agent: AgentMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli, bo = CommandLine(world, monkeypatch), world.create_agent("bo")
    before = bo.stamp
    dry = cli("import", "bo", str(file), "--dry-run")
    assert (dry.code, dry.err, bo.stamp) == (0, "", before)
    assert "2 added" in dry.out
    done = cli("import", "bo", str(file), "--json")
    assert (done.code, done.err) == (0, "")
    assert held(bo) == held(agent) != {}
    assert bo.query_memory("Where is the key?").hits
    assert cli("undo", "bo").code == 0
    assert held(bo) == {}


def test_what_is_held_is_left_overwritten_or_spared(agent: AgentMemory, file: Path) -> None:
    entries = [row.entry for row in read_rows(file.read_text(encoding="utf-8")) if row.entry]
    before = agent.stamp
    assert {one.action for one in take_in(agent, entries, overwrite=True).outcomes} == {"skipped"}
    assert agent.stamp == before
    agent.edit("key", document="Lost the key.")
    agent.edit("loaves", protected=False)
    agent.edit("loaves", document="Baked fifty loaves.")
    agent.edit("loaves", protected=True)
    assert not take_in(agent, entries, overwrite=False, preview=True).change_set
    actions = {one.id: one.action for one in take_in(agent, entries, overwrite=True).outcomes if ":" not in one.id}
    assert actions == {"key": "overwritten", "loaves": "skipped"}
    key = agent.find("key")
    assert key is not None
    assert (key.document, key.tier) == ("Hid the key of the tide mill.", Tier.LTM)


def test_a_broken_line_is_told_and_nothing_is_taken(
    world: World, agent: AgentMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli, bo = CommandLine(world, monkeypatch), world.create_agent("bo")
    lines = file.read_text(encoding="utf-8").splitlines()
    twin = lines[-1]
    file.write_text("\n".join([*lines, "{", '{"id": "x"}', twin, "[]"]), encoding="utf-8")
    before = bo.stamp
    done = cli("import", "bo", str(file), "--json")
    assert (done.code, bo.stamp) == (1, before)
    first = len(lines) + 1
    assert [one["line"] for one in done.value["refused"]] == [first, first + 1, first + 2, first + 3]


def test_another_format_is_refused_and_other_files_are_no_export() -> None:
    assert is_export('{"agent": "mira", "format": "memory-system/1"}\n')
    assert not is_export('{"document": "Saw smoke"}\n')
    assert not is_export("[" * 100_000)
    with pytest.raises(InvalidFile, match="this program reads 'memory-system/1'"):
        read_rows(json.dumps({"agent": "mira", "format": "memory-system/9"}))
