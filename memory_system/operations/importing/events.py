"""Intake: events in any of the accepted forms, checked as a whole before anything changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import numpy as np

from ...core.change_set import ChangeSet
from ...core.entry import MemoryEntry, Tier
from ...core.files import read_at_most
from ...core.json_source import parse_strict
from ...core.kinds import HAPPENED
from ...core.times import naive
from ...errors import InvalidEntry, InvalidFile, kind_of, shown

MAX_FILE = 50_000_000
MAX_BATCH = 50_000
_TIMES = ("timestamp", "last_access")

Events = MemoryEntry | Mapping[str, Any] | Sequence[MemoryEntry | Mapping[str, Any]] | str | Path
"""One event, several, or the path of a JSON file ``{"documents": [...], "metadatas": [...], "ids": [...]}``."""


@dataclass(frozen=True)
class Outcome:
    """What became of one event: ``added``, ``overwritten`` or ``skipped``, and whether it has a rating."""

    id: str
    action: str
    entry: MemoryEntry
    rated: bool
    why: str


@dataclass(frozen=True)
class Taken:
    """The entries of events, and sentences on what was read differently from how it was written."""

    entries: list[MemoryEntry]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Added:
    """What became of each event, in the order given, and the change set: applied, or only planned."""

    outcomes: tuple[Outcome, ...]
    change_set: ChangeSet

    @property
    def unrated(self) -> tuple[str, ...]:
        """The ids of the memories stored without a rating, to be rated later."""
        return tuple(outcome.id for outcome in self.outcomes if not outcome.rated and outcome.action != "skipped")


def read(events: Events, now: datetime | None, zone: Callable[[], tzinfo | None] | None = None) -> Taken:
    """These events as entries for STM; one without a time happened now, or has none if now is not known.

    Args:
        events: in any of the accepted forms. An ``importance_score`` is a rating / 10, 0.1 to 1.0; if one of
            them is above 1, all of them are ratings, 1 to 10. A time may lack a zone.
        now: the world's time.
        zone: of times without one; that of ``now`` if not given.

    Raises: InvalidEntry: an event cannot be accepted, or an id appears twice; then none is accepted. InvalidFile: the
        file is not JSON.
    """
    if isinstance(events, str | Path):
        items: Sequence[Any] = _from_file(Path(events))
    elif isinstance(events, MemoryEntry):
        items = [events]
    elif isinstance(events, Mapping):
        items = columns(events, "the mapping") if "documents" in events else [events]
    elif isinstance(events, Sequence):
        items = events
    else:
        raise InvalidEntry(f"Events come as an entry, a mapping, a list or a file, not as {kind_of(events)}.")
    if len(items) > MAX_BATCH:
        raise InvalidEntry(f"There are {len(items):,} events; at most {MAX_BATCH:,} are allowed at once.")
    items, on_ten = rated_on_ten(items)
    items, in_zone = zoned(items, zone or (lambda: None if now is None else now.tzinfo))
    entries = []
    for number, item in enumerate(items, start=1):
        try:
            entries.append(event_entry(item, now))
        except InvalidEntry as error:
            if len(items) == 1:
                raise
            raise InvalidEntry(f"Event {number} of {len(items)}: {error}") from error
    twins = [entry_id for entry_id, count in Counter(entry.id for entry in entries).items() if count > 1]
    if twins:
        raise InvalidEntry(f"The id {twins[0]!r} is used twice in one batch; give each event an id of its own.")
    return Taken(entries, (*on_ten, *in_zone))


def rated_on_ten(items: Sequence[Any]) -> tuple[Sequence[Any], tuple[str, ...]]:
    """The events with all scores as ratings of 1 to 10 if one is above 1, and a note of that."""
    scores = [found["importance_score"] for item in items for found in _fields(item) if "importance_score" in found]
    numbers = [score for score in scores if isinstance(score, int | float | np.number) and not isinstance(score, bool)]
    if not any(1 < number <= 10 for number in numbers):
        return items, ()
    renamed = [
        _changed(item, lambda name, value: ("rating" if name == "importance_score" else name, value)) for item in items
    ]
    return renamed, ("'importance_score' was read as a rating from 1 to 10, since one of them is above 1.",)


def zoned(items: Sequence[Any], zone: Callable[[], tzinfo | None]) -> tuple[Sequence[Any], tuple[str, ...]]:
    """The events with the world's zone for each time without one, and a note of that."""
    lacking = sum(naive(found.get(name)) is not None for item in items for found in _fields(item) for name in _TIMES)
    of = zone() if lacking else None
    if of is None:
        return items, ()

    def change(name: str, value: Any) -> tuple[str, Any]:
        moment = naive(value) if name in _TIMES else None
        return name, value if moment is None else moment.replace(tzinfo=of)

    many = f"{lacking:,} times have no zone, and were" if lacking > 1 else "A time has no zone, and was"
    return [_changed(item, change) for item in items], (f"{many} read in the world's, {of}.",)


