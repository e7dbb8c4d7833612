"""Findings of a check: whether something is right, and a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The result of one check."""

    RIGHT = "right"
    REPAIRED = "repaired"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One thing that was checked.

    Args:
        agent: which agent it is of; empty for the world.
        what: such as ``journal`` or ``index``.
        state: whether it is as it should be.
        sentence: for people.
        beyond_repair: whether it is wrong and a repair cannot help; the sentence says why.
    """

    agent: str
    what: str
    state: State
    sentence: str
    beyond_repair: bool = False
