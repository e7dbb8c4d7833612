"""Statements that every event and every opening asks, given to SQLite as they are.

What SQLAlchemy does around a statement takes ten times as long as SQLite takes for it. So each is written once by
SQLAlchemy, and then carried out by SQLite's own connection; PostgreSQL's go by SQLAlchemy as all others do.
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
"""Rows whose columns are reached by name or by number."""
Values = Mapping[str, Any]
NONE: Values = MappingProxyType({})
_NAMED = sqlite.dialect(paramstyle="named")


class _Written(NamedTuple):
    """A statement as SQLite takes it, what it is always given, and what a row of its answer is made of."""

    text: str
    given: Values
    row: Callable[[Sequence[Any]], Any]


@lru_cache(500)
def _written(statement: sa.Select[Any], given: tuple[tuple[str, int | None], ...]) -> _Written:
    """The statement for values of these names, and so many of each that stands for several."""
    asked = statement.params({name: None if count is None else [None] * count for name, count in given})
    compiled = asked.compile(dialect=_NAMED, compile_kwargs={"render_postcompile": True})
    row = namedtuple("Row", list(map(str, statement.selected_columns.keys())), rename=True)  # type: ignore[misc]
    return _Written(str(compiled), {name: one.value for name, one in compiled.binds.items()}, row._make)


def plain(db: sa.Connection) -> sqlite3.Connection | None:
    """SQLite's own connection; ``None`` for another database."""
    if db.dialect.name != "sqlite":
        return None
    connection: sqlite3.Connection | None = db.connection.driver_connection
    return connection


def _filled(values: Sequence[Any]) -> list[Any]:
    """The values, the last one repeated until there are 1, 2, 4, 8 or so on, so that few statements have to be written.

    It is all the same to whoever asks whether something is among them.
    """
    room = 1 << (len(values) - 1).bit_length() if values else 0
    return [*values, *list(values[-1:]) * (room - len(values))]


class Question:
    """What is asked again and again.

    Args:
        asked: every value that differs is a ``bindparam`` of its own name, which may be expanding; none of its columns
            has a type that is not SQLite's own.
    """

    def __init__(self, asked: sa.Select[Any]) -> None:
        self.asked = asked

    def of(self, db: sa.Connection, values: Values = NONE) -> Rows:
        """The rows that answer it, all of them; of SQLite as of this moment, unless a transaction has begun."""
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
        given = {**written.given, **values}
        for name, several in lists.items():
            given.update((f"{name}_{number}", one) for number, one in enumerate(several, 1))
        return [written.row(one) for one in connection.execute(written.text, given).fetchall()]


def insert(db: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows, all with the same columns."""
    if rows:
        _add(db, _inserting(table), rows)


def insert_numbered(db: sa.Connection, table: sa.Table, row: dict[str, Any]) -> int:
    """Add a row; answers the number that its table gave it."""
    statement, connection = _inserting(table), plain(db)
    if connection is None:
        return int(db.execute(statement, row).inserted_primary_key[0])  # type: ignore[index]
    number = connection.execute(_adding(statement, tuple(row)), row).lastrowid
    assert number is not None, "a row was added"
    return number


def upsert(db: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows, all with the same columns, replacing those whose primary key is held."""
    if rows:
        _add(db, _upserting(table, db.dialect.name, tuple(rows[0])), rows)


def insert_new(db: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add those rows, all with the same columns, whose primary key is not held."""
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
