"""A data set: memories in their original order, and questions with the memories that answer them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from ..core.entry import MemoryEntry, Tier

UNRATED = 5.0
"""The rating, 1 to 10, of a memory whose importance nobody has judged: the middle, importance .5."""

TIMELESS_NOW = datetime(2000, 1, 1, tzinfo=UTC)
"""The time at which a cue without a time is asked about timeless memories; nothing then depends on it."""


class Form(StrEnum):
    """The supported forms; each is named in the report."""

    LOCOMO = "LoCoMo"
    SMALLVILLE = "Smallville"
    PLAIN = "plain"
    CHATS = "Multi-Session Chat"
    """Only for experiments, like the next one."""
    PASSAGES = "questions with passages"


@dataclass(frozen=True)
class Question:
    """A cue, when it is asked, and which memories should and should not answer it.

    Args:
        cue: the prompt for memory.
        now: the time at which it is asked, timezone-aware.
        right: ids of the memories that answer it; empty if only wrong ones are known.
        wrong: ids of memories that must not answer it; all others are merely not known to be right.
        category: its kind, such as ``temporal``; empty if the data set has none.
        itself: the id of a memory that is the cue's own text, which does not count as an answer and is left out.
    """

    cue: str
    now: datetime
    right: frozenset[str]
    wrong: frozenset[str] = frozenset()
    category: str = ""
    itself: str | None = None


@dataclass(frozen=True)
class DataSet:
    """Memories and questions about them.

    Args:
        name: its name in the report.
        form: the form it was read from.
        entries: the memories in their original order; a repeated id replaces the earlier memory.
        questions: in the order of the file.
        lived: whether a question sees only what happened before its time (a replay), or all memories.
        notes: what was left out, and why, in half sentences.
        unanswerable: questions without an answer, which are not part of recall.
    """

    name: str
    form: Form
    entries: tuple[MemoryEntry, ...]
    questions: tuple[Question, ...]
    lived: bool = False
    notes: tuple[str, ...] = ()
    unanswerable: tuple[Question, ...] = ()

    @property
    def memories(self) -> int:
        """The final number of memories."""
        return len({entry.id for entry in self.entries})

    def first(self, most: int | None) -> DataSet:
        """The data set with its first ``most`` questions, and all of its memories."""
        return self if most is None else replace(self, questions=self.questions[:most])


def remembered(entry: MemoryEntry) -> MemoryEntry:
    """The entry as long-term memory holds it: not accessed since it was made, of middling importance if unrated."""
    rating = UNRATED if entry.rating is None else entry.rating
    return entry.evolve(tier=Tier.LTM, last_access=None, rating=rating)
