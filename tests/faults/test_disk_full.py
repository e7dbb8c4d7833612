"""A disk that is full in the middle of a write: said in a sentence, nothing acknowledged lost, and it goes on."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_system import World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import StoreError
from memory_system.maintenance import backup
from tests.faults.conftest import Counted
from tests.faults.survivor import Child, Survivor, go, prepare, settings_of, start, told_by

LONG = pytest.mark.long
DISK = 24_000_000
"""Bytes of the small disk: the world takes 2 MB of it, and a store that is rebuilt as much again."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"), embedder)


@pytest.fixture
def disk(prepared: Path, tmp_path: Path) -> Iterator[Path]:
    """A small disk of memory, mounted, with a copy of the prepared world on it."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", place]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("No disk can be mounted here; test_a_file_that_may_not_grow stands for it.")
    try:
        shutil.copytree(prepared, place / "world")
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def _fill_but(disk: Path, left: int) -> Path:
    """A file that takes all of a disk but so many bytes."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        file.write(b"\0" * max(free - left, 0))
    return filler


def _told_until_failed(child: Child) -> list[dict[str, Any]]:
    told = [told_by(child)]
    while "failed" not in told[-1]:
        told.append(told_by(child))
    return told


def _checked(
    root: Path, told: list[dict[str, Any]], last: dict[str, Any], embedder: CachedEmbedder, counted: Counted, what: str
) -> None:
    errors = [one["sentence"] for one in told if "error" in one]
    assert len(errors) == 3, "it was full"
    assert all(one["recalled"] for one in told if "recalled" in one), "it is recalled from all the same"
    acknowledged = [one["revision"] for one in (*told, last) if one.get("revision")]
    after = Survivor(root, embedder)
    counted(what, acknowledged=len(acknowledged), **after.counts)
    assert after.missing(acknowledged) == set()
    assert {"room-0", "room-1", "room-2"} <= after.ids
    # what was refused without saying that it is kept has left nothing behind
    kept = sum("kept in the journal all the same" in sentence for sentence in errors)
    assert len({one.revision for one in after.history if one.operation == "add"} - set(acknowledged)) <= kept + 1


FREE = [
    *(pytest.param(left, each) for left, each in ((0, 3), (300_000, 40))),
    *(
        pytest.param(drawn.randrange(0, 1_500_000), drawn.choice((1, 40, 150)), marks=LONG)
        for drawn in map(random.Random, range(18))
    ),
]


@pytest.mark.parametrize(("left", "each"), FREE)
def test_a_disk_that_is_full_in_the_middle_of_a_write(
    disk: Path, embedder: CachedEmbedder, counted: Counted, left: int, each: int
) -> None:
    child = start(disk / "world", operation="until it is full", most=400, each=each, wait=True)
    assert told_by(child) == {"open": True}
    filler = _fill_but(disk, left)
    go(child)
    told = _told_until_failed(child)
    filler.unlink()
    go(child)
    last = told_by(child)
    out, problems = child.communicate()
    assert (child.returncode, out) == (0, ""), problems
    _checked(disk / "world", told, last, embedder, counted, "a disk that is full in the middle of a write")


@pytest.mark.parametrize("left", [0, pytest.param(150_000, marks=LONG)])
def test_an_agent_on_a_full_disk_opens_when_there_is_room_again(
    disk: Path, prepared: Path, embedder: CachedEmbedder, counted: Counted, left: int
) -> None:
    before = Survivor(disk / "world", embedder)
    filler = _fill_but(disk, left)
    child = start(disk / "world", operation="add", name="full")
    out, problems = child.communicate()
    assert child.returncode in (0, 1), problems
    assert child.returncode == 0 or "Error" in problems.splitlines()[-1] or "Store" in problems.splitlines()[-1]
    filler.unlink()
    after = Survivor(disk / "world", embedder)
    counted("an agent that is opened on a full disk", **after.counts)
    assert before.ids <= after.ids
    assert "revision" not in out or "full-0" in after.ids


def test_memories_for_which_there_is_no_room_are_refused_with_what_to_do(disk: Path, embedder: CachedEmbedder) -> None:
    with World(settings_of(disk / "world"), embedder=embedder) as world:
        mira = world.agent("mira")
        before, filler = mira.stamp, _fill_but(disk, 0)
        with pytest.raises(
            StoreError, match=r"\. Make room (on its disk|there), and do it again\. Nothing was changed\.$"
        ):
            mira.add_short_term([{"document": f"event {n}", "rating": 5} for n in range(50)])
        assert mira.stamp == before
        filler.unlink()


def test_what_is_copied_onto_a_full_disk_is_refused_in_a_sentence_and_leaves_nothing(
    disk: Path, embedder: CachedEmbedder
) -> None:
    with World(settings_of(disk / "world"), embedder=embedder) as world:
        _fill_but(disk, 600_000)
        before = {folder: sorted(folder.iterdir()) for folder in (disk, world.folder)}
        for act in (lambda: backup.make(world, disk / "b.zip"), lambda: world.duplicate_agent("mira", "twin")):
            with pytest.raises(StoreError, match=r"^[^(\[]*: No space left on device\.[^(\[]*$"):
                act()
        assert "twin" not in world.agents()
        assert {folder: sorted(folder.iterdir()) for folder in before} == before


@pytest.mark.parametrize("more", [40_000, *(pytest.param(n, marks=LONG) for n in (4_000, 120_000, 500_000))])
def test_a_file_that_may_not_grow(
    prepared: Path, tmp_path: Path, embedder: CachedEmbedder, counted: Counted, more: int
) -> None:
    shutil.copytree(prepared, tmp_path / "world")
    sizes = [path.stat().st_size for path in (tmp_path / "world").rglob("*") if path.is_file()]
    child = start(tmp_path / "world", operation="until it is full", most=400, each=40, limit=max(sizes) + more)
    assert told_by(child) == {"open": True}
    told = _told_until_failed(child)
    go(child)
    last = told_by(child)
    out, problems = child.communicate()
    assert (child.returncode, out) == (0, ""), problems
    _checked(tmp_path / "world", told, last, embedder, counted, "a file that may not grow")
