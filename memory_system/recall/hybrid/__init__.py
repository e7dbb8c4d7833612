"""Relevancy from more than the vector: words, tokens, names, times and neighbours. Nothing here reads a clock."""

from .cache import Kept
from .confidence import UNKNOWN, Odds, confidences, lowest
from .cue import Cue
from .evidence import DateMatch, Evidence, TokenPair, WordMatch, evidence
from .fields import asked_for
from .index import TextIndex
from .joint import Joint, Texts
from .mix import PARTS, POOL, Relevancy, hybrid
from .states import TokenStates
from .words import wording

__all__ = [
    "PARTS",
    "POOL",
    "UNKNOWN",
    "Cue",
    "DateMatch",
    "Evidence",
    "Joint",
    "Kept",
    "Odds",
    "Relevancy",
    "TextIndex",
    "Texts",
    "TokenPair",
    "TokenStates",
    "WordMatch",
    "asked_for",
    "confidences",
    "evidence",
    "hybrid",
    "lowest",
    "wording",
]
