"""What cannot be a name, a function, a test or a time is refused in a sentence, and nothing is changed by it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from memory_system import AgentMemory, World
from memory_system.conversation import Conversation, Duet, comparing, interview
from memory_system.embedding.registry import EMBEDDERS
from memory_system.errors import EntryNotFound, InvalidEntry, InvalidParameter
from memory_system.maintenance import backup, doctor, restore

Remember = Callable[..., str]
_IN_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@pytest.mark.parametrize("name", ["\ud800", 10**400, [], {}, None, np.array([1, 2])])
def test_the_name_of_a_text_is_a_text(agent: AgentMemory, name: Any) -> None:
    with pytest.raises(InvalidParameter, match="name of a text must be a text"):
        agent.text(name)
    assert agent.text("never heard of") is None


@pytest.mark.parametrize("name", [[], {}, np.array([1, 2])])
def test_presets_and_embedders_have_names(agent: AgentMemory, name: Any) -> None:
    with pytest.raises(InvalidParameter, match="There is no form"):
        agent.read_material("Saw smoke.", form=np.array([1, 2]))
    with pytest.raises(InvalidParameter, match="There is no preset"):
        agent.versus(name, "paper")
    with pytest.raises(InvalidParameter, match="There is no embedder"):
        EMBEDDERS.get(name)


def test_a_long_value_is_shown_to_be_cut_short(world: World) -> None:
    for given, told in (("g" * 500, f"not '{'g' * 57}…'."), ([5] * 500, "5, …].")):
        with pytest.raises(InvalidParameter, match="1 to 64 characters") as refused:
            world.group(given, ["mira"])  # type: ignore[arg-type]
        assert str(refused.value).endswith(told)


ASKED: dict[str, Callable[[AgentMemory, World, dict[str, Any]], object]] = {
    "add": lambda agent, _world, given: agent.add_short_term([{"document": "a"}, {"document": "b"}], **given),
    "rate": lambda agent, _world, given: agent.rate_unrated(**given),
    "reembed": lambda agent, _world, given: agent.reembed(**given),
    "advance": lambda _agent, world, given: world.advance(**given),
    "backup": lambda _agent, world, given: backup.make(world, **given),
    "restore": lambda _agent, world, given: restore.restore(world, "no.zip", **given),
    "doctor": lambda _agent, world, given: doctor.examine(world, **given),
    "interview": lambda agent, _world, given: interview.sit(agent, **given),
    "comparing": lambda agent, _world, given: comparing.compare(agent, [], [], **given),
}
TOLD: dict[str, Callable[[AgentMemory, World, dict[str, Any]], object]] = {
    "material": lambda agent, _world, given: agent.import_material("Saw smoke.", **given),
    "tune": lambda agent, _world, given: agent.tune(**given),
    "who knows": lambda _agent, world, given: world.who_knows("The key is gone.", **given),
    "spread": lambda _agent, world, given: world.spread("The key is gone.", **given),
    "tests": lambda _agent, world, given: world.run_tests(**given),
}


@pytest.mark.parametrize("name", ["progress", "cancelled"])
@pytest.mark.parametrize("what", ASKED)
def test_who_is_told_or_asked_is_a_function(agent: AgentMemory, world: World, what: str, name: str) -> None:
    before = agent.revision
    with pytest.raises(InvalidParameter, match=f"'{name}' must be a function, not 'stop'"):
        ASKED[what](agent, world, {name: "stop"})
    assert agent.revision == before


@pytest.mark.parametrize("what", TOLD)
def test_who_is_told_how_far_it_is_is_a_function(agent: AgentMemory, world: World, what: str) -> None:
    with pytest.raises(InvalidParameter, match="'progress' must be a function, not 5"):
        TOLD[what](agent, world, {"progress": 5})


@pytest.mark.parametrize("given", [{"heard": 5}, {"cancelled": 5}])
def test_who_hears_a_talk_is_a_function(agent: AgentMemory, world: World, given: dict[str, Any]) -> None:
    talks = [Conversation.begin(one, human="x") for one in (agent, world.create_agent("ana"))]
    with pytest.raises(InvalidParameter, match=f"'{next(iter(given))}' must be a function, not 5"):
        Duet(*talks).talk(2, **given)
    if "heard" in given:
        with pytest.raises(InvalidParameter, match="must be a function"):
            talks[0].step("Hello", **given)


def _truths() -> list[tuple[type, str, str]]:
    """Every parameter of a method of an agent or a world that is true or false."""
    methods = [(of, name, one) for of in (AgentMemory, World) for name, one in inspect.getmembers(of, callable)]
    return [
        (of, name, each.name)
        for of, name, one in methods
        if not name.startswith("_")
        for each in inspect.signature(one).parameters.values()
        if each.annotation in ("bool", "bool | None")
    ]


@pytest.mark.parametrize(("of", "method", "name"), _truths())
def test_what_is_neither_true_nor_false_is_refused(
    agent: AgentMemory, world: World, of: type, method: str, name: str
) -> None:
    called = getattr(agent if of is AgentMemory else world, method)
    asked = [one for one in inspect.signature(called).parameters.values() if one.default is inspect.Parameter.empty]
    given = {one.name: "mira" for one in asked if one.kind is inspect.Parameter.KEYWORD_ONLY}
    positional = [one for one in asked if one.kind in _IN_PLACE and one.name != name]
    before = agent.revision
    with pytest.raises(InvalidParameter, match="must be True or False"):
        called(*("mira" for _ in positional), **given, **{name: np.array([True, False])})
    assert agent.revision == before


def test_parts_of_an_agent_refuse_it_too(agent: AgentMemory) -> None:
    neither = np.array([True, False])
    for called in (
        lambda: agent.cues.save_cue("smoke", "Where is smoke?", preview=neither),
        lambda: agent.retrieval.query_memory("Where is smoke?", touch=neither),
        lambda: agent.duplicates.suspicions(ask_model=neither),
    ):
        with pytest.raises(InvalidParameter, match="must be True or False"):
            called()


def test_who_opens_says_whether_to_take_over(world: World) -> None:
    for opened in (lambda **given: World(world.settings, **given), lambda **given: AgentMemory("mira", **given)):
        with pytest.raises(InvalidParameter, match="'take_over' must be"):
            opened(take_over=np.array([True, False]))


@pytest.mark.parametrize("given", [5, None, np.array([1, 2]), {"changes": []}])
def test_what_is_carried_out_is_a_change_set(agent: AgentMemory, world: World, given: Any) -> None:
    for called in (world.carry_out, agent.apply, agent.embed_ahead):
        with pytest.raises(InvalidParameter, match="must be a change set, not"):
            called(given)


def test_what_tables_write_for_no_time_is_neither_a_rating_nor_a_time(agent: AgentMemory) -> None:
    with pytest.raises(InvalidEntry, match="rating must be a number from 1 to 10, not a datetime64"):
        agent.add_short_term({"document": "Saw smoke", "rating": np.datetime64("NaT")})
    for name in ("timestamp", "last_access"):
        with pytest.raises(InvalidEntry, match=f"{name} must be a time, not a NaTType"):
            agent.add_short_term({"document": "Saw smoke", name: pd.NaT})


@pytest.mark.parametrize("preview", [1, np.True_, np.array([True])])
def test_what_numpy_says_is_true_is_true(agent: AgentMemory, preview: Any) -> None:
    assert agent.migrate_stm2ltm(preview=preview).revision is None


@pytest.mark.parametrize("but", [None, 5, [5]])
def test_what_is_left_unrated_is_told_by_ids(agent: AgentMemory, but: Any) -> None:
    with pytest.raises(InvalidParameter, match="'but' must be a text or a list of texts"):
        agent.rate_unrated(but=but)


def test_one_id_is_left_unrated_as_well_as_several(agent: AgentMemory) -> None:
    agent.add_short_term([{"document": "The oven", "id": "oven"}, {"document": "The mill", "id": "mill"}], rate=False)
    assert agent.rate_unrated(but="oven").rated == ("mill",)
    assert agent.rate_unrated(but={"oven"}).rated == ()


@pytest.mark.parametrize("given", [None, 5, "a test", [5]])
def test_a_world_takes_what_it_answered_and_nothing_else(world: World, given: Any) -> None:
    with pytest.raises(InvalidParameter, match="'tests' must be a list of StoryTest"):
        world.keep_tests(given)
    if given is not None:
        with pytest.raises(InvalidParameter, match="'tests' must be a list of StoryTest"):
            world.run_tests(given)
    with pytest.raises(InvalidParameter, match="must be an About"):
        world.describe(given)
    with pytest.raises(InvalidParameter, match="what was planned together"):
        world.carry_out_all(given)
    with pytest.raises(InvalidParameter, match="The cell must be one"):
        world.with_author(given)


@pytest.mark.parametrize("at", [-1, 0.5, "2026-03-27T18:00:00+00:00"])
def test_a_clock_stands_at_a_time_and_at_no_number(world: World, at: Any) -> None:
    before = world.standing
    with pytest.raises(InvalidParameter, match="The world's time must be a time with a zone"):
        world.stand_at(at)
    assert world.standing == before


def test_an_id_of_a_million_letters_is_not_told_whole(agent: AgentMemory) -> None:
    with pytest.raises(EntryNotFound) as refused:
        agent.restore("x" * 1_000_000)
    assert len(refused.value.sentence) < 200
