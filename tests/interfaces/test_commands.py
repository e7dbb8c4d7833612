"""The commands that ask and change memory: what people see, what programs get, and that looking changes nothing."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory_system import AgentMemory, MemoryEntry, Tier, World
from memory_system.agent_parts.retrieval import WITHOUT_INSTANCES
from memory_system.conversation import Conversation, describe_person
from memory_system.interfaces.cli import shapes
from memory_system.interfaces.cli.meant import MEANT
from memory_system.interfaces.cli.progress import ProgressLine
from memory_system.interfaces.cli.terminal import say
from memory_system.interfaces.operations import BESIDE, OPERATIONS
from tests.command_line import COMMANDS, CommandLine, examples
from tests.conftest import ROOT
from tests.conversing import answers, calls, script, sent, talking
from tests.fake_server import FakeServer

Remember = Callable[..., str]
HIDING = "Which hiding places are there?"
CUE = "Where is the key of the tide mill?"
README = (ROOT / "memory_system" / "interfaces" / "cli" / "README.md").read_text(encoding="utf-8")
SHAPE = r"<!-- ([a-z-]+) -->\n```json\n(.*?)```"
CHANGING = (
    "add",
    "import",
    "rate",
    *(one.on_command_line for one in (*OPERATIONS, *BESIDE)),
    "recall",
    "talk",
    "advance",
)
KEEPING = ("create", "rename", "delete", "undelete", "export", "backup", "restore", "use-embedder", "reembed", "fill")
HOSTILE = "Read \x1b[2J\u202e[bold red]letters[/bold red] \u2066in\x9b the [/] mill\x07."


@pytest.fixture
def cli(world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line over a world with one agent, mira."""
    return CommandLine(world, monkeypatch)


def test_who_asks_what_waits_is_told_that_nothing_does(cli: CommandLine, agent: AgentMemory, world: World) -> None:
    agent.plan_from_memory()
    assert cli("inbox", "mira").out.splitlines()[-1] == "Nothing is waiting for a decision."
    assert "Nothing" not in cli("inbox", "mira", "--json").out
    assert cli("due").out.splitlines()[-1] == "Nothing happens by itself until then."
    assert cli("trust", "mira", "Nobody").out == "There is no record of trust in a person of this name.\n"
    describe_person(agent, "Tobias Finch", "Sings.", trust=0.9)
    assert "0.9" in cli("trust", "mira", "tobias").out, "a first name is enough"


# -- help ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example_that_can_be_called(name: str) -> None:
    words = examples()[name]
    assert words[:1] == [name]
    assert COMMANDS[name].make_context(name, words[1:]) is not None


@pytest.mark.parametrize("name", [*CHANGING, *KEEPING])
def test_whatever_writes_has_a_dry_run(name: str) -> None:
    assert "--dry-run" in {option for one in COMMANDS[name].params for option in one.opts}


def test_the_help_tells_the_exit_codes_and_a_wrong_command_line_ends_with_2(cli: CommandLine) -> None:
    told = " ".join(cli("--help").out.split())
    assert "2 a mistake on the command line, or a package that is not installed; 130 stopped by Ctrl+C" in told
    for wrong in (["nonsense"], ["recall", "mira"], ["recall", "mira", CUE, "--top-k", "-1"], ["undo", "mira", "0"]):
        assert cli(*wrong).code == 2


@pytest.mark.parametrize(
    "option", [["--now", "yesterday"], ["--now", "2026-03-27T18:00:00"], ["--preset", "none"], ["--kind", "dream"]]
)
def test_an_option_that_cannot_be_is_refused_before_anything_is_opened(cli: CommandLine, option: list[str]) -> None:
    done = cli("recall", "mira", CUE, *option)
    assert (done.code, done.out) == (2, "")
    assert option[0] in done.err


