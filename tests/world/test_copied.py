"""What is copied or handed to another process: values and errors are, and what holds files says that it cannot be."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from memory_system import AgentMemory, World
from memory_system.errors import ExtraMissing, MemorySystemError, ModelUnavailable
from memory_system.interfaces.client import RemoteAgent, RemoteWorld
from tests.conftest import ROOT
from tests.waiting import LAST_RESORT


@dataclass
class Villager:
    """A thing of a game that holds its memory."""

    agent: AgentMemory


COPIES: list[Callable[[object], object]] = [copy.copy, copy.deepcopy, pickle.dumps]


@pytest.mark.parametrize("copied", COPIES)
def test_what_holds_files_says_that_it_cannot_be_copied(
    copied: Callable[[object], object], world: World, agent: AgentMemory
) -> None:
    with RemoteWorld("http://127.0.0.1:9") as there:
        for one in (world, agent, there, RemoteAgent(there._wire, "mira")):
            with pytest.raises(TypeError, match=f"^{type(one).__name__} cannot be copied or pickled"):
                copied(one)
    with pytest.raises(TypeError, match=r"^AgentMemory cannot be copied"):
        asdict(Villager(agent))
    assert agent.revision == world.agent("mira").revision


POOL = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from memory_system.core.personality import parse
from memory_system.errors import InvalidPersonality

if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        try:
            pool.submit(parse, '{"identity": {}}').result()
        except InvalidPersonality as error:
            print(error.problems[0].field)
"""


def test_an_error_comes_out_of_a_pool_of_processes_as_it_was_raised(tmp_path: Path) -> None:
    """One that is made of more than a sentence broke the pool, and all its work was lost.

    In a program of its own: a pool that is spawned runs its process's main module again, and that may be a page here.
    """
    program = tmp_path / "pool.py"
    program.write_text(POOL)
    run = subprocess.run(
        [sys.executable, str(program)],
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LAST_RESORT,
    )
    assert (run.stdout.strip(), run.returncode) == ("identity.name", 0), run.stderr


def test_an_error_is_pickled_whole() -> None:
    for error in (
        ExtraMissing("Cakes", "oven"),
        ModelUnavailable("It is tired.", retry_after=2.0),
        MemorySystemError(),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
