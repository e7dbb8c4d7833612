"""The words of the interface live in one place: changing a sentence of a page breaks one test at most."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[2]
PAGES = [path for path in sorted((ROOT / "dashboard").rglob("*.py")) if path.name != "words.py"]
WORDS = ROOT / "dashboard" / "words.py"
SYSTEM = sorted((ROOT / "memory_system").rglob("*.py"))
TESTS = [path for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__).resolve()]
TESTS_OF_PAGES = [path for path in TESTS if path.parent.name in ("views", "browser") or "dashboard" in path.read_text()]

FRAGMENT = 4
"""Words that a part of a sentence needs to be a quotation of it, or three if the sentence begins with them; fewer may
meet by chance."""

NOT_SAID = {"placeholder", "key"}
"""Arguments of a widget that are no words of the page: an example of what may be typed, and its name in the program."""

MARKUP = re.compile(r":material/\w+:|[*`“”]")
CODE = re.compile(r"\w*_\w*|\S*[/\\=<>{}]\S*")


def visible(text: str) -> str:
    """What a reader sees of a text: no icon, no emphasis, no quotation marks, no full stop and no space around it."""
    return " ".join(MARKUP.sub(" ", text).split()).strip(".:!?… ")


def is_sentence(text: str) -> bool:
    """Whether a visible text is a label or a sentence of two words or more, or a long part of one: no single word, no
    piece of code, and no short piece such as "cannot be read"."""
    parts = text.split()
    return len(parts) >= 2 and not CODE.fullmatch(parts[0]) and (text[0].isupper() or len(parts) >= FRAGMENT)


@cache
def literals(source: str) -> tuple[tuple[str, str], ...]:
    """Each string of a module with the outermost function that it stands in ("" at the top of the module).

    The constant parts of f-strings are strings of their own; docstrings, placeholders and shown code are left out.
    """

    def walk(node: ast.AST, place: str) -> Iterator[tuple[str, str]]:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.code":
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.keyword) and child.arg in NOT_SAID:
                continue
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                yield place, child.value
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not place
            yield from walk(child, child.name if named else place)

    return tuple(walk(ast.parse(source), ""))


def sentences(paths: Iterable[Path]) -> set[str]:
    """The labels and sentences that stand in these modules, as a reader sees them."""
    found = {visible(text) for path in paths for _, text in literals(path.read_text(encoding="utf-8"))}
    return {text for text in found if is_sentence(text)}


def spelled_out(paths: Iterable[Path]) -> dict[str, set[str]]:
    """The labels and sentences that stand in these tests, each with the places that spell it out."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        for place, text in literals(path.read_text(encoding="utf-8")):
            if is_sentence(seen := visible(text)):
                found[seen].add(f"{path.relative_to(ROOT).as_posix()}::{place or 'its top'}")
    return found


def quotes(part: str, sentence: str) -> bool:
    """Whether a test's text is this sentence, or too long a part of it to be chance."""
    if part not in sentence:
        return False
    count = len(part.split())
    long_enough = part == sentence or count >= FRAGMENT or (count == FRAGMENT - 1 and sentence.startswith(part))
    return long_enough and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", sentence) is not None


