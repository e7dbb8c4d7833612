"""Who knows what: a fact and a character, judged by what the character remembers; and tests of a story by it."""

from .cell import PERSON, RULES, Cell, Verdict
from .running import TestResult, began, chain_in_words, junit
from .story import FILE, Sort, StoryTest

__all__ = [
    "FILE",
    "PERSON",
    "RULES",
    "Cell",
    "Sort",
    "StoryTest",
    "TestResult",
    "Verdict",
    "began",
    "chain_in_words",
    "junit",
]
