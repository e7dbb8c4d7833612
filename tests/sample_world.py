"""The sample world, filled once per test run and copied for each test that wants to change it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from filelock import FileLock

from memory_system import Settings, World
from memory_system.embedding.embedder import Embedder
from memory_system.maintenance.samples import fill_world, prepare_recall

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "database" / "samples" / "harrow_quay"
SHARED = "TESTS_SHARED_FOLDER"
"""The variable that names the folder of worlds shared by runs of pytest; set and removed by ``tools/setup.py``."""


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """A temporary folder of this run, shared by its workers; ``make`` shares one among the runs of a target."""
    if SHARED in os.environ:
        return Path(os.environ[SHARED])
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(base: Path, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made by the first worker to need it, and never changed afterwards."""
    folder = base / name
    with FileLock(base / f"{name}.lock"):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / "done").touch()
    return folder


def filled(base: Path, embedder: Embedder) -> Path:
    """A folder with ``database`` and ``personalities`` of the sample world."""

    def fill(folder: Path) -> None:
        shutil.copytree(ROOT / "agent_personalities", folder / "personalities")
        settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
        with World(settings, embedder=embedder) as world:
            fill_world(world, SAMPLES)
            prepare_recall(world)

    return made_once(base, "sample-world", fill)


CAST = frozenset(file.stem for file in SAMPLES.glob("*.jsonl"))
"""The characters of the sample world."""


def copy(template: Path, target: Path, cast: Collection[str] = CAST) -> dict[str, str]:
    """A copy to change, and the environment that leads there; only with these characters."""

    def absent(_folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name.removesuffix(".json") in CAST.difference(cast)}

    shutil.copytree(template, target, ignore=absent)
    return {
        "MEMORY_DATABASE": str(target / "database"),
        "MEMORY_PERSONALITIES": str(target / "personalities"),
        "MEMORY_LLM": "offline",
    }
