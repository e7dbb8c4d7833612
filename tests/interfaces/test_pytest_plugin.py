"""The pytest plugin: which world a story is tested against, and that none is begun by testing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from memory_system import AgentMemory, World
from tests.conftest import ROOT

STORY = """
def test_secret(world):
    assert not world.knows("mira", "Tobias has the brass key.")
"""


def outcome_of(folder: Path, world: World, *more: str) -> subprocess.CompletedProcess[str]:
    """What pytest says of a story."""
    (folder / "test_story.py").write_text(STORY, encoding="utf-8")
    where = world.settings
    said = [f"--memory-database={where.database}", f"--memory-personalities={where.personalities}", *more]
    plugin = ["-p", "memory_system.interfaces.pytest_plugin", "-p", "no:cacheprovider"]
    told = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "MEMORY_LLM": "offline"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, *said, str(folder)],
        capture_output=True, text=True, check=False, cwd=folder, env=os.environ | told,
    )  # fmt: skip


def test_a_story_is_tested_against_the_world_that_is_named(tmp_path: Path, world: World, agent: AgentMemory) -> None:
    done = outcome_of(tmp_path, world, f"--memory-world={world.name}")
    assert done.returncode == 0, done.stdout


def test_a_world_that_is_not_there_is_refused_and_not_begun(tmp_path: Path, world: World, agent: AgentMemory) -> None:
    done = outcome_of(tmp_path, world, "--memory-world=harrow")
    assert done.returncode == 1
    assert "WorldNotFound: There is no world 'harrow' in" in done.stdout
    assert not (world.settings.database / "harrow").exists()


def test_a_folder_of_worlds_that_is_not_there_is_refused_and_not_made(tmp_path: Path, world: World) -> None:
    missing = tmp_path / "databse"
    done = outcome_of(tmp_path, world, f"--memory-database={missing}")
    assert done.returncode == 1
    assert f"in {missing}; see --memory-database" in done.stdout
    assert not missing.exists()
