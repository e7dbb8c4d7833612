"""What killed programs left half made: gone when the world is opened next, and never taken from whoever is at it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.core.files import beside as beside_file
from memory_system.core.files import making, remove_left
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.maintenance import backup
from memory_system.maintenance.doctor import examine
from memory_system.world import cut_off, swap
from tests import programs

CUT_OFF = """
import json, os, signal, sys, time
from contextlib import ExitStack
from pathlib import Path
from memory_system.core import files
from memory_system.world import swap

order = json.loads(sys.argv[1])
world, backups, personalities = (Path(order[name]) for name in ("world", "backups", "personalities"))
backups.mkdir(parents=True, exist_ok=True)
spot = swap.Spot(world, personalities)
with ExitStack() as at_work:
    scratch = at_work.enter_context(files.making(backups, ".backup-"))
    (scratch / "agent").mkdir()
    (scratch / "agent" / "journal.sqlite3").write_bytes(bytes(5000))
    at_work.enter_context(files.beside(world / "world.json", "{}"))
    at_work.enter_context(files.beside(personalities / "mira.json", "{}"))
    at_work.enter_context(swap.work_lock(world))
    spot.half.mkdir()
    (spot.half / "world.json").write_bytes(bytes(3000))
    print(json.dumps({"making": True}), flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _lying_about(world: World) -> list[str]:
    """What lies in the folders in which things are made, and is hidden."""
    folders = (world.settings.backup_folder, world.folder, world.folder.parent, world.spot.personalities)
    found = {path.name for folder in folders for path in folder.glob(".*")}
    return sorted(name for name in found if not name.endswith(".lock"))


def test_what_a_killed_program_was_making_is_removed_by_the_next_opening_and_by_none_before(
    world: World, agent: AgentMemory, embedder: CachedEmbedder
) -> None:
    agent.add_short_term({"document": "lived before", "rating": 5})
    world.close()
    before = _lying_about(world)
    places = {"world": world.folder, "backups": world.settings.backup_folder, "personalities": world.spot.personalities}
    child = programs.Program("-c", CUT_OFF, json.dumps({name: str(path) for name, path in places.items()}))
    assert child.stdout is not None
    assert child.stdin is not None
    child.stdout.readline()
    in_use = _lying_about(world)
    assert len(in_use) == len(before) + 4
    with World(world.settings, embedder=embedder) as beside:
        assert beside.cut_off == ()
        assert not any(one.what == "leftovers" for one in examine(beside, repair=True))
        assert _lying_about(world) == in_use
    child.stdin.write("go\n")
    child.stdin.flush()
    child.communicate()
    assert child.returncode == -signal.SIGKILL

    told = [one.sentence for one in examine(world) if one.what == "leftovers"]
    assert len(told) == 4
    assert any("takes 5.0 KB" in sentence for sentence in told), told
    with World(world.settings, embedder=embedder) as opened:
        assert sum(one.size for one in opened.cut_off) >= 8000
        assert _lying_about(world) == before
        assert any("4 left half made" in one.sentence for one in examine(opened))
        assert [entry.document for entry in opened.agent("mira").entries(Tier.STM)] == ["lived before"]


def test_what_was_being_written_in_an_agents_folder_is_removed_when_it_is_opened(
    world: World, agent: AgentMemory
) -> None:
    world.close()
    folder = world.folder / "mira"
    for name in (".generation-0123456789abcdef0123456789abcdef.part", "stm.table.4711.part", "journal.part"):
        (folder / name).write_bytes(bytes(2000))
    (told,) = [one for one in examine(world) if one.what == "leftovers"]
    assert "that takes 6.0 KB" in told.sentence
    assert world.agent("mira").messages == ()
    assert not list(folder.glob("*.part"))


def test_a_hundred_backups_killed_leave_nothing(world: World, agent: AgentMemory, embedder: CachedEmbedder) -> None:
    agent.add_short_term({"document": "to be kept", "rating": 5})
    folder = world.settings.backup_folder
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(100):
        killed = folder / f".backup-{number}"
        killed.mkdir()
        (killed / ".in-use.lock").touch()
    with World(world.settings, embedder=embedder) as opened:
        assert len(opened.cut_off) == 100
        made = backup.make(opened)
        assert made is not None
        assert [path.name for path in folder.iterdir()] == [made.path.name]


def test_a_restored_world_that_is_about_to_take_its_place_is_no_leftover(world: World) -> None:
    world.folder.mkdir(parents=True, exist_ok=True)
    world.spot.half.mkdir()
    pointer = world.spot.half.with_name(f"{world.spot.half.name}.json")
    pointer.write_text(json.dumps({"ready": world.spot.half.name}), encoding="utf-8")
    assert cut_off.found(world.spot, world.settings.backup_folder) == []
    assert cut_off.remove(world.spot, world.settings.backup_folder) == ()
    pointer.unlink()
    with swap.work_lock(world.folder):
        assert cut_off.remove(world.spot, world.settings.backup_folder) == ()
    assert [one.path for one in cut_off.remove(world.spot, world.settings.backup_folder)] == [world.spot.half]


def test_what_an_earlier_version_left_without_a_lock_goes_once_it_is_old(tmp_path: Path) -> None:
    folder = tmp_path / ".backup-of-before"
    folder.mkdir()
    assert not remove_left(folder)
    os.utime(folder, (0, 0))
    assert remove_left(folder)
    assert not folder.exists()


def test_whoever_makes_something_keeps_it_until_the_end(tmp_path: Path) -> None:
    with making(tmp_path, ".backup-") as folder, beside_file(tmp_path / "a.json", "{}") as part:
        assert not remove_left(folder)
        assert not remove_left(part)
        part.replace(tmp_path / "a.json")
        assert folder.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(OSError, match="nowhere"), making(tmp_path / "nowhere", ".backup-"):
        pass
