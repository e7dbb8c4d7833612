"""The answer for one character and one fact: whether it is known, by which memory, since when, and who judged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

RULES = "rules"
"""The judge that is always available."""
PERSON = "a person"
"""The judge of corrections by hand."""


class Verdict(StrEnum):
    """Whether a character knows a fact."""

    KNOWS = "knows"
    HALF = "half knows"
    WRONG = "has it wrong"
    UNAWARE = "does not know"


@dataclass(frozen=True)
class Cell:
    """Whether one character knows one fact; true if it does.

    Args:
        agent: the character's name.
        fact: the sentence that was asked about.
        verdict: whether the character knows it.
        memory: the id of the memory that the verdict rests on; empty if no part of it is remembered.
        text: what that memory says.
        since: the memory's time in the world; ``None`` if it has none, such as a fact of the personality.
        how: how the character came to know of it: saw, heard, told, read or derived; empty if nothing is known.
        told_by: who told it, as the memory names them; empty if nobody did.
        sure: how much of the fact the memory contains, 0 to 1; if nothing is known, how much of it no memory contains.
        why: the reason for the verdict, in a sentence.
        judge: who judged: ``rules``, ``a person``, or the language model's name.
        revision: the change set of the agent that brought the memory; 0 if that was not determined.
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
