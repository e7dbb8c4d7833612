"""Every operation and every read is declared once, and each front end has it: HTTP, Python, the shell and MCP."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp import Client
from starlette.testclient import TestClient

from memory_system import PRESETS, AgentMemory, Tier, World
from memory_system.core.times import stamp
from memory_system.interfaces.api import create_app
from memory_system.interfaces.client import RemoteAgent, RemoteWorld, conversation
from memory_system.interfaces.forms import says
from memory_system.interfaces.mcp.curating import CURATING_TOOLS, LOOKING_TOOLS
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.server import create_server
from memory_system.interfaces.mcp.talking import TALK_TOOLS
from memory_system.interfaces.mcp.tool import Tools
from memory_system.interfaces.operations import BESIDE, OPERATIONS, Configure, Operation, history_labels
from memory_system.interfaces.reads import READS, Read
from tests.command_line import COMMANDS, CommandLine
from tests.mcp_clients import HELLO, called, commanded, refused, run, text

Remember = Callable[..., str]
ALL = (*OPERATIONS, *BESIDE)
TOOLS = {tool.name: tool for tool in (*MEMORY_TOOLS, *TALK_TOOLS, *CURATING_TOOLS, *LOOKING_TOOLS)}
each = pytest.mark.parametrize("operation", ALL, ids=lambda operation: operation.name)


@pytest.fixture
def cli(world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line over a world with one agent, mira."""
    return CommandLine(world, monkeypatch)


@cache
def described() -> dict[str, Any]:
    """The API as it describes itself, to nobody."""
    return create_app(lambda: None).openapi()  # type: ignore[arg-type,return-value]


# -- by name ---------------------------------------------------------------------------------------------


def test_there_are_as_many_as_ever() -> None:
    assert len({operation.name for operation in ALL}) == len(ALL) >= 28
    assert len(OPERATIONS) >= 25


