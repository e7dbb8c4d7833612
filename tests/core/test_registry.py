"""What is chosen by name: built in or from another package, imported when it is asked for, and clear when it fails."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_system.core.registry import Registry
from memory_system.errors import InvalidParameter
from tests.joining import install

GROUP = "memory_system.things"


def things() -> Registry[Callable[[str], object]]:
    return Registry(GROUP, "thing", {"path": "pathlib:PurePath", "fraction": "fractions:Fraction"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_package_joins_and_is_imported_only_when_it_is_asked_for(folder: Path) -> None:
    install(folder, "joined_one", "def make(told):\n    return ['joined', told]\n", {GROUP: "one = joined_one:make"})
    assert things().names() == ["path", "fraction", "one"]
    assert "joined_one" not in sys.modules
    assert things().get("one")("x") == ["joined", "x"]
    assert "joined_one" in sys.modules


def test_an_unknown_name_is_answered_by_the_names_there_are(folder: Path) -> None:
    install(folder, "joined_two", "", {GROUP: "two = joined_two:make"})
    with pytest.raises(InvalidParameter, match=r"no thing 'three'; there are: path, fraction, two\. .*'memory_system"):
        things().get("three")


def test_no_package_takes_the_name_of_what_ships(folder: Path) -> None:
    install(folder, "joined_taker", "make = 1\n", {GROUP: "fraction = joined_taker:make"})
    assert str(things().get("fraction")("1/2")) == "1/2"
    assert things().names() == ["path", "fraction"]


def test_two_packages_of_one_name_are_both_named(folder: Path) -> None:
    for name in ("joined_left", "joined_right"):
        install(folder, name, "make = 1\n", {GROUP: f"both = {name}:make"})
    with pytest.raises(InvalidParameter, match=r"several things 'both'.*joined_left 1\.0.*joined_right 1\.0"):
        things().get("both")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("other = 1\n", "AttributeError"),
        ("raise RuntimeError('no licence')\n", "RuntimeError: no licence"),
    ],
)
def test_what_cannot_be_imported_is_told_with_its_package(folder: Path, source: str, told: str) -> None:
    name = f"joined_broken_{abs(hash(source))}"
    install(folder, name, source, {GROUP: f"broken = {name}:make"})
    with pytest.raises(InvalidParameter, match=rf"thing 'broken' .*{name} 1\.0.* cannot be loaded: {told}"):
        things().get("broken")
