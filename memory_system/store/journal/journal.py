"""The journal: what every store is rebuilt from. Change sets, entries, vectors and accesses in one database.

Applying a change set is (1) commit it here, (2) upsert into the store, (3) delete from the store, (4) mark
it done. The commit decides: before it nothing has happened, after it the change is permanent, and
opening the agent finishes what was interrupted.

The journal also notes recalls, written in batches: which memories were recalled, and the queries.

The connections of one journal, in SQLite or in PostgreSQL: for reading, writing, and noticing other writers.
"""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import partial
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ...core.change_set import ChangeSet, dump_entry, excerpt, load_entry
from ...core.entry import MemoryEntry, Tier
from ...core.memory import Vectors
from ...core.settings import AgentSettings
from ...core.times import Clock, parse_time, utc
from ...errors import (
    ChangeSetNotFound,
    JournalDamaged,
    ServerUnavailable,
    StaleChange,
    StoreBusy,
    StoreDamaged,
    StoreError,
)
from ..access_buffer import Access, Noted
from ..query_log import Asked, LoggedQuery, body_of, logged_of
from .as_of import PastReader
from .evidence import Evidence
from .history import ALL, Applied, HistoryKinds, Sought, Teller, head_of, slices
from .horizon import FLOOR, Horizon, let_go_of
from .postgres import WRITES, commit_soon, erase, ways_of_reading
from .statements import NONE, Question, Rows, Values, insert, insert_numbered, upsert
from .tables import (
    ACCESSES,
    ALL_TABLES,
    CHANGE_SETS,
    CHANGES,
    DEFAULTS,
    ENTRIES,
    LET_GO,
    QUERIES,
    TEXTS,
    as_damage,
    close,
    connect,
    pour,
    watch,
    with_help,
)
from .trash import Bin, Forgotten, purge, refuse_purged
from .vectors import KeptVectors, content_hash, keep

_SOME: sa.BindParameter[Sequence[str]] = sa.bindparam("some", expanding=True)
_REVISIONS_OF = Question(sa.select(CHANGE_SETS.c.id, CHANGE_SETS.c.revision).where(CHANGE_SETS.c.id.in_(_SOME)))
_TEXTS = Question(sa.select(TEXTS.c.name, TEXTS.c.body).where(TEXTS.c.name.in_(sa.bindparam("names", expanding=True))))
_AT_OPENING = ("personality", "settings", DEFAULTS)
"""Texts that are read whenever an agent is opened."""
_BODIES = Question(sa.select(ENTRIES.c.id, ENTRIES.c.body).where(ENTRIES.c.id.in_(_SOME)))
_PENDING = Question(
    sa.select(CHANGE_SETS.c.revision).where(
        CHANGE_SETS.c.done.is_(False), CHANGE_SETS.c.revision > sa.bindparam("revision")
    )
)
_NEWEST = (sa.func.max(CHANGE_SETS.c.revision), sa.func.max(ACCESSES.c.number))
_NEWEST_ACCESS = Question(sa.select(_NEWEST[1]))
_ENDS = (sa.func.min(QUERIES.c.number), sa.func.max(QUERIES.c.number))
_FIRST_AND_LAST_QUERY = Question(sa.select(*(sa.select(column).scalar_subquery() for column in _ENDS)))
_POSITION = Question(sa.select(*(sa.select(column).scalar_subquery() for column in _NEWEST)))
_ACCESSED = Question(
    sa.select(ACCESSES.c.entry_id, sa.func.max(ACCESSES.c.at), sa.func.max(ACCESSES.c.number))
    .where(ACCESSES.c.number > sa.bindparam("after"))
    .group_by(ACCESSES.c.entry_id)
)
_AT_REVISION = sa.select(sa.func.max(CHANGE_SETS.c.id)).where(CHANGE_SETS.c.revision == sa.bindparam("revision"))
_CHANGE_SET_AT = Question(_AT_REVISION)
_KNOWN_AT = Question(sa.select(_AT_REVISION.scalar_subquery(), FLOOR.scalar_subquery()))
_CHANGED = sa.select(CHANGES.c.entry_id).where(CHANGES.c.revision > sa.bindparam("revision"))
_CHANGED_SINCE = Question(_CHANGED)
_ROWS = sa.select(ENTRIES.c.tier, ENTRIES.c.id, ENTRIES.c.body, ENTRIES.c.hash)
_COUNT = Question(sa.select(sa.func.count()).where(ENTRIES.c.tier.in_(_SOME)))
_ALL_TEXTS = Question(sa.select(TEXTS).where(TEXTS.c.name != LET_GO))
_HELD = Question(_ROWS.where(ENTRIES.c.tier.in_(_SOME)))
_HELD_OR_CHANGED = Question(_ROWS.where(sa.or_(ENTRIES.c.tier.in_(_SOME), ENTRIES.c.id.in_(_CHANGED))))
_LAST_ACCESSES = Question(
    sa.select(ACCESSES.c.entry_id, sa.func.max(ACCESSES.c.at))
    .where(ACCESSES.c.entry_id.in_(_SOME))
    .group_by(ACCESSES.c.entry_id)
)


