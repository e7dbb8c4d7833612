"""The journal's past: the state at a moment, computed from the changes after it, or from those before it.

A moment is a revision and an access number. All accesses of earlier revisions had happened by then, and those of the
moment's own revision up to the number. Older accesses, written without a revision, count by the world's
time: as happened if it is not after the moment's, or if all accesses with a revision came later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from ...core.change_set import OF_A_CONVERSATION, ChangeSet, load_entry
from ...core.change_set import TEXTS as TEXT_NAMES
from ...core.entry import MemoryEntry
from ...core.times import utc
from .history import change_set_of, field, slices, standing_undos, written
from .tables import ACCESSES, CHANGE_SETS, CHANGES, LET_GO, TEXTS

_TOGETHER = timedelta(minutes=5)
"""A world whose time is this close to the real one follows it."""

_MOST_SINCE = 20_000
"""Accesses that are undone one by one."""

Bodies = dict[str, str | None]
"""Entries in the journal's form, by id; ``None`` = the entry does not exist."""


@dataclass(frozen=True)
class Moment:
    """A state that an agent was in.

    Args:
        revision: the newest change set; 0 = before the first.
        access: the newest access of that revision; 0 = none yet.
        now: the world's time.
        until: the world's time up to which accesses of unknown revision had happened; ``None`` = there are none.
    """

    revision: int
    access: int
    now: datetime
    until: datetime | None = None

    @property
    def key(self) -> tuple[int, int, datetime | None]:
        """Equal for two moments in which all memories were the same."""
        return self.revision, self.access, self.until


@dataclass(frozen=True)
class Event:
    """One change of one memory: the change set, the world's time, the author, and what it did."""

    revision: int
    title: str
    author: str
    at: datetime
    before: MemoryEntry | None
    after: MemoryEntry | None


