"""The connections of one journal, in SQLite or in PostgreSQL: to read by, to write by, to ask whether others wrote."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from .errors import ServerUnavailable, StoreBusy, StoreDamaged, StoreError
from .journal_postgres import WRITES, commit_soon, erase, ways_of_reading
from .journal_tables import ALL_TABLES, CHANGE_SETS, as_damage, close, connect, watch


class Connections:
    """What one journal is read and written by; thread-safe.

    Args:
        place: as for ``connect``.
        durability: what a commit survives, one of ``DURABILITY``.
    """

    def __init__(self, place: str | sa.Engine, durability: str) -> None:
        self._engine = connect(place, durability)
        self._reading, self._polling = ways_of_reading(self._engine)
        self._watch = watch(self._engine)

    def close(self) -> None:
        """Let go of the file."""
        if self._watch is not None:
            self._watch.close()
        close(self._engine)

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A connection that sees one moment.

        Raises:
            StoreError: it cannot be read.
        """
        with self._told(), self._reading.connect() as db:
            yield db

    def poll(self, query: sa.Select[*tuple[Any, ...]]) -> Any:
        """The only row that answers a single question, at the least cost.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            return self._polled(query)
        except ServerUnavailable:  # by a connection from before the server was started anew; there is none left now
            return self._polled(query)

    def _polled(self, query: sa.Select[*tuple[Any, ...]]) -> Any:
        with self._told(), self._polling.connect() as db:
            return db.execute(query).one()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            raise as_damage(f"The journal cannot be read: {error.orig}.", error.orig) from error
        except PoolTimeout as error:
            raise StoreBusy("The journal cannot be read now: all connections are in use. Try again.") from error

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A connection of the only writer, whose transaction is committed at the end.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            with self._engine.execution_options(**{WRITES: True}).begin() as db:
                yield db
        except DatabaseError as error:
            raise self._unwritten(error.orig) from error
        except PoolTimeout as error:
            raise StoreBusy("The journal cannot be written now: all connections are in use. Try again.") from error

    def _unwritten(self, error: BaseException | None) -> StoreError:
        sentence = f"The journal cannot be written: {error}."
        if self._watch is not None:
            return StoreDamaged(f"{sentence} Nothing was changed.")
        problem = as_damage(sentence, error)
        if isinstance(problem, ServerUnavailable):  # a commit whose answer got lost may stand
            return ServerUnavailable(f"{problem.sentence} The history tells whether this change was kept.")
        return type(problem)(f"{problem.sentence} Nothing was changed.")

    def mark_done(self, revision: int) -> None:
        """Note that the store holds a change; not waited for until it is on the disk.

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
        """Write the file or the tables anew; answers why that is not done, in a sentence, ``None`` where it is."""
        if self._watch is None:
            return erase(self._engine, ALL_TABLES)
        held = self._engine.raw_connection()
        try:
            connection = held.driver_connection
            assert connection is not None, "it has just been taken from the pool"
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error as error:
            return f"The journal could not be written anew: {error}."
        finally:
            held.close()
        return "Another program is reading the journal." if busy else None

    def seen(self) -> int | None:
        """A number that changes when anything is committed, by whomever; ``None`` if it cannot be told.

        SQLite answers it from memory, without a transaction. PostgreSQL could send word, but not before a question that
        comes right after another machine's commit; there the position itself is asked for, which is one short query.
        """
        if self._watch is None:
            return None
        try:
            return int(self._watch.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error as error:
            raise StoreDamaged(f"The journal cannot be read: {error}.") from error
