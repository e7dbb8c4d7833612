"""Who is behind a change where nobody says so: the script that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memory_system.core.authors import authored_by, running_script
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("argument", "author"),
    [
        ("/home/ines/game.py", "script game.py"),
        ("quest log.py", "script quest log.py"),
        ("/usr/lib/python3/pytest/__main__.py", "script pytest"),
        ("-c", "script"),
        ("", "script"),
        ("a\x00b\u202e\ud800.py", "script ab.py"),
        ("x" * 300, f"script {'x' * 60}"),
    ],
)
def test_a_script_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch, argument: str, author: str) -> None:
    monkeypatch.setattr(sys, "argv", [argument])
    assert running_script() == author
    monkeypatch.setattr(sys, "argv", [])
    assert running_script() == "script"


def test_a_real_script_is_behind_what_it_changes(tmp_path: Path) -> None:
    script = tmp_path / "night watch.py"
    script.write_text(
        "from memory_system.core.authors import running_script\nprint(running_script())\n", encoding="utf-8"
    )
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "script night watch.py"


@pytest.mark.parametrize(
    ("name", "author"),
    [("a game", "MCP a game"), ("", "MCP"), (" \n\u202e", "MCP"), ("x" * 300, f"MCP {'x' * 60}")],
)
def test_who_calls_itself_something_is_told_by_that(name: str, author: str) -> None:
    assert authored_by("MCP", name) == author
