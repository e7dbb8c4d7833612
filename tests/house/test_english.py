"""What a user reads is plain English: pages, errors, help and guides have none of these turns of phrase."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    path
    for folder in ("memory_system", "dashboard")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.name not in ("prompts.py", "nested_lookup.py")  # which a language model reads, and was measured with
]
GUIDES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "memory_system").rglob("README.md")),
]

FOREIGN = re.compile(
    r"""
      (?<!there\ )\bis\ none\b                  # "the address is none": say "is not valid"
    | \banew\b                                  # "again"
    | (?<!as\ )\bof\ then\b                     # "from then", "at that time"
    | \bwhoever\b                               # "the one who", "everyone who"
    | (?<!you\ )\b(?:is|are)\ told\b(?!\ (?:by|apart|in)) # "says", "shows", "is listed"
    | (?<!there\ )\b(?:is|are)\ no\ (?!longer|more)[a-z]+  # "it is no PDF": say "is not a PDF"
    | \b(?:is|are)\ wanted\b                    # "expected", "required"
    | \bstands?\ twice\b                        # "appears twice", "is used twice"
    | \bare\ taken\b(?!\ from)                  # "at most 50 are taken": say "are allowed"
    | \bone\ (?:file|row|line|event)\ a\b|\ba\ (?:file|row|line)\ a\b  # "one file per memory"
    """,
    re.VERBOSE | re.IGNORECASE,
)


def read_by_users(source: str) -> Iterator[str]:
    """The strings of a module that have words and are no notes for its readers."""
    tree = ast.parse(source)
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            yield node.value


@pytest.mark.parametrize("path", [*MODULES, *GUIDES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_user_reads_is_plain(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    read = read_by_users(text) if path.suffix == ".py" else [" ".join(text.split())]
    found = [(match[0], one[:80]) for one in read for match in FOREIGN.finditer(one)]
    assert not found


@pytest.mark.parametrize("text", ["The key is none.", "It is no PDF.", "Plan it anew.", "at most 50 are taken"])
def test_a_foreign_turn_of_phrase_is_found(text: str) -> None:
    assert FOREIGN.search(text)


@pytest.mark.parametrize("text", ["There is no agent ana.", "It is no longer there.", "They are told apart."])
def test_plain_english_is_left(text: str) -> None:
    assert not FOREIGN.search(text)
