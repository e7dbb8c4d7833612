"""Whether an agent is stored under exactly the name that is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

from memory_system.world.folders import Place, lies_there


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A world in which ``Mira`` has a folder, ``Jürgen`` a personality, and ``tobias`` and ``TOBIAS`` are two."""
    for name in ("Mira", "tobias", "TOBIAS"):
        (tmp_path / "world" / name).mkdir(parents=True)
    (tmp_path / "people").mkdir()
    (tmp_path / "people/Jürgen.json").touch()
    return tmp_path


def place(world: Path, name: str) -> Place:
    return Place(world / "world" / name, world / f"people/{name}.json")


@pytest.mark.parametrize(
    ("name", "lies"),
    [("Mira", True), ("mira", False), ("Jürgen", True), ("jürgen", False), ("tobias", True), ("x" * 300, False)],
)
def test_an_agent_lies_under_its_own_name(world: Path, name: str, lies: bool) -> None:
    assert lies_there(place(world, name)) is lies


def test_nobody_looks_through_a_world_of_thousands(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked(_folder: Path) -> NoReturn:
        pytest.fail("It looked through the folder.")

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", looked)
        assert lies_there(place(world, "Mira"))
        assert lies_there(place(world, "TOBIAS"))
        assert not lies_there(place(world, "Edda"))


def test_a_disk_that_knows_no_capitals_is_not_believed(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.exists
    lying = {one.name.casefold() for one in (world / "world").iterdir()}
    monkeypatch.setattr(Path, "exists", lambda path: path.name.casefold() in lying or real(path))
    monkeypatch.setattr(Path, "samefile", lambda one, other: one.name.casefold() == other.name.casefold())
    assert lies_there(place(world, "Mira"))
    assert not lies_there(place(world, "mira"))
    assert not lies_there(place(world, "MIRA"))
