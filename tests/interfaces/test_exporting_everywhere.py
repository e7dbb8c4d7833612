"""An export by the command line, over HTTP and by the client is the one that Python makes."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from memory_system import AgentMemory, World
from memory_system.interfaces.client import AsyncWorld, RemoteWorld
from memory_system.operations.exporting import MEDIA, Form
from tests import materials
from tests.command_line import CommandLine

Remember = Callable[..., str]


@pytest.fixture
def mira(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """An agent with a memory that would steer a terminal, and a card whose picture lies elsewhere."""
    remember("The bell rang \x1b[2Jtwice.", id="bell")
    beside = {"type": "icon", "uri": "embeded://a.png", "name": "main", "ext": "png"}
    card = {**materials.CARD["data"], "assets": [beside]}
    agent.import_material(json.dumps({**materials.CARD, "data": card}))
    return agent


@pytest.fixture
def cli(world: World, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(world, monkeypatch)


def test_the_server_and_its_clients_give_the_same_file(api: httpx.Client, mira: AgentMemory) -> None:
    before = mira.stamp
    with RemoteWorld(str(api.base_url)) as world:
        far = world.agent("mira")
        assert [far.export_as(form) for form in Form] == [mira.export_as(form) for form in Form]
        (note,) = far.export_as("x.png").notes
        assert note == "Files beside the imported card were not kept: 1."

    async def awaited() -> bool:
        async with AsyncWorld(str(api.base_url)) as other:
            return await (await other.agent("mira")).export_as(Form.CSV) == mira.export_as(Form.CSV)

    assert asyncio.run(awaited())
    answer = api.get("/v1/agents/mira/export", params={"form": "card.png"})
    assert answer.headers["content-type"] == MEDIA[Form.CARD_PNG]
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''mira.card.png"
    assert api.get("/v1/agents/mira/export", params={"form": "docx"}).status_code == 422
    assert mira.stamp == before


def test_the_ending_of_a_file_tells_the_form_and_a_dry_run_makes_none(
    cli: CommandLine, mira: AgentMemory, tmp_path: Path
) -> None:
    for name, form in {"a.png": Form.CARD_PNG, "b.md": Form.DOSSIER, "c.zip": Form.FOLDER, "d.csv": Form.CSV}.items():
        target = tmp_path / name
        dry = cli("export", "mira", str(target), "--dry-run")
        assert (dry.code, target.exists()) == (0, False)
        assert dry.out.endswith(" bytes. No file was made.\n")
        assert cli("export", "mira", str(target)).code == 0
        assert target.read_bytes() == mira.export_as(form).content
    again = cli("export", "mira", str(tmp_path / "a.png"))
    assert (again.code, "Name another." in again.err) == (1, True)
    assert cli("export", "mira", str(tmp_path / "x.png"), "--vectors").code == 2
    assert cli("export", "mira", "--as", "docx").code == 1


def test_an_ending_that_no_form_has_is_refused_unless_a_form_is_named(
    cli: CommandLine, mira: AgentMemory, tmp_path: Path
) -> None:
    for name in ("mira.pdf", "mira.txt"):
        refused = cli("export", "mira", str(tmp_path / name))
        assert (refused.code, (tmp_path / name).exists()) == (1, False)
        assert "there are: card.png, card.json" in (said := " ".join(refused.err.split()))
        assert "Name one with --as, or give the file another extension." in said
    assert cli("export", "mira", str(tmp_path / "mira.pdf"), "--as", "dossier.md").code == 0
    assert (tmp_path / "mira.pdf").read_bytes() == mira.export_as(Form.DOSSIER).content
    for name, named in {"mira": [], "mira.jsonl": [], "mira.txt": ["--as", "memories.jsonl"]}.items():
        assert cli("export", "mira", str(tmp_path / name), *named).code == 0
        assert '"agent"' in (tmp_path / name).read_text().splitlines()[0]


def test_a_pipe_gets_the_bytes_of_a_form(cli: CommandLine, mira: AgentMemory) -> None:
    assert cli("export", "mira", "--as", "card.json").out.encode() == mira.export_as(Form.CARD).content
    assert cli("export", "mira", "--as", "dossier.md").out.startswith("# Mira Holloway")


def test_an_exported_table_and_an_unpacked_folder_are_taken_back_in(
    cli: CommandLine, mira: AgentMemory, world: World, tmp_path: Path
) -> None:
    for name in ("mira.csv", "mira.zip"):
        assert cli("export", "mira", str(tmp_path / name)).code == 0
    assert cli("create", "bo").code == 0
    assert cli("import", "bo", str(tmp_path / "mira.csv")).code == 0
    assert world.agent("bo").find("bell") == mira.find("bell")
    with zipfile.ZipFile(tmp_path / "mira.zip") as archive:
        archive.extractall(tmp_path / "folder")
    assert cli("create", "cy", "--from", str(tmp_path / "folder")).code == 0
    assert world.agent("cy").find("bell") == mira.find("bell")
    assert world.agent("cy").personality == mira.personality