def _fields(item: Any) -> Iterator[Mapping[str, Any]]:
    """Where an event may have typed fields: in itself and in its metadata."""
    if isinstance(item, Mapping):
        yield item
        if isinstance(item.get("metadata"), Mapping):
            yield item["metadata"]


def _changed(item: Any, change: Callable[[str, Any], tuple[str, Any]]) -> Any:
    if not isinstance(item, Mapping):
        return item
    found = dict(change(name, value) for name, value in item.items())
    if isinstance(metadata := found.get("metadata"), Mapping):
        found["metadata"] = dict(change(name, value) for name, value in metadata.items())
    return found


def event_entry(item: Any, now: datetime | None) -> MemoryEntry:
    """One event as an entry for STM; one without a time happened now.

    Raises:
        InvalidEntry: it cannot be accepted.
    """
    entry = item if isinstance(item, MemoryEntry) else MemoryEntry.from_dict(item)
    if entry.id.startswith("static:"):
        raise InvalidEntry(
            f"The id {entry.id[:60]!r} begins with 'static:', which is reserved for facts of the personality."
        )
    if entry.tier is not Tier.STM:
        raise InvalidEntry(
            f"Memory {entry.id!r}: events go to short-term memory; only migration, plans, reflections and summaries "
            f"write {entry.tier.value} memory."
        )
    if entry.kind not in HAPPENED:
        raise InvalidEntry(
            f"Memory {entry.id!r}: a {entry.kind.value} is made by its operation, not added as an event."
        )
    return entry.evolve(timestamp=entry.timestamp or now, last_access=None)


def _from_file(path: Path) -> Sequence[Any]:
    try:
        raw = read_at_most(path, MAX_FILE + 1)
    except OSError as error:
        raise InvalidEntry(
            f"{str(path)[:200]} cannot be read as a file: {error.strerror or error}. "
            'To remember a text, hand in {"document": "..."}.'
        ) from error
    except ValueError as error:
        raise InvalidEntry(f"That is not the path of a file: {error}.") from error
    if len(raw) > MAX_FILE:
        raise InvalidEntry(f"{path.name} has more than {MAX_FILE:,} bytes, which is the limit.")
    value, _ = parse_strict(raw, path.name, MAX_FILE, InvalidFile)
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return columns(value, path.name) if "documents" in value else [value]
    raise InvalidEntry(f"{path.name} has no events: it must be a list, or an object with 'documents'.")


def columns(value: Mapping[str, Any], source: str) -> list[dict[str, Any]]:
    """Rows from ``{"documents": [...], "metadatas": [...], "ids": [...]}``."""
    extra = set(value) - {"documents", "metadatas", "ids"}
    if unknown := sorted(key if isinstance(key, str) else shown(key) for key in extra):
        raise InvalidEntry(f"In {source}: unknown key {unknown[0]!r}; there are documents, metadatas and ids.")
    documents = value["documents"]
    if not isinstance(documents, list):
        raise InvalidEntry(f"In {source}: 'documents' must be a list.")
    rows: list[dict[str, Any]] = [{"document": document} for document in documents]
    for column, field in (("metadatas", "metadata"), ("ids", "id")):
        cells = value.get(column)
        if cells is None:
            continue
        if not isinstance(cells, list) or len(cells) != len(rows):
            raise InvalidEntry(f"In {source}: '{column}' must be a list as long as 'documents' ({len(rows)}).")
        for row, cell in zip(rows, cells, strict=True):
            if cell is not None:
                row[field] = cell
    return rows