def write_notes(db: sa.Connection, notes: Sequence[Noted]) -> int:
    """Record notes in their order, and drop queries beyond the limit; return the newest access number.

    A query saw the accesses that precede it here, and those that it names itself.
    """
    accesses = [Access(*note) for note in notes if not isinstance(note, Asked)]
    insert(db, ACCESSES, _access_rows(accesses))
    ((newest,),) = _NEWEST_ACCESS.of(db)
    newest = newest or 0
    texts = dict(_TEXTS.of(db, {"names": ["settings"]}))
    room = AgentSettings.from_json(texts.get("settings")).query_log
    first = newest - len(accesses) + 1  # there is only one writer, so that the numbers are consecutive
    before, queries = 0, []
    for note in notes:
        if isinstance(note, Asked):
            queries.append(_query_row(note, max(note.access, first + before - 1) if before else note.access))
        else:
            before += 1
    if room:
        insert(db, QUERIES, queries[-room:])
    ((oldest, last),) = _FIRST_AND_LAST_QUERY.of(db)
    if last is not None and oldest <= last - room:
        db.execute(sa.delete(QUERIES).where(QUERIES.c.number <= last - room))
    return int(newest)


def _access_rows(accesses: Sequence[Access]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    written: dict[int, str | None] = {}  # the memories of one answer share their times, which are slowest to write
    for access in accesses:
        for moment in (access.at, access.noted_at):
            if id(moment) not in written:
                written[id(moment)] = None if moment is None else utc(moment)
        at, noted_at = written[id(access.at)], written[id(access.noted_at)]
        rows.append({"entry_id": access.entry_id, "at": at, "revision": access.revision, "noted_at": noted_at})
    return rows


def _query_row(asked: Asked, access: int) -> dict[str, Any]:
    assert asked.asked_at is not None, "what waits has been noted"
    return {
        "cue": asked.query.cue,
        "at": asked.query.now.isoformat(),
        "noted_at": utc(asked.asked_at),
        "author": asked.author,
        "revision": asked.revision,
        "access": access,
        "body": body_of(asked),
    }


class QueryLog:
    """The query log in the journal.

    Args:
        read: a connection to read by.
    """

    def __init__(self, read: Callable[[], AbstractContextManager[sa.Connection]]) -> None:
        self._read = read

    def newest(self, limit: int, before: int | None, contains: str) -> list[LoggedQuery]:
        """The newest first, at most ``limit``; those before a number, and whose cue contains a text, in any case."""
        query = sa.select(QUERIES).order_by(QUERIES.c.number.desc())
        if before is not None:
            query = query.where(QUERIES.c.number < before)
        if not contains:
            query = query.limit(limit)
        sought, found = contains.casefold(), []
        with self._read() as db:
            for row in db.execute(query.execution_options(yield_per=200)):
                if sought in row.cue.casefold():
                    found.append(logged_of(row))
                    if len(found) == limit:
                        break
        return found

    def get(self, number: int) -> LoggedQuery | None:
        """One query; ``None`` if it was never logged, or has been dropped."""
        with self._read() as db:
            row = db.execute(sa.select(QUERIES).where(QUERIES.c.number == number)).first()
        return None if row is None else logged_of(row)


class Connections:
    """The connections of one journal; thread-safe.

    Args:
        place: as for ``connect``.
        durability: what a commit survives, one of ``DURABILITY``.
    """

    def __init__(self, place: str | sa.Engine, durability: str) -> None:
        self._engine = connect(place, durability)
        self._reading, self._polling = ways_of_reading(self._engine)
        self._writing = self._engine.execution_options(**{WRITES: True})
        self._watch = watch(self._engine)
        self._thread_local = threading.local()

    def close(self) -> None:
        """Close the file."""
        if self._watch is not None:
            self._watch.close()
        close(self._engine)

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A connection that sees one moment.

        Raises:
            StoreError: it cannot be read.
        """
        with self._as_store_errors(), self._reading.connect() as db:
            yield db

    def ask(self, question: Question, values: Values = NONE) -> Rows:
        """The rows that answer a question, at the least cost.

        Raises:
            StoreError: it cannot be read.
        """
        connection: sa.Connection | None = getattr(self._thread_local, "connection", None)
        if connection is not None:
            try:
                with self._as_store_errors():
                    return question.of(connection, values)
            except ServerUnavailable:
                self._thread_local.connection = None
        try:
            return self._asked(question, values)
        except ServerUnavailable:  # a connection from before the server restarted; all of those are now closed
            return self._asked(question, values)

    def _asked(self, question: Question, values: Values) -> Rows:
        with self._as_store_errors():
            if self._watch is None:
                with self._polling.connect() as db:
                    return question.of(db, values)
            pooled = self._engine.raw_connection()
            try:
                return question.plainly(cast("sqlite3.Connection", pooled.driver_connection), values)
            finally:
                pooled.close()

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Within it, all questions of this thread use one connection, without looking for one each time.

        Each question is still answered as of when it is asked.

        Raises:
            StoreError: the journal cannot be read.
        """
        with self._as_store_errors():
            connection = self._polling.connect()
        with connection:
            self._thread_local.connection = connection
            try:
                yield
            finally:
                self._thread_local.connection = None

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            raise as_damage(f"The journal cannot be read: {error.orig}.", error.orig) from error
        except sqlite3.Error as error:
            raise as_damage(f"The journal cannot be read: {error}.", error) from error
        except PoolTimeout as error:
            raise StoreBusy("The journal cannot be read now: all connections are in use. Try again.") from error

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A connection of the only writer, whose transaction is committed at the end.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            with self._writing.begin() as db:
                yield db
        except DatabaseError as error:
            raise self._unwritten(error.orig) from error
        except sqlite3.Error as error:
            raise self._unwritten(error) from error
        except PoolTimeout as error:
            raise StoreBusy("The journal cannot be written now: all connections are in use. Try again.") from error

    def _unwritten(self, error: BaseException | None) -> StoreError:
        sentence = f"The journal cannot be written: {error}."
        if self._watch is not None:
            return StoreDamaged(f"{with_help(sentence, error)} Nothing was changed.")
        problem = as_damage(sentence, error)
        if isinstance(problem, ServerUnavailable):  # a commit whose reply was lost may have succeeded
            return ServerUnavailable(f"{problem.sentence} The history tells whether this change was kept.")
        return type(problem)(f"{problem.sentence} Nothing was changed.")

    def mark_done(self, revision: int) -> None:
        """Note that the store holds a change; does not wait for the disk.

        Raises:
            StoreError: it cannot be written.
        """
        if self._watch is None:
            with self.write() as db:
                commit_soon(db)
                db.execute(sa.update(CHANGE_SETS).where(CHANGE_SETS.c.revision == revision).values(done=True))
            return
        try:
            self._watch.execute("UPDATE change_sets SET done = 1 WHERE revision = ?", (revision,)).close()
        except sqlite3.Error as error:
            raise StoreDamaged(f"The journal cannot be written: {error}. The change stands.") from error

    def compact(self) -> str | None:
        """Rewrite the file or the tables; return why that is not done, in a sentence, or ``None`` if it is."""
        if self._watch is None:
            return erase(self._engine, ALL_TABLES)
        raw_connection = self._engine.raw_connection()
        try:
            connection = raw_connection.driver_connection
            assert connection is not None, "it has just been taken from the pool"
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error as error:
            return f"The journal could not be rewritten: {error}."
        finally:
            raw_connection.close()
        return "Another program is reading the journal." if busy else None

    def seen(self) -> int | None:
        """A number that changes when anything is committed, by any program; ``None`` if it is not available.

        SQLite returns it from memory, without a transaction. PostgreSQL can send notifications, but perhaps after a
        question that follows another machine's commit; there the position itself is queried, which is one short query.
        """
        if self._watch is None:
            return None
        try:
            return int(self._watch.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error as error:
            raise StoreDamaged(f"The journal cannot be read: {error}.") from error


__all__ = ["Applied", "Journal", "content_hash"]


class Journal:
    """One agent's journal. Writers hold the agent's lock; readers need none.

    Args:
        place: the database's address, or an engine, as for ``tables.connect``.
        clock: the real time.
        durability: what a commit survives, one of ``DURABILITY``.
    """

    def __init__(self, place: str | sa.Engine, clock: Clock, durability: str = "full") -> None:
        self._connections = Connections(place, durability)
        self._read, self._write = self._connections.read, self._connections.write
        self._ask, self.one_by_one = self._connections.ask, self._connections.one_by_one
        self._clock = clock
        self.evidence = Evidence(self._read)
        self.horizon = Horizon(self._read, self._write, self.evidence, clock)
        self.past = PastReader(self._read, self.horizon.refuse)
        self.teller = Teller(self._read)
        self.bin = Bin(self._read)
        self.queries = QueryLog(self._read)
        self.kept = KeptVectors(self._ask, self._write)

    def close(self) -> None:
        """Close the file."""
        self._connections.close()

    # -- writing ---------------------------------------------------------------------------------------

    def commit(self, change_set: ChangeSet, vectors: Mapping[str, Vectors], embedder: str) -> ChangeSet:
        """As ``commit_together``, for one change set."""
        return self.commit_together([change_set], vectors, embedder)[0]

    def commit_together(
        self, change_sets: Sequence[ChangeSet], vectors: Mapping[str, Vectors], embedder: str, *, alone: bool = False
    ) -> list[ChangeSet]:
        """Step 1: record change sets in order, which makes them permanent; return each with its revision.

        A change set that was committed before is returned as recorded: it is applied once. Several share one wait for
        the disk.

        Args:
            change_sets: what to record; if there are several, none has texts or purges.
            vectors: the vector, shape (d,), of each new text, by content hash.
            embedder: the identity of what made the vectors.
            alone: whether only texts and purges need further steps, so that the others are done at once.

        Raises:
            StaleChange: an entry or text that one touches has changed since this was planned, or since an earlier one
                of them. None is recorded.
        """
        with self._write() as db:
            revisions: dict[str, int] = {}
            for some in slices([change_set.id for change_set in change_sets]):
                revisions |= {row[0]: int(row[1]) for row in _REVISIONS_OF.of(db, {"some": some})}
            if new := list(
                {change_set.id: change_set for change_set in change_sets if change_set.id not in revisions}.values()
            ):
                self._refuse_stale(db, new)
                revisions |= self._record(db, new, alone=alone)
                keep(db, vectors, embedder)
        return [dataclasses.replace(change_set, revision=revisions[change_set.id]) for change_set in change_sets]

    def _refuse_stale(self, db: sa.Connection, change_sets: Sequence[ChangeSet]) -> None:
        bodies: dict[str, str | None] = {}
        bodies |= self._bodies(db, [change.entry_id for change_set in change_sets for change in change_set.changes])
        for change in (change for change_set in change_sets for change in change_set.changes):
            if bodies.get(change.entry_id) != dump_entry(change.before):
                document = (change.before or change.after).document  # type: ignore[union-attr]
                raise StaleChange(f"The memory {excerpt(document)} has changed since this was planned. Plan it again.")
            if len(change_sets) > 1:
                bodies[change.entry_id] = dump_entry(change.after)
        for text in (text for change_set in change_sets for text in change_set.texts):
            if dict(_TEXTS.of(db, {"names": [text.name]})).get(text.name) != text.before:
                raise StaleChange(f"What is kept as {text.name} has changed since this was planned. Look at it again.")
        refuse_purged(db, change_sets)
        for body in self._bodies(
            db, [entry_id for change_set in change_sets for entry_id in change_set.purges]
        ).values():
            raise StaleChange(f"{excerpt(_loaded(body).document)} is remembered. Forget it first, then purge it.")

    def _record(self, db: sa.Connection, change_sets: Sequence[ChangeSet], *, alone: bool) -> dict[str, int]:
        """The revision of each by its id."""
        revisions: dict[str, int] = {}
        rows: list[dict[str, Any]] = []
        left: dict[str, dict[str, Any] | None] = {}
        for change_set in change_sets:
            done = alone and not (change_set.texts or change_set.purges)
            head = head_of(change_set, self._clock(), done=done)
            revision = revisions[change_set.id] = insert_numbered(db, CHANGE_SETS, head)
            for position, change in enumerate(change_set.changes):
                before, after = dump_entry(change.before), dump_entry(change.after)
                row = {"revision": revision, "position": position, "entry_id": change.entry_id, "reason": change.reason}
                rows.append(row | {"before": before, "after": after})
                left[change.entry_id] = None if change.after is None else _held_row(change.after, after)
        insert(db, CHANGES, rows)
        for ids in slices([entry_id for entry_id, row in left.items() if row is None]):
            db.execute(sa.delete(ENTRIES).where(ENTRIES.c.id.in_(ids)))
        upsert(db, ENTRIES, [row for row in left.values() if row is not None])
        for change_set in change_sets:
            for text in change_set.texts:
                if text.after is None:
                    db.execute(sa.delete(TEXTS).where(TEXTS.c.name == text.name))
                else:
                    upsert(db, TEXTS, [{"name": text.name, "body": text.after}])
            if change_set.purges:
                purge(db, revisions[change_set.id], change_set.purges)
        return revisions

    def mark_done(self, revision: int) -> None:
        """Step 4: the store holds this change. If the power fails before this is on the disk, it is done again."""
        self._connections.mark_done(revision)

    def compact(self) -> str | None:
        """Rewrite the file or the tables, so that not a byte of deleted data is left in them.

        Returns:
            Why it is not done yet, in a sentence; ``None`` if it is.
        """
        return self._connections.compact()

    def copy_to(self, target: Journal) -> int:
        """Copy every row as of one moment into a new, empty journal; return how many there are.

        Raises:
            StoreError: it cannot be read or written, or not all rows arrived. Nothing was copied.
        """
        with self._read() as source, target._write() as db:
            return pour(source, db)

    def touch(self, notes: Sequence[Noted]) -> int:
        """Record which memories were recalled and what was asked; return the newest access number."""
        with self._write() as db:
            return write_notes(db, notes)

    # -- reading ---------------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """The number of the newest change set; 0 when nothing has happened yet."""
        with self._read() as db:
            return int(db.scalar(sa.select(sa.func.max(CHANGE_SETS.c.revision))) or 0)

    def position(self) -> tuple[int, int]:
        """The newest revision and the newest access number, 0 if there is none: what a reader compares."""
        (row,) = self._ask(_POSITION)
        return row[0] or 0, row[1] or 0

    def seen(self) -> int | None:
        """A number that changes when anything is committed to this file, by any program; ``None`` if not available."""
        return self._connections.seen()

    @property
    def origin(self) -> str:
        """The id of the first change set, which only an agent and its copies have in common; empty before it."""
        (row,) = self._ask(_CHANGE_SET_AT, {"revision": 1})
        return row[0] or ""

    def change_set_at(self, revision: int) -> str:
        """The id of the change set of a revision; empty if there is none, or later changes are not all kept."""
        (row,) = self._ask(_KNOWN_AT, {"revision": revision})
        return row[0] if row[0] and revision >= let_go_of(row[1]) else ""

    def entries(self, tier: Tier) -> dict[str, tuple[MemoryEntry, str]]:
        """All current entries of a tier, with the content hash of their text, by id."""
        return self.entries_of([tier])[tier]

    def entries_of(
        self, tiers: Iterable[Tier], changed_since: int | None = None
    ) -> dict[Tier, dict[str, tuple[MemoryEntry, str]]]:
        """As ``entries``, for several tiers in one query; for other tiers those that were changed after a revision."""
        found: dict[Tier, dict[str, tuple[MemoryEntry, str]]] = {tier: {} for tier in Tier}
        values = {"some": [tier.value for tier in tiers], "revision": changed_since}
        for row in self._ask(_HELD if changed_since is None else _HELD_OR_CHANGED, values):
            found[Tier(row.tier)][row.id] = _loaded(row.body), row.hash
        return found

    def changed_since(self, revision: int) -> frozenset[str]:
        """The ids of the memories that were changed after a revision, including deleted ones."""
        return frozenset(row[0] for row in self._ask(_CHANGED_SINCE, {"revision": revision}))

    def count(self, tiers: Iterable[Tier]) -> int:
        """How many entries these tiers hold now."""
        return int(self._ask(_COUNT, {"some": [tier.value for tier in tiers]})[0][0])

    def span(self) -> tuple[datetime, datetime] | None:
        """When its first and its newest change set were applied (real time); ``None`` if there is none."""
        times = [sa.select(CHANGE_SETS.c.applied_at).order_by(CHANGE_SETS.c.revision).limit(1)]
        times += [sa.select(CHANGE_SETS.c.applied_at).order_by(CHANGE_SETS.c.revision.desc()).limit(1)]
        with self._read() as db:
            first, last = (db.scalar(time) for time in times)
        return None if first is None or last is None else (parse_time(first), parse_time(last))

    def vectors(self, hashes: Iterable[str], embedder: str) -> dict[str, Vectors]:
        """The kept vectors, shape (d,), of these content hashes; those never embedded are left out."""
        return self.kept.of(hashes, embedder)

    def vectors_of(self, texts: Sequence[str], embedder: str) -> list[Vectors | None]:
        """As ``vectors``, for texts and in their order."""
        hashes = [content_hash(text) for text in texts]
        kept = self.vectors(hashes, embedder)
        return [kept.get(key) for key in hashes]

    def last_accesses(self, after: int = 0) -> tuple[dict[str, datetime], int]:
        """The latest access of each memory recalled since access number ``after``, and the newest number."""
        rows = self._ask(_ACCESSED, {"after": after})
        # times are stored in UTC and in one form, so that the latest is the greatest text
        return {row[0]: datetime.fromisoformat(row[1]) for row in rows}, max((row[2] for row in rows), default=after)

    def last_access_of(self, ids: Sequence[str]) -> dict[str, datetime]:
        """The latest access of each of these memories; those never recalled are left out."""
        return {
            row[0]: datetime.fromisoformat(row[1])
            for some in slices(ids)
            for row in self._ask(_LAST_ACCESSES, {"some": some})
        }

    def text(self, name: str) -> str | None:
        """The current text of this name (``personality``, ``settings``)."""
        return self.texts_with(name)[name]

    def texts_with(self, name: str) -> dict[str, str | None]:
        """The text of this name, and those that are read together with it."""
        names = _AT_OPENING if name in _AT_OPENING else (name,)
        found: dict[str, str | None] = dict.fromkeys(names)
        return found | {row[0]: row[1] for row in self._ask(_TEXTS, {"names": names})}

    def texts(self) -> dict[str, str | None]:
        """All current texts, by name."""
        return {row.name: row.body for row in self._ask(_ALL_TEXTS)}

    def pending(self) -> list[ChangeSet]:
        """Change sets that were committed and not marked done, oldest first."""
        waits = self.pending_revisions()  # usually empty
        return [act.change_set for act in self.teller.of(CHANGE_SETS.c.done.is_(False))] if waits else []

    def pending_revisions(self, after: int = 0) -> frozenset[int]:
        """The numbers of those change sets that come after a revision."""
        return frozenset(row[0] for row in self._ask(_PENDING, {"revision": after}))

    def since(self, revision: int) -> list[ChangeSet]:
        """Change sets after this revision, oldest first.

        Raises:
            ChangeSetNotFound: the history does not reach back that far.
        """
        return self.kept_since(revision, partial(self.horizon.refuse, revision=revision))

    def known_since(self, revision: int) -> list[ChangeSet] | None:
        """As ``since``; ``None`` if the history does not reach back that far."""
        try:
            return self.since(revision)
        except ChangeSetNotFound:
            return None

    def refuse_let_go(self, revision: int) -> None:
        """Do nothing if the history has all that came after a revision.

        Raises:
            ChangeSetNotFound: some of it was dropped.
        """
        with self._read() as db:
            self.horizon.refuse(db, revision)

    def kept_since(self, revision: int, unless: Callable[[sa.Connection], None] = lambda _db: None) -> list[ChangeSet]:
        """As ``since``, or what is kept of it."""
        return [act.change_set for act in self.teller.of(CHANGE_SETS.c.revision > revision, unless=unless)]

    def get(self, revision: int) -> Applied:
        """One change set.

        Raises:
            ChangeSetNotFound: the journal has no such revision, or it was dropped.
        """
        gone = partial(self.horizon.refuse, revision=revision, itself=True)
        acts = self.teller.of(CHANGE_SETS.c.revision == revision, unless=gone)
        if not acts:
            raise ChangeSetNotFound(f"The history has no revision {revision}.")
        return acts[0]

    def by_id(self, change_set_id: str) -> ChangeSet | None:
        """The change set of an id; ``None`` if the history has none."""
        acts = self.teller.of(CHANGE_SETS.c.id == change_set_id)
        return acts[0].change_set if acts else None

    def applied_at(self, revision: int) -> datetime | None:
        """When a change set was applied (real time), including the newest dropped one; ``None`` if there is none."""
        with self._read() as db:
            at = db.scalar(sa.select(CHANGE_SETS.c.applied_at).where(CHANGE_SETS.c.revision == revision))
        return None if at is None else parse_time(at)

    def history(self, limit: int = 100, before: int | None = None, sought: Sought = ALL) -> list[Applied]:
        """The newest change sets first, at most ``limit`` of those that match, and only those older than ``before``."""
        older = () if before is None else (CHANGE_SETS.c.revision < before,)
        kept = CHANGE_SETS.c.revision > self.horizon.floor
        return self.teller.of(kept, *sought.where(), *older, newest=limit)

    def last_act(self, operation: str, author: str = "") -> Applied | None:
        """The newest change set of a kind, by anybody or by this author, however far back the history reaches.

        Of dropped ones, only what a character did by itself, and its plan, is known.
        """
        return next(iter(self.teller.of(*Sought(operation=operation, author=author).where(), newest=1)), None)

    def kinds(self) -> HistoryKinds:
        """The authors and operations in the history."""
        return self.teller.kinds(self.horizon.floor)

    def forgotten(self, limit: int, offset: int, contains: str, operation: str = "") -> list[Forgotten]:
        """Memories that are gone but not purged, by any operation or by this one; the latest forgotten first."""
        return self.bin.forgotten(limit, offset, contains, operation=operation)

    def count_forgotten(self, contains: str) -> int:
        """How many of those there are."""
        return self.bin.count(contains)

    def last_version(self, entry_id: str) -> MemoryEntry | None:
        """A memory as it last was, even if forgotten; ``None`` if it never existed."""
        with self._read() as db:
            row = db.execute(
                sa.select(CHANGES.c.before, CHANGES.c.after)
                .where(CHANGES.c.entry_id == entry_id)
                .order_by(CHANGES.c.revision.desc(), CHANGES.c.position.desc())
                .limit(1)
            ).first()
        return None if row is None else load_entry(row.after or row.before)

    def _bodies(self, db: sa.Connection, ids: Sequence[str]) -> dict[str, str]:
        bodies: dict[str, str] = {}
        for some in slices(ids):
            bodies |= {row.id: row.body for row in _BODIES.of(db, {"some": some})}
        return bodies


def _held_row(entry: MemoryEntry, body: str | None) -> dict[str, Any]:
    return {"id": entry.id, "tier": entry.tier.value, "body": body, "hash": content_hash(entry.document)}


def _loaded(body: str) -> MemoryEntry:
    try:
        entry = load_entry(body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalDamaged(f"The journal contains an invalid memory: {error!s:.100}.") from error
    assert entry is not None, "a held entry has a body"
    return entry
