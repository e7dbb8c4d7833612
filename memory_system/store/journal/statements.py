"""Statements that run at every event and every opening, passed directly to SQLite.

SQLAlchemy takes ten times as long around a statement as SQLite takes to run it. So each is compiled once by
SQLAlchemy, and then run on SQLite's own connection; PostgreSQL's go through SQLAlchemy like all others.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

Rows = Sequence[Any]
"""Rows whose columns are accessed by name or by number."""
Values = Mapping[str, Any]
NONE: Values = MappingProxyType({})
_NAMED = sqlite.dialect(paramstyle="named")


class _Written(NamedTuple):
    """A statement compiled for SQLite, its constant values, and the type of its result rows."""

    text: str
    given: Values
    row: Callable[[Sequence[Any]], Any]


@lru_cache(500)
def _written(statement: sa.Select[Any], counts: tuple[tuple[str, int | None], ...]) -> _Written:
    """The statement for values of these names, with the number of values for each that expands."""
    asked = statement.params({name: None if count is None else [None] * count for name, count in counts})
    compiled = asked.compile(dialect=_NAMED, compile_kwargs={"render_postcompile": True})
    row = namedtuple("Row", list(map(str, statement.selected_columns.keys())), rename=True)  # type: ignore[misc]
    return _Written(str(compiled), {name: bind.value for name, bind in compiled.binds.items()}, row._make)


def plain(db: sa.Connection) -> sqlite3.Connection | None:
    """SQLite's own connection; ``None`` for another database."""
    if db.dialect.name != "sqlite":
        return None
    connection: sqlite3.Connection | None = db.connection.driver_connection
    return connection


def _filled(values: Sequence[Any]) -> list[Any]:
    """The values, the last one repeated until there are 1, 2, 4, 8 and so on, so that few statements are compiled.

    For a test of membership this makes no difference.
    """
    room = 1 << (len(values) - 1).bit_length() if values else 0
    return [*values, *list(values[-1:]) * (room - len(values))]


class Question:
    """A query that is run again and again.

    Args:
        asked: every varying value is a ``bindparam`` of its own name, which may be expanding; its columns all have
            types of SQLite's own.
    """

    def __init__(self, asked: sa.Select[Any]) -> None:
        self.asked = asked

    def of(self, db: sa.Connection, values: Values = NONE) -> Rows:
        """All result rows; from SQLite as of this moment, unless a transaction has begun."""
        connection = plain(db)
        return db.execute(self.asked, values).all() if connection is None else self.plainly(connection, values)

    def plainly(self, connection: sqlite3.Connection, values: Values) -> Rows:
        """The same, asked of SQLite itself.

        Raises:
            sqlite3.Error: it cannot be read.
        """
        lists = {name: _filled(value) for name, value in values.items() if isinstance(value, list | tuple)}
        counts = {name: len(lists[name]) if name in lists else None for name in values}
        written = _written(self.asked, tuple(counts.items()))
        parameters = {**written.given, **values}
        for name, several in lists.items():
            parameters.update((f"{name}_{number}", value) for number, value in enumerate(several, 1))
        return [written.row(row) for row in connection.execute(written.text, parameters).fetchall()]


def insert(db: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows, all with the same columns."""
    if rows:
        _add(db, _inserting(table), rows)


def insert_numbered(db: sa.Connection, table: sa.Table, row: dict[str, Any]) -> int:
    """Add a row; return the number that its table assigned."""
    statement, connection = _inserting(table), plain(db)
    if connection is None:
        return int(db.execute(statement, row).inserted_primary_key[0])  # type: ignore[index]
    number = connection.execute(_adding(statement, tuple(row)), row).lastrowid
    assert number is not None, "a row was added"
    return number


def upsert(db: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows, all with the same columns, replacing those whose primary key exists."""
    if rows:
        _add(db, _upserting(table, db.dialect.name, tuple(rows[0])), rows)


def insert_new(db: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add those rows, all with the same columns, whose primary key does not exist."""
    if rows:
        _add(db, _inserting_new(table, db.dialect.name), rows)


def _add(db: sa.Connection, statement: sa.Insert, rows: Sequence[dict[str, Any]]) -> None:
    connection = plain(db)
    if connection is None:
        db.execute(statement, list(rows))
    else:
        connection.executemany(_adding(statement, tuple(rows[0])), rows)


@cache
def _inserting(table: sa.Table) -> sa.Insert:
    return sa.insert(table)


@cache
def _inserting_new(table: sa.Table, dialect: str) -> sa.Insert:
    insert = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    return insert.on_conflict_do_nothing()


@cache
def _upserting(table: sa.Table, dialect: str, columns: tuple[str, ...]) -> sa.Insert:
    insert = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    keys = [column.name for column in table.primary_key]
    values = {name: insert.excluded[name] for name in columns if name not in keys}
    return insert.on_conflict_do_update(index_elements=keys, set_=values)


@cache
def _adding(statement: sa.Insert, columns: tuple[str, ...]) -> str:
    return str(statement.compile(dialect=_NAMED, column_keys=list(columns)))
