"""Values as the bodies of requests; what is not given is not sent, so that the server's own settings stand for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any

from ..changes import ChangeSet
from ..entry import MemoryEntry
from ..errors import InvalidParameter, shown

Json = Any


def plain(value: Any) -> Json:
    """A value as JSON has it: times as text, tuples as lists, and dataclasses by their fields.

    Raises:
        InvalidParameter: JSON has nothing of the kind.
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [plain(one) for one in value]
    raise InvalidParameter(f"{shown(value)} cannot be sent: it is no text, number, time or list.")


def given(**fields: Any) -> dict[str, Json]:
    """The fields that are not ``None``."""
    return {name: plain(value) for name, value in fields.items() if value is not None}


def revision_of(revision: int | ChangeSet) -> int:
    """The number of a revision, or of a change set that was applied.

    Raises:
        InvalidParameter: it was not.
    """
    number = revision.revision if isinstance(revision, ChangeSet) else revision
    if number is None:
        raise InvalidParameter("This change set has not been applied, so there is nothing to undo.")
    return number


def event(entry: MemoryEntry) -> dict[str, Json]:
    """An event."""
    return given(
        document=entry.document,
        id=entry.id,
        kind=entry.kind,
        timestamp=entry.timestamp,
        rating=entry.rating,
        explanation=entry.explanation,
        tags=entry.tags,
        pinned=entry.pinned,
        authored=entry.authored,
        protected=entry.protected,
        evidence=entry.evidence,
        metadata=entry.extras,
    )