def quoted(said: set[str], spelled: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Each of these sentences that tests spell out, whole or in part, with the places that do.

    A part that stands in several sentences, such as "in short-term memory", names none of them.
    """
    found: dict[str, set[str]] = defaultdict(set)
    everything = "\n".join(said)
    for text, places in spelled.items():
        if text in said:
            found[text] |= places
        elif text in everything:
            holders = [one for one in said if quotes(text, one)]
            if len(holders) == 1:
                found[holders[0]] |= places
    return found


def told(found: Mapping[str, set[str]], what_to_do: str) -> str:
    lines = [f"“{sentence}”: {', '.join(sorted(places))}" for sentence, places in sorted(found.items())]
    return "\n".join([what_to_do, *lines])


def test_no_sentence_of_a_page_is_spelled_out_in_two_tests() -> None:
    """Two tests that name a sentence read it in dashboard/words.py, as the page does."""
    found = quoted(sentences(PAGES), spelled_out(TESTS_OF_PAGES))
    twice = {sentence: places for sentence, places in found.items() if len(places) > 1}
    assert not twice, told(twice, "Put it into dashboard/words.py, and let the page and the tests import it:")


def test_no_sentence_of_the_library_that_a_page_shows_is_spelled_out_in_two_tests() -> None:
    """What ``memory_system`` says on a page is a constant of the module that says it; its own tests count too."""
    pages = sentences(PAGES)
    found = {
        sentence: places
        for sentence, places in quoted(pages | sentences(SYSTEM), spelled_out(TESTS)).items()
        if sentence not in pages and len(places) > 1 and any(re.match("tests/(views|browser)/", one) for one in places)
    }
    assert not found, told(found, "Name a constant in the module that says it, and let the tests import it:")


def test_no_test_spells_out_what_stands_in_words() -> None:
    """What stands in dashboard/words.py is imported, so that a sentence that is changed there is changed for all."""
    said = {visible(text) for _, text in literals(WORDS.read_text(encoding="utf-8"))}
    found = {text: places for text, places in spelled_out(TESTS_OF_PAGES).items() if text in said}
    assert not found, told(found, "Use the constant of dashboard/words.py:")


def test_all_that_stands_in_words_is_shown_on_a_page_and_named_by_tests() -> None:
    """A sentence that no page shows is dead, and one that no test names stands better where it is shown."""
    names = [node.targets[0].id for node in ast.parse(WORDS.read_text(encoding="utf-8")).body if _is_name(node)]
    assert len(names) > 50, "the constants are found"
    pages, tests = (" ".join(path.read_text(encoding="utf-8") for path in paths) for paths in (PAGES, TESTS_OF_PAGES))
    assert not [name for name in names if not re.search(rf"\bwords\.{name}\b", pages)], "no page shows them"
    assert not [name for name in names if not re.search(rf"\bwords\.{name}\b", tests)], "no test names them"


def _is_name(node: ast.stmt) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign)


ONE_OF_MANY = re.compile(r"(?<![\d,.:-])1 (memories|changes|facts|agents|events|texts|talks|turns|messages|cues)\b")


def test_no_test_expects_one_to_be_counted_as_several() -> None:
    assert [path.name for path in TESTS if ONE_OF_MANY.search(path.read_text(encoding="utf-8"))] == []


def test_a_quotation_is_told_from_a_chance() -> None:
    sentence = visible(":material/check: **What this rests on** has changed since.")
    assert sentence == "What this rests on has changed since"
    for part in (sentence, "What this rests", "rests on has changed"):
        assert quotes(part, sentence), part
    for part in ("has changed", "on has changed", "hat this rests on", "What this rests upon"):
        assert not quotes(part, sentence), part
    assert quoted({sentence, "Edit this"}, {"Edit this": {"a"}, "rests on has changed": {"b"}, "Edit": {"c"}}) == {
        "Edit this": {"a"},
        sentence: {"b"},
    }
    assert quoted({"It is kept here now", "It is kept here still"}, {"It is kept here": {"a"}}) == {}


def test_the_words_of_a_module_are_found_with_their_tests() -> None:
    """Parts of f-strings are words; docstrings, placeholders and the code that a page shows are not."""
    source = '''
TOP = "Saved at the top"
def test_one():
    """A docstring is no word."""
    field("Its label", placeholder="Not a word", help=f"It has {3} parts, all three")
    st.code("memory = not_a_word")
class TestMore:
    def test_two(self):
        def inner():
            press("Inner press")
'''
    assert list(literals(source)) == [
        ("", "Saved at the top"),
        ("test_one", "Its label"),
        ("test_one", "It has "),
        ("test_one", " parts, all three"),
        ("test_two", "Inner press"),
    ]
