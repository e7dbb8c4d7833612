"""The journal's tables and their numbered migrations (SQLAlchemy Core: the same in SQLite and in PostgreSQL)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError
from sqlalchemy.util import LRUCache

from ...core.files import MAKE_ROOM, exhausted, out_of
from ...errors import Exhausted, ForeignStore, JournalDamaged, StoreDamaged, StoreError
from . import postgres
from .postgres import ASKS_ONCE, NUMBER, TEXT, WRITES

_META = sa.MetaData()

VERSION = sa.Table("version", _META, sa.Column("number", NUMBER, primary_key=True))
_NEWEST = sa.select(sa.func.max(VERSION.c.number))

CHANGE_SETS = sa.Table(
    "change_sets",
    _META,
    sa.Column("revision", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("id", TEXT, nullable=False, unique=True),
    sa.Column("operation", TEXT, nullable=False),
    sa.Column("title", TEXT, nullable=False),
    sa.Column("author", TEXT, nullable=False),
    sa.Column("reason", TEXT, nullable=False),
    sa.Column("planned_at", TEXT, nullable=False),  # the world's time
    sa.Column("applied_at", TEXT, nullable=False),  # the real time
    sa.Column("undoes", NUMBER, index=True),
    sa.Column("done", sa.Boolean, nullable=False, index=True),
    sa.Column("details", TEXT, nullable=False),
    sqlite_autoincrement=True,
)

CHANGES = sa.Table(
    "changes",
    _META,
    sa.Column("revision", NUMBER, sa.ForeignKey("change_sets.revision"), primary_key=True),
    sa.Column("position", NUMBER, primary_key=True),
    sa.Column("entry_id", TEXT, nullable=False, index=True),
    sa.Column("before", TEXT),
    sa.Column("after", TEXT),
    sa.Column("reason", TEXT, nullable=False),
)

ENTRIES = sa.Table(
    "entries",
    _META,
    sa.Column("id", TEXT, primary_key=True),
    sa.Column("tier", TEXT, nullable=False),
    sa.Column("body", TEXT, nullable=False),
    sa.Column("hash", TEXT, nullable=False),
)

VECTORS = sa.Table(
    "vectors",
    _META,
    sa.Column("hash", TEXT, primary_key=True),
    sa.Column("embedder", TEXT, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),  # as vectors.py packs it
)

ACCESSES = sa.Table(
    "accesses",
    _META,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("entry_id", TEXT, nullable=False, index=True),
    sa.Column("at", TEXT, nullable=False),  # the world's time
    sa.Column("revision", NUMBER, index=True),  # the newest one then; null before the third version
    sa.Column("noted_at", TEXT),  # the real time; null before the third version
    sqlite_autoincrement=True,
)

QUERIES = sa.Table(
    "queries",
    _META,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("cue", TEXT, nullable=False),
    sa.Column("at", TEXT, nullable=False),  # the world's time
    sa.Column("noted_at", TEXT, nullable=False),  # the real time
    sa.Column("author", TEXT, nullable=False),
    sa.Column("revision", NUMBER, nullable=False),
    sa.Column("access", NUMBER, nullable=False),
    sa.Column("body", TEXT, nullable=False),
    sqlite_autoincrement=True,
)

TEXTS = sa.Table(
    "texts",
    _META,
    sa.Column("name", TEXT, primary_key=True),
    sa.Column("body", TEXT, nullable=False),
)


PURGED = sa.Table(
    "purged",
    _META,
    sa.Column("entry_id", TEXT, primary_key=True),
    sa.Column("revision", NUMBER, nullable=False),  # everything written about it earlier has left the journal
)


ALL_TABLES = [table for table in _META.sorted_tables if table is not VERSION]
"""The tables for a journal's rows; a table comes after those that it refers to."""


def _first(db: sa.Connection) -> None:
    _META.create_all(db)


def _second(db: sa.Connection) -> None:
    """Index entries by tier, for reading one tier at a time."""
    db.exec_driver_sql("CREATE INDEX IF NOT EXISTS entries_tier ON entries (tier)")


def _third(db: sa.Connection) -> None:
    """Add revision and real time to accesses, and log queries."""
    columns = {column["name"] for column in sa.inspect(db).get_columns("accesses")}
    for name, kind in (("revision", "INTEGER"), ("noted_at", "TEXT")):
        if name not in columns:
            db.exec_driver_sql(f"ALTER TABLE accesses ADD COLUMN {name} {kind}")
    db.exec_driver_sql("CREATE INDEX IF NOT EXISTS ix_accesses_revision ON accesses (revision)")
    QUERIES.create(db, checkfirst=True)


def _fourth(db: sa.Connection) -> None:
    """Make forgotten memories quick to find, and let them be purged."""
    PURGED.create(db, checkfirst=True)
    db.exec_driver_sql("CREATE INDEX IF NOT EXISTS changes_gone ON changes (revision) WHERE after IS NULL")


