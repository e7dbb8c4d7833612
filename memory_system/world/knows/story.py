"""Tests of a story: kept in a YAML file in the world's folder, which people write and read.

Each test is a mapping with a name and one of four statements:

- ``knows: "..."`` with ``agent:`` and, if it is to be so by then, ``by:`` a day of the story or a time;
- ``must_not_know: "..."`` with ``agent:`` and, if that ends once it was told, ``before: {told_by: juno}``, or a time;
- ``no_contradiction: "..."``, about which no two of ``among:`` (everybody if left out) contradict each other;
- ``asked: "..."`` with ``agent:`` and ``recalls:``, the id of a memory or words that it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import yaml

from ...core.files import as_store_errors, read_at_most, replace_text
from ...core.times import moment_given, parse_time
from ...errors import InvalidDocument, InvalidInput, InvalidParameter, Problem, shown
from .labels import checked_fact

FILE = "world-tests.yaml"
"""In the folder of a world."""
MOST = 2_000
"""How many tests a file may have."""
_MAX_BYTES = 2_000_000
_MAX_NAME = 120
_HEAD = """# What must be true of this story; see docs/story_tests.md. Run it with: memory-system test
"""


class Sort(StrEnum):
    """What a test says; its key in the file."""

    KNOWS = "knows"
    MUST_NOT = "must_not_know"
    AGREE = "no_contradiction"
    RECALLS = "asked"


_KEYS = {
    Sort.KNOWS: frozenset({"agent", "by"}),
    Sort.MUST_NOT: frozenset({"agent", "before"}),
    Sort.AGREE: frozenset({"among", "by"}),
    Sort.RECALLS: frozenset({"agent", "recalls", "by"}),
}


@dataclass(frozen=True)
class StoryTest:
    """One thing that must be true of a story.

    Args:
        name: what it is called, 1 to 120 characters.
        sort: what it says.
        fact: the sentence that is known or not, that nobody contradicts, or that is asked.
        agent: the character's name; empty if it is about several.
        among: whose memories must agree; everybody's if empty.
        recalls: the id of a memory that must be recalled, or words that it has.
        by: when it must be so at the latest; the present if ``None``. Days of the story are counted from 1.
        told_by: it must not be known until this character tells it; empty if it must never be known.
        line: its line in its file, from 1; 0 = it is not in a file.
    """

    name: str
    sort: Sort
    fact: str
    agent: str = ""
    among: tuple[str, ...] = ()
    recalls: str = ""
    by: datetime | int | None = None
    told_by: str = ""
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort", Sort(self.sort))
        object.__setattr__(self, "fact", checked_fact(self.fact))
        name = self.name
        if not isinstance(name, str) or not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
            raise InvalidParameter(f"A test needs a name of 1 to {_MAX_NAME} characters, not {shown(name)}.")
        if self.sort is not Sort.AGREE and not self.agent:
            raise InvalidParameter(f"The test {shown(name)} needs “agent”: the name of a character.")
        if self.sort is Sort.RECALLS and not self.recalls.strip():
            raise InvalidParameter(f"The test {shown(name)} needs “recalls”: the id of a memory, or words that it has.")
        if isinstance(self.by, int) and not 1 <= self.by <= 100_000:
            raise InvalidParameter(f"A day of the story is a number from 1 to 100,000, not {self.by}.")

    @property
    def told(self) -> dict[str, Any]:
        """The test as written in a file."""
        fields: dict[str, Any] = {"name": self.name}
        if self.agent:
            fields["agent"] = self.agent
        fields[str(self.sort)] = self.fact
        if self.among:
            fields["among"] = list(self.among)
        if self.recalls:
            fields["recalls"] = self.recalls
        when = self.by.isoformat() if isinstance(self.by, datetime) else self.by
        if self.sort is Sort.MUST_NOT:
            if self.told_by or when is not None:
                fields["before"] = {"told_by": self.told_by} if self.told_by else when
        elif when is not None:
            fields["by"] = when if isinstance(self.by, datetime) else f"day {when}"
        return fields


def parse(text: str, source: str = FILE) -> tuple[StoryTest, ...]:
    """The tests of a file.

    Args:
        text: YAML: a list of tests, or a mapping with one under ``tests``.
        source: the name of the file, for errors.

    Raises:
        InvalidDocument: it is not such a file; each problem says its line and what to do.
    """
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_BYTES:
        raise InvalidDocument((Problem("", f"it has more than {_MAX_BYTES:,} bytes; split it"),), source)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        problem = Problem("", f"this is not YAML: {error.problem}; look at its spaces", at.line + 1 if at else None)
        raise InvalidDocument((problem,), source) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidDocument((Problem("", "this is not YAML; look for invisible characters"),), source) from error
    if root is None:
        return ()
    listed = _list_of(root, source)
    if len(listed) > MOST:
        raise InvalidDocument((Problem("", f"there are {len(listed):,} tests; at most {MOST:,} are run"),), source)
    found: list[StoryTest] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for node in listed:
        line = node.start_mark.line + 1
        try:
            test = _read(node, line)
        except InvalidInput as error:
            problems.append(Problem("", error.sentence, line))
            continue
        if test.name in seen:
            problems.append(Problem("", f"the name “{test.name}” stands on line {seen[test.name]} too", line))
        seen.setdefault(test.name, line)
        found.append(test)
    if problems:
        raise InvalidDocument(tuple(problems), source)
    return tuple(found)


def _list_of(root: yaml.Node, source: str) -> Sequence[yaml.Node]:
    if isinstance(root, yaml.MappingNode):
        fields = {key.value: value for key, value in root.value if isinstance(key, yaml.ScalarNode)}
        root = fields.get("tests", root)
    if not isinstance(root, yaml.SequenceNode):
        problem = Problem("", "expected a list of tests: lines that begin with “- name: ...”", root.start_mark.line + 1)
        raise InvalidDocument((problem,), source)
    return list(root.value)


def _read(node: yaml.Node, line: int) -> StoryTest:
    if not isinstance(node, yaml.MappingNode) or any(not isinstance(key, yaml.ScalarNode) for key, _ in node.value):
        raise InvalidParameter("A test is a mapping: “name:”, “agent:” and what it says.")
    fields: dict[str, Any] = {key.value: _plain(value) for key, value in node.value}
    sorts = [sort for sort in Sort if str(sort) in fields]
    if len(sorts) != 1:
        keys = ", ".join(f"“{sort}:”" for sort in Sort)
        raise InvalidParameter(f"A test says exactly one of {keys}; this one says {len(sorts)} of them.")
    (sort,) = sorts
    known = {"name", str(sort), *_KEYS[sort]}
    if strange := sorted(set(fields) - known):
        raise InvalidParameter(f"“{sort}:” has no {shown(strange[0])}; it has {', '.join(sorted(known))}.")
    before = fields.get("before")
    told_by, by = "", fields.get("by")
    if isinstance(before, Mapping):
        if set(before) != {"told_by"} or not isinstance(before["told_by"], str):
            raise InvalidParameter("“before:” is a time, or {told_by: the name of a character}.")
        told_by = before["told_by"]
    elif before is not None:
        by = before
    among = fields.get("among", [])
    if not isinstance(among, list) or not all(isinstance(name, str) for name in among):
        raise InvalidParameter("“among:” is a list of names, such as [mira, tobias].")
    texts = {name: fields.get(name, "") for name in ("name", str(sort), "agent", "recalls")}
    if wrong := next((name for name, text in texts.items() if not isinstance(text, str)), None):
        raise InvalidParameter(f"“{wrong}:” is a text; put it in quotation marks.")
    return StoryTest(
        texts["name"],
        sort,
        texts[str(sort)],
        texts["agent"],
        tuple(among),
        texts["recalls"],
        _when(by),
        told_by,
        line,
    )


def _plain(node: yaml.Node) -> Any:
    """The value of a node, with scalars as written: a time stays a text."""
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return {str(key.value): _plain(value) for key, value in node.value}


def _when(said: object) -> datetime | int | None:
    if said is None or said == "":
        return None
    bare = str(said).strip().casefold().removeprefix("day").strip()
    if bare.isdecimal():
        return int(bare)
    try:
        return moment_given("'by'", parse_time(str(said)))
    except ValueError:
        problem = (
            f"{shown(said)} is not a time: write “day 3”, or a time with its zone such as 2026-03-05T18:00:00+00:00."
        )
        raise InvalidParameter(problem) from None


def dumped(tests: Sequence[StoryTest]) -> str:
    """The tests as a file."""
    if not tests:
        return _HEAD + "[]\n"
    return _HEAD + str(yaml.safe_dump([test.told for test in tests], allow_unicode=True, sort_keys=False, width=110))


def read(file: Path) -> tuple[StoryTest, ...]:
    """The tests of a file; empty if there is no such file.

    Raises:
        InvalidDocument: something in it is wrong.
        StoreError: it cannot be read.
    """
    if not file.exists():
        return ()
    with as_store_errors(f"The file {file}"):
        text = read_at_most(file, _MAX_BYTES + 1)
    try:
        return parse(text.decode("utf-8"), file.name)
    except UnicodeDecodeError as error:
        raise InvalidDocument((Problem("", "it is not in UTF-8; save it so"),), file.name) from error


def write(file: Path, tests: Sequence[StoryTest]) -> None:
    """Store these tests instead of the former ones.

    Raises:
        InvalidParameter: there are too many.
        StoreError: the file cannot be written.
    """
    if len(tests) > MOST:
        raise InvalidParameter(f"There are {len(tests):,} tests; at most {MOST:,} are kept.")
    with as_store_errors(f"The file {file}"):
        replace_text(file, dumped(tests))


# -- of a world ----------------------------------------------------------------------------------------


class InFolder(Protocol):
    """Something with a folder that has tests in it: a world."""

    @property
    def folder(self) -> Path:
        """The folder."""


def story_tests(world: InFolder) -> tuple[StoryTest, ...]:
    """The tests of the story, which are kept as YAML in the world's folder, in ``world-tests.yaml``.

    Raises:
        InvalidDocument: something in the file is wrong; each problem says its line and what to do.
    """
    return read(world.folder / FILE)


def to_be_recalled(world: InFolder, agent: str) -> list[tuple[str, str]]:
    """What tests of the story expect a character to recall at present: each cue, and the id or the words of a memory.

    Raises:
        InvalidDocument: something in the file is wrong; each problem says its line and what to do.
    """
    tests = story_tests(world)
    return [
        (test.fact, test.recalls) for test in tests if test.sort is Sort.RECALLS and test.agent == agent and not test.by
    ]


def keep_tests(world: InFolder, tests: Sequence[StoryTest]) -> None:
    """Store these tests instead of the former ones.

    Raises:
        InvalidParameter: two have the same name, there are more than 2,000, or one is not a test. Nothing was changed.
        StoreError: the file cannot be written.
    """
    suite = listed_tests(tests)
    named = Counter(test.name for test in suite)
    if (twice := next((name for name, count in named.items() if count > 1), None)) is not None:
        raise InvalidParameter(f"Two tests are called {shown(twice)}; give one of them another name.")
    write(world.folder / FILE, suite)


def listed_tests(tests: object) -> tuple[StoryTest, ...]:
    """The given tests, checked.

    Raises:
        InvalidParameter: something else was passed.
    """
    suite = tuple(tests) if isinstance(tests, Iterable) and not isinstance(tests, str) else (tests,)
    if wrong := [item for item in suite if not isinstance(item, StoryTest)]:
        raise InvalidParameter(f"'tests' must be a list of StoryTest, not {shown(wrong[0])}.")
    return suite
