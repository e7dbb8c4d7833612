"""What is told of one character and one fact: whether it is known, by which memory, since when, and who judged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

RULES = "rules"
"""The judge that is always there."""
PERSON = "a person"
"""Who judged what was corrected by hand."""


class Verdict(StrEnum):
    """How a character stands to a fact."""

    KNOWS = "knows"
    HALF = "half knows"
    WRONG = "has it wrong"
    UNAWARE = "does not know"


@dataclass(frozen=True)
class Cell:
    """How one character stands to one fact; true where it is known.

    Args:
        agent: the character's name.
        fact: the sentence that was asked about.
        verdict: how the character stands to it.
        memory: the id of the memory that the verdict rests on; empty where nothing of it is remembered.
        text: what that memory says.
        since: the memory's time in the world; ``None`` where it has none, as what the personality says.
        how: how the character came to know of it: saw, heard, told, read or derived; empty where nothing is known.
        told_by: who told it, as the memory names them; empty where nobody did.
        sure: how much of the fact the memory carries, 0 to 1; where nothing is known, how much of it nothing carries.
        why: in a sentence what speaks for the verdict.
        judge: who judged: ``rules``, ``a person``, or the language model's name.
        revision: the change set of the agent that brought the memory; 0 where that was not looked up.
        author: who was behind that change set.
        others: the ids of further memories that say it as well, the earliest first.
    """

    agent: str
    fact: str
    verdict: Verdict
    memory: str = ""
    text: str = ""
    since: datetime | None = None
    how: str = ""
    told_by: str = ""
    sure: float = 0.0
    why: str = ""
    judge: str = RULES
    revision: int = 0
    author: str = ""
    others: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict is Verdict.KNOWS
