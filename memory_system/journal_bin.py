"""The journal's bin: memories that are gone, and those of which nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from .changes import is_text, load_entry
from .entry import MemoryEntry, Tier
from .journal_rows import slices
from .journal_tables import CHANGE_SETS, CHANGES, PURGED
from .journal_told import document, field, holds

_NEWEST = 2**62


@dataclass(frozen=True)
class Forgotten:
    """A memory that is gone, and how that came.

    Args:
        entry: as it last was.
        revision: the change set by which it went.
        title: of that change set.
        author: who is behind it.
        operation: its kind, such as ``forget`` or ``summarise``.
        reason: why this memory.
        at: when, by the world's time.
        applied_at: when, by the real time.
    """

    entry: MemoryEntry
    revision: int
    title: str
    author: str
    operation: str
    reason: str
    at: datetime
    applied_at: datetime


class Bin:
    """What was forgotten and is still kept.

    Facts of the personality are not in it: they belong to its text. Neither are messages and passages: they come and
    go with their conversation or document.

    Args:
        read: a connection to read by.
    """

    def __init__(self, read: Callable[[], AbstractContextManager[sa.Connection]]) -> None:
        self._read = read

    def forgotten(self, limit: int, offset: int = 0, contains: str = "", until: int | None = None) -> list[Forgotten]:
        """Those that were gone at a revision, now if none is given; the last forgotten first."""
        heads = (CHANGE_SETS.c[name] for name in ("title", "author", "operation", "planned_at", "applied_at"))
        query = sa.select(CHANGES.c.revision, CHANGES.c.before, CHANGES.c.reason, *heads)
        query = query.join(CHANGE_SETS, CHANGE_SETS.c.revision == CHANGES.c.revision).where(*_gone(contains, until))
        query = query.order_by(CHANGES.c.revision.desc(), CHANGES.c.position).limit(limit).offset(offset)
        with self._read() as db:
            return [_forgotten(row) for row in db.execute(query)]

    def count(self, contains: str = "", until: int | None = None) -> int:
        """How many there are."""
        with self._read() as db:
            query = sa.select(sa.func.count()).select_from(CHANGES).where(*_gone(contains, until))
            return int(db.scalar(query) or 0)

    def purged(self, ids: Sequence[str]) -> dict[str, int]:
        """Those of these memories that were purged, each with the revision before which nothing of it is left."""
        found: dict[str, int] = {}
        with self._read() as db:
            for some in slices(ids):
                rows = db.execute(sa.select(PURGED).where(PURGED.c.entry_id.in_(some)))
                found |= {row.entry_id: row.revision for row in rows}
        return found

    def lost(self, ids: Sequence[str]) -> set[str]:
        """Those of these memories of which nothing is left: they were purged, and not remembered anew since."""
        later = sa.exists().where(CHANGES.c.entry_id == PURGED.c.entry_id, CHANGES.c.revision > PURGED.c.revision)
        found: set[str] = set()
        with self._read() as db:
            for some in slices([entry_id for entry_id in ids if is_text(entry_id)]):
                found |= set(db.scalars(sa.select(PURGED.c.entry_id).where(PURGED.c.entry_id.in_(some), ~later)))
        return found

    def last_purge(self) -> int:
        """The newest revision that purged something; 0 if none did."""
        with self._read() as db:
            return int(db.scalar(sa.select(sa.func.max(PURGED.c.revision))) or 0)

    def texts(self, ids: Sequence[str]) -> list[str]:
        """Every text that these memories ever had."""
        found: dict[str, None] = {}
        with self._read() as db:
            for some in slices(ids):
                query = sa.select(CHANGES.c.before, CHANGES.c.after).where(CHANGES.c.entry_id.in_(some))
                for row in db.execute(query):
                    found |= {entry.document: None for entry in map(load_entry, row) if entry is not None}
        return list(found)


def _gone(contains: str, until: int | None) -> list[sa.ColumnElement[bool]]:
    newest = _NEWEST if until is None else until
    later = CHANGES.alias()
    after_it = sa.and_(
        later.c.entry_id == CHANGES.c.entry_id, later.c.revision > CHANGES.c.revision, later.c.revision <= newest
    )
    purged = sa.and_(PURGED.c.entry_id == CHANGES.c.entry_id, PURGED.c.revision > CHANGES.c.revision)
    where: list[sa.ColumnElement[bool]] = [
        CHANGES.c.after.is_(None),
        CHANGES.c.revision <= newest,
        ~sa.exists().where(after_it),
        ~sa.exists().where(purged),
        field(CHANGES.c.before, "tier").in_([Tier.STM.value, Tier.LTM.value]),
    ]
    if words := contains.strip():
        where.append(holds(document(CHANGES.c.before), words))
    return where


def _forgotten(row: Any) -> Forgotten:
    entry = load_entry(row.before)
    assert entry is not None, "what is forgotten was something before"
    at, applied_at = datetime.fromisoformat(row.planned_at), datetime.fromisoformat(row.applied_at)
    return Forgotten(entry, row.revision, row.title, row.author, row.operation, row.reason, at, applied_at)
