"""MemoryEntry: one memory, frozen and valid from the moment it exists.

Every field is checked and normalised while the entry is being made.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from ..errors import InvalidEntry, did_you_mean, kind_of, shown
from .kinds import (
    DECAYING,
    FLAGS,
    LIVED,
    MADE_ID,
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_EXPLANATION,
    MAX_EXTRAS,
    MAX_ID,
    MAX_PEOPLE,
    MAX_TAGS,
    SHELVED,
    TYPED,
    Kind,
    Scalar,
    Source,
    Tier,
    new_id,
)
from .times import parse_time

_MOST = {"tags": MAX_TAGS, "people": MAX_PEOPLE}


def _plain(value: Any) -> Any:
    """A number, truth value or text of numpy as a plain Python one, which the journal can write; else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


class Normaliser:
    """Turns the arguments into what is stored, once, while the frozen entry is being made."""

    def __init__(self, entry: Any) -> None:
        self.entry = entry

    def run(self) -> None:
        """Check and set every field.

        Raises:
            InvalidEntry: a field is invalid; the message names the entry and the field.
        """
        entry = self.entry
        self._set("id", self._text("id", entry.id, MAX_ID))
        self._set("document", self._text("document", entry.document, MAX_DOCUMENT))
        metadata = self._mapping(entry.metadata)
        if metadata:
            self._merge(metadata)
        self._enum("tier", Tier)
        self._enum("kind", Kind)
        for name in ("timestamp", "last_access"):
            self._time(name)
        self._rating()
        self._set("explanation", self._text("explanation", entry.explanation, MAX_EXPLANATION, blank=True))
        for name in ("tags", "evidence", "people"):
            if type(value := getattr(entry, name)) is not tuple or value:
                self._words(name)
        if entry.source is not None:
            self._enum("source", Source)
        self._set("place", self._text("place", entry.place, MAX_ID, blank=True).strip())
        for name in FLAGS:
            if type(flag := getattr(entry, name)) is not bool:
                self._set(name, _plain(flag))
                if not isinstance(getattr(entry, name), bool):
                    self._fail(name, "must be true or false")
        self._set("depth", _plain(entry.depth))
        if not isinstance(entry.depth, int) or isinstance(entry.depth, bool) or not 0 <= entry.depth <= MAX_DEPTH:
            self._fail("depth", f"must be a whole number from 0 to {MAX_DEPTH:,}")
        extras = self._extras(metadata) if metadata else {}
        if entry.rating is not None:
            extras["importance_score"] = entry.rating / 10
        if entry.timestamp is not None:
            extras["timestamp"] = entry.timestamp.isoformat()
        self._set("metadata", MappingProxyType(extras))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self.entry, name, value)

    def _fail(self, name: str, problem: str) -> None:
        entry_id = self.entry.id
        made_up = isinstance(entry_id, str) and MADE_ID.fullmatch(entry_id)
        which = "The memory" if made_up or not isinstance(entry_id, str) else f"Memory {entry_id[:60]!r}"
        field = "its text (document)" if name == "document" else name
        raise InvalidEntry(f"{which}: {field} {problem}.")

    def _text(self, name: str, value: object, most: int, *, blank: bool = False) -> str:
        if not isinstance(value, str):
            self._fail(name, f"must be text, not {kind_of(value)}")
            raise AssertionError
        if not blank and not value.strip():
            self._fail(name, "is empty")
        if len(value) > most:
            self._fail(name, f"has {len(value):,} characters; at most {most:,} are allowed")
        if "\x00" in value or (name == "id" and not value.isprintable()):
            self._fail(name, "contains a control character")
        try:
            _ = str.isascii(value) or str.encode(value, "utf-8")
        except UnicodeEncodeError:
            self._fail(name, "contains half of a surrogate pair, which is not text")
        return value

    def _mapping(self, value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            self._fail("metadata", f"must be a mapping, not {kind_of(value)}")
            raise AssertionError
        return dict(value)

    def _merge(self, metadata: dict[str, Any]) -> None:
        """Set typed fields from the metadata where they were not given as arguments."""
        if (score := _plain(metadata.pop("importance_score", None))) is not None:
            if isinstance(score, bool) or not isinstance(score, int | float):
                self._fail("importance_score", f"must be a number, not {kind_of(score)}")
            if not 0.1 <= score <= 1:
                problem = f"is {shown(score)}; it is rating / 10, so 0.1 to 1.0 (7 is written 0.7)"
                self._fail("importance_score", problem)
            self._adopt("rating", round(score * 10, 6))
        for name in TYPED:
            if (value := metadata.pop(name, None)) is not None:
                if name in {"timestamp", "last_access"}:
                    value = self._parsed(name, value)
                self._adopt(name, value)

    def _adopt(self, name: str, value: Any) -> None:
        default = next(f.default for f in dataclasses.fields(self.entry) if f.name == name)
        argument = getattr(self.entry, name)
        if argument != default and argument is not None:
            if name in {"timestamp", "last_access"}:
                same = self._parsed(name, argument) == value
            elif (
                name in {"tags", "evidence"} and isinstance(value, list | tuple) and isinstance(argument, list | tuple)
            ):
                same = list(argument) == list(value)
            else:
                same = argument == value
            if not same:
                self._fail(name, f"is given twice, as {shown(argument)} and in the metadata as {shown(value)}")
            return
        self._set(name, value)

    def _enum(self, name: str, kind: type[StrEnum]) -> None:
        value = getattr(self.entry, name)
        if type(value) is kind:
            return
        try:
            self._set(name, kind(value))
        except ValueError:
            self._fail(name, f"is {shown(value)}; it must be one of {', '.join(kind)}")

    def _parsed(self, name: str, value: object) -> datetime:
        try:
            return parse_time(value)
        except ValueError as error:
            self._fail(name, str(error))
            raise AssertionError from error

    def _time(self, name: str) -> None:
        value = getattr(self.entry, name)
        if value is not None and (type(value) is not datetime or value.tzinfo is not UTC):
            self._set(name, self._parsed(name, value).astimezone(UTC))

    def _rating(self) -> None:
        rating = _plain(self.entry.rating)
        if self.entry.rating is None:
            return
        if isinstance(rating, bool) or not isinstance(rating, int | float):
            self._fail("rating", f"must be a number from 1 to 10, not {kind_of(self.entry.rating)}")
        if not 1 <= rating <= 10:
            self._fail("rating", f"is {shown(rating)}; the scale is 1 (mundane) to 10 (extremely poignant)")
        self._set("rating", int(rating) if rating == int(rating) else float(rating))

    def _words(self, name: str) -> None:
        value = getattr(self.entry, name)
        if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
            self._fail(name, f"must be a list of texts, not {kind_of(value)}")
        if len(value) > (most := _MOST.get(name, len(value))):
            self._fail(name, f"has {len(value)} items; at most {most} are allowed")
        ordered = sorted(value, key=shown) if isinstance(value, set | frozenset) else value
        words = tuple(dict.fromkeys(self._text(name, _plain(word), MAX_ID).strip() for word in ordered))
        self._set(name, words)

    def _extras(self, metadata: dict[str, Any]) -> dict[str, Scalar]:
        if len(metadata) > MAX_EXTRAS:
            self._fail("metadata", f"has {len(metadata)} keys of its own; at most {MAX_EXTRAS} are allowed")
        extras: dict[str, Scalar] = {}
        for key, item in metadata.items():
            value = _plain(item)
            if not isinstance(key, str) or not key or len(key) > 100 or not key.isprintable():
                self._fail("metadata", "has a key that is not a short text")
            if key.startswith(("chroma:", "memory_system:", "$", "#")) or key in ("id", "document", "metadata", "tier"):
                self._fail("metadata", f"may not use the key {key!r}")
            if value is None:
                continue
            if isinstance(value, str):
                self._text(f"metadata {key!r}", value, MAX_DOCUMENT, blank=True)
            elif isinstance(value, float) and not math.isfinite(value):
                self._fail(f"metadata {key!r}", "is not a finite number")
            elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
                self._fail(f"metadata {key!r}", "is a number of more than 64 bits")
            elif not isinstance(value, str | int | float | bool):
                self._fail(f"metadata {key!r}", f"must be text, a number or true/false, not {kind_of(value)}")
            extras[key] = value
        return extras


_MEANT = {
    "importance": "rating' (1 to 10) or 'importance_score",
    "text": "document",
    "content": "document",
    "created_at": "timestamp",
    "created": "timestamp",
    "time": "timestamp",
    "date": "timestamp",
}
"""Our names for those that other systems use."""


@dataclass(frozen=True, eq=True)
class MemoryEntry:
    """One memory: a document, its metadata, a unique id, and the typed fields behind the metadata.

    ``metadata`` may have the form in which others store it, ``{"importance_score": 0.7, "timestamp": "..."}``; the
    typed fields are read from it, and it always shows both afterwards. Keys that are not typed fields are the
    caller's own (text, number or truth value) and come back unchanged.

    Args:
        document: the memory in words, 1 to 32,000 characters.
        metadata: see above. A typed field given here and as an argument must agree.
        id: unique within the agent, 1 to 200 characters; random if not given.
        tier: ``static``, ``stm`` or ``ltm``; ``recall`` for a message, ``archive`` for a passage of a document.
        kind: what kind of memory it is.
        timestamp: when it happened, with a zone; ``None`` = timeless, scored by relevancy alone.
        last_access: when it was last recalled; ``None`` = never, and ``timestamp`` counts.
        rating: 1 (purely mundane) to 10 (extremely poignant); ``None`` = unrated.
        explanation: the reason for the rating.
        tags: short words to find it by.
        pinned: never forgotten, never migrated away.
        authored: a person wants it kept in these words; no operation forgets or rewrites it unless told to.
        protected: it cannot be changed, moved or forgotten until it is unprotected; being recalled is not a change.
        evidence: ids of the memories that this one rests on.
        depth: 0 for what was perceived, one more than the deepest evidence for a reflection.
        source: how the agent came to know of it; ``None`` = unknown. This and the next two can only be given as
            arguments: metadata of these names are the caller's own.
        people: who is in it, by name, at most 50; for something told, the teller comes first.
        place: where it happened, at most 200 characters; empty = unknown.

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
    source: Source | None = None
    people: tuple[str, ...] = ()
    place: str = ""

    def __post_init__(self) -> None:
        Normaliser(self).run()

    def __reduce__(self) -> tuple[Any, ...]:
        # copied and pickled through the constructor: the read-only metadata can be neither
        fields = {field_.name: getattr(self, field_.name) for field_ in dataclasses.fields(self)}
        return _rebuilt, (type(self), fields | {"metadata": self.extras})

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
            InvalidEntry: there is no such field, or a value is invalid.
        """
        if unknown := sorted(set(changes) - {field_.name for field_ in dataclasses.fields(self)}):
            raise InvalidEntry(
                f"A memory has no field {unknown[0]!r}; put values of your own under 'metadata'."
                f"{did_you_mean(unknown[0], TYPED)}"
            )
        changes.setdefault("metadata", self.extras)
        metadata = changes["metadata"]
        if isinstance(metadata, Mapping):
            replaced = {"rating" if key == "importance_score" else key for key in metadata}
            for field_ in dataclasses.fields(self):
                if field_.name in replaced & set(TYPED) and field_.name not in changes:
                    changes[field_.name] = field_.default
        return dataclasses.replace(self, **changes)

    def accessed(self, at: datetime | None) -> Self:
        """A copy with another time of last recall, in UTC; nothing else changes, and nothing is validated again."""
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
            raise InvalidEntry(f"An event must be a mapping with a document, not {kind_of(event)}.")
        fields = dict(event)
        if "document" not in fields:
            raise InvalidEntry("The event has no document: put its text under 'document'.")
        if "importance_score" in fields:
            metadata = fields.get("metadata") or {}
            if not isinstance(metadata, Mapping):
                raise InvalidEntry(f"The event's metadata must be a mapping, not {kind_of(metadata)}.")
            fields["metadata"] = {**metadata, "importance_score": fields.pop("importance_score")}
        for optional in ("metadata", "id"):
            if fields.get(optional, "") is None:
                del fields[optional]
        known = {f.name for f in dataclasses.fields(cls)}
        if unknown := sorted(key if isinstance(key, str) else shown(key) for key in fields if key not in known):
            other = _MEANT.get(unknown[0])
            hint = (
                f"write '{other}'."
                if other
                else f"put values of your own under 'metadata'.{did_you_mean(unknown[0], known)}"
            )
            raise InvalidEntry(f"Unknown field {unknown[0]!r}: {hint}")
        return cls(**fields)


def _rebuilt(kind: type[MemoryEntry], fields: dict[str, Any]) -> MemoryEntry:
    return kind(**fields)


UNRATED = "Not rated yet."
"""The explanation of a memory that could not be rated when it should have been; later rating finds it by this."""
_UNRATED_BEFORE = "Not rated yet: the language model gave no rating."
"""The earlier wording, which some stored memories still have."""
BY_RULES = "By the offline rules, until the language model rates it."
"""The explanation of a rating that the language model has yet to review."""

OFFLINE_ESTIMATE = "Offline estimate"
"""How the explanation of a rating by the offline rules begins."""


def rated_by_rules(explanation: str) -> bool:
    """Whether a rating was made by the offline rules, not by a language model or a person."""
    return explanation == BY_RULES or explanation.startswith(OFFLINE_ESTIMATE)


def wants_rating(rating: float | None, explanation: str) -> bool:
    """Whether a memory should have been rated by the model and is not; one never meant to be rated does not count."""
    return (rating is None and is_unrated(explanation)) or explanation == BY_RULES


def is_unrated(explanation: str) -> bool:
    """Whether an explanation says that a memory is still to be rated, in the present or the earlier wording."""
    return explanation in (UNRATED, _UNRATED_BEFORE)


MemoryId = str | MemoryEntry
"""A memory, or its id."""
MemoryIds = MemoryId | Sequence[MemoryId]
"""A memory or its id, or several."""


def id_of(memory: MemoryId) -> str:
    """The id of a memory; anything else is returned unchanged."""
    return memory.id if isinstance(memory, MemoryEntry) else memory


__all__ = [
    "DECAYING",
    "LIVED",
    "MAX_DOCUMENT",
    "MAX_EXPLANATION",
    "SHELVED",
    "Kind",
    "MemoryEntry",
    "Scalar",
    "Source",
    "Tier",
    "new_id",
]
