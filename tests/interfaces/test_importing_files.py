"""A file of another program comes in by every front end, whatever it is, and a character can be made of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.errors import InvalidFile
from memory_system.interfaces.api.guard import largest_body
from memory_system.interfaces.client import RemoteWorld
from memory_system.interfaces.mcp.curating import CURATING_TOOLS
from memory_system.operations.importing.events import MAX_FILE
from tests import materials
from tests.command_line import CommandLine
from tests.served import served_api

GULL = "The Gull: A tavern where the dockers drink."


@pytest.fixture
def run(world: World, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(world, monkeypatch)


@pytest.fixture
def card(tmp_path: Path) -> str:
    file = tmp_path / "rosa.png"
    file.write_bytes(materials.card_png(materials.CARD))
    return str(file)


def test_a_picture_is_looked_at_and_taken_in_on_the_command_line(
    run: CommandLine, agent: AgentMemory, card: str
) -> None:
    before = agent.revision
    looked = run("material", agent.name, card, "--json").value
    assert (looked["form"], looked["name"]) == ("card", "Rosa Quill")
    assert {row["becomes"] for row in looked["rows"]} == {"personality", "fact", "dropped"}
    dry = run("import-material", agent.name, card, "--take", "facts", "--dry-run")
    assert "Import Rosa Quill: 4 facts" in dry.out
    assert agent.revision == before
    done = run("import-material", agent.name, card, "--take", "facts")
    assert done.code == 0, done.err
    assert GULL in {entry.document for entry in agent.entries(Tier.STATIC)}
    assert any("From" in one.reason or one.after for one in agent.history(1)[0].change_set.changes)


def test_a_table_whose_columns_are_named_is_read_so(run: CommandLine, agent: AgentMemory, tmp_path: Path) -> None:
    file = tmp_path / "notes.csv"
    file.write_text("who;note of the day\nEdda;Brought the ledger\n", encoding="utf-8")
    named = json.dumps({"document": "note of the day", "people": "who"})
    done = run("import-material", agent.name, str(file), "--form", "table", "--columns", named)
    assert done.code == 0, done.err
    (entry,) = agent.entries(Tier.STM)
    assert (entry.document, entry.people) == ("Brought the ledger", ("Edda",))


def test_a_character_is_made_of_a_folder_of_a_persona_in_one_change_set(
    run: CommandLine, world: World, tmp_path: Path
) -> None:
    folder = tmp_path / "Rosa Quill" / "bootstrap_memory"
    (folder / "associative_memory").mkdir(parents=True)
    (folder / "scratch.json").write_text(json.dumps(materials.SCRATCH), encoding="utf-8")
    (folder / "associative_memory" / "nodes.json").write_text(json.dumps(materials.NODES), encoding="utf-8")
    (folder / "associative_memory" / "embeddings.json").write_text("[" * 10_000, encoding="utf-8")
    done = run("create", "rosa", "--from", str(tmp_path / "Rosa Quill"))
    assert done.code == 0, done.err
    rosa = world.agent("rosa")
    assert (rosa.display_name, rosa.revision) == ("Rosa Quill", 1)
    assert [entry.document for entry in rosa.entries(Tier.LTM)] == ["Rosa Quill trusts Edda Marsh."]
    assert len(rosa.entries(Tier.STM)) == 4


def test_a_file_without_a_name_makes_a_character_of_the_given_name(
    run: CommandLine, world: World, tmp_path: Path
) -> None:
    file = tmp_path / "chapter.txt"
    file.write_text(materials.PROSE, encoding="utf-8")
    assert run("create", "rosa", "--from", str(file)).code == 0
    assert world.agent("rosa").display_name == "rosa"
    assert len(world.agent("rosa").entries(Tier.STM)) == 3


def test_a_client_sends_bytes_and_is_told_what_the_agent_is_told(world: World, agent: AgentMemory) -> None:
    raw = materials.card_png(materials.CARD)
    with served_api(world) as address, RemoteWorld(address) as there:
        remote = there.agent(agent.name)
        assert remote.read_material(raw, file_name="rosa.png") == agent.read_material(raw, file_name="rosa.png")
        with pytest.raises(InvalidFile, match=r"In bomb\.png: its picture has"):
            remote.import_material(materials.png(width=60_000, height=60_000), file_name="bomb.png")
        planned = remote.import_material(raw, preview=True)
        assert planned.revision is None
        done = remote.import_material(raw)
        assert done.revision == agent.revision
        remote.undo(done.revision)
        long = "\n".join(json.dumps({"text": f"Crate {n}: {'flour ' * 2000}"}) for n in range(200))
        assert len(long) > 2_000_000
        assert len(remote.read_material(long).rows) == 200
    assert GULL not in {entry.document for entry in agent.entries(Tier.STATIC)}


def test_a_file_may_be_as_large_as_elsewhere_though_it_is_sent_as_text() -> None:
    for address in ("/v1/agents/mira/material", "/v1/agents/mira/operations/import-material"):
        assert largest_body(address) > MAX_FILE * 4 // 3
    assert largest_body("/v1/agents/mira/operations/forget") < MAX_FILE


def test_a_tool_of_curating_takes_a_text(agent: AgentMemory) -> None:
    tool = next(one for one in CURATING_TOOLS if one.name == "import_material")
    assert {"material", "take", "columns"} <= set(tool.schema(agent=True)["properties"])
