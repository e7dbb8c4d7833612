"""Relevancy from more than the vector: words, tokens, names, times and neighbours. Pure; reads no clock and no file."""

from .cue import Cue
from .evidence import DateMatch, Evidence, TokenPair, WordMatch, evidence
from .hybrid import PARTS, POOL, Relevancy, hybrid
from .index import TextIndex
from .states import TokenStates

__all__ = [
    "PARTS",
    "POOL",
    "Cue",
    "DateMatch",
    "Evidence",
    "Relevancy",
    "TextIndex",
    "TokenPair",
    "TokenStates",
    "WordMatch",
    "evidence",
    "hybrid",
]