@pytest.mark.parametrize("value", ["-1", "10001", "2.5", "nan", "9" * 400, "many"])
def test_a_whole_number_that_cannot_be_is_refused_in_plain_words(cli: CommandLine, value: str) -> None:
    done = cli("recall", "mira", CUE, "--top-k", value)
    assert (done.code, done.out) == (2, "")
    assert "'--top-k': It must be a whole number from 0 to 10,000." in " ".join(done.err.split())


@pytest.mark.parametrize("value", ["nan", "31", "-1", "much"])
def test_a_number_that_cannot_be_is_refused_with_its_range(cli: CommandLine, value: str) -> None:
    for command in (["configure", "mira"], ["recall", "mira", CUE]):
        done = cli(*command, f"--threshold={value}")
        assert done.code == 2
        assert "It must be a number from 0 to 30." in " ".join(done.err.replace("│", " ").split())


def test_the_range_of_a_number_is_told_in_few_digits(cli: CommandLine) -> None:
    done = cli("forecast", "mira", CUE, "--days", "x")
    assert "'--days': It must be a number from 0.0007 to 36,525." in " ".join(done.err.replace("│", " ").split())
    assert "[0.0<=" not in cli("recall", "--help").out


def test_what_happened_to_nobody_is_refused_with_the_options_that_say_to_whom(cli: CommandLine) -> None:
    done = cli("happened", "The mill burned down.")
    assert (done.code, done.out) == (2, "")
    assert "--seen-by, --heard-by, --told" in " ".join(done.err.replace("│", " ").split())


# -- asking ----------------------------------------------------------------------------------------------


def test_recall_tells_what_an_agent_remembers_and_counts_as_access(
    cli: CommandLine, agent: AgentMemory, remember: Remember
) -> None:
    remember("Hid the key of the tide mill under the flour bin.", id="key", hours_ago=30)
    before = agent.stamp
    done = cli("recall", "mira", CUE)
    assert (done.code, done.err) == (0, "")
    assert "Hid the key of the tide mill under the flour bin." in done.out
    assert "1 day" in done.out or "30 hours ago" in done.out
    assert agent.stamp != before
    assert agent.queries()[0].author == "command line"


@pytest.mark.parametrize("command", ["recall", "explain"])
def test_who_asks_in_a_language_that_the_embedder_does_not_know_is_warned_apart(
    cli: CommandLine, agent: AgentMemory, remember: Remember, command: str
) -> None:
    for text in ("Die Brücke im Norden ist eingestürzt.", "Der Schlüssel liegt unter der Matte und nicht im Haus."):
        remember(text)
    done = cli(command, "mira", "Wo ist der Schlüssel?", "--json")
    assert (done.code, done.err.strip()) == (0, agent.contents.poor_recall)
    assert "German" in done.err


def test_a_dry_run_of_recall_and_explain_touch_nothing(
    cli: CommandLine, agent: AgentMemory, remember: Remember
) -> None:
    remember("Hid the key of the tide mill under the flour bin.", id="key")
    before = agent.stamp
    dry = cli("recall", "mira", CUE, "--dry-run", "--json")
    explained = cli("explain", "mira", CUE, "--json", "--limit", "0")
    assert agent.stamp == before
    assert agent.queries() == []
    assert [one["memory"]["id"] for one in dry.value["recalled"]] == [
        one["memory"]["id"] for one in explained.value["candidates"] if one["verdict"] == "recalled"
    ]
    assert len(explained.value["candidates"]) == explained.value["considered"] > 1


def test_the_parts_add_up_to_the_score_in_json(cli: CommandLine, remember: Remember) -> None:
    remember("Hid the key of the tide mill under the flour bin.", id="key")
    for one in cli("explain", "mira", CUE, "--json").value["candidates"]:
        assert sum(one["parts"].values()) == pytest.approx(one["score"], abs=1e-12)


def test_a_preset_brings_its_thresholds_and_an_option_goes_before_it(cli: CommandLine) -> None:
    query = cli("explain", "mira", CUE, "--preset", "classic", "--json").value["query"]
    assert (query["threshold"], query["static_threshold"], query["scoring"]["measure"]) == (0.35, 0.4, "similarity")
    query = cli("explain", "mira", CUE, "--preset", "classic", "--threshold", "0.9", "--json").value["query"]
    assert query["threshold"] == 0.9


