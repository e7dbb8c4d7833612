"""The tool that changes the code to try the tests: what it changes, and that what it is told still fits."""

from __future__ import annotations

import importlib.util
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("mutants_tool", ROOT / "tools" / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants_tool"] = module  # where its dataclasses look themselves up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mutants_tool"]


def changed(tool: ModuleType, source: str) -> set[str]:
    return {mutant.is_now for mutant in tool.Mutator("a.py", source.encode()).mutants()}


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("a = b < c", {"a = b <= c", "a = b >= c"}),
        ("a = b is not c", {"a = b is c"}),
        ("a = b or not c", {"a = b and not c", "a = b or c"}),
        ("a = max(b, -c)", {"a = min(b, -c)", "a = max(b, c)"}),
        ("a = b + 1", {"a = b - 1", "a = b + 2", "a = b + 0"}),
        ("a = b[:3]", {"a = b[:]", "a = b[:4]"}),
        ("A = 4096", {"A = 8192"}),
        ("if a: b()", {"if not (a): b()", "if a: pass"}),
        ("a.b = c", {"pass"}),
        ('raise ValueError(f"{a[:60]} is {b or 1}")', {"pass"}),
        ("assert a < b", set()),
        ("a: int | None = None", set()),
        ('a = "b" + c', set()),
    ],
)
def test_each_small_change_is_found_and_words_types_and_assertions_are_left(
    tool: ModuleType, line: str, changes: set[str]
) -> None:
    assert changed(tool, f"{line}\n") == changes


def test_a_mutant_is_the_source_with_one_change(tool: ModuleType) -> None:
    source = "def f(a: int, b: int = 1) -> bool:\n    # é: two bytes\n    return a >= b\n".encode()
    mutants = tool.Mutator("a.py", source).mutants()
    whole = {mutant.applied(source).decode() for mutant in mutants}
    assert source.decode().replace(">=", ">") in whole
    assert source.decode().replace("b: int = 1", "b: int = 2") in whole
    assert {mutant.where for mutant in mutants} == {"f"}
    assert {(mutant.first, mutant.last) for mutant in mutants if mutant.line == 3} == {(3, 3)}


def test_a_sample_is_the_same_for_one_seed_and_hardly_changes_with_the_file(tool: ModuleType) -> None:
    lines = [f"a{n} = b + {n + 2}" for n in range(40)]

    def sampled(lines: list[str], seed: str) -> set[str]:
        mutants = tool.Mutator("a.py", "\n".join(lines).encode()).mutants()
        return {mutant.name for mutant in tool.sample(mutants, 10, seed)}

    first = sampled(lines, "1")
    assert len(first) == 10
    assert sampled(lines, "1") == first
    assert sampled(lines, "2") != first
    assert len(sampled(["# a line above", *lines, "c = d - 5"], "1") & first) >= 8


def test_only_what_a_mutant_did_counts_as_killed(tool: ModuleType) -> None:
    assert all(map(tool.killed, ("failed", "endless", "hung", "cannot be imported", "ended by SIGSEGV")))
    assert not any(map(tool.killed, ("passed", "passed: no test runs this", "unclear: code 3")))


def test_every_group_names_modules_and_tests_that_are_there() -> None:
    for group in tomllib.loads((ROOT / "tools/mutants.toml").read_text(encoding="utf-8"))["group"]:
        for path in (*group["modules"], *group["tests"]):
            assert (ROOT / path.partition("::")[0]).is_file(), f"{path} of {group['name']}"


def test_every_explained_survivor_is_still_a_mutant_of_its_module(tool: ModuleType) -> None:
    told = tomllib.loads((ROOT / "tools/mutants_equivalent.toml").read_text(encoding="utf-8"))["equivalent"]
    found = {mutant.key for mutant in tool.mutants_of(ROOT, sorted({one["module"] for one in told}))}
    for one in told:
        assert (one["module"], one["in"], one["line"], one["mutated"]) in found, one["line"]
        assert one["why"].endswith(".")


@pytest.mark.skipif(not hasattr(os, "fork") or not Path("/proc/self/environ").exists(), reason="needs Linux")
def test_a_change_that_a_test_notices_is_killed_and_another_survives(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "as-it-is" / "tools").mkdir(parents=True)
    tree = tmp_path / "as-it-is"
    (tree / "tools/mutants.py").write_bytes((ROOT / "tools/mutants.py").read_bytes())
    (tree / "sums.py").write_text("def more(a):\n    return a + 1\n\n\ndef loud(a):\n    return a > 3\n")
    (tree / "test_sums.py").write_text(
        "import sums\n\n\ndef test_more():\n    assert sums.more(2) == 3\n\n\n"
        "def test_loud():\n    assert sums.loud(9)\n"
    )
    group = {"name": "sums", "modules": ["sums.py"], "tests": ["test_sums.py"]}
    monkeypatch.setattr(tool, "EQUIVALENT", tmp_path / "none.toml")
    (tmp_path / "none.toml").write_text("")
    result = tool.try_group(group, tool.mutants_of(tree, ["sums.py"]), tmp_path, lambda _line: None)
    ended = {mutant.is_now: ended for mutant, ended, _ in result["tried"]}
    assert ended["return a - 1"] == "failed"
    assert ended["return a <= 3"] == "failed"
    assert ended["return a >= 3"] == "passed"
    assert tool.report([result]) == 1
    assert "NOT EXPLAINED" in capsys.readouterr().out
