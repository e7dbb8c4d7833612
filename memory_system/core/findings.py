"""What is said of a thing that was looked at: whether it is right, and a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What is said of one thing that was looked at."""

    RIGHT = "right"
    REPAIRED = "repaired"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Args:
        agent: whose; empty for the world's.
        what: such as ``journal`` or ``index``.
        state: whether it is as it should be.
        sentence: for people.
    """

    agent: str
    what: str
    state: State
    sentence: str
