"""What is no text, where a method takes one, is refused by an error of the tree, and nothing is changed by it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import _GeneratorContextManager
from typing import Any

import numpy as np
import pytest

from memory_system import AgentMemory, World
from memory_system.agent_parts.context import Part
from memory_system.errors import InvalidInput, InvalidParameter, MemorySystemError
from memory_system.operations.retention import rule_of
from memory_system.world import knowing

_NONE = [np.array([1, 2]), np.array(["a", "b"]), ["a"], [], {}, 5, b"bytes", "\ud800", "a\0b", "", None]
_CHOICES = ("str", "Retention", "Measure", "Seats", "DecayForm", "Passing")


def _texts() -> Iterator[tuple[type, str, str]]:
    """Every parameter that takes a text, of a method of an agent, of its parts or of a world."""
    for of in (AgentMemory, World, *Part.__subclasses__()):
        for name, method in inspect.getmembers(of, callable):
            if not name.startswith("_"):
                for each in inspect.signature(method).parameters.values():
                    told = str(each.annotation)
                    if any(one in told for one in _CHOICES) and "Mapping" not in told:
                        yield of, name, each.name


def _beside(of: type, one: inspect.Parameter, agent: AgentMemory) -> Any:
    """What another parameter is given that has to be."""
    fitting: dict[str, Any] = {
        "to": "zed" if of is World else agent.now,
        "changes": {},
        "texts": {},
        "events": [{"document": "Rain."}],
        "tier": "ltm",
        "must": ["oven"],
        "revision": 1,
        "since": 1,
        "limit": 5,
        "query": agent.query("smoke"),
    }
    if of is World and one.name in ("name", "one", "branch"):
        return "mira"
    return fitting.get(one.name, "oven" if "id" in one.name else "Smoke.")


@pytest.mark.parametrize(("of", "method", "name"), list(_texts()))
def test_what_is_no_text_is_refused_by_an_error_of_the_tree(
    agent: AgentMemory, world: World, of: type, method: str, name: str
) -> None:
    agent.add_short_term({"document": "The oven", "id": "oven", "rating": 3})
    whose = agent if of is AgentMemory else world if of is World else of(agent._context)
    called = getattr(whose, method)
    parameters = inspect.signature(called).parameters.values()
    given = {
        one.name: _beside(of, one, agent)
        for one in parameters
        if one.default is inspect.Parameter.empty and one.kind is not inspect.Parameter.VAR_KEYWORD
    }
    if "preview" in {one.name for one in parameters}:
        given["preview"] = True
    before = agent.revision
    for value in _NONE:
        try:
            answer = called(**{**given, name: value})
            if isinstance(answer, _GeneratorContextManager):
                with answer:
                    pass
        except MemorySystemError as error:
            told = error.sentence
            assert "truth value" not in told, told
            if isinstance(error, InvalidInput):
                assert agent.revision == before
        if method in ("rename_agent", "delete_agent"):
            assert "mira" in world.agents(), f"{method}({name}={value!r}) was done"


def test_a_text_that_is_told_wrong_is_told_by_its_name(agent: AgentMemory, world: World) -> None:
    two: Any = np.array([1, 2])
    with pytest.raises(InvalidParameter, match="'mark' must be a text, not array"):
        agent.put_off("plan", mark=two)
    with pytest.raises(InvalidParameter, match="'expected' must be a text, not array"):
        agent.save_personality("{}", expected=two)
    with pytest.raises(InvalidParameter, match="There is no retention array"):
        agent.migrate_stm2ltm(retention=two)
    with pytest.raises(InvalidParameter, match="There is no retention array"):
        rule_of(agent.settings, 0.5, two)
    with pytest.raises(InvalidParameter, match="'one' must be a text"):
        world.beside(two, "mira", "smoke")
    with pytest.raises(InvalidParameter, match=r"'author' must be a text, not 5\."):
        world.know("The mill is shut.", author=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="'fact_id' must be a text"):
        world.know("The mill is shut.", fact_id=two)
    with pytest.raises(InvalidParameter, match=r"'texts\[1\]' contains half of a surrogate pair, which is not text"):
        agent.contents.embedded(["smoke", "\ud800"])
    with (
        pytest.raises(InvalidParameter, match="'cues' must be a list of texts, not 'smoke'"),
        agent.contents.still("smoke"),
    ):
        raise AssertionError("tables are held still for no such cues")
    assert knowing.kept_by(world).facts == ()


def test_an_array_where_none_is_meant_is_refused_in_a_sentence(agent: AgentMemory, world: World) -> None:
    two: Any = np.array([1, 2])
    agent.add_short_term({"document": "The oven", "id": "oven", "rating": 3})
    before = agent.revision
    with pytest.raises(InvalidInput, match="'instances' must be a list"):
        agent.query_memory("smoke", instances=two)
    with pytest.raises(InvalidInput, match="rating"):
        agent.edit_many("oven", rating=two)
    for call in (lambda: world.advance(events=two), lambda: world.advance(events=two, preview=True)):
        with pytest.raises(InvalidInput):
            call()
    with pytest.raises(InvalidParameter, match="Material is bytes or text, not a ndarray"):
        world.bring_character("ana", two)
    assert two not in world
    assert agent.revision == before