class PastReader:
    """Reads past states.

    Args:
        read: a connection to read by.
        refuse: raises ``ChangeSetNotFound`` if the history does not reach back to a revision.
    """

    def __init__(
        self,
        read: Callable[[], AbstractContextManager[sa.Connection]],
        refuse: Callable[[sa.Connection, int], None],
    ) -> None:
        self._read = read
        self._refuse = refuse

    # -- moments ---------------------------------------------------------------------------------------

    def at_revision(self, revision: int, access: int, otherwise: datetime) -> Moment | None:
        """Right after a change set, or after an access of its revision; ``None`` if there is no such revision.

        This and the next two raise ``ChangeSetNotFound`` if the history does not reach back that far.

        The world's time is that of the access, or else that at which the change set was planned. Before the first
        change set it is that of the first; if there is none, ``otherwise``.
        """
        with self._read() as db:
            self._refuse(db, revision)
            heads = sa.select(CHANGE_SETS.c.planned_at).order_by(CHANGE_SETS.c.revision)
            planned = db.scalar(heads.where(CHANGE_SETS.c.revision == revision) if revision else heads)
            if planned is None and revision:
                return None
            now = otherwise if planned is None else datetime.fromisoformat(planned)
            last = self._last_access(db, revision, ACCESSES.c.number <= access) if access else None
            if last is not None:
                now = datetime.fromisoformat(last.at)
            return self._moment(db, revision, access, now)

    def at_real_time(self, at: datetime) -> Moment:
        """The state at a real time.

        The world's time is that of the last thing noted by then; or ``at`` itself, if that was noted within five
        minutes of the world's time, so that the world followed the real time.
        """
        with self._read() as db:
            head = self._newest(db, CHANGE_SETS.c.applied_at, at)
            revision = head.revision if head is not None else 0
            last = self._last_access(db, revision, ACCESSES.c.noted_at <= utc(at))
            times = (last.at, last.noted_at) if last is not None else head and (head.planned_at, head.applied_at)
            world, real = map(datetime.fromisoformat, times) if times else (at, at)
            now = at if abs(world - real) <= _TOGETHER else world
            return self._moment(db, revision, last.number if last is not None else 0, now)

    def at_world_time(self, at: datetime) -> Moment:
        """The state when the world's clock last showed a time, or before it."""
        with self._read() as db:
            head = self._newest(db, CHANGE_SETS.c.planned_at, at)
            revision = head.revision if head is not None else 0
            last = self._last_access(db, revision, ACCESSES.c.at <= utc(at))
            return self._moment(db, revision, last.number if last is not None else 0, at)

    @staticmethod
    def _newest(db: sa.Connection, column: sa.Column[str], at: datetime) -> Any:
        """The newest change set whose time in a column is not after ``at``; compared in Python: zones may differ."""
        heads = sa.select(CHANGE_SETS.c.revision, CHANGE_SETS.c.planned_at, CHANGE_SETS.c.applied_at)
        for head in db.execute(heads.order_by(CHANGE_SETS.c.revision.desc()).execution_options(yield_per=500)):
            if datetime.fromisoformat(getattr(head, column.name)) <= at:
                return head
        return None

    @staticmethod
    def _last_access(db: sa.Connection, revision: int, where: sa.ColumnElement[bool]) -> Any:
        query = sa.select(ACCESSES).where(ACCESSES.c.revision == revision, where)
        return db.execute(query.order_by(ACCESSES.c.number.desc()).limit(1)).first()

    def _moment(self, db: sa.Connection, revision: int, access: int, now: datetime) -> Moment:
        self._refuse(db, revision)
        if db.scalar(sa.select(ACCESSES.c.number).where(ACCESSES.c.revision.is_(None)).limit(1)) is None:
            return Moment(revision, access, now)
        first_known = db.scalar(sa.select(sa.func.min(ACCESSES.c.revision)))
        all_happened = first_known is not None and revision > first_known
        return Moment(revision, access, now, datetime.max.replace(tzinfo=now.tzinfo) if all_happened else now)

    # -- the state ------------------------------------------------------------------------------------

    def is_nearer_to_now(self, revision: int, newest: int) -> bool:
        """Whether fewer changes came after a revision, up to the newest, than before it, or those are not all kept.

        Raises:
            ChangeSetNotFound: not all later changes are kept.
        """
        count = sa.select(sa.func.count()).select_from(CHANGES)
        with self._read() as db:
            self._refuse(db, revision)
            if db.scalar(sa.select(TEXTS.c.name).where(TEXTS.c.name == LET_GO)) is not None:
                return True
            before = db.scalar(count.where(CHANGES.c.revision <= revision)) or 0
            after = db.scalar(count.where(CHANGES.c.revision > revision, CHANGES.c.revision <= newest)) or 0
        return after <= before

    def back(self, revision: int, newest: int) -> Bodies:
        """The former state of the entries that have changed since, up to the newest revision.

        This and ``texts`` raise ``ChangeSetNotFound`` if the history does not reach back that far.
        """
        within = sa.and_(CHANGES.c.revision > revision, CHANGES.c.revision <= newest)
        return self._ends(CHANGES.c.before, sa.func.min(CHANGES.c.revision), within, revision)

    def forth(self, revision: int) -> Bodies:
        """The state of all entries that had ever existed."""
        return self._ends(CHANGES.c.after, sa.func.max(CHANGES.c.revision), CHANGES.c.revision <= revision, revision)

    def _ends(
        self, end: sa.Column[Any], which: sa.Function[Any], where: sa.ColumnElement[bool], revision: int
    ) -> Bodies:
        ends = sa.select(CHANGES.c.entry_id, which).where(where).group_by(CHANGES.c.entry_id)
        # not a join: for each, SQLite would scan all the changes of its revision
        query = sa.select(CHANGES.c.entry_id, end).where(where)
        query = query.where(sa.tuple_(CHANGES.c.entry_id, CHANGES.c.revision).in_(ends))
        with self._read() as db:
            self._refuse(db, revision)
            return {row[0]: row[1] for row in db.execute(query)}

    def texts_since(self, name: str, revision: int) -> list[Event]:
        """What has happened to a named text since a revision, oldest first; these events contain no memory."""
        heads = sa.select(CHANGE_SETS).where(CHANGE_SETS.c.revision > revision).order_by(CHANGE_SETS.c.revision)
        heads = heads.where(CHANGE_SETS.c.details.contains(written(name), autoescape=True))
        with self._read() as db:
            change_sets = [change_set_of(head, ()) for head in db.execute(heads)]
        return [
            Event(change_set.revision or 0, change_set.title, change_set.author, change_set.planned_at, None, None)
            for change_set in change_sets
            if any(text.name == name for text in change_set.texts)
        ]

    def texts(self, revision: int, newest: int, now: dict[str, str | None]) -> dict[str, str | None]:
        """Each named text as it was, given the texts at the newest revision."""
        heads = sa.select(CHANGE_SETS).order_by(CHANGE_SETS.c.revision)
        heads = heads.where(CHANGE_SETS.c.revision > revision, CHANGE_SETS.c.revision <= newest)
        texts = dict(now)
        with self._read() as db:
            self._refuse(db, revision)
            texts |= _conversations(db, revision, newest)
            for name in TEXT_NAMES:
                changing = heads.where(CHANGE_SETS.c.details.contains(written(name), autoescape=True))
                for head in db.execute(changing.execution_options(yield_per=10)):
                    changed = [text for text in change_set_of(head, ()).texts if text.name == name]
                    if changed:
                        texts[name] = changed[0].before
                        break
        return texts

    def accessed_since(self, moment: Moment) -> set[str] | None:
        """The memories recalled since; ``None`` if it is not quicker than to read all accesses.

        For all others the last recall is still the same.
        """
        if moment.until is not None:
            return None
        own = sa.and_(ACCESSES.c.revision == moment.revision, ACCESSES.c.number > moment.access)
        first = sa.select(sa.func.min(ACCESSES.c.number))
        with self._read() as db:
            starts = [db.scalar(first.where(where)) for where in (own, ACCESSES.c.revision > moment.revision)]
            since = ACCESSES.c.number >= min((number for number in starts if number is not None), default=2**62)
            if (db.scalar(sa.select(sa.func.count()).where(since)) or 0) > _MOST_SINCE:
                return None
            return set(db.scalars(sa.select(ACCESSES.c.entry_id).where(since)))

    def last_accesses(self, moment: Moment, entry_ids: Collection[str] | None = None) -> dict[str, datetime]:
        """The latest access of each memory that had been recalled, or of each given one."""
        own = sa.and_(ACCESSES.c.revision == moment.revision, ACCESSES.c.number <= moment.access)
        happened = sa.or_(ACCESSES.c.revision < moment.revision, own)
        if moment.until is not None:
            unknown = sa.and_(ACCESSES.c.revision.is_(None), ACCESSES.c.at <= _bound(moment.until))
            happened = sa.or_(happened, unknown)
        query = sa.select(ACCESSES.c.entry_id, sa.func.max(ACCESSES.c.at)).where(happened)
        query = query.group_by(ACCESSES.c.entry_id)
        parts = [query]
        if entry_ids is not None:
            parts = [query.where(ACCESSES.c.entry_id.in_(some)) for some in slices(list(entry_ids))]
        with self._read() as db:
            return {row[0]: datetime.fromisoformat(row[1]) for part in parts for row in db.execute(part)}

    # -- the history ----------------------------------------------------------------------------------

    def last_version(self, entry_id: str, revision: int) -> MemoryEntry | None:
        """A memory as it last was at a revision, even if forgotten by then; ``None`` if it had never existed."""
        with self._read() as db:
            row = db.execute(
                sa.select(CHANGES.c.before, CHANGES.c.after)
                .where(CHANGES.c.entry_id == entry_id, CHANGES.c.revision <= revision)
                .order_by(CHANGES.c.revision.desc(), CHANGES.c.position.desc())
                .limit(1)
            ).first()
        return None if row is None else load_entry(row.after or row.before)

    def undone(self, told: Iterable[ChangeSet], revision: int) -> dict[int, int]:
        """Which of these change sets had been undone by a revision, and by which."""
        numbers = [change_set.revision for change_set in told if change_set.revision is not None]
        found: dict[int, int] = {}
        with self._read() as db:
            for some in slices(numbers):
                found |= standing_undos(db, some, revision)
        return found

    def events(self, entry_ids: Sequence[str], revision: int) -> dict[str, list[Event]]:
        """What has happened to these memories since a revision, oldest first."""
        found: dict[str, list[Event]] = {entry_id: [] for entry_id in entry_ids}
        heads = (CHANGE_SETS.c.title, CHANGE_SETS.c.author, CHANGE_SETS.c.planned_at)
        query = sa.select(CHANGES, *heads).join(CHANGE_SETS, CHANGE_SETS.c.revision == CHANGES.c.revision)
        query = query.where(CHANGES.c.revision > revision).order_by(CHANGES.c.revision)
        with self._read() as db:
            for some in slices(entry_ids):
                for row in db.execute(query.where(CHANGES.c.entry_id.in_(some))):
                    at = datetime.fromisoformat(row.planned_at)
                    before, after = load_entry(row.before), load_entry(row.after)
                    found[row.entry_id].append(Event(row.revision, row.title, row.author, at, before, after))
        return found

    def heads_since(self, revision: int) -> list[ChangeSet]:
        """The change sets after a revision, oldest first, without the changed memories."""
        query = sa.select(CHANGE_SETS).where(CHANGE_SETS.c.revision > revision).order_by(CHANGE_SETS.c.revision)
        with self._read() as db:
            return [change_set_of(head, ()) for head in db.execute(query)]


def _conversations(db: sa.Connection, revision: int, newest: int) -> dict[str, str | None]:
    """The conversation texts changed since a revision, each as it was before; one query for all."""
    starts = (CHANGE_SETS.c.details.contains(f'{{"name": "{start}', autoescape=True) for start in OF_A_CONVERSATION)
    query = sa.select(field(CHANGE_SETS.c.details, "texts")).where(sa.or_(*starts))
    query = query.where(CHANGE_SETS.c.revision > revision, CHANGE_SETS.c.revision <= newest)
    texts: dict[str, str | None] = {}
    for scalar in db.scalars(query.order_by(CHANGE_SETS.c.revision).execution_options(yield_per=100)):
        for text in json.loads(scalar):
            if text["name"].startswith(OF_A_CONVERSATION):
                texts.setdefault(text["name"], text["before"])
    return texts


def _bound(until: datetime) -> str:
    """A text that no time up to ``until`` exceeds; the end of time cannot be converted to another zone."""
    return "~" if until.year == datetime.max.year else utc(until)
