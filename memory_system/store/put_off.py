"""Decisions that were postponed, kept in the journal as JSON text, so that every user sees the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ..core.kinds import MAX_ID
from ..core.records import Records
from ..core.times import parse_time, time_given
from ..errors import InvalidParameter, shown

TEXT = "later"
"""The name of the text in the journal."""
MOST = 1_000
"""Postponed decisions of one agent; beyond that, the earliest postponed come up again."""
_MAX_BYTES = 1_000_000
_MAX = MAX_ID


class Matter(StrEnum):
    """What a decision is about."""

    MIGRATE = "migrate"
    REFLECT = "reflect"
    PERSON = "reflect-on-person"
    SUMMARISE = "summarise"
    PLAN = "plan"
    RATE = "rate"
    STALE = "stale"
    CUE = "cue"
    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"


_WORDS = {
    Matter.MIGRATE: "migration",
    Matter.REFLECT: "reflection",
    Matter.PERSON: "reflection on a person",
    Matter.SUMMARISE: "summary",
    Matter.RATE: "unrated memories",
    Matter.STALE: "stale memory",
    Matter.CUE: "failing cue",
}


def words(kind: str) -> str:
    """The subject of a decision, in a few words.

    Raises:
        InvalidParameter: there is no such kind.
    """
    if not isinstance(kind, str) or kind not in set(Matter):
        raise InvalidParameter(f"There is no decision about {shown(kind)}; there are {', '.join(Matter)}.")
    return _WORDS.get(Matter(kind), str(kind))


@dataclass(frozen=True)
class PutOff:
    """A decision that was postponed.

    Args:
        kind: what it is about.
        of: which one of its kind: the id of a memory, the name of a cue or a person, the fingerprints of texts; empty
            if there is at most one of its kind. At most 300 characters.
        until: the world's time at which it comes up again, with its zone, as ISO 8601; empty if it comes up as soon as
            something about it changes.
        mark: its state, in at most 300 characters that stay the same as long as nothing changes.

    Raises:
        InvalidParameter: one is not as described, or neither a time nor a mark is given.
    """

    kind: str
    of: str = ""
    until: str = ""
    mark: str = ""

    def __post_init__(self) -> None:
        words(self.kind)
        for name in ("of", "until", "mark"):
            value = getattr(self, name)
            if not isinstance(value, str) or len(value) > _MAX:
                raise InvalidParameter(f"'{name}' must be text of at most {_MAX} characters, not {shown(value)}.")
        if not self.until and not self.mark:
            raise InvalidParameter("What is put off needs a time of the world, or a mark of what it is like.")
        if self.until:
            time_given("'until'", self.until)

    @property
    def at(self) -> datetime | None:
        """When it comes up again; ``None`` = when something about it changes."""
        return parse_time(self.until) if self.until else None

    def holds(self, now: datetime, mark: str) -> bool:
        """Whether it is still postponed at a time of the world, given its state then."""
        return self.mark == mark if self.at is None else now < self.at


def mark_of(*parts: object) -> str:
    """A digest of 32 characters that stays the same as long as these values do."""
    return hashlib.sha256("\n".join(map(str, parts)).encode("utf-8")).hexdigest()[:32]


_RECORDS = Records(PutOff, "decisions put off", MOST, _MAX_BYTES, lambda put_off: f"{put_off.kind} {put_off.of}")


def parse_put_off(text: str | None) -> tuple[PutOff, ...]:
    """The records of a text that ``dump_put_off`` wrote; none for ``None``.

    Raises:
        InvalidDocument: everything that is wrong with it, by position in the list.
    """
    return _RECORDS.parse(text)


def dump_put_off(put_off: Sequence[PutOff]) -> str:
    """One line of JSON.

    Raises:
        InvalidParameter: there are more than 1,000, or two of one decision.
    """
    return _RECORDS.dump(put_off)
