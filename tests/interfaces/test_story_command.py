"""A leak that is planted in a copy of the sample is told by the command, in JUnit's XML and by the pytest plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from memory_system import World
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.interfaces.client import RemoteWorld
from memory_system.world.knows import FILE, Verdict
from tests import sample_world
from tests.command_line import CommandLine
from tests.conftest import ROOT, settings_in
from tests.served import served_api

STOLEN = "Juno stole the mill key from Tobias's coat."
TESTS = f"""
- name: Ines must not know who stole the key before Juno tells her
  agent: ines
  must_not_know: {STOLEN}
  before: {{told_by: juno}}
- name: Juno knows by day 20
  agent: juno
  knows: {STOLEN}
  by: day 20
"""


@pytest.fixture
def copied(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[World]:
    """A copy of two of the sample's characters, with tests of their story."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    sample_world.copy(template, tmp_path / "quay", ("juno", "ines"))
    with World(settings_in(tmp_path / "quay"), embedder=embedder) as world:
        (world.folder / FILE).write_text(TESTS, encoding="utf-8")
        yield world


def plant(world: World) -> int:
    """Let Ines overhear it, by somebody's hand."""
    leak = {"id": "leak", "document": f"Overheard at the pump: {STOLEN}", "rating": 5}
    made = world.agent("ines").acting_as("Kim").add_short_term([leak]).change_set
    assert made.revision is not None
    return made.revision


def test_a_planted_leak_ends_with_1_and_names_all_until_it_is_undone(
    copied: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, out = CommandLine(copied, monkeypatch), tmp_path / "out.xml"
    assert command("test").code == 0
    revision = plant(copied)
    ran = command("test", str(copied.folder / FILE), "--junit", str(out))
    assert ran.code == 1
    assert all(word in ran.out for word in ("leak", f"revision {revision}", "Kim"))
    (case,) = [one for one in ET.parse(out).getroot().iter("testcase") if one.find("failure") is not None]
    told = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert case.get("name") == "Ines must not know who stole the key before Juno tells her"
    assert (told["memory"], told["revision"], told["author"]) == ("leak", str(revision), "Kim")
    copied.agent("ines").undo(revision)
    assert command("test", "--junit", str(out)).code == 0
    assert ET.parse(out).getroot().get("failures") == "0"


def test_a_wrong_file_ends_with_2_and_says_the_line(
    copied: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, file = CommandLine(copied, monkeypatch), tmp_path / "bad.yaml"
    file.write_text("- name: a\n  agent: juno\n  knows: x\n- name: b\n  knows: y\n", encoding="utf-8")
    ran = command("test", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert "line 4" in ran.err
    assert command("test", str(tmp_path / "none.yaml")).code == 2


def test_the_client_asks_and_corrects_as_the_world_does(copied: World) -> None:
    with served_api(copied) as address, RemoteWorld(address) as there:
        assert there.who_knows(STOLEN, ask_model=False) == copied.who_knows(STOLEN, ask_model=False)
        assert there.story_tests() == copied.story_tests()
        assert [one.passed for one in there.run_tests()] == [True, True]
        there.correct("ines", STOLEN, Verdict.HALF)
        assert copied.labels() == there.labels()
        assert copied.knows("ines", STOLEN).verdict is Verdict.HALF


def test_the_plugin_hands_a_test_the_world(copied: World, tmp_path: Path) -> None:
    (tmp_path / "test_secret.py").write_text(
        f'FACT = "{STOLEN}"\n\n\n'
        "def test_secret(world):\n    assert not world.knows('ines', FACT)\n\n\n"
        "def test_thief(world):\n    assert world.knows('juno', FACT)\n",
        encoding="utf-8",
    )
    said = [f"--memory-database={copied.settings.database}", f"--memory-personalities={copied.settings.personalities}"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, *said, "test_secret.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MEMORY_LLM": "offline"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in ran.stdout, ran.stdout + ran.stderr