def test_explain_tells_what_would_recall_one_memory(cli: CommandLine, remember: Remember) -> None:
    remember("The oven of the bakery needs a new door.", id="oven")
    told = cli("explain", "mira", CUE, "--memory", "oven", "--json").value
    assert [one["memory"]["id"] for one in told["candidates"]] == ["oven"]
    assert told["ways"]
    unknown = cli("explain", "mira", CUE, "--memory", "nothing")
    assert (unknown.code, unknown.out) == (1, "")
    assert unknown.err == "There is no memory 'nothing'.\n"


def test_a_cue_asked_by_instances_says_by_which_and_why_by_none(cli: CommandLine, remember: Remember) -> None:
    remember("Hid the key of the tide mill under the flour bin.", id="key")
    remember("Which hiding places there are, nobody knows.")
    found = cli("recall", "mira", HIDING, "--threshold", "0", "--instance", "the flour bin", "--json").value
    assert {one["memory"]["id"]: one["instance"] for one in found["recalled"]}["key"] == "the flour bin"
    assert found["query"]["instances"] == ["the flour bin"]
    asked = cli("explain", "mira", CUE, "--instance", "a coat", "--expand", "2")
    assert "Asked too: “a coat”." in asked.out
    assert WITHOUT_INSTANCES in asked.out


def test_nothing_recalled_is_said_and_ends_with_0(cli: CommandLine) -> None:
    done = cli("recall", "mira", CUE, "--threshold", "30", "--static-threshold", "1")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Nothing was recalled, of ")


# -- remembering -----------------------------------------------------------------------------------------


def test_add_remembers_and_a_dry_run_only_says_so(cli: CommandLine, agent: AgentMemory) -> None:
    before = agent.stamp
    dry = cli("add", "mira", "Saw smoke over the north field", "--dry-run")
    assert (dry.code, said(dry.err)) == (0, [])
    assert "Nothing was changed" in dry.out
    assert agent.stamp == before
    done = cli(
        "add", "mira", "Saw smoke over the north field", "--tag", "fire", "--rating", "7", "--id", "smoke", "--json"
    )
    assert (done.code, done.err) == (0, "")
    assert done.value["outcomes"] == [{"id": "smoke", "action": "added", "rating": 7, "why": ""}]
    held = agent.find("smoke")
    assert held is not None
    assert (held.document, held.tags, held.rating) == ("Saw smoke over the north field", ("fire",), 7)
    assert agent.history(1)[0].change_set.author == "command line"


def test_add_reads_a_pipe_and_keeps_what_is_held(cli: CommandLine, agent: AgentMemory) -> None:
    assert cli("add", "mira", "-", "--id", "one", "--no-rate", given="Fed the geese.\n").code == 0
    done = cli("add", "mira", "Sold the geese.", "--id", "one", "--keep-held")
    assert "Skipped one" in done.out
    held = agent.find("one")
    assert held is not None
    assert (held.document, held.rating) == ("Fed the geese.", None)


@pytest.mark.parametrize("text", ["", "   ", "x" * 32_001])
def test_what_cannot_be_a_memory_is_refused_in_a_sentence(cli: CommandLine, agent: AgentMemory, text: str) -> None:
    before = agent.stamp
    done = cli("add", "mira", text)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert agent.stamp == before


def test_a_character_is_made_with_the_lines_of_its_life_or_not_at_all(
    cli: CommandLine, world: World, tmp_path: Path
) -> None:
    file = tmp_path / "days.txt"
    file.write_text("2026-03-01 09:00 Bought flour\n2026-13-45 10:00 Slept\n", encoding="utf-8")
    refused = cli("create", "rosa", "--events", str(file))
    assert refused.code == 1
    assert "rosa" not in world.agents()
    file.write_text("2026-03-01 09:00 Bought flour\n2026-03-02 10:00 Slept\n", encoding="utf-8")
    assert cli("create", "rosa", "--events", str(file), "--dry-run").code == 0
    assert "rosa" not in world.agents()
    assert cli("create", "rosa", "--events", str(file)).code == 0
    (only,) = world.agent("rosa").history()
    assert only.change_set.title == "Create rosa with 2 memories"


