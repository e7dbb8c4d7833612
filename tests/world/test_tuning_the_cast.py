"""Tuning a cast: labels too few of each are enough together; who has settings of its own is left alone and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mcp import Client

from memory_system import AgentMemory, Retention, Scoring, Seats, Weights, World
from memory_system.errors import InvalidDocument, InvalidParameter, NotAllowed, StaleChange, StoreBusy
from memory_system.interfaces.client import RemoteWorld
from memory_system.interfaces.mcp.curating import CURATING_TOOLS
from memory_system.interfaces.mcp.server import create_server
from memory_system.interfaces.mcp.tool import Tools
from memory_system.interfaces.operations import OF_CAST, Operation, history_labels
from memory_system.operations.tuning import MIN_CUES, MORE_NEEDED
from memory_system.world.auth import Role
from memory_system.world.knows import Sort, StoryTest
from memory_system.world.knows.story import FILE as STORY
from memory_system.world.together import ShareOf, Together
from memory_system.world.tuning import shared
from memory_system.world.viewer import for_role
from tests.command_line import COMMANDS, CommandLine
from tests.conftest import NOW
from tests.mcp_clients import called, run
from tests.served import served_api

NAMES = ("ana", "bo", "cem")
THINGS = {
    "ana": ("anchor", "basket", "candle", "drum", "easel", "flute", "goblet", "hammer"),
    "bo": ("inkwell", "jug", "kettle", "ladder", "mirror", "needle", "oven", "pump"),
    "cem": ("quilt", "rope", "saddle", "trumpet", "umbrella", "violin", "wagon", "yoke"),
}
PLAIN = Scoring(Weights(0, 0, 1), seats=Seats.RANKING)
OURS = {"scoring": PLAIN, "top_k": 1, "threshold": 0.3, "stm_size": 100}
assert max(map(len, THINGS.values())) < MIN_CUES <= sum(map(len, THINGS.values()))


def told(agent: AgentMemory, things: Sequence[str]) -> None:
    """Of two memories of each thing one is important, and relevancy prefers the other."""
    said = [
        ({"document": f"The old {thing} was sold at last", "id": f"{thing}-much", "rating": 9},
         {"document": f"What became of the {thing}", "id": f"{thing}-little", "rating": 1})
        for thing in things
    ]  # fmt: skip
    agent.add_short_term([event for both in said for event in both])


def cue(thing: str) -> str:
    return f"What became of the {thing}?"


@pytest.fixture
def cast(world: World) -> World:
    """Three characters, whose memories nobody has judged, and dov, who has none."""
    for name in (*NAMES, "dov"):
        agent = world.create_agent(name)
        agent.configure(**OURS)
        told(agent, THINGS.get(name, ()))
    return world


@pytest.fixture
def judged(cast: World) -> World:
    """Of each thing the more important memory was judged right."""
    for name in NAMES:
        for thing in THINGS[name]:
            cast.agent(name).judge(cue(thing), f"{thing}-much", verdict=True)
            cast.agent(name).judge(cue(thing), f"{thing}-little", verdict=False)
    return cast


def recalled(world: World, name: str) -> list[str]:
    return [hit.entry.id for thing in THINGS[name] for hit in world.agent(name).explain(cue(thing))]


def notes(done: Together) -> dict[str, str]:
    return {one.agent: one.note for one in done.shares}


def test_labels_too_few_of_each_are_enough_together(judged: World) -> None:
    assert all(MORE_NEEDED in judged.agent(name).tune(preview=True).title for name in NAMES)
    before = {name: judged.agent(name).settings for name in judged.characters()}
    shown = judged.tune(preview=True)
    assert shown.title.startswith("Tune the cast: +")
    assert any("95 % interval" in note for note in shown.notes)
    assert {name: judged.agent(name).settings for name in judged.characters()} == before
    assert [one.agent for one in shown.plans] == ["ana", "bo", "cem", "dov"], "who has no labels recalls as the others"
    assert "8 cues with 8 right and 8 wrong memories, which match by 0% now" in notes(shown)["bo"]
    assert notes(shown)["dov"] == "No labelled cues of its own."
    judged.carry_out_all(shown)
    for name in NAMES:
        assert recalled(judged, name) == [f"{thing}-much" for thing in THINGS[name]]
    settings = [judged.agent(name).settings for name in judged.characters()]
    assert len(set(settings)) == 1
    assert replace(settings[0], scoring=PLAIN, threshold=0.3) == before["ana"], "nothing else is touched"


def test_each_is_undone_as_any_other_change(judged: World) -> None:
    before = {name: judged.agent(name).settings for name in judged.characters()}
    done = judged.tune(author="Ines")
    assert all(one.revision for one in done.plans)
    assert {judged.agent(one.agent).history(1)[0].change_set.author for one in done.plans} == {"Ines"}
    for one in done.plans:
        assert one.revision is not None
        judged.agent(one.agent).undo(one.revision)
    assert {name: judged.agent(name).settings for name in judged.characters()} == before


def test_who_has_settings_of_its_own_is_left_alone_and_named(judged: World) -> None:
    judged.agent("dov").configure(threshold=0.5)
    judged.create_agent("edda").configure(**OURS)
    shown = judged.tune(preview=True)
    assert [one.agent for one in shown.plans] == ["ana", "bo", "cem", "edda"]
    assert "threshold 0.5, not 0.3" in notes(shown)["dov"]
    judged.agent("bo").configure(scoring=Scoring(Weights(0, 1, 1), seats=Seats.RANKING))
    few = judged.tune(preview=True)
    assert not few.plans
    assert f"4 {MORE_NEEDED}" in few.title, "cues that were answered by other settings do not count"
    assert "weight of importance 1.0, not 0.0" in notes(few)["bo"]
    assert "8 cues with 8 right and 8 wrong memories do not count" in notes(few)["bo"]


def test_with_too_few_labels_it_says_how_many_are_missing(cast: World) -> None:
    assert f"{MIN_CUES} {MORE_NEEDED}" in cast.tune().title
    cast.agent("ana").judge(cue("anchor"), "anchor-much", verdict=True)
    cast.agent("bo").save_cue("jug", cue("jug"), "jug-much")
    cast.keep_tests([StoryTest("rope", Sort.RECALLS, cue("rope"), "cem", recalls="rope-much")])
    before = {name: cast.agent(name).revision for name in cast.characters()}
    done = cast.tune()
    assert f"{MIN_CUES - 3} {MORE_NEEDED}" in done.title
    assert not done
    assert {name: cast.agent(name).revision for name in cast.characters()} == before


@pytest.mark.parametrize("seed", range(3))
def test_random_labels_change_nothing(cast: World, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for name in NAMES:
        for thing in THINGS[name]:
            for other in rng.permutation([f"{one}-{how}" for one in THINGS[name] for how in ("much", "little")])[:4]:
                cast.agent(name).judge(cue(thing), str(other), verdict=bool(rng.random() < 0.5))
    done = cast.tune()
    assert "no gain shows" in done.title
    assert not done.plans
    assert {cast.agent(name).settings.scoring for name in NAMES} == {PLAIN}


def test_one_who_was_changed_meanwhile_is_named_and_nobody_is_changed(judged: World) -> None:
    shown = judged.tune(preview=True)
    judged.agent("cem").configure(top_k=2)
    before = {name: judged.agent(name).revision for name in judged.characters()}
    with pytest.raises(StaleChange, match=r"cem: .*Nobody was changed"):
        judged.carry_out_all(shown)
    assert {name: judged.agent(name).revision for name in judged.characters()} == before


def test_what_was_cut_off_goes_on_where_it_stopped(judged: World, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = judged.tune(preview=True)
    first, *others = shown.plans
    apply, broken = AgentMemory.apply, [True]

    def failing(agent: AgentMemory, plan: object) -> object:
        if agent.name == "bo" and broken[0]:
            raise StoreBusy("The disk is full.")
        return apply(agent, plan)  # type: ignore[arg-type]

    monkeypatch.setattr(AgentMemory, "apply", failing)
    with pytest.raises(StoreBusy, match=r"bo: The disk is full\. Done before that, and to be undone there: ana\."):
        judged.carry_out_all(shown)
    assert judged.agent("ana").history(1)[0].change_set.id == first.id
    assert all(judged.agent(one.agent).history(1)[0].change_set.id != one.id for one in others)
    broken[0] = False
    done = judged.carry_out_all(shown)
    assert [one.id for one in done.plans] == [one.id for one in shown.plans]
    assert len(judged.agent("ana").history(operation="tune")) == 1, "it was done once"


def test_only_one_change_set_of_each_agent_is_carried_out_together(judged: World) -> None:
    first = judged.agent("ana").configure(top_k=3, preview=True)
    other = judged.agent("ana").configure(top_k=4, preview=True)
    twice = Together("Ask for more", (), (ShareOf("ana", "", first), ShareOf("ana", "", other)))
    with pytest.raises(InvalidParameter, match="two are of the same"):
        judged.carry_out_all(twice)
    nothing = Together("Nothing", (), (ShareOf("ana", "Left alone."),))
    assert judged.carry_out_all(nothing) == nothing


def test_what_a_wrong_time_or_file_is_told_of_is_no_character(judged: World) -> None:
    with pytest.raises(InvalidParameter, match="now"):
        judged.tune(now=NOW.replace(tzinfo=None))
    (judged.folder / STORY).write_text("- {", encoding="utf-8")
    with pytest.raises(InvalidDocument):
        judged.tune()


def test_whoever_cannot_be_opened_keeps_nobody_else(judged: World) -> None:
    (judged.settings.personalities / "fay.json").write_text('{"identity": {"name": "Fay"}}', encoding="utf-8")
    (judged.folder / "fay").symlink_to(judged.folder / "dov")
    shown = judged.tune(preview=True)
    assert "is a symbolic link" in notes(shown)["fay"]
    assert notes(shown)["fay"].startswith("Left alone: ")
    assert len(shown.plans) == len(NAMES) + 1


def test_the_rule_of_what_is_kept_is_fitted_to_all_of_them(world: World) -> None:
    """Every third memory is small talk, rated 7, and asked for; the others tell much, and are rated 1."""
    for agent in map(world.create_agent, NAMES):
        agent.configure(stm_size=100, retention=Retention.LEARNED)
        events = [
            {"document": "What is it?", "id": f"{number}", "rating": 7}
            if number % 3 == 0
            else {"document": f"I moved to Oslo with Ana on {number} May 2021", "id": f"{number}", "rating": 1}
            for number in range(1, 28)
        ]
        agent.add_short_term(events)
        for number in range(3, 28, 3):
            agent.judge(f"What about {number}?", f"{number}", verdict=True)
    shown = world.tune(preview=True)
    assert any("Retention learned, above 0.04 → by importance" in note for note in shown.notes)
    assert all(any("Would now be kept: “What is it?”" in note for note in plan.notes) for plan in shown.plans)
    world.carry_out_all(shown)
    assert {world.agent(name).settings.retention for name in NAMES} == {Retention.IMPORTANCE}


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ({"a": 3, "b": 0, "c": 5}, {"a": 3, "b": 0, "c": 5}),
        ({"a": 50, "b": 2, "c": 9}, {"a": 4, "b": 2, "c": 4}),
        (dict.fromkeys("abcdefghijkl", 1), None),
    ],
)
def test_cues_are_shared_out_evenly(wanted: dict[str, int], got: dict[str, int] | None) -> None:
    found = shared(wanted, 10)
    assert found == got or (got is None and sum(found.values()) == 10)


# -- the front ends ----------------------------------------------------------------------------------------


def test_a_server_previews_it_and_carries_it_out_together(judged: World) -> None:
    heard: list[str] = []
    with served_api(judged) as address, RemoteWorld(address, author="Ines") as there:
        shown = there.tune(preview=True, progress=lambda _done, doing: heard.append(doing))
        assert "tried 0 settings" in heard
        assert (shown.title, shown.notes) == (judged.tune(preview=True).title, judged.tune(preview=True).notes)
        done = there.carry_out_all(shown)
        assert {one.agent: one.revision for one in done.plans} == {
            name: judged.agent(name).revision for name in judged.characters()
        }
        assert there.carry_out_all(shown) == done, "it is applied once"
        assert judged.agent("bo").history(1)[0].change_set.author == "API Ines"
        there.agent("bo").undo(judged.agent("bo").revision)
        assert judged.agent("bo").settings.scoring == PLAIN


def test_a_server_refuses_what_is_stale_or_was_never_shown(judged: World) -> None:
    with served_api(judged) as address, RemoteWorld(address) as there:
        shown = there.tune(preview=True)
        judged.agent("cem").configure(top_k=2)
        before = {name: judged.agent(name).revision for name in judged.characters()}
        with pytest.raises(StaleChange, match="cem"):
            there.carry_out_all(shown)
        with pytest.raises(InvalidParameter, match="previewed"):
            there.carry_out_all(judged.tune(preview=True))
        assert {name: judged.agent(name).revision for name in judged.characters()} == before


def test_it_is_a_command(judged: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = CommandLine(judged, monkeypatch)
    shown = cli("tune-cast", "--dry-run")
    assert "Tune the cast: +" in shown.out
    assert "dov: No labelled cues of its own." in shown.out
    assert "No labelled answer gets worse." in shown.out
    assert "Nothing was changed" in shown.out
    told = cli("tune-cast", "--json").value
    revisions = {one["agent"]: one["change_set"]["revision"] for one in told["shares"]}
    assert revisions == {name: judged.agent(name).revision for name in judged.characters()}
    assert cli("undo", "bo", str(revisions["bo"])).code == 0
    assert judged.agent("bo").settings.scoring == PLAIN


def test_it_is_a_tool(judged: World) -> None:
    async def session() -> dict[str, Any]:
        async with Client(create_server(judged, Tools(CURATING_TOOLS))) as client:
            shown = await called(client, "tune_cast", preview=True)
            assert all(one["change"]["revision"] is None for one in shown["shares"])
            return await called(client, "tune_cast")

    done = run(session)
    assert done["title"].startswith("Tune the cast: +")
    assert [one["change"]["revision"] for one in done["shares"]] == [
        judged.agent(name).revision for name in judged.characters()
    ]


@pytest.mark.parametrize("operation", OF_CAST, ids=lambda operation: operation.name)
def test_each_operation_of_the_cast_asks_for_every_field_everywhere(operation: Operation) -> None:
    fields = set(operation.form.model_fields)
    assert {one.name for one in COMMANDS[operation.on_command_line].params} == fields | {"dry_run", "json"}
    tool = next(one for one in CURATING_TOOLS if one.name == operation.over_mcp)
    assert set(tool.schema(agent=True)["properties"]) == fields | {"preview"}
    assert callable(getattr(World, operation.in_python))
    assert callable(getattr(RemoteWorld, operation.in_python))
    assert operation.in_history in history_labels()


def test_a_viewer_is_not_let_near_it(judged: World) -> None:
    shown = for_role(judged, Role.VIEWER)
    for refused in (lambda: shown.tune(), lambda: shown.carry_out_all(judged.tune(preview=True))):
        with pytest.raises(NotAllowed):
            refused()
