"""The examples are run as their readers run them: each a program of its own, from its first line to its last."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests import programs

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


def said(example: str, *arguments: str, given: str = "") -> str:
    """What an example prints."""
    environment = os.environ | {"MEMORY_LLM": "offline"}
    return programs.run(
        "-m", f"examples.{example}", *arguments, environment=environment, given=given, check=True
    ).stdout


def test_each_is_short_and_named_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert EXAMPLES == ["adventure", "companion", "village"]
    for name in EXAMPLES:
        assert len((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 60
        assert f"examples/{name}.py" in readme


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_from_its_first_line_to_its_last(example: str, tmp_path: Path) -> None:
    CHECKS[example](tmp_path)


def village(_folder: Path) -> None:
    told = said("village")
    assert [line for line in told.splitlines() if re.fullmatch(r"(Mon|Tues)day \d\d:00", line)] == [
        f"{day} {hour}" for day in ("Monday", "Tuesday") for hour in ("08:00", "13:00", "18:00")
    ]
    first, _, later = told.partition('Isabella Rodriguez: "I decided')
    assert "Klaus Mueller: \"Isabella Rodriguez told me: I decided to give a Valentine's Day party" in later
    assert "party at Hobbs Cafe" not in first
    answers = re.findall(r'^  \S+ \S+: "[^"]*[^?"]"$\n    why: (.+)', told, re.MULTILINE)
    assert len(answers) == told.count("why:") == 12
    assert all("confidence" in why or "nothing" in why for why in answers)


def adventure(_folder: Path) -> None:
    typed = ["ask who has the lamp?", "take lamp", "go cellar", "take lamp", "go taproom", "show lamp"]
    lines = said("adventure", given="\n".join([*typed, "ask who has the lamp?", "look", "quit"])).splitlines()
    assert lines[1:3] == [lines[1], "Nothing happens. You can: look, go, take, show, ask, quit."]
    assert "lamp" not in lines[1]
    assert lines[-2] == "Oswin: The traveller has the lamp from the cellar, and showed it to me."
    assert lines[-1].endswith("You carry: lamp.")


def companion(folder: Path) -> None:
    first = said("companion", "Jo", str(folder), given="My name is Jo. I live in Selwyn and keep bees.\n\n")
    again = said("companion", "Jo", str(folder), given="Do I keep bees?\n\n")
    another = said("companion", "Ana", str(folder))
    assert ["bees" in told.splitlines()[0] for told in (first, again, another)] == [False, True, False]
    assert "keep bees" in again.splitlines()[-1]


CHECKS = {"village": village, "adventure": adventure, "companion": companion}
