"""What is copied or handed to another process: values and errors are, and what holds files says that it cannot be."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context

import pytest

from memory_system import AgentMemory, World
from memory_system.core.personality import parse
from memory_system.errors import ExtraMissing, InvalidPersonality, MemorySystemError, ModelUnavailable
from memory_system.interfaces.client import RemoteAgent, RemoteWorld


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


def refused(told: str) -> None:
    """Raise in another process what was wrong with a personality."""
    parse(told)


def test_an_error_comes_out_of_a_pool_of_processes_as_it_was_raised() -> None:
    """One that is made of more than a sentence broke the pool, and all its work was lost."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.raises(InvalidPersonality, match="identity") as raised:
            pool.submit(refused, '{"identity": {}}').result()
        assert raised.value.problems[0].field == "identity.name"
    for error in (
        ExtraMissing("Cakes", "oven"),
        ModelUnavailable("It is tired.", retry_after=2.0),
        MemorySystemError(),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
