"""Running tests of a story: the result of each, and the memory that makes it red. Changes and touches nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Protocol
from xml.etree import ElementTree as ET

from ...core.entry import DECAYING, MemoryEntry, Tier
from ...core.times import stamp
from ...errors import MemorySystemError
from ...operations.context import Progress, no_progress, refuse_uncallable
from ...operations.duplicates.contradictions import against, statement
from ...recall.cue_vectors import cue_vectors
from ..trail import Hop, trail
from .asking import Asked, who_knows, with_author
from .cell import Cell, Verdict
from .judging import View, how_known, near, resting_on
from .rules import may_say
from .sentence import claim, name_words
from .story import InFolder, Sort, StoryTest, listed_tests, story_tests

_ABOUT = 0.5
"""The least share of a topic that must be in a memory for it to be compared with others'."""
_DAY = timedelta(days=1)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class TestResult:
    """The result of a test of a story.

    Args:
        test: the test.
        passed: whether it passed.
        why: what was found, or why it could not be run, in a sentence.
        cell: the cell the result rests on: for a red test, the memory that leaked or is missing.
        chain: how that memory came to the character, back to who knew of it first; empty if nobody told it.
        broken: whether it could not be run at all, for example because a name is unknown.
    """

    __test__ = False  # not for pytest to collect

    test: StoryTest
    passed: bool
    why: str
    cell: Cell | None = None
    chain: tuple[Hop, ...] = ()
    broken: bool = False

    def __str__(self) -> str:
        """Readable lines: name, why, memory, revision, author and chain."""
        lines = [f"{'passed' if self.passed else 'FAILED'}: {self.test.name}. {self.why}"]
        if not self.passed and self.cell is not None and self.cell.memory:
            lines.append(f"  memory {self.cell.memory} of {self.cell.agent}: {self.cell.text}")
            lines.append(f"  brought by revision {self.cell.revision}, author {self.cell.author or 'unknown'}")
        if not self.passed and self.chain:
            lines.append(f"  chain: {chain_in_words(self.chain)}")
        return "\n".join(lines)


def chain_in_words(chain: Sequence[Hop]) -> str:
    """How a memory came to a character, on one line."""
    return " ← ".join(f"{hop.agent} ({hop.entry.id}{f', told by {hop.teller}' if hop.teller else ''})" for hop in chain)


class OfWorld(Asked, InFolder, Protocol):
    """What a world must offer to run tests of its story."""


def run_tests(
    world: OfWorld, tests: Sequence[StoryTest] | None = None, *, progress: Progress = no_progress
) -> tuple[TestResult, ...]:
    """Run tests of the story by the rules alone, so that the same story has the same result; touches nothing.

    Args:
        world: the story's world.
        tests: those that are stored with the world if not given.
        progress: called with the share done, 0 to 1; it may raise to cancel.

    Returns:
        the result of each, in order. A red one says which memory causes it, which change set brought that, who
        was behind it, and how it came to the character.

    Raises:
        InvalidDocument: the file of tests is wrong.
        InvalidParameter: what was passed is not a list of tests.
    """
    refuse_uncallable(progress=progress)
    suite = story_tests(world) if tests is None else listed_tests(tests)
    cue_vectors(world.embedder, list(dict.fromkeys(test.fact for test in suite)))  # at once, and remembered
    begins = began(world).replace(hour=0, minute=0, second=0, microsecond=0)  # day 1
    results = []
    for number, test in enumerate(suite):
        progress(number / len(suite), f"{test.name}, {number + 1} of {len(suite)}")
        try:
            result = _RUN[test.sort](world, test, _moment(test, begins))
        except MemorySystemError as error:
            result = TestResult(test, False, error.sentence, broken=True)
        results.append(result)
    return tuple(results)


def began(world: OfWorld) -> datetime:
    """When the first thing happened that any character remembers; the world's time if there is nothing."""
    first: list[datetime] = []
    for name in world.characters():
        for tier in DECAYING:
            with world.agent(name).contents.shelf(tier) as table:
                if len(table):
                    row = int(table.columns["timestamp"][: len(table)].argmin())
                    first += [moment for moment in (table.entries[row].timestamp,) if moment is not None]
    now = world.clock()
    return min([now, *first]).astimezone(now.tzinfo)


def _moment(test: StoryTest, begins: datetime) -> datetime | None:
    if isinstance(test.by, int):
        return begins + test.by * _DAY - timedelta(seconds=1)
    return test.by


def _knows(world: OfWorld, test: StoryTest, at: datetime | None) -> TestResult:
    (cell,) = who_knows(world, test.fact, [test.agent], at=at, ask_model=False)
    when = f" by {stamp(at)}" if at is not None else ""
    if cell:
        return TestResult(test, True, f"{test.agent} knows it{when}.", cell)
    return _red(world, test, cell, f"{test.agent} {cell.verdict}{when}. {cell.why}")


