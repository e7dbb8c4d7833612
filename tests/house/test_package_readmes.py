"""The READMEs of the packages: each says what its package is for, where to enter, and shows it in code that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(path.parent for path in (ROOT / "memory_system").glob("*/__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_example_of_a_package_runs(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (package / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {package.name}: ")
    assert "Entry point: " in text
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.setenv("MEMORY_HOME", str(tmp_path))
    monkeypatch.setenv("MEMORY_LLM", "offline")
    exec(compile(example, str(package / "README.md"), "exec"), {})
