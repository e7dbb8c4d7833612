"""Tests of a story are kept as YAML, say by which memory they are red, and are green again once that is undone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from memory_system import World
from memory_system.errors import InvalidDocument, InvalidParameter
from memory_system.world.knows import FILE, Sort, StoryTest, junit
from memory_system.world.knows.story import parse
from tests.conftest import NOW

CUP = "Bo hid the silver cup under the bridge."
YAML = f"""
- name: Ana saw it
  agent: ana
  knows: {CUP}
  by: day 2
- name: Cy must not know before Ana tells him
  agent: cy
  must_not_know: {CUP}
  before: {{told_by: ana}}
- name: They agree on the cup
  no_contradiction: the silver cup under the bridge
  among: [ana, cy]
- name: Ana recalls it
  agent: ana
  asked: Where is the silver cup?
  recalls: saw
"""


@pytest.fixture
def story(world: World) -> World:
    """Three characters, of whom one hid something and one saw it; the story is three days old."""
    world.stand_at(NOW)
    for name, called in (("ana", "Ana Reed"), ("bo", "Bo Lund"), ("cy", "Cy Marsh")):
        world.create_agent(name, {"identity": {"name": called}})
    put(world, "bo", "first", "Bought bread and a silver cup.", days=2)
    put(world, "ana", "saw", "Saw Bo hide the silver cup under the bridge.", days=1)
    put(world, "cy", "slept", "Slept badly and mended a net.", days=1)
    return world


def put(
    world: World, name: str, entry_id: str, text: str, *, days: float, author: str = "story", **more: object
) -> int:
    """Let a character remember something, and answer the revision."""
    event = {"id": entry_id, "document": text, "timestamp": NOW - timedelta(days=days), "rating": 6, **more}
    added = world.agent(name).acting_as(author).add_short_term([event])
    assert added.change_set.revision is not None
    return added.change_set.revision


def test_a_file_is_read_with_lines_and_written_as_it_was_meant() -> None:
    tests = parse(YAML)
    assert [test.sort for test in tests] == [Sort.KNOWS, Sort.MUST_NOT, Sort.AGREE, Sort.RECALLS]
    assert [test.line for test in tests] == [2, 6, 10, 13]
    assert (tests[0].by, tests[1].told_by, tests[2].among, tests[3].recalls) == (2, "ana", ("ana", "cy"), "saw")


def test_what_is_kept_with_the_world_comes_back_the_same(story: World) -> None:
    timed = StoryTest("late", Sort.MUST_NOT, CUP, "cy", by=datetime(2026, 3, 27, tzinfo=UTC))
    story.keep_tests([*parse(YAML), timed])
    assert story.story_tests() == (*parse(YAML), timed)
    assert (story.folder / FILE).read_text(encoding="utf-8").startswith("#")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- name: a\n  agent: ana\n  knows: [", 3, "YAML"),
        ("- name: a\n  agent: ana\n", 1, "exactly one"),
        ("- name: ok\n  agent: ana\n  knows: x\n- name: b\n  knows: y\n", 4, "agent"),
        ("- name: a\n  agent: ana\n  knows: x\n  when: now\n", 1, "when"),
        ("- name: a\n  agent: ana\n  knows: x\n  by: soon\n", 1, "day 3"),
        ("- name: a\n  agent: ana\n  knows: x\n- name: a\n  agent: ana\n  knows: y\n", 4, "line 1"),
        ("knows: x\n", 1, "list"),
    ],
)
def test_a_wrong_file_is_told_by_its_line_and_what_to_do(text: str, line: int, words: str) -> None:
    with pytest.raises(InvalidDocument) as told:
        parse(text)
    (problem,) = told.value.problems
    assert problem.line == line
    assert words in problem.message


def test_two_tests_of_one_name_are_not_kept(story: World) -> None:
    one = StoryTest("twice", Sort.KNOWS, CUP, "ana")
    with pytest.raises(InvalidParameter):
        story.keep_tests([one, one])
    assert not story.story_tests()


def test_a_story_that_is_right_is_green(story: World) -> None:
    results = story.run_tests(parse(YAML))
    assert [one.passed for one in results] == [True] * 4, "\n".join(map(str, results))


def test_what_is_known_too_late_is_red(story: World) -> None:
    (result,) = story.run_tests([StoryTest("early", Sort.KNOWS, CUP, "ana", by=1)])
    assert not result.passed
    assert not result.broken


def test_a_leak_is_red_by_its_memory_and_green_after_undo(story: World) -> None:
    brought = put(story, "cy", "leak", "Heard that Bo hid the silver cup under the bridge.", days=0.5, author="Kim")
    results = story.run_tests(parse(YAML))
    (red,) = [one for one in results if not one.passed]
    assert red.cell is not None
    assert (red.cell.agent, red.cell.memory) == ("cy", "leak")
    assert (red.cell.revision, red.cell.author) == (brought, "Kim")
    suite = ET.fromstring(junit(results, story.name)).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "0")
    (case,) = [one for one in suite.findall("testcase") if one.find("failure") is not None]
    told = {one.get("name"): one.get("value") for one in case.findall("properties/property")}
    assert case.get("name") == red.test.name
    assert told == {"agent": "cy", "memory": "leak", "revision": str(brought), "author": "Kim", "chain": ""}
    story.agent("cy").undo(brought)
    assert all(one.passed for one in story.run_tests(parse(YAML)))


def test_whoever_was_told_may_know_and_the_chain_says_who_told_it(story: World) -> None:
    told = {"source": "told", "people": ["Ana Reed"]}
    put(story, "cy", "told", "Ana says that Bo hid the silver cup under the bridge.", days=0.5, **told)
    assert all(one.passed for one in story.run_tests(parse(YAML)))
    (red,) = story.run_tests([StoryTest("never", Sort.MUST_NOT, CUP, "cy")])
    assert [hop.agent for hop in red.chain] == ["cy", "ana"]
    assert "told by Ana Reed" in str(red)


def test_those_who_contradict_each_other_are_told(story: World) -> None:
    put(story, "cy", "other", "Saw Bo hide the silver cup above the bridge.", days=1)
    (red,) = story.run_tests([test for test in parse(YAML) if test.sort is Sort.AGREE])
    assert not red.passed
    assert red.cell is not None
    assert {red.cell.memory} <= {"other", "saw"}


def test_a_name_that_nobody_has_breaks_its_test_and_no_other(story: World) -> None:
    results = story.run_tests([StoryTest("who", Sort.KNOWS, CUP, "zed"), StoryTest("yes", Sort.KNOWS, CUP, "ana")])
    assert [(one.passed, one.broken) for one in results] == [(False, True), (True, False)]


def test_control_characters_make_no_broken_xml(story: World) -> None:
    put(story, "cy", "odd", "Heard that Bo hid the silver cup under the bridge.\x08 <b>&", days=0.5)
    results = story.run_tests([StoryTest("odd", Sort.MUST_NOT, CUP, "cy")])
    assert ET.fromstring(junit(results, "w")).find(".//failure") is not None


def test_running_tests_touches_nothing(story: World, tmp_path: Path) -> None:
    before = {name: story.agent(name).stamp for name in story.characters()}
    story.run_tests(parse(YAML))
    assert {name: story.agent(name).stamp for name in story.characters()} == before
    assert not list(tmp_path.glob(f"**/{FILE}"))