def test_import_takes_all_lines_or_none_unless_bad_ones_are_skipped(
    cli: CommandLine, agent: AgentMemory, tmp_path: Path
) -> None:
    file = tmp_path / "events.csv"
    file.write_text("document,rating\nSaw smoke,7\nFed the geese,many\nSlept,1\n", encoding="utf-8")
    before = agent.stamp
    refused = cli("import", "mira", str(file))
    assert (refused.code, refused.out) == (1, "")
    assert "line 3: rating is 'many', which is not a number." in refused.err
    assert agent.stamp == before
    assert cli("import", "mira", str(file), "--json").value["refused"][0]["line"] == 3
    dry = cli("import", "mira", str(file), "--skip-bad", "--dry-run")
    assert "2 added, 1 line refused.\nNothing was changed" in dry.out
    assert agent.stamp == before
    done = cli("import", "mira", str(file), "--skip-bad")
    assert (done.code, len(agent.entries(Tier.STM))) == (0, 2)


def test_import_reads_json_lines_from_a_pipe_and_tells_a_missing_file(cli: CommandLine, agent: AgentMemory) -> None:
    lines = '{"document": "Saw smoke", "rating": 7, "id": "a"}\n{"document": "Slept", "rating": 1, "id": "b"}\n'
    assert cli("import", "mira", "-", given=lines).code == 0
    assert {entry.id for entry in agent.entries(Tier.STM)} == {"a", "b"}
    missing = cli("import", "mira", "nowhere.csv")
    assert (missing.code, missing.out, missing.err.count("\n")) == (1, "", 1)
    binary = cli("import", "mira", "-", given=b"\x00\xff")
    assert (binary.code, binary.err.count("\n")) == (1, 1)


# -- operations and history ------------------------------------------------------------------------------


def said(err: str) -> list[str]:
    """The lines that do not tell how far it is, which are told where a machine takes long."""
    return [line for line in err.splitlines() if not re.match(r"\s*\d+%", line)]


def test_each_operation_does_what_its_dry_run_showed(cli: CommandLine, agent: AgentMemory, remember: Remember) -> None:
    agent.configure(stm_size=3)
    for number in range(8):
        remember(f"Tobias came to the bakery for the key, time {number}.", rating=6, hours_ago=9 - number)
    for words in (["migrate", "mira"], ["reflect", "mira"], ["plan", "mira"], ["summarise", "mira", "--k", "3"]):
        before = agent.stamp
        dry = cli(*words, "--dry-run", "--json")
        assert (dry.code, said(dry.err), agent.stamp) == (0, [], before)
        assert (dry.value["applied"], dry.value["revision"]) == (False, None)
        done = cli(*words, "--json")
        assert (done.code, said(done.err)) == (0, [])
        assert done.value["counts"] == dry.value["counts"]
        assert done.value["applied"] is (done.value["revision"] is not None)
        assert agent.stamp[0] == done.value["revision"], words


def test_undo_takes_back_the_last_change_that_stands_and_says_how_to_go_on(
    cli: CommandLine, agent: AgentMemory, remember: Remember
) -> None:
    remember("Fed the geese.", id="one")
    remember("Sold the geese.", id="two")
    before = agent.stamp
    assert "Nothing was changed" in cli("undo", "mira", "--dry-run").out
    assert agent.stamp == before
    first = cli("undo", "mira")
    assert first.code == 0
    assert f"python -m memory_system undo mira {agent.stamp[0]}" in first.out
    assert (agent.find("one") is None, agent.find("two") is None) == (False, True)
    cli("undo", "mira")
    assert agent.find("one") is None
    cli("undo", "mira", str(agent.stamp[0]))
    assert agent.find("one") is not None


