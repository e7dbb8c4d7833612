"""Time that passes is killed and goes on: no step is lost, and none is done twice."""

from __future__ import annotations

import json
import random
import shutil
import signal
from pathlib import Path

import pytest

from memory_system.embedding.embedder import CachedEmbedder
from tests.faults import living
from tests.faults.survivor import Child, go, told_by
from tests.programs import Program

STEPS = 60
"""What six characters do by themselves in two days, the six events of theirs among it."""


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Path:
    """A village at the beginning of its two days."""
    return living.settle(tmp_path_factory.mktemp("village"), embedder)


@pytest.fixture(scope="module")
def undisturbed(village: Path, tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> object:
    """What its people did who lived through them in one go."""
    root = tmp_path_factory.mktemp("undisturbed") / "root"
    shutil.copytree(village, root)
    assert _finished(_start(root)) == {"steps": STEPS, "waiting": 0}
    return living.lived(root, embedder)


def _start(root: Path, **order: object) -> Child:
    child = Program("-m", "tests.faults.living", json.dumps({"root": str(root), "to": str(living.UNTIL)} | order))
    assert told_by(child) == {"open": True}
    return child


def _finished(child: Child) -> object:
    out, problems = child.communicate()
    assert child.returncode == 0, problems
    return json.loads(out)


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.long)])
def test_two_days_killed_at_random_are_the_same_two_days(
    village: Path, undisturbed: object, tmp_path: Path, embedder: CachedEmbedder, kills: int
) -> None:
    root, drawn = tmp_path / "root", random.Random(kills)
    shutil.copytree(village, root)
    for _ in range(kills):
        child = _start(root, boundary=drawn.choice(list(living.BOUNDARIES)), times=drawn.randint(1, STEPS // 4))
        _, problems = child.communicate()
        assert child.returncode in (0, -signal.SIGKILL), problems
    _finished(_start(root))
    assert living.lived(root, embedder) == undisturbed


def test_two_processes_do_no_step_twice(
    village: Path, undisturbed: object, tmp_path: Path, embedder: CachedEmbedder
) -> None:
    root = tmp_path / "root"
    shutil.copytree(village, root)
    both = [_start(root, wait=True) for _ in range(2)]
    for child in both:
        go(child)
    done = [_finished(child) for child in both]
    assert living.lived(root, embedder) == undisturbed
    assert sum(one["steps"] for one in done) == STEPS  # type: ignore[index]