_DEFAULTS_BEFORE = (
    '{"cost_budget": 0.0, "migration_threshold": 0.35, "query_log": 1000, "reflection_trigger": 150.0, "scoring": '
    '{"decay": 0.999, "measure": "hybrid", "normalise": false, "weights": {"importance": 0.05, "recency": 0.02, '
    '"relevancy": 1.0}}, "static_share": 0.4, "static_threshold": 0.35, "stm_size": 20, "threshold": 0.45, '
    '"token_budget": 0, "top_k": 5}'
)
"""The settings of an agent without saved ones, up to version 0.2."""
_DEFAULTS_BY_SCORE = (
    '{"cost_budget": 0.0, "migration_threshold": 0.35, "query_log": 1000, "reflection_trigger": 150.0, "retention": '
    '"learned", "retention_threshold": 0.04, "scoring": {"decay": 0.999, "measure": "hybrid", "normalise": false, '
    '"seats": "ranking", "weights": {"importance": 0.05, "recency": 0.02, "relevancy": 1.0}}, "static_share": 0.4, '
    '"static_threshold": 0.35, "stm_size": 20, "threshold": 0.45, "token_budget": 0, "top_k": 5}'
)
"""The same while the threshold was compared with the score."""
DEFAULTS = "defaults"
"""The text that holds an older agent's default settings."""
LET_GO = "history"
"""The text that records how far the history reaches back; it belongs to the journal, not to the agent."""


def _fifth(db: sa.Connection) -> None:
    """Keep the former defaults for an older agent that has no settings of its own, now or in its past."""
    if db.scalar(sa.select(sa.func.max(CHANGE_SETS.c.revision))):
        db.execute(sa.insert(TEXTS).values(name=DEFAULTS, body=_DEFAULTS_BEFORE))


def _sixth(db: sa.Connection) -> None:
    """The same for an agent that was made since, before the threshold was compared with the confidence."""
    known = db.scalar(sa.select(TEXTS.c.name).where(TEXTS.c.name == DEFAULTS))
    if known is None and db.scalar(sa.select(sa.func.max(CHANGE_SETS.c.revision))):
        db.execute(sa.insert(TEXTS).values(name=DEFAULTS, body=_DEFAULTS_BY_SCORE))


MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (_first, _second, _third, _fourth, _fifth, _sixth)
"""Migration n takes a journal from version n to n + 1. Add at the end; never change one that was released."""


def refuse_foreign(path: Path) -> None:
    """Do nothing if the file is missing, empty or a journal; it is only read.

    Raises:
        ForeignStore: it is a database of something else.
        StoreDamaged: it is not a database, or cannot be read.
    """
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
            names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            columns = {row[1] for row in db.execute("PRAGMA table_info(entries)")}
            versions = list(db.execute("SELECT max(number) FROM version")) if "version" in names else []
    except sqlite3.Error as error:
        raise as_damage(f"The journal at {path} cannot be opened: {error}.", error) from error
    ours = {"version", "change_sets", "changes", "entries"}  # since the first version
    numbered = all(number is None or isinstance(number, int) for (number,) in versions)
    if names and not (ours <= names and {"id", "tier", "body"} <= columns and numbered):
        raise ForeignStore(f"{path} is a database of something else; it was not touched. Move it away.")


_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def with_help(sentence: str, error: BaseException | None) -> str:
    """A sentence about an error of SQLite's, and what to do if the disk is full."""
    full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    return f"{sentence} {MAKE_ROOM}" if full else sentence


def as_damage(sentence: str, error: BaseException | None) -> StoreError:
    """The error to raise: that the journal is damaged, unless it is busy, full, or inaccessible."""
    if postgres.is_ours(error):
        return postgres.as_store_error(sentence, error)
    if error is not None and (short := exhausted(error)) is not None:
        return Exhausted(out_of("The journal", short))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    sentence = with_help(sentence, error)
    damaged = code in _DAMAGED or "decode" in str(error)  # invalid UTF-8 has no code of its own
    return JournalDamaged(sentence) if damaged else StoreDamaged(sentence)


_SQLITE = "sqlite:///"
_AT_ONCE = 500
"""Rows that are copied together."""
_LOGGED = 4_000_000
"""Bytes of the log above which SQLite merges it into the file."""
_PAGE = 8192
"""Bytes of a page of a new file: five vectors fit in one, but two in SQLite's usual 4,096. An older file keeps its
page size."""
_CACHED = 256
"""Kilobytes of pages that each connection caches: the system caches files, too, and SQLite's usual 2,000 would be
gigabytes for a thousand agents."""
DURABILITY = {"full": "FULL", "normal": "NORMAL"}
"""What an acknowledged change survives, and SQLite's name for it: ``full`` a killed process and a power cut, ``normal``
a killed process; a power cut may lose the last changes, but never half of one."""


