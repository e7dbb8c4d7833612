"""The journal's evidence: which memories rest on which, and which of those have been changed; kept up to date.

It is read once, by a scan of the changes that name evidence, and then extended by what has been added since.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import chain

import sqlalchemy as sa

from ...core.change_set import load_entry
from ...core.entry import MemoryEntry
from ..staleness import FADING, KEEP, Stale, Trace, stale
from .history import slices
from .tables import CHANGE_SETS, CHANGES

_CITES = '"evidence":["'
"""How a body names its evidence; within a text the quotation marks would be escaped."""
_HARMLESS = (*FADING, KEEP, "reflect", "rate")
"""Operations after which an existing memory still says the same, or has faded."""


class Evidence:
    """The evidence in the history; thread-safe.

    Args:
        read: a connection to read by.
        until: the newest revision to consider; by default all.
    """

    def __init__(self, read: Callable[[], AbstractContextManager[sa.Connection]], until: int | None = None) -> None:
        self._read = read
        self._until = until
        self._lock = threading.Lock()
        self._seen = 0
        self._resting: dict[str, tuple[str, ...]] = {}
        self._cited: dict[str, dict[str, None]] = {}
        self._altered: set[str] = set()
        self._stale: tuple[Stale, ...] | None = None

    def as_of(self, revision: int) -> Evidence:
        """The evidence as it was right after a revision."""
        return Evidence(self._read, revision)

    def built_on(self, entry_ids: Iterable[str]) -> list[tuple[str, str]]:
        """Pairs of each of these memories and one that rests or rested on it, forgotten ones included."""
        with self._lock:
            self._catch_up()
            return [(entry_id, other) for entry_id in entry_ids for other in self._cited.get(entry_id, ())]

    def concerned(self) -> frozenset[str]:
        """The memories that rest on others, or have ever had others rest on them."""
        with self._lock:
            self._catch_up()
            return frozenset(self._cited) | frozenset(chain.from_iterable(self._cited.values()))

    def stale(self) -> tuple[Stale, ...]:
        """The memories in recall that rest on what has changed since, the latest derived first."""
        with self._lock:
            self._catch_up()
            if self._stale is None:
                self._stale = self._found_stale()
            return self._stale

    def _found_stale(self) -> tuple[Stale, ...]:
        doubtful = [entry_id for entry_id, cites in self._resting.items() if not self._altered.isdisjoint(cites)]
        sources = {source for entry_id in doubtful for source in self._resting[entry_id] if source in self._altered}
        traces = self.traces({*doubtful, *sources})
        entries = [traces[entry_id][-1].after for entry_id in doubtful]
        found = [stale(entry, traces) for entry in entries if entry is not None]
        return tuple(
            sorted(
                (finding for finding in found if finding is not None),
                key=lambda finding: (-finding.since, finding.entry.id),
            )
        )

    def traces(self, entry_ids: Collection[str]) -> dict[str, list[Trace]]:
        """All changes of these memories, each oldest first."""
        heads = (
            CHANGE_SETS.c.operation,
            CHANGE_SETS.c.undoes,
            CHANGE_SETS.c.title,
            CHANGE_SETS.c.author,
            CHANGE_SETS.c.planned_at,
        )
        query = sa.select(CHANGES, *heads).join(CHANGE_SETS, CHANGE_SETS.c.revision == CHANGES.c.revision)
        query = query.where(*self._known()).order_by(CHANGES.c.revision)
        found: dict[str, list[Trace]] = {}
        with self._read() as db:
            for some in slices(list(dict.fromkeys(entry_ids))):
                for row in db.execute(query.where(CHANGES.c.entry_id.in_(some))):
                    at = datetime.fromisoformat(row.planned_at)
                    ends = load_entry(row.before), load_entry(row.after)
                    trace = Trace(row.revision, row.operation, row.undoes, row.title, row.author, at, *ends)
                    found.setdefault(row.entry_id, []).append(trace)
        return found

    def last_versions(self, entry_ids: Collection[str]) -> dict[str, MemoryEntry]:
        """These memories as they last were; those that never existed are left out."""
        found: dict[str, MemoryEntry] = {}
        query = sa.select(CHANGES.c.entry_id, CHANGES.c.before, CHANGES.c.after).order_by(CHANGES.c.revision)
        newest = sa.select(CHANGES.c.entry_id, sa.func.max(CHANGES.c.revision)).where(*self._known())
        with self._read() as db:
            for some in slices(list(dict.fromkeys(entry_ids))):
                among = CHANGES.c.entry_id.in_(some)
                last = newest.where(among).group_by(CHANGES.c.entry_id)
                ends = sa.tuple_(CHANGES.c.entry_id, CHANGES.c.revision).in_(last)
                for row in db.execute(query.where(among, ends)):
                    entry = load_entry(row.after or row.before)
                    if entry is not None:
                        found[row.entry_id] = entry
        return found

    def _known(self, after: int = 0) -> Sequence[sa.ColumnElement[bool]]:
        until = () if self._until is None else (CHANGES.c.revision <= self._until,)
        return (CHANGES.c.revision > after, *until)

    def _catch_up(self) -> None:
        """Process what has been written since."""
        cites = [end.contains(_CITES, autoescape=True) for end in (CHANGES.c.before, CHANGES.c.after)]
        named = sa.select(CHANGES.c.entry_id, CHANGES.c.before, CHANGES.c.after).where(sa.or_(*cites))
        altered = sa.select(CHANGES.c.entry_id).distinct().where(CHANGES.c.before.is_not(None))
        altered = altered.join(CHANGE_SETS, CHANGE_SETS.c.revision == CHANGES.c.revision)
        altered = altered.where(CHANGE_SETS.c.operation.not_in(_HARMLESS))
        with self._read() as db:
            newest = int(db.scalar(sa.select(sa.func.max(CHANGE_SETS.c.revision))) or 0)
            newest = newest if self._until is None else min(newest, self._until)
            if newest == self._seen:
                return
            since = (*self._known(self._seen), CHANGES.c.revision <= newest)
            for row in db.execute(named.where(*since).order_by(CHANGES.c.revision)):
                self._take_in(row.entry_id, row.before, row.after)
            self._altered.update(db.scalars(altered.where(*since)))
            self._seen, self._stale = newest, None

    def _take_in(self, entry_id: str, before: str | None, after: str | None) -> None:
        cites = _evidence(after)
        if after is not None and cites:
            self._resting[entry_id] = cites
        else:
            self._resting.pop(entry_id, None)
        for source in (*_evidence(before), *cites):
            self._cited.setdefault(source, {})[entry_id] = None


def _evidence(body: str | None) -> tuple[str, ...]:
    return () if body is None else tuple(json.loads(body).get("evidence", ()))
