"""Every package that this needs is named with a range and a reason, and its licence is told."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools import licences

ROOT = Path(__file__).resolve().parents[2]
FILES = ("requirements.txt", "requirements-dev.txt")
NAMED = [pytest.param(*held, id=name) for file in FILES for name, held in licences.asked(file).items()]
_COPYLEFT = re.compile(r"(?<!L)GPL")


@pytest.mark.parametrize(("requirement", "reason"), NAMED)
def test_a_requirement_has_a_range_that_ends_and_a_reason(requirement: Requirement, reason: str) -> None:
    operators = {one.operator for one in requirement.specifier}
    assert operators & {">=", "==", "~="}
    assert operators & {"<", "==", "~="}, f"{requirement} may become anything: say where its range ends."
    assert len(reason) > 3, f"{requirement}: say after a # what it is for."


def test_whatever_the_code_imports_is_asked_for() -> None:
    imported = set()
    for path in (*(ROOT / "memory_system").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                imported.add(node.module.partition(".")[0])
    strange = imported - set(sys.stdlib_module_names) - {"memory_system", "dashboard"}
    owners = importlib.metadata.packages_distributions()
    asked = set(licences.asked("requirements.txt"))
    asked.add("mcp-types")  # a part of mcp
    asked.add("pytest")  # whoever uses the plugin for it has it
    asked |= {"anthropic", "langgraph-checkpoint", "openai-agents"}  # so has whoever uses the bridge to one
    unasked = {name for name in strange if name in owners and not {licences.plain(one) for one in owners[name]} & asked}
    assert not unasked, f"{sorted(unasked)} come along by chance: name them in requirements.txt."


@pytest.mark.parametrize(("requirement", "reason"), NAMED)
def test_the_list_of_licences_tells_what_the_package_tells(requirement: Requirement, reason: str) -> None:
    name = licences.plain(requirement.name)
    told = licences.licence(name)
    line = f"| {name} | `{requirement.specifier}` | {told} | {reason} |"
    assert line in licences.PAGE.read_text(encoding="utf-8"), "docs/licences.md is old: run 'make licences'."
    assert "not told" not in told
    assert not _COPYLEFT.search(told)


def test_no_licence_of_the_list_would_bind_this_project() -> None:
    rows = [line for line in licences.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) > 80
    assert not [row for row in rows if _COPYLEFT.search(row)]