@pytest.mark.parametrize("read", READS, ids=lambda read: read.name)
def test_each_read_takes_what_it_is_asked_with(read: Read) -> None:
    given = ["world", "agent", "form"] if read.of_world else ["agent or world", "form"]
    inspect.signature(read.ask).bind(*given, *(["progress"] if read.told else []))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_each_has_an_address(operation: Operation) -> None:
    told = described()
    address = told["paths"][f"/v1/agents/{{name}}/operations/{operation.name}"]["post"]
    assert address["summary"] == operation.about
    form = address["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert set(told["components"]["schemas"][form].get("properties", {})) == set(operation.form.model_fields)


@each
def test_each_is_a_call_in_python_and_of_the_client(operation: Operation) -> None:
    where, _, name = operation.in_python.rpartition(".")
    call = getattr(conversation if where else RemoteAgent, name)
    taken = set(inspect.signature(call).parameters)
    assert "preview" in taken
    assert ("progress" in taken) is operation.slow or bool(where)
    assert bool(where) or hasattr(AgentMemory, name)


@each
def test_each_is_a_command_that_asks_for_every_field(operation: Operation) -> None:
    command = COMMANDS[operation.on_command_line]
    asked = {one.name: one for one in command.params}
    assert {"agent", "dry_run", "json"} <= set(asked)
    fields = set(operation.form.model_fields) - set(operation.refuses)
    assert fields <= set(asked)
    assert all(asked[name].help for name in fields)
    if operation.name != "undo":  # it finds the last change out by itself
        assert {name for name in fields if operation.form.model_fields[name].is_required()} == {
            name for name in fields if asked[name].required
        }


@each
def test_each_is_a_tool_that_asks_for_every_field(operation: Operation) -> None:
    tool = TOOLS[operation.over_mcp]
    assert tool.about
    if operation.name == "reflect":
        return  # every server offers it
    schema = tool.schema(agent=True)
    fields = set(operation.form.model_fields) - set(operation.refuses)
    assert set(schema["properties"]) == {"agent", "preview"} | fields
    assert all(schema["properties"][name]["description"] for name in fields)
    assert tool.destroys is operation.destroys


@each
def test_something_is_said_of_every_field(operation: Operation) -> None:
    assert set(says(operation.form)) == set(operation.form.model_fields)


def test_each_is_called_in_the_history_as_it_is_declared(agent: AgentMemory, remember: Remember) -> None:
    for name in ("one", "two", "three"):
        remember(f"Fed the geese, {name}.", id=name)
    agent.forget("three")
    agent.save_cue("n", "x")
    needed = {"ids": ["one", "two"], "id": "one", "cue": "x", "name": "n", "verdict": True, "text": "Hello.", "k": 2}
    needed |= {"turns": [{"speaker": "Ines", "text": "It rains."}], "revision": agent.revision}
    needed_of = {"restore": {"ids": ["three"]}, "purge": {"ids": ["three"]}, "edit": {"id": "one", "document": "New."}}
    planned = {}
    for operation in ALL:
        fields = operation.form.model_fields
        given = needed_of.get(operation.name) or {
            name: value for name, value in needed.items() if name in fields and fields[name].is_required()
        }
        unknown = any(known.is_required() and name not in {*given, *needed} for name, known in fields.items())
        if unknown or operation.name in ("rederive", "keep-stale", "redo", "tune"):
            continue  # which need a derived memory, an undo, or labels
        plan = operation.planned(agent, operation.form.model_validate(given), lambda _done, _doing: None)
        planned[operation.name] = plan.operation
    assert planned == {one.name: one.in_history for one in ALL if one.name in planned}
    assert set(planned.values()) <= set(history_labels())


# -- reads -----------------------------------------------------------------------------------------------


every_read = pytest.mark.parametrize("read", READS, ids=lambda read: read.name)


def test_all_reads_are_declared_and_each_once() -> None:
    addresses = {(read.of_agent, read.address, read.asks) for read in READS}
    assert len({read.name for read in READS}) == len({read.over_mcp for read in READS}) == len(addresses) == len(READS)
    of_agent = {True: "/v1/agents/{name}", False: "/v1"}
    told = {
        f"{of_agent[read.of_agent]}/{read.address}".replace(":path", "").rstrip("/") for read in READS if not read.asks
    }
    looked = {path for path, verbs in described()["paths"].items() if "get" in verbs and path.startswith("/v1/")}
    not_values = {"/v1/agents/{name}/changes", "/v1/agents/{name}/export", "/v1/backups/{file}"}
    of_this_server = {"/v1/backups", "/v1/agents/{name}/previews/{preview_id}"}
    assert looked - not_values - of_this_server == told


@every_read
def test_each_read_has_an_address_that_asks_for_every_field(read: Read) -> None:
    path = "/".join(part for part in ("/v1/agents/{name}" if read.of_agent else "/v1", read.address) if part)
    about = described()["paths"][path.replace(":path", "")]["post" if read.asks else "get"]
    assert about["summary"] == read.title
    assert "200" in about["responses"]
    if read.asks:
        form = about["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        asked = set(described()["components"]["schemas"][form]["properties"])
    else:
        asked = {one["name"] for one in about["parameters"] if one["in"] in ("query", "path")} - {"name"}
    assert asked == set(read.form.model_fields)


@every_read
def test_each_read_is_a_call_of_the_client(read: Read) -> None:
    where: Any = RemoteAgent if read.of_agent and not read.of_world else RemoteWorld
    *within, name = read.in_python.split(".")
    for part in within:
        where = conversation if part == "conversation" else getattr(where, part)
    assert getattr(where, name).__doc__


@every_read
def test_each_read_is_a_command(read: Read) -> None:
    asked = {one.name: one for one in COMMANDS[read.on_command_line].params}
    assert "json" in asked
    if not read.command:  # one that was there before asks in its own words
        assert set(asked) == {"json"} | ({"agent"} if read.of_agent else set()) | set(read.form.model_fields)
        assert all(one.help for one in asked.values())


@every_read
def test_each_read_is_a_tool_that_changes_nothing(read: Read) -> None:
    tool = TOOLS[read.over_mcp]
    assert tool.about
    if not read.tool:  # one that every server offers asks in its own words
        schema = tool.schema(agent=True)
        assert tool.looks
        assert set(schema["properties"]) == ({"agent"} if read.of_agent else set()) | set(read.form.model_fields)
        assert tool.answer()["type"] == "object"


@every_read
def test_something_is_said_of_every_field_of_a_read(read: Read) -> None:
    assert set(says(read.form)) == set(read.form.model_fields)


def test_a_read_answers_the_same_through_every_front_end(
    cli: CommandLine, world: World, agent: AgentMemory, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        remember(f"Fed the geese, {name}.", id=name, rating=3)
    client = TestClient(create_app(lambda: world), base_url="http://127.0.0.1")
    asked: list[tuple[str, dict[str, Any], list[str]]] = [
        ("memories", {"tier": "stm", "limit": 1}, ["stm", "--limit", "1"]),
        ("lineage", {"memory": "one", "depth": 2}, ["one", "--depth", "2"]),
        ("history-kinds", {}, []),
        (
            "versus",
            {"first": "classic", "second": "paper", "cues": ["Geese?"]},
            ["classic", "paper", "--cue", "Geese?"],
        ),
        ("ways", {"cue": "Who fed the geese?", "id": "two", "top_k": 1}, ["Who fed the geese?", "two", "--top-k", "1"]),
    ]
    before = agent.stamp
    tool = ByTool(world, monkeypatch)
    for name, fields, words in asked:
        read = next(one for one in READS if one.name == name)
        within = {key: value for key, value in fields.items() if f"{{{key}" in read.address}
        address = f"/v1/agents/mira/{read.address.replace(':path', '').format(**within)}".rstrip("/")
        rest = {key: value for key, value in fields.items() if key not in within}
        answer = client.post(address, json=rest) if read.asks else client.get(address, params=rest)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert cli(name, "mira", *words, "--json").value == told, name
        if not read.tool:
            assert tool.look(read.over_mcp, **fields) == told, name
    assert "Fed the geese, one." in cli("lineage", "mira", "one").out
    assert agent.stamp == before


def test_people_are_told_a_time_as_people_write_it(cli: CommandLine, agent: AgentMemory, remember: Remember) -> None:
    remember("Fed the geese.", id="one")
    since = agent.history_kept().since
    assert since is not None
    assert f"since: {stamp(since)}" in cli("history-kept", "mira").out.splitlines()
    assert datetime.fromisoformat(cli("history-kept", "mira", "--json").value["since"]) == since


def test_a_count_of_nothing_is_told_to_people_too(cli: CommandLine, remember: Remember) -> None:
    remember("Fed the geese.", id="one")
    assert "waiting: 0" in cli("vectors", "mira").out.splitlines()
    assert "pinned" not in cli("memories", "mira", "stm").out


def test_the_presets_are_those_that_there_are() -> None:
    (named,) = (one for one in get_args(Configure.model_fields["preset"].annotation) if one is not type(None))
    assert set(get_args(named)) == set(PRESETS)


# -- performed -------------------------------------------------------------------------------------------


class ByCommand:
    """Performs an operation on mira as a person at a shell does."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cli = CommandLine(world, monkeypatch)

    def __call__(self, operation: str, preview: bool = False, **fields: Any) -> dict[str, Any]:
        declared = next(one for one in ALL if one.name == operation)
        words, options = [declared.on_command_line, "mira"], list[str]()
        options_of = {one.name: one for one in COMMANDS[declared.on_command_line].params}
        for name, value in fields.items():
            for one in value if isinstance(value, list) else [value]:
                known = options_of[name]
                if known.param_type_name == "argument":
                    words.append(str(one))
                else:
                    options += [known.opts[0]] if one is True else [known.opts[0], str(one)]
        done = self.cli(*words, *options, "--json", *(["--dry-run"] if preview else []))
        assert done.code == 0, done.err
        assert isinstance(done.value, dict)
        return done.value


class ByTool:
    """Performs an operation on mira as an MCP client does."""

    def __init__(self, world: World, _monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world

    def look(self, tool: str, **fields: Any) -> dict[str, Any]:
        """What a tool that looks answers."""

        async def session() -> dict[str, Any]:
            async with Client(create_server(self.world, Tools(tuple(TOOLS.values())))) as client:
                return await called(client, tool, agent="mira", **fields)

        return run(session)

    def __call__(self, operation: str, preview: bool = False, **fields: Any) -> dict[str, Any]:
        async def session() -> dict[str, Any]:
            async with Client(create_server(self.world, Tools(tuple(TOOLS.values())))) as client:
                return await called(client, operation.replace("-", "_"), agent="mira", preview=preview, **fields)

        return run(session)


@pytest.fixture(params=[ByCommand, ByTool], ids=["by command", "by tool"])
def perform(
    request: pytest.FixtureRequest, world: World, agent: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    made: Callable[..., dict[str, Any]] = request.param(world, monkeypatch)
    return made


def test_many_are_edited(perform: Callable[..., Any], agent: AgentMemory, remember: Remember) -> None:
    for name in ("one", "two"):
        remember(f"Fed the geese, {name}.", id=name, rating=3)
    before = agent.stamp
    assert perform("edit-many", preview=True, ids=["one", "two"], rating=7)["revision"] is None
    assert agent.stamp == before
    done = perform("edit-many", ids=["one", "two"], add_tags=["geese", "farm"], rating=7, pinned=True)
    assert done["revision"] == agent.stamp[0]
    held = [agent.find(name) for name in ("one", "two")]
    assert [(one.tags, one.rating, one.pinned) for one in held if one] == [(("geese", "farm"), 7, True)] * 2


def test_what_is_forgotten_is_restored_or_purged(
    perform: Callable[..., Any], agent: AgentMemory, remember: Remember
) -> None:
    for name in ("one", "two"):
        remember(f"Fed the geese, {name}.", id=name)
    perform("forget", ids=["one", "two"])
    assert agent.entries(Tier.STM) == []
    perform("restore", ids=["one"])
    assert [entry.id for entry in agent.entries(Tier.STM)] == ["one"]
    done = perform("purge", ids=["two"])
    assert any("leave the history" in note for note in done["notes"])
    assert [gone.entry.id for gone in agent.forgotten()] == []


def test_memories_are_merged_and_the_merge_undone(
    perform: Callable[..., Any], agent: AgentMemory, remember: Remember
) -> None:
    remember("Tobias has the key.", id="one")
    remember("The key is with Tobias.", id="two")
    done = perform("merge", ids=["one", "two"], keep="two", text="Tobias has the key of the mill.")
    assert [(entry.id, entry.document) for entry in agent.entries(Tier.STM)] == [
        ("two", "Tobias has the key of the mill.")
    ]
    perform("undo", revision=done["revision"])
    assert {entry.id: entry.document for entry in agent.entries(Tier.STM)} == {
        "one": "Tobias has the key.",
        "two": "The key is with Tobias.",
    }
    perform("redo", revision=done["revision"])
    assert agent.find("one") is None


def test_a_cue_is_saved_and_an_answer_judged(
    perform: Callable[..., Any], agent: AgentMemory, remember: Remember
) -> None:
    remember("Tobias has the key.", id="one")
    perform("save-cue", name="The key", cue="Who has the key?", must=["one"])
    (saved,) = agent.saved_cues
    assert (saved.name, saved.cue, saved.must, saved.must_not) == ("The key", "Who has the key?", ("one",), ())
    perform("remove-cue", name="The key")
    assert agent.saved_cues == ()


def test_a_memory_is_edited_and_settings_changed(
    perform: Callable[..., Any], agent: AgentMemory, remember: Remember
) -> None:
    remember("Fed the geese.", id="one", rating=3)
    perform("edit", id="one", document="Sold the geese.", kind="fact")
    held = agent.find("one")
    assert held is not None
    assert (held.document, held.kind, held.rating) == ("Sold the geese.", "fact", 3)
    perform("pin", ids=["one"])
    assert agent.find("one").pinned  # type: ignore[union-attr]
    perform("configure", stm_size=50, preset="paper", threshold=1.25)
    assert agent.settings.scoring == PRESETS["paper"].scoring
    assert (agent.settings.stm_size, agent.settings.threshold, agent.settings.static_threshold) == (50, 1.25, 0.4)


# -- what only a shell has ---------------------------------------------------------------------------------


def test_what_is_none_is_emptied_and_what_has_words_is_said_in_them(
    cli: CommandLine, agent: AgentMemory, remember: Remember
) -> None:
    remember("Fed the geese.", id="one", rating=3)
    assert cli("edit", "mira", "one", "--rating", "none", "--metadata", '{"mood": "calm"}').code == 0
    held = agent.find("one")
    assert held is not None
    assert (held.rating, held.extras["mood"]) == (None, "calm")
    for word, verdicts in (("wrong", [((), ("one",))]), ("right", [(("one",), ())]), ("neither", [])):
        assert cli("judge", "mira", "Who fed the geese?", "one", word).code == 0
        assert [(judged.right, judged.wrong) for judged in agent.judgments] == verdicts
    assert cli("configure", "mira", "--scoring", '{"weights": {"recency": 0.5}}').code == 0
    assert agent.settings.scoring.weights.recency == 0.5


def test_a_conversation_is_remembered_from_lines_or_json(cli: CommandLine, agent: AgentMemory, tmp_path: Path) -> None:
    lines = "Tobias: I have the key.\nMira: Bring it back\non Sunday.\n"
    done = cli("remember-conversation", "mira", "-", "--no-rate", given=lines)
    assert done.code == 0, done.err
    said = {entry.document for entry in agent.entries(Tier.STM)}
    assert {"Tobias: I have the key.", "Mira: Bring it back\non Sunday."} <= said
    file = tmp_path / "talk.jsonl"
    file.write_text('{"speaker": "Ines", "text": "It rains.", "timestamp": "2026-03-27T09:00:00+00:00"}\n')
    assert cli("remember-conversation", "mira", str(file)).code == 0
    assert "Ines: It rains." in {entry.document for entry in agent.entries(Tier.STM)}
    file.write_text("[")
    wrong = cli("remember-conversation", "mira", str(file))
    assert (wrong.code, wrong.out) == (1, "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("edit mira one --rating 11", "--rating"),
        ("edit mira one --rating many", "--rating"),
        ("edit mira one --time yesterday", "--time"),
        ("edit mira one --metadata [1]", "--metadata"),
        ("edit mira one --metadata {", "--metadata"),
        ("judge mira x one perhaps", "perhaps"),
        ("redo mira 0", "REVISION"),
        ("configure mira --preset none", "--preset"),
        ('configure mira --scoring {"decay":2}', "--scoring"),
        ("forget mira", "ID"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_opened(cli: CommandLine, words: str, told: str) -> None:
    done = cli(*words.split())
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_what_an_agent_refuses_is_a_sentence(cli: CommandLine, agent: AgentMemory, remember: Remember) -> None:
    remember("Fed the geese.", id="one")
    before = agent.stamp
    for words in (["forget", "mira", "nothing"], ["purge", "mira", "one"], ["remove-cue", "mira", "none"]):
        done = cli(*words, "--json")
        assert (done.code, done.out) == (1, "")
        assert set(json.loads(done.err.splitlines()[-1])["error"]) == {"code", "status", "sentence"}
    assert agent.stamp == before


def test_a_purge_does_not_promise_to_be_taken_back(cli: CommandLine, agent: AgentMemory, remember: Remember) -> None:
    remember("Fed the geese.", id="one")
    assert "To take it back" in cli("forget", "mira", "one").out
    told = cli("purge", "mira", "one").out
    assert "To take it back" not in told
    assert "What was purged cannot be brought back." in told


def test_agents_are_made_renamed_binned_and_brought_back(cli: CommandLine, world: World, tmp_path: Path) -> None:
    file = tmp_path / "tobias.json"
    file.write_text('{"identity": {"name": "Tobias Reed"}}', encoding="utf-8")
    making = ["create", "tobias", "--personality", str(file)]
    assert cli(*making, "--dry-run", "--json").value == {"done": False, "name": "tobias", "agent": None}
    assert world.agents() == ["mira"]
    assert cli(*making, "--json").value["agent"]["name"] == "Tobias Reed"
    assert cli(*making).code == cli("create", "Mira").code == cli("create", "../x").code == 1
    assert cli("rename", "tobias", "toby", "--dry-run").out == "It can be done. Nothing was changed.\n"
    assert cli("rename", "tobias", "toby").out == "The agent 'tobias' is called 'toby'.\n"
    assert world.agents() == ["mira", "toby"]
    assert cli("delete", "toby", "--dry-run", "--json").value["done"] is False
    gone = cli("delete", "toby")
    assert world.agents() == ["mira"]
    assert "undelete toby" in gone.out
    assert "There are toby." in cli("undelete", "tobias").err
    assert cli("undelete", "toby", "--json").value["agent"]["agent"] == "toby"
    assert world.agents() == ["mira", "toby"]


def test_a_talk_goes_on_from_call_to_call_and_a_dry_run_leaves_no_trace(cli: CommandLine, agent: AgentMemory) -> None:
    before = agent.stamp
    dry = cli("talk", "mira", "Who are you?", "--dry-run", "--json").value
    assert (dry["conversation"], dry["revision"], agent.stamp) == (None, None, before)
    first = cli("talk", "mira", "My name is John.", "--json").value
    assert first["answer"]
    assert first["revision"] == agent.stamp[0]
    more = [json.loads(line) for line in cli("talk", "mira", "--json", given="Hello.\n\nBye.\n").out.splitlines()]
    assert [one["said"] for one in more] == ["Hello.", "Bye."]
    assert {one["conversation"] for one in more} == {first["conversation"]}
    anew = cli("talk", "mira", "Good morning.", "--new", "--json").value
    assert anew["conversation"] != first["conversation"]
    back = cli("talk", "mira", "And again.", "--conversation", first["conversation"], "--json").value
    assert back["conversation"] == first["conversation"]
    assert cli("talk", "mira", "Hello.", "--conversation", "none").code == 1
    assert cli("talk", "mira", "   ").code == 1


def test_agents_talk_with_each_other_two_or_a_group(cli: CommandLine, agent: AgentMemory, world: World) -> None:
    for name in ("ana", "bo"):
        world.create_agent(name, f'{{"identity": {{"name": "{name.title()} Reed"}}}}')
    said = cli(
        "talk", "mira", "You meet at the well.", "--with", "ana", "--with", "bo", "--turns", "3"
    ).out.splitlines()
    assert len({line.partition(": ")[0] for line in said} & {"Mira Holloway", "Ana Reed", "Bo Reed"}) >= 2
    two = [json.loads(line) for line in cli("talk", "mira", "--with", "ana", "--turns", "2", "--json").out.splitlines()]
    assert [one["agent"] for one in two] == ["mira", "ana"]
    assert all(one["answer"] and one["revision"] for one in two)
    before = agent.stamp
    assert cli("talk", "mira", "--with", "mira").code == cli("talk", "mira", "--with", "ana", "--dry-run").code == 1
    assert agent.stamp == before


# -- what only MCP has -------------------------------------------------------------------------------------


def test_a_tool_answers_in_words_and_refuses_in_a_sentence(
    agent: AgentMemory, world: World, remember: Remember
) -> None:
    remember("Fed the geese.", id="one")

    async def session() -> tuple[str, str, str]:
        async with Client(create_server(world, Tools(CURATING_TOOLS, "mira"))) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert [name for name, tool in tools.items() if tool.annotations.destructive_hint] == ["purge", "empty_bin"]
            assert "agent" not in tools["forget"].input_schema["properties"]
            wrong = await refused(client, "purge", ids=["one"])
            unknown = await refused(client, "forget", ids=["one"], threshold=1)
            return text(await client.call_tool("forget", {"ids": ["one"]})), wrong, unknown

    told, wrong, unknown = run(session)
    assert re.fullmatch(r"Forget “Fed the geese.”.\n- forget one: .+\nDone, as revision \d+.", told)
    assert "Forget it first" in wrong
    assert "threshold: there is no such argument" in unknown
    assert agent.history(1)[0].change_set.author.startswith("MCP")


def test_a_tool_does_not_answer_with_more_than_a_client_can_take(
    agent: AgentMemory, world: World, remember: Remember
) -> None:
    for number in range(75):  # a memory may have 32,000 characters
        remember(f"Counted the geese once more, {number}. " + "They honked. " * 2400, id=f"count-{number}", rating=5)

    async def session() -> tuple[str, dict[str, Any]]:
        async with Client(create_server(world, Tools(LOOKING_TOOLS, "mira"))) as client:
            return await refused(client, "history", limit=100), await called(client, "history", limit=2)

    told, short = run(session)
    assert "MB at most. Ask for less; there are the arguments limit, contains, memory" in told
    assert [len(one["change_set"]["changes"]) for one in short["items"]] == [1, 1]


LIST_TOOLS = '{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}'


def test_a_server_offers_to_curate_or_to_look_only_when_told_to(tmp_path: Path) -> None:
    def offered(*arguments: str) -> set[str]:
        lines = (HELLO, '{"jsonrpc": "2.0", "method": "notifications/initialized"}', LIST_TOOLS)
        with commanded(tmp_path, *arguments) as server:
            server.stdin.write("".join(f"{line}\n" for line in lines))
            server.stdin.flush()
            answers = iter(server.stdout)
            told = next(answer for answer in map(json.loads, answers) if answer.get("id") == 2)
            server.communicate()  # closes its input, which ends it
        return {tool["name"] for tool in told["result"]["tools"]}

    plain = offered()
    for tools, flag in ((CURATING_TOOLS, "--curate"), (LOOKING_TOOLS, "--look")):
        made = {tool.name for tool in tools}
        assert plain.isdisjoint(made)
        assert made < offered(flag)


def test_every_tool_refuses_an_argument_that_it_does_not_know() -> None:
    assert {name: tool.schema(agent=True).get("additionalProperties") for name, tool in TOOLS.items()} == dict.fromkeys(
        TOOLS, False
    )