def _must_not(world: OfWorld, test: StoryTest, at: datetime | None) -> TestResult:
    (cell,) = who_knows(world, test.fact, [test.agent], at=at, ask_model=False)
    if not cell:
        return TestResult(test, True, f"{test.agent} {cell.verdict}.", cell)
    agent = world.agent(test.agent)
    entries = [entry for entry in map(agent.find, (cell.memory, *cell.others)) if entry is not None]
    earliest = min(
        entries, key=lambda entry: (entry.timestamp.timestamp() if entry.timestamp else 0.0, entry.id), default=None
    )
    if earliest is None:
        return _red(world, test, cell, f"{test.agent} knows it.")
    if test.told_by and _told_by(world, earliest, test.told_by):
        return TestResult(test, True, f"{test.agent} knows it from {test.told_by}.", cell)
    leak = resting_on(cell, earliest)
    knows = "knows it" if leak.since is None else f"has known it since {stamp(leak.since)}"
    before = f", before {test.told_by} told it" if test.told_by else ""
    return _red(world, test, leak, f"{test.agent} {knows}{before}.")


def _told_by(world: OfWorld, entry: MemoryEntry, teller: str) -> bool:
    _, by = how_known(entry)
    called = world.agent(teller).display_name if teller in world.characters() else teller
    return bool(by) and bool(name_words(by) & (name_words(called) | name_words(teller)))


def _agree(world: OfWorld, test: StoryTest, at: datetime | None) -> TestResult:
    names = test.among or tuple(world.characters())
    about = [(name, entry) for name in names for entry in _on_topic(world, name, test.fact, at)]
    read = {(name, entry.id): statement(entry.document, entry.timestamp) for name, entry in about}
    for (first, entry), (second, other) in combinations(about, 2):
        if first == second:
            continue
        if reasons := against(read[first, entry.id], read[second, other.id]):
            cell = resting_on(Cell(second, test.fact, Verdict.WRONG, why=reasons[0]), other)
            why = f"{first} and {second} contradict each other: {reasons[0]} {first} has {entry.id}: {entry.document}"
            return _red(world, test, cell, why)
    return TestResult(test, True, f"No two of {', '.join(names)} contradict each other on it.")


def _on_topic(world: OfWorld, name: str, topic: str, at: datetime | None) -> list[MemoryEntry]:
    agent = world.agent(name)
    asked = claim(topic, world.clock(), ())
    cue = agent.contents.cue_vector(topic)
    found = near([View(agent, at)], asked, cue)
    return [entry for entry in found if entry.tier is not Tier.STATIC and may_say(asked, entry.document, ()) >= _ABOUT]


def _recalls(world: OfWorld, test: StoryTest, at: datetime | None) -> TestResult:
    agent = world.agent(test.agent)
    hits = list(agent.answer(agent.query(test.fact, now=at or world.clock())))
    fragment = test.recalls.casefold()
    for hit in hits:
        if hit.entry.id == test.recalls or fragment in hit.entry.document.casefold():
            cell = resting_on(Cell(agent.name, test.fact, Verdict.KNOWS), hit.entry)
            return TestResult(test, True, f"{agent.name} recalls {hit.entry.id}.", cell)
    told_ = ", ".join(hit.entry.id for hit in hits[:3]) or "nothing"
    entry = agent.find(test.recalls)
    cell = Cell(agent.name, test.fact, Verdict.UNAWARE)
    cell = with_author(world, resting_on(cell, entry)) if entry is not None else cell
    return TestResult(test, False, f"{agent.name} recalls {told_} instead of “{test.recalls}”.", cell)


_RUN: Mapping[Sort, Callable[[OfWorld, StoryTest, datetime | None], TestResult]] = {
    Sort.KNOWS: _knows,
    Sort.MUST_NOT: _must_not,
    Sort.AGREE: _agree,
    Sort.RECALLS: _recalls,
}


def _red(world: OfWorld, test: StoryTest, cell: Cell, why: str) -> TestResult:
    chain: tuple[Hop, ...] = ()
    if cell.memory and cell.how in ("told", "derived"):
        chain = trail(world, cell.agent, cell.memory, test.fact)
    return TestResult(test, False, why, with_author(world, cell), chain)


# -- for machines --------------------------------------------------------------------------------------


def junit(results: Sequence[TestResult], world: str) -> str:
    """The results as JUnit's XML: a red test names its memory, revision, author and chain.

    Args:
        results: the results of the tests.
        world: the world's name.
    """
    red = sum(not result.passed and not result.broken for result in results)
    counts = {"tests": len(results), "failures": red, "errors": sum(result.broken for result in results), "skipped": 0}
    suite = ET.Element("testsuite", {"name": _plain(world), **{name: str(count) for name, count in counts.items()}})
    for result in results:
        case = ET.SubElement(suite, "testcase", {"classname": _plain(world), "name": _plain(result.test.name)})
        if result.test.line:
            case.set("line", str(result.test.line))
        if result.passed:
            continue
        cell = result.cell
        if cell is not None and cell.memory:
            told_ = {"agent": cell.agent, "memory": cell.memory, "revision": str(cell.revision), "author": cell.author}
            properties = ET.SubElement(case, "properties")
            for name, value in (told_ | {"chain": chain_in_words(result.chain)}).items():
                ET.SubElement(properties, "property", {"name": name, "value": _plain(value)})
        sort = "error" if result.broken else "failure"
        ET.SubElement(case, sort, {"message": _plain(result.why)}).text = _plain(str(result))
    root = ET.Element("testsuites", {name: str(count) for name, count in counts.items()})
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _plain(text: str) -> str:
    """A text without the signs that XML cannot hold."""
    return _NO_XML.sub("\ufffd", text)
