"""Another package can bring an importer, by whose name a file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.operations.importing.text import IMPORTERS
from tests.command_line import CommandLine
from tests.joining import install

CHAT = """
def read(text):
    for line in text.splitlines():
        who, _, said = line.partition("> ")
        yield {"document": f"{who} said: {said}", "kind": "conversation", "tags": ["chat"]}

def fails(text):
    raise ValueError("line 1 has no name")

def ends(text):
    raise SystemExit(3)

def goes_on(text):
    while True:
        yield {"document": text}
"""
FAILING = ("ends", "fails", "goes_on")


@pytest.fixture(autouse=True)
def joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "joined"
    folder.mkdir()
    points = "chat = chat_package:read\n" + "\n".join(f"{name} = chat_package:{name}" for name in FAILING)
    install(folder, "chat_package", CHAT, {IMPORTERS.group: points})
    monkeypatch.syspath_prepend(folder)


def test_a_file_is_read_by_the_importer_of_another_package(
    world: World, agent: AgentMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, run = tmp_path / "talk.log", CommandLine(world, monkeypatch)
    file.write_text("Tobias> The mill is shut.\nInes> Since when?\n", encoding="utf-8")
    done = run("import", agent.name, str(file), "--as", "chat", "--no-rate")
    assert done.code == 0, done.err
    held = {entry.document: entry for entry in agent.entries(Tier.STM)}
    assert set(held) == {"Tobias said: The mill is shut.", "Ines said: Since when?"}
    assert {entry.tags for entry in held.values()} == {("chat",)}
    before = agent.stamp
    failed = run("import", agent.name, str(file), "--as", "fails")
    assert (failed.code, "'fails' cannot read it: ValueError: line 1 has no name." in failed.err) == (
        1,
        True,
    )
    ended = run("import", agent.name, str(file), "--as", "ends")
    assert (ended.code, "the importer 'ends' cannot read it: SystemExit: 3." in ended.err) == (1, True)
    endless = run("import", agent.name, str(file), "--as", "goes_on")
    assert (endless.code, "more than 50,000 events" in endless.err) == (1, True)
    unknown = run("import", agent.name, str(file), "--as", "chta")
    assert unknown.code == 1
    assert "There is no form 'chta'; there are: lines, json, jsonl, csv, chat, ends, fails, goes_on." in unknown.err
    assert agent.stamp == before
