"""Who knows what: a fact and a character, judged by what the character remembers; and tests of a story."""

from .cell import PERSON, RULES, Cell, Verdict
from .running import TestResult, began, chain_in_words, junit
from .spread import Knower, Spread, Telling, spread_of
from .story import FILE, Sort, StoryTest

__all__ = [
    "FILE",
    "PERSON",
    "RULES",
    "Cell",
    "Knower",
    "Sort",
    "Spread",
    "StoryTest",
    "Telling",
    "TestResult",
    "Verdict",
    "began",
    "chain_in_words",
    "junit",
    "spread_of",
]