def test_undo_back_to_takes_back_all_since_and_not_with_a_revision(
    cli: CommandLine, agent: AgentMemory, remember: Remember
) -> None:
    remember("Fed the geese.", id="one")
    revision = agent.stamp[0]
    remember("Sold the geese.", id="two")
    both = cli("undo", "mira", "1", "--back-to", "1")
    assert (both.code, both.out) == (1, "")
    assert cli("undo", "mira", "--back-to", str(revision)).code == 0
    assert (agent.find("one") is None, agent.find("two") is None) == (False, True)


def test_history_lists_and_tells_one_whole(cli: CommandLine, agent: AgentMemory, remember: Remember) -> None:
    remember("Fed the geese.", id="one")
    agent.forget("one")
    listed = cli("history", "mira", "--memory", "one", "--json").value["changes"]
    assert [one["operation"] for one in listed] == ["forget", "add"]
    whole = cli("history", "mira", "--revision", str(agent.stamp[0]), "--json").value
    assert whole["changes"][0]["before"]["document"] == "Fed the geese."
    assert "Forget “Fed the geese.”" in cli("history", "mira").out
    nowhere = cli("history", "mira", "--revision", "99", "--json")
    assert (nowhere.code, nowhere.out) == (1, "")
    assert json.loads(nowhere.err)["error"]["code"] == "change-set-not-found"


def test_as_of_shows_and_asks_the_memory_of_then(cli: CommandLine, agent: AgentMemory, remember: Remember) -> None:
    remember("Hid the key of the tide mill under the flour bin.", id="key")
    revision = agent.stamp[0]
    agent.forget("key")
    before = agent.stamp
    assert "under the flour bin" in cli("as-of", "mira", "--revision", str(revision), "--limit", "0").out
    asked = cli("as-of", "mira", "--revision", str(revision), "--cue", CUE, "--json").value
    assert "key" in [one["memory"]["id"] for one in asked["recalled"]]
    now = cli("as-of", "mira", "--world-time", "2026-03-27T18:00:00+00:00", "--json", "--limit", "0").value
    assert "key" not in [one["id"] for one in now["memories"]]
    assert "Nothing was remembered yet." in cli("as-of", "mira", "2020-01-01T00:00+00:00").out
    assert cli("as-of", "mira").code == 1
    assert agent.stamp == before


def test_agents_lists_rehearsals_and_what_cannot_be_opened(cli: CommandLine, world: World) -> None:
    world.branch("mira")
    (Path(world.settings.personalities) / "bo.json").write_text("{", encoding="utf-8")
    told = {one["agent"]: one for one in cli("agents", "--json").value["agents"]}
    assert told["mira rehearsal"]["rehearsal_of"] == "mira"
    assert told["bo"]["problem"]
    assert told["mira"]["name"] == "Mira Holloway"
    assert "rehearsal of mira" in cli("agents").out