def connect(place: str | sa.Engine, durability: str = "full") -> sa.Engine:
    """An engine for the journal at ``place``, upgraded to the newest version.

    Args:
        place: the address: ``sqlite:///`` and a path, which is used literally, whatever characters it has. Or a schema
            of a PostgreSQL server (``postgres.of_schema``), whose connections others use too.
        durability: one of ``DURABILITY``; a server has its own.

    Raises:
        ServerUnavailable: the server cannot be reached.
        ForeignStore: the file is a database of something else, and was not changed.
        StoreDamaged: the file is not a journal, is damaged, has an unknown version, or was written by a newer one.
    """
    newest = False
    if isinstance(place, str) and not (newest := _is_newest(file := _file_of(place))):
        refuse_foreign(file)
    engine = _sqlite(place, durability) if isinstance(place, str) else place
    try:
        if not newest:
            _migrate(engine)
    except DatabaseError as error:
        problem = as_damage(f"The journal at {engine.url.database} cannot be opened: {error.orig}.", error.orig)
        close(engine)
        raise problem from error
    except StoreDamaged:
        close(engine)
        raise
    return engine


class _Compiled(LRUCache[Any, Any]):
    """A cache of compiled statements for the journals of all agents: each engine would otherwise compile its own."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:  # a key begins with the engine's dialect
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Any, ...], value: Any) -> None:
        super().__setitem__(key[1:], value)


_COMPILED = _Compiled(1000)


def _file_of(url: str) -> Path:
    return Path(url.removeprefix(_SQLITE))


def _sqlite(url: str, durability: str) -> sa.Engine:
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(_file_of(url))))
    engine.update_execution_options(compiled_cache=_COMPILED)
    sa.event.listen(engine, "connect", partial(_sqlite_settings, DURABILITY[durability]))
    sa.event.listen(engine, "begin", _sqlite_begin)
    return engine


def close(engine: sa.Engine) -> None:
    """Close a file; the connections to a server belong to their creator."""
    if engine.dialect.name == "sqlite":
        engine.pool.dispose()  # the engine's own dispose makes a new pool, which nobody would use


def watch(engine: sa.Engine) -> sqlite3.Connection | None:
    """A connection that shows whether others have committed; ``None`` for another database than SQLite.

    What it writes is not flushed to the disk at once; the next commit of another connection includes it.
    """
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return None
    try:
        connection = sqlite3.connect(engine.url.database, timeout=10, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA synchronous=NORMAL").close()
    except sqlite3.Error as error:
        problem = as_damage(f"The journal at {engine.url.database} cannot be opened: {error}.", error)
        close(engine)
        raise problem from error
    return connection


def _is_newest(path: Path) -> bool:
    """Whether a file is known to be an up-to-date journal; it is only read, and problems are found later."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
            db.execute("SELECT id, tier, body, hash FROM entries LIMIT 0")
            return bool(db.execute("SELECT max(number) FROM version").fetchone()[0] == len(MIGRATIONS))
    except sqlite3.Error:  # it is new, or damaged
        return False


def _migrate(engine: sa.Engine) -> None:
    with engine.execution_options(**{WRITES: True}).begin() as db:
        if engine.dialect.name == "postgresql":
            postgres.look_only_into(db)  # statements outside SQLAlchemy know no schema
        VERSION.create(db, checkfirst=True)
        number = int(db.scalar(_NEWEST) or 0)
        if number < 0:
            raise JournalDamaged(f"The journal at {engine.url.database} says that its version is {number}.")
        if number > len(MIGRATIONS):
            raise StoreDamaged(
                f"The journal at {engine.url.database} was written by a newer version of this program "
                f"({number}; this one knows {len(MIGRATIONS)}). Update the program."
            )
        for target in range(number, len(MIGRATIONS)):
            MIGRATIONS[target](db)
            db.execute(sa.insert(VERSION).values(number=target + 1))


def _sqlite_settings(synchronous: str, connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are begun by _sqlite_begin
    connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows only ASCII letters
    settings: tuple[str, ...] = (f"page_size={_PAGE}", "journal_mode=WAL", f"wal_autocheckpoint={_LOGGED // _PAGE}")
    settings += (f"synchronous={synchronous}", f"cache_size=-{_CACHED}", "busy_timeout=10000", "foreign_keys=ON")
    for pragma in settings:
        connection.execute(f"PRAGMA {pragma}").close()


def _lower(text: object) -> object:
    return text.lower() if isinstance(text, str) else text


def _sqlite_begin(db: sa.Connection) -> None:
    # a writer locks at once and waits for the lock; SQLite immediately refuses one that reads first and then writes
    options = db.get_execution_options()
    if not options.get(ASKS_ONCE):
        db.exec_driver_sql("BEGIN IMMEDIATE" if options.get(WRITES) else "BEGIN")


def pour(source: sa.Connection, target: sa.Connection) -> int:
    """Copy every row of one journal into another, which is new and empty; return how many.

    Raises:
        StoreDamaged: not all were copied.
    """
    poured = 0
    for table in ALL_TABLES:
        result = source.execute(sa.select(table).execution_options(yield_per=_AT_ONCE)).mappings()
        for rows in result.partitions():
            target.execute(sa.insert(table), [dict(row) for row in rows])
            poured += len(rows)
    if target.dialect.name == "postgresql":
        postgres.count_on(target, ALL_TABLES)
    arrived = sum(int(target.scalar(sa.select(sa.func.count()).select_from(table)) or 0) for table in ALL_TABLES)
    if arrived != poured:
        raise StoreDamaged(f"The journal has {poured} rows, and {arrived} could be copied. Nothing was changed.")
    return poured
