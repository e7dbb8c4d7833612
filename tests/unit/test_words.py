"""The words of the interface live in one place: changing a sentence of a page breaks one test at most."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [path for path in sorted((ROOT / "dashboard").rglob("*.py")) if path.name != "words.py"]
WORDS = ROOT / "dashboard" / "words.py"
SYSTEM = sorted((ROOT / "memory_system").rglob("*.py"))
TESTS = [path for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__).resolve()]

FRAGMENT = 3
"""Words that a part of a sentence needs to be a quotation of it; two may meet by chance."""

NOT_SAID = {"placeholder", "key"}
"""Arguments of a widget that are no words of the page: an example of what may be typed, and its name in the program."""

MARKUP = re.compile(r":material/\w+:|[*`“”]")
CODE = re.compile(r"\w*_\w*|\S*[/\\=<>{}]\S*")


def visible(text: str) -> str:
    """What a reader sees of a text: no icon, no emphasis, no quotation marks, no full stop and no space around it."""
    return " ".join(MARKUP.sub(" ", text).split()).strip(".:!?… ")


def is_sentence(text: str) -> bool:
    """Whether a visible text is a label of two words or more, or a sentence: no single word, no piece of code."""
    parts = text.split()
    return len(parts) >= 2 and not CODE.fullmatch(parts[0]) and (text[0].isupper() or len(parts) >= FRAGMENT)


def literals(source: str) -> Iterator[tuple[str, str]]:
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

    return walk(ast.parse(source), "")


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


def quoted(
    said: set[str], spelled: Mapping[str, set[str]], *, elsewhere: set[str] = frozenset()
) -> dict[str, set[str]]:
    """Each of these sentences that tests spell out, whole or by a part that stands in it alone, with the places.

    A part of three words or more quotes its sentence. A part that stands in several, such as "cannot be read", names
    none of them; nor does what stands in one of the sentences ``elsewhere`` as well.
    """
    found: dict[str, set[str]] = defaultdict(set)
    everything = "\n".join(said | elsewhere)
    for text, places in spelled.items():
        if text not in everything or text in elsewhere:
            continue
        whole = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
        holders = [one for one in said | elsewhere if text in one and whole.search(one)]
        if text in said:
            found[text] |= places
        elif len(text.split()) >= FRAGMENT and len(holders) == 1 and holders[0] in said:
            found[holders[0]] |= places
    return found
