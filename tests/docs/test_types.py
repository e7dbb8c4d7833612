"""What the pages of docs/ and the examples write is typed, for a game that is checked without pydantic's plug-in."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.test_pages import PAGES, code_of

_INSTEAD = "  # instead of"
"""What follows a line that another one of the page stands for."""
_UNTYPED = {"story_tests"}
"""Pages with a function of the reader's own, without types."""


@pytest.mark.full
def test_the_code_of_pages_and_examples_passes_mypy_strict_without_a_plug_in(tmp_path: Path) -> None:
    written = {
        page.stem: "\n".join(one for one in code_of(page) if _INSTEAD not in one)
        for page in PAGES
        if page.stem not in _UNTYPED
    }
    written |= {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")}
    for name, code in written.items():
        (tmp_path / f"{name.lower()}_page.py").write_text(code, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n[mypy-memory_system.*]\nignore_errors = true\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", *sorted(one.name for one in tmp_path.glob("*.py"))],
        cwd=tmp_path, env={"MYPYPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert re.findall(r"^.*_page.py:.*error:.*$", done.stdout, re.MULTILINE) == []
    assert "source files" in done.stdout, done.stdout + done.stderr
