"""A data set: memories in the order in which they were told, and questions with the memories that answer them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from ..core.entry import MemoryEntry, Tier

UNRATED = 5.0
"""The rating, 1 to 10, of a memory whose importance nobody has judged: the middle, importance .5."""

TIMELESS_NOW = datetime(2000, 1, 1, tzinfo=UTC)
"""When a cue is asked that has no time, of memories that have none either; nothing then depends on it."""


class Form(StrEnum):
    """The forms that are read; each names itself in the report."""

    LOCOMO = "LoCoMo"
    SMALLVILLE = "Smallville"
    PLAIN = "plain"
    CHATS = "Multi-Session Chat"
    """For experiments only, as is the next one."""
    PASSAGES = "questions with passages"


@dataclass(frozen=True)
class Question:
    """A cue, when it is asked, and which memories should and should not answer it.

    Args:
        cue: what memory is asked.
        now: the time at which it is asked, aware of its zone.
        right: ids of the memories that answer it; empty where only wrong ones are known.
        wrong: ids of memories that must not answer it; all others are merely not known to be right.
        category: its kind, such as ``temporal``; empty if the data set has none.
        itself: the id of a memory that is the cue's own text, which is no answer and is kept out of the tier.
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
        name: what the report calls it.
        form: the form it was read from.
        entries: the memories in the order in which they were told; an id told again replaces what it said before.
        questions: in the order of the file.
        lived: whether a question sees only what was told before its time (a replay), or all memories.
        notes: what was left out, and why, in half sentences.
        unanswerable: questions that nothing answers, which have no part in recall.
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
        """How many memories there are in the end."""
        return len({entry.id for entry in self.entries})

    def first(self, most: int | None) -> DataSet:
        """The data set with its first ``most`` questions, and all of its memories."""
        return self if most is None else replace(self, questions=self.questions[:most])


def remembered(entry: MemoryEntry) -> MemoryEntry:
    """The entry as long-term memory holds it: never accessed since it was made, of middling importance if unrated."""
    rating = UNRATED if entry.rating is None else entry.rating
    return entry.evolve(tier=Tier.LTM, last_access=None, rating=rating)
