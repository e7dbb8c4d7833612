"""The command that checks saved cues: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable

import pytest

from memory_system import AgentMemory, Scoring, Weights, World
from memory_system.core.change_set import ChangeSet, TextChange
from memory_system.interfaces.cli.recall import NONE_SAVED, as_json, as_text
from memory_system.recall.cues import SavedCue, dump_cues
from tests import programs
from tests.conftest import NOW

Remember = Callable[..., str]
CUE = "Where is the key of the tide mill?"


def ran(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "MEMORY_DATABASE": str(world.settings.database),
        "MEMORY_PERSONALITIES": str(world.settings.personalities),
        "MEMORY_LLM": "offline",
    }
    return programs.run("-m", "memory_system", "check", *arguments, environment=environment)


@pytest.fixture
def saved(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """An agent whose one saved cue passes: what has nothing to do with a key is below its threshold."""
    agent.configure(scoring=Scoring(Weights(0, 0, 1)), threshold=0.5, static_threshold=0.9)
    remember("Hid the key of the tide mill under the flour bin.", id="key")
    remember("The oven of the bakery needs a new door.", id="oven")
    agent.save_cue("The key", CUE, must=["key"], must_not=["oven"])
    return agent


def test_all_that_pass_end_with_0_and_one_that_fails_with_1(world: World, saved: AgentMemory) -> None:
    world.create_agent("bo")
    good = ran(world)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == f"mira: 1 passed, 0 failed\n  pass  The key  {CUE}\n"
    saved.forget("key")
    bad = ran(world, "bo", "mira", "mira")
    assert (bad.returncode, bad.stderr) == (1, "")
    assert bad.stdout == (
        "bo: no saved cues\n\n"
        "mira: 0 passed, 1 failed\n"
        f"  FAIL  The key  {CUE}\n"
        "        must be recalled: “Hid the key of the tide mill under the flour bin.”, which is forgotten\n"
    )


def test_the_json_names_each_memory_by_id_and_text(world: World, saved: AgentMemory) -> None:
    saved.edit("oven", document="The key of the tide mill is in the oven.")
    saved.edit("key", document="Bought a new hat.")
    done = ran(world, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    value = json.loads(done.stdout)
    assert (value["passed"], value["agents"][0]["agent"]) == (False, "mira")
    (cue,) = value["agents"][0]["cues"]
    assert (cue["name"], cue["cue"], cue["passed"], cue["gone"]) == ("The key", CUE, False, [])
    assert cue["missing"] == [{"id": "key", "document": "Bought a new hat."}]
    assert cue["unwanted"] == [{"id": "oven", "document": "The key of the tide mill is in the oven."}]
    assert "oven" in cue["recalled"]


def test_without_saved_cues_it_says_so_and_ends_with_0(world: World, agent: AgentMemory) -> None:
    done = ran(world)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{NONE_SAVED}\n", "")


def test_an_unknown_agent_is_one_sentence(world: World, agent: AgentMemory) -> None:
    done = ran(world, "nobody")
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is no agent 'nobody'" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_memory_counts_as_recalled(world: World, saved: AgentMemory) -> None:
    before = saved.stamp
    ran(world)
    assert saved.stamp == before


def test_a_forgotten_memory_that_must_not_be_recalled_is_passed_over_aloud(saved: AgentMemory) -> None:
    saved.forget("oven")
    told = as_text([(saved, saved.check_cues())], named=False)
    assert "  pass  The key" in told
    assert told.endswith("skipped, because it is forgotten: “The oven of the bakery needs a new door.”")


def test_what_would_steer_a_terminal_is_not_printed(agent: AgentMemory, remember: Remember) -> None:
    remember("Read \x1b[31mred\x07 letters.\nThen slept.", id="red")
    agent.save_cue("Red", "What did I \x1b[2J read?", must_not=["red"])
    agent.configure(threshold=0.0)
    told = as_text([(agent, agent.check_cues())], named=False)
    assert "\x1b" not in told
    assert "\x07" not in told
    assert "must not be recalled: “Read �[31mred� letters. Then slept.”" in told


def test_an_id_that_a_script_made_up_is_told_as_it_is(agent: AgentMemory) -> None:
    text = dump_cues([SavedCue("Made up", CUE, ("nobody",), ("nothing",))])
    agent.apply(ChangeSet("cues", "By a script", (), NOW, 0, texts=(TextChange("cues", None, text),)))
    checked = [(agent, agent.check_cues())]
    assert "must be recalled: “nobody”, which is forgotten" in as_text(checked, named=False)
    assert json.loads(as_json(checked))["agents"][0]["cues"][0]["gone"] == [
        {"id": "nobody", "document": "nobody"},
        {"id": "nothing", "document": "nothing"},
    ]


def test_a_rehearsal_is_asked_only_if_it_is_named(world: World, saved: AgentMemory) -> None:
    world.branch("mira").forget("key")
    assert ran(world).returncode == 0
    assert ran(world, "mira rehearsal").returncode == 1
