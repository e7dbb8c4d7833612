"""MemoryEntry: one memory, frozen and valid from the moment it exists."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any, Self

from .entry_checks import Normaliser, named
from .errors import InvalidEntry, shown
from .kinds import LIVED, MAX_DOCUMENT, MAX_EXPLANATION, SHELVED, TYPED, Kind, Scalar, Tier, new_id

_MEANT = {
    "importance": "rating' (1 to 10) or 'importance_score",
    "text": "document",
    "content": "document",
    "created_at": "timestamp",
    "created": "timestamp",
    "time": "timestamp",
    "date": "timestamp",
}
"""What people mean by names that other systems use."""


@dataclass(frozen=True, eq=True)
class MemoryEntry:
    """One memory: a document, its metadata, a unique id, and the typed fields behind the metadata.

    ``metadata`` may be handed in as stored by hand, ``{"importance_score": 0.7, "timestamp": "..."}``; the
    typed fields are read from it, and it always shows both afterwards. Keys that are not typed fields are the
    caller's own (text, number or truth value) and come back unchanged.

    Args:
        document: the memory in words, 1 to 32,000 characters.
        metadata: see above. A typed field given here and as an argument must agree.
        id: unique within the agent, 1 to 200 characters; random if not given.
        tier: ``static``, ``stm`` or ``ltm``; ``recall`` of a message, ``archive`` of a passage of a document.
        kind: what it is.
        timestamp: when it happened, with a zone; ``None`` = timeless, scored by relevancy alone.
        last_access: when it was last recalled; ``None`` = never, and ``timestamp`` counts.
        rating: 1 (purely mundane) to 10 (extremely poignant); ``None`` = unrated.
        explanation: why it was rated so.
        tags: short words to find it by.
        pinned: never forgotten, never migrated away.
        authored: a person wants it kept in these words; no operation forgets or rewrites it unless told to.
        protected: nothing may change, move or forget it until it is unprotected; being recalled is no change.
        evidence: ids of the memories that this one rests on.
        depth: 0 for what was perceived, one more than the deepest evidence for a reflection.

    Raises:
        InvalidEntry: a field is not as described; the message names the entry and the field.
    """

    document: str
    metadata: Mapping[str, Scalar] = field(default_factory=dict, hash=False)
    id: str = field(default_factory=new_id)
    _: KW_ONLY
    tier: Tier = Tier.STM
    kind: Kind = Kind.OBSERVATION
    timestamp: datetime | None = None
    last_access: datetime | None = None
    rating: float | None = None
    explanation: str = ""
    tags: tuple[str, ...] = ()
    pinned: bool = False
    authored: bool = False
    protected: bool = False
    evidence: tuple[str, ...] = ()
    depth: int = 0

    def __post_init__(self) -> None:
        Normaliser(self).run()

    def __reduce__(self) -> tuple[Any, ...]:
        # copied and pickled by way of the constructor: the read-only metadata can be neither
        given = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        return _rebuilt, (type(self), given | {"metadata": self.extras})

    @property
    def importance(self) -> float | None:
        """Rating / 10, so 0.1 to 1.0; ``None`` = unrated."""
        return None if self.rating is None else self.rating / 10

    @property
    def extras(self) -> dict[str, Scalar]:
        """The caller's own metadata: all keys that are not typed fields."""
        return {k: v for k, v in self.metadata.items() if k not in ("importance_score", "timestamp")}

    def evolve(self, **changes: Any) -> Self:
        """A copy with other typed fields or other metadata, validated again.

        ``metadata=`` replaces the caller's own keys; a typed field in it counts as given.

        Raises:
            InvalidEntry: there is no such field, or a value cannot be taken.
        """
        if unknown := sorted(set(changes) - {one.name for one in dataclasses.fields(self)}):
            raise InvalidEntry(f"A memory has no field {unknown[0]!r}; put values of your own under 'metadata'.")
        changes.setdefault("metadata", self.extras)
        given = changes["metadata"]
        if isinstance(given, Mapping):
            replaced = {"rating" if key == "importance_score" else key for key in given}
            for field_ in dataclasses.fields(self):
                if field_.name in replaced & set(TYPED) and field_.name not in changes:
                    changes[field_.name] = field_.default
        return dataclasses.replace(self, **changes)

    def accessed(self, at: datetime | None) -> Self:
        """A copy that was last recalled at a time, in UTC; all else stays, and was checked when this was made."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), last_access=at)
        return other

    @classmethod
    def from_dict(cls, event: Mapping[str, Any]) -> Self:
        """An entry from ``{"document": ..., "metadata": {...}, "id": ..., typed fields...}``.

        Raises:
            InvalidEntry: not a mapping, no document, an unknown key, or a field that is not valid.
        """
        if not isinstance(event, Mapping):
            raise InvalidEntry(f"An event must be a mapping with a document, not {named(event)}.")
        fields = dict(event)
        if "document" not in fields:
            raise InvalidEntry("The event has no document: put its text under 'document'.")
        if "importance_score" in fields:
            metadata = fields.get("metadata") or {}
            if not isinstance(metadata, Mapping):
                raise InvalidEntry(f"The event's metadata must be a mapping, not {named(metadata)}.")
            fields["metadata"] = {**metadata, "importance_score": fields.pop("importance_score")}
        for optional in ("metadata", "id"):
            if fields.get(optional, "") is None:
                del fields[optional]
        known = {f.name for f in dataclasses.fields(cls)}
        if unknown := sorted(key if isinstance(key, str) else shown(key) for key in fields if key not in known):
            meant = _MEANT.get(unknown[0])
            hint = f"write '{meant}'" if meant else "put values of your own under 'metadata'"
            raise InvalidEntry(f"Unknown field {unknown[0]!r}: {hint}.")
        return cls(**fields)


def _rebuilt(kind: type[MemoryEntry], given: dict[str, Any]) -> MemoryEntry:
    return kind(**given)


__all__ = ["LIVED", "MAX_DOCUMENT", "MAX_EXPLANATION", "SHELVED", "Kind", "MemoryEntry", "Scalar", "Tier", "new_id"]