def test_agents_says_how_far_it_is_when_it_takes_long(
    cli: CommandLine, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create_agent("bo")
    monkeypatch.setattr("memory_system.interfaces.cli.progress.ProgressLine", lambda **_: ProgressLine())
    done = cli("agents", "--json")
    assert re.findall(r"Opening .*", done.err) == ["Opening bo (1 of 2)", "Opening mira (2 of 2)"]
    assert len(done.value["agents"]) == 2


def test_an_agent_that_cannot_be_opened_keeps_no_other_from_its_vectors(
    cli: CommandLine, remember: Remember, world: World
) -> None:
    remember("Saw smoke over the north field")
    world.create_agent("bo").close()
    with closing(sqlite3.connect(world.folder / "bo" / "journal.sqlite3")) as journal, journal:
        journal.execute("INSERT INTO version (number) VALUES (999)")
    done = cli("reembed", "--json")
    assert done.code == 1
    assert [(one["agent"], bool(one["read_only"])) for one in done.value["agents"]] == [("bo", True), ("mira", False)]
    assert "bo: it was left out. " in cli("reembed").err
    assert cli("reembed", "bo").code == 1


# -- what is printed -------------------------------------------------------------------------------------


def test_the_text_of_strangers_steers_no_terminal_and_is_no_markup(
    cli: CommandLine, agent: AgentMemory, remember: Remember
) -> None:
    remember(HOSTILE, id="red", tags=["x"])
    for words in (["recall", "mira", "red letters", "--threshold", "0"], ["history", "mira"], ["explain", "mira", "x"]):
        done = cli(*words)
        assert done.code == 0
        assert "[bold red]letters[/bold red]" in done.out
        assert all(sign.isprintable() for sign in done.out.replace("\n", ""))
    for words in (["explain", "mira", "x", "--json", "--limit", "0"], ["export", "mira"]):
        done = cli(*words)
        assert all(sign.isprintable() for sign in done.out.replace("\n", ""))
    documents = [json.loads(line).get("document") for line in cli("export", "mira").out.splitlines()]
    assert HOSTILE in documents  # it says the same, in signs that steer nothing


def test_an_error_in_json_has_its_code_and_leaves_stdout_empty(cli: CommandLine) -> None:
    done = cli("recall", "nobody", CUE, "--json")
    assert (done.code, done.out) == (1, "")
    assert json.loads(done.err)["error"] == {
        "code": "agent-not-found",
        "status": 404,
        "sentence": json.loads(done.err)["error"]["sentence"],
    }
    plain = cli("recall", "nobody", CUE)
    assert (plain.code, plain.err.count("\n")) == (1, 1)


def test_a_wrong_setting_is_an_error_like_any_other(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_LLM", "perhaps")
    done = cli("agents", "--json")
    assert (done.code, done.out) == (1, "")
    assert json.loads(done.err)["error"]["sentence"].startswith("The setting MEMORY_LLM is wrong: ")


def test_the_shapes_are_those_that_the_readme_tells(cli: CommandLine, agent: AgentMemory, remember: Remember) -> None:
    remember("Hid the key of the tide mill under the flour bin.", id="key")
    ran = {
        "recall": cli("recall", "mira", CUE, "--json").value,
        "explain": cli("explain", "mira", CUE, "--json").value,
        "add": cli("add", "mira", "Fed the geese.", "--json").value,
        "migrate": cli("migrate", "mira", "--dry-run", "--json").value,
        "history": cli("history", "mira", "--json").value,
        "as-of": cli("as-of", "mira", "--revision", "1", "--json").value,
        "agents": cli("agents", "--json").value,
        "rate": cli("rate", "mira", "--json").value,
        "spent": cli("spent", "mira", "--json").value,
        "talk": cli("talk", "mira", CUE, "--json").value,
        "create": cli("create", "tobias", "--json").value,
    }
    told = dict(re.findall(SHAPE, README, re.DOTALL))
    for name, value in ran.items():
        assert set(json.loads(told[name])) == set(value), name
    candidate = shapes.candidate(agent.explain(CUE).candidates[0])
    assert set(json.loads(told["candidate"])) == set(candidate)
    assert set(json.loads(told["change"])) == set(ran["add"]["change_set"]["changes"][0])
    assert set(json.loads(told["memory"])) >= set(shapes.memory(MemoryEntry("Fed the geese.")))
    assert set(json.loads(told["change-set"])) == set(ran["add"]["change_set"])


def test_what_keeps_a_world_tells_it_as_json_too(
    cli: CommandLine, world: World, remember: Remember, tmp_path: Path
) -> None:
    remember("Hid the key of the tide mill under the flour bin.", id="key")
    (tmp_path / "asked.jsonl").write_text(
        '{"id": "key", "document": "Hid the key."}\n{"cue": "Where is the key?", "right": ["key"]}\n'
    )
    file = str(tmp_path / "world.zip")
    tried = cli("backup", file, "--dry-run", "--json").value
    ran = {
        "check": cli("check", "--json").value,
        "doctor": cli("doctor", "--json").value,
        "evaluate": cli("evaluate", str(tmp_path / "asked.jsonl"), "--preset", "classic", "--json").value,
        "reembed": cli("reembed", "--json").value,
        "fill": cli("fill", str(tmp_path), "--json").value,
        "backup": cli("backup", file, "--json").value,
        "restore": cli("restore", file, "--json").value,
    }
    told = {name: json.loads(text) for name, text in re.findall(SHAPE, README, re.DOTALL)}
    for name, value in ran.items():
        assert set(told[name]) == set(value), name
    assert set(told["backup"]["agents"][0]) == set(ran["backup"]["agents"][0]) == set(tried["agents"][0])
    assert set(told["reembed"]["agents"][0]) == set(ran["reembed"]["agents"][0])
    assert set(told["doctor"]["findings"][0]) == set(ran["doctor"]["findings"][0])
    assert (tried["made"], ran["backup"]["agents"][0]["memories"], ran["fill"]["filled"]) == (False, 1, False)
    looked = cli("restore", file, "--look", "--json").value
    assert set(looked) == set(told["restore"])
    assert looked["backup"]["world"] == world.name
    back = cli("restore", ran["restore"]["aside"], "--json").value
    assert (set(back), back["backup"]) == (set(told["restore"]), None)


@pytest.mark.parametrize(
    "command",
    ["check nobody", "reembed nobody", "restore nothing.zip", "restore nothing.zip --look", "evaluate nothing.jsonl"],
)
def test_an_error_of_what_keeps_a_world_is_json_too(cli: CommandLine, command: str) -> None:
    done = cli(*command.split(), "--json")
    assert (done.code, done.out) == (1, "")
    assert set(json.loads(done.err.splitlines()[-1])["error"]) == {"code", "status", "sentence"}


def test_the_readme_names_every_command() -> None:
    assert [name for name in COMMANDS if f"`{name}`" not in README] == []


def test_the_last_message_is_answered_again(cli: CommandLine, agent: AgentMemory) -> None:
    assert cli("talk", "mira", "--again").code == 1
    assert not Conversation.all(agent), "no empty talk is left"
    first = cli("talk", "mira", "Who has the key?", "--json").value
    again = cli("talk", "mira", "--again", "--json").value
    assert again["conversation"] == first["conversation"]
    assert [record.change_set.operation for record in agent.history(3)] == ["talk", "undo", "talk"]
    for more in (["Hello."], ["--new"], ["--unprompted"], ["--dry-run"]):
        assert cli("talk", "mira", "--again", *more).code == 1


def test_a_character_acts_by_commands_of_yours(
    cli: CommandLine, agent: AgentMemory, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talking(agent, server)
    for name, value in {"MEMORY_LLM": "openai", "OPENAI_BASE_URL": server.url, "MEMORY_LLM_MODEL": "fake"}.items():
        monkeypatch.setenv(name, value)
    does = tmp_path / "open.py"
    does.write_text(
        "import json, sys\ngate = json.load(sys.stdin)['gate']\n"
        "sys.exit(f'{gate} is jammed.') if gate == 'south' else print(gate, 'is open.')\n"
    )
    told = {"name": "open_gate", "description": "Open a gate.", "parameters": {"properties": {"gate": {}}}}
    file = tmp_path / "actions.json"
    file.write_text(json.dumps([told | {"command": [sys.executable, str(does)]}]))
    script(server, calls(("open_gate", {"gate": "north"}), ("open_gate", {"gate": "south"})), answers("Well."))
    said = cli("talk", "mira", "Open them.", "--actions", str(file), "--json").value
    assert (said["answer"], said["functions"][:2]) == ("Well.", ["open_gate"] * 2)
    assert "north is open." in sent(server)
    assert "south is jammed." in sent(server)
    script(server, answers("Anything else?"))
    assert cli("talk", "mira", "--unprompted").out.strip() == "Anything else?"
    assert cli("talk", "mira", "Hello.", "--unprompted").code == 1
    for wrong in ("{}", "[1]", json.dumps([told]), "no"):
        file.write_text(wrong)
        assert cli("talk", "mira", "Open them.", "--actions", str(file)).code == 1
    assert cli("talk", "mira", "Open them.", "--actions", str(file), "--dry-run").code == 1


def test_who_talks_is_said_and_each_goes_on_with_a_talk_of_their_own(cli: CommandLine, agent: AgentMemory) -> None:
    first = cli("talk", "mira", "Hello.")
    assert first.code == 0
    assert first.err.startswith("You talk with Mira Holloway as You; --human says who you are.")
    named = cli("talk", "mira", "Hello.", "--human", "Finch")
    assert named.err.startswith("You talk with Mira Holloway as Tobias Finch.")
    again = cli("talk", "mira", "Hello again.")
    assert again.err.startswith("You talk with Mira Holloway as Tobias Finch.")
    assert cli("talk", "mira", "Hello.", "--human", "Finch", "--dry-run").code == 0
    assert sorted(one.head.human for one in Conversation.all(agent)) == ["Tobias Finch", "You"]
    assert "You talk" not in cli("talk", "mira", "Hello.", "--json").err


def test_what_cannot_be_said_leaves_no_empty_talk_behind(
    cli: CommandLine, world: World, agent: AgentMemory, tmp_path: Path
) -> None:
    world.create_agent("bo")
    before = agent.stamp
    twice = tmp_path / "actions.json"
    twice.write_text(json.dumps([{"name": "wave", "description": "Wave.", "command": ["true"]}] * 2))
    for wrong, code in (
        (["", "--human", "Finch"], 1),
        (["", "--with", "bo"], 1),
        (["Hello.", "--with", "bo", "--turns", "0"], 2),
        (["Hello.", "--actions", str(twice)], 1),
    ):
        assert cli("talk", "mira", *wrong).code == code
    assert agent.stamp == before


def test_a_changed_record_is_told_by_the_name_of_the_person(cli: CommandLine) -> None:
    told = cli("describe-person", "mira", "Tobias Finch", "Owns a boat.").out
    assert "Changes the record of Tobias Finch." in told
    assert "person:" not in told


def test_what_it_says_to_do_names_the_program_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "memory-system"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    told = "To take it back: python -m memory_system undo mira 3"
    for called, shown in (
        ("/home/mira/memory_system/__main__.py", told),
        (".venv/bin/memory-system", "To take it back: .venv/bin/memory-system undo mira 3"),
        ("my tools/memory-system", "To take it back: 'my tools/memory-system' undo mira 3"),
        (str(program), "To take it back: memory-system undo mira 3"),
    ):
        monkeypatch.setattr(sys, "argv", [called, "add"])
        monkeypatch.setenv("PATH", str(tmp_path))
        say(told)
        assert capsys.readouterr().out == f"{shown}\n"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("list", "Did you mean 'agents', 'worlds', 'memories'?"),
        ("Remember", "Did you mean 'add', 'import'?"),
        ("agnets", "Did you mean 'agents'?"),
    ],
)
def test_a_command_that_there_is_not_leads_to_those_that_are_meant(cli: CommandLine, typed: str, told: str) -> None:
    done = cli(typed)
    assert done.code == 2
    assert told in " ".join(done.err.split())


@pytest.mark.parametrize(("typed", "near"), [("learnt", " Did you mean 'learned'?"), ("everything", "")])
def test_a_word_that_there_is_not_leads_to_those_that_there_are(cli: CommandLine, typed: str, near: str) -> None:
    done = cli("configure", "mira", "--retention", typed)
    assert done.code == 2
    refused = f"Error: Invalid value for '--retention': '{typed}' is not one of 'learned', 'importance'.{near}"
    assert done.err.strip().endswith(refused)


def test_what_is_meant_are_commands() -> None:
    assert {name for names in MEANT.values() for name in names} <= set(COMMANDS)
    assert not set(MEANT) & set(COMMANDS)
