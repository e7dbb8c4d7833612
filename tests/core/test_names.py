"""Names of agents: what is taken, what is refused and why, and that a refusal leaves no trace on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_system import World
from memory_system.core.names import checked_name
from memory_system.errors import AgentNotFound, AlreadyExists, InvalidAgentName

TAKEN = [
    "mira",
    "Mira Holloway",
    "O'Brien",
    "水樹",
    "Åse",
    "анна",
    "mira_2",
    "J.R. Finch",
    "Anne-Marie",
    "さくら子",
    "x" * 64,
]
REFUSED = {
    "../x": "“/”",
    "..": "begin and end",
    "": "is empty",
    "x" * 300: "300 characters; at most 64",
    "水" * 64 + "樹": "65 characters; at most 64",
    "𠀀" * 60: "too long for a file name",
    "con": "reserved",
    "NUL": "reserved",
    "Con.txt": "reserved",
    "lpt1": "reserved",
    "schema": "reserved",
    "samples": "reserved",
    "STM": "reserved",
    "mirа": "mixes scripts .*Cyrillic.*Latin",  # the last letter is Cyrillic
    "mira\n": "control character",
    "mi\x00ra": "control character",
    "mi\u202era": "right-to-left override",
    "mi\ud800ra": "half of a surrogate pair",
    "mir\udcffb": "a byte that is not UTF-8",
    "mira.": "begin and end",
    "mira ": "begin and end",
    " mira": "begin and end",
    ".mira": "begin and end",
    "mi..ra": r"'\.\.'",
    "🔥": "“🔥”",
    "mira🔥": "“🔥”",
    "a/b": "“/”",
    "a\\b": "“",
    "C:": "“:”",
    "*": r"“\*”",
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_good_name_is_taken_as_it_is(name: str) -> None:
    assert checked_name(name) == name


def test_a_name_is_brought_to_its_composed_form() -> None:
    assert checked_name("A\u030ase") == "Åse"


@pytest.mark.parametrize(("name", "reason"), REFUSED.items(), ids=ascii)
def test_a_bad_name_is_refused_with_its_reason(name: str, reason: str) -> None:
    with pytest.raises(InvalidAgentName, match=reason) as caught:
        checked_name(name)
    assert len(caught.value.sentence) < 200


@pytest.mark.parametrize("name", [None, 7, b"mira", ["mira"], Path("mira")])
def test_what_is_no_text_is_refused(name: object) -> None:
    with pytest.raises(InvalidAgentName, match="must be text"):
        checked_name(name)


def everything_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", [*REFUSED, "ghost"], ids=ascii)
def test_nothing_is_made_on_disk_for_a_name_that_is_refused_or_unknown(world: World, tmp_path: Path, name: str) -> None:
    before = everything_under(tmp_path)
    with pytest.raises((InvalidAgentName, AgentNotFound)):
        world.agent(name)
    if name != "ghost":
        with pytest.raises(InvalidAgentName):
            world.create_agent(name)
    assert everything_under(tmp_path) == before
    assert world.agents() == []


@pytest.mark.parametrize("name", ["Mira Holloway", "O'Brien", "水樹", "анна"])
def test_an_agent_of_a_good_name_can_be_made_and_found_again(world: World, name: str) -> None:
    made = world.create_agent(name)
    assert world.agents() == [name]
    assert world.agent(name) is made
    assert made.display_name == name


def test_a_name_that_differs_only_in_case_is_taken_already(world: World, tmp_path: Path) -> None:
    world.create_agent("Mira")
    before = everything_under(tmp_path)
    with pytest.raises(AlreadyExists, match="Mira"):
        world.create_agent("mira")
    assert everything_under(tmp_path) == before


def test_a_broken_personality_makes_no_agent(world: World, tmp_path: Path) -> None:
    before = everything_under(tmp_path)
    with pytest.raises(ValueError, match="not JSON"):
        world.create_agent("mira", "{")
    assert everything_under(tmp_path) == before
