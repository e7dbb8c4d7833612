"""PostgreSQL beneath the journal: one schema per agent, its locks, and its errors in our own words.

One schema each, not a column that names the agent: the tables, their numbers and every statement are those of SQLite,
a journal is dropped, dumped or moved as one thing, and a statement without a condition cannot read a stranger's data.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import unquote

import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy.exc import DatabaseError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.compiler import compiles

from ...errors import (
    ExtraMissing,
    InvalidParameter,
    JournalDamaged,
    ServerUnavailable,
    StoreBusy,
    StoreDamaged,
    StoreError,
)

WRITES = "memory_system_writes"
"""The execution option of a connection that is going to write."""
ASKS_ONCE = "memory_system_asks_once"
"""The execution option of a connection to SQLite for a single question, which needs no transaction."""
_POLLS = "memory_system_polls"
"""The execution option of the pool for single questions, used without a check that the server is there."""
LOCK_SECONDS = 30
"""How long the server lets a write wait for another before it is refused with a clear error."""
ANSWER_SECONDS = 60.0
"""How long a reached server may take to answer; twice as long as it may itself wait for a lock."""
LONG_SECONDS = 3600.0
"""The same while it rewrites a whole journal."""
_CONNECT_SECONDS = 10
_CONNECTIONS, _MORE = 5, 25
"""How many connections stay open, and how many more there may be for a moment; for each of the three pools."""
_COMMITS = {"full": "on", "normal": "off"}
_DAMAGED = ("XX001", "XX002", "3F000", "42P01", "42703")
"""Broken pages and indexes; a schema, table or column that no longer exists."""
_UNREACHABLE = ("08", "57P", "53300", "28", "3D", "25006")
"""Prefixes of the codes for a lost or refused connection: shut down, too many, not admitted, no such database, or
read-only, such as that of a standby."""
_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4, "tcp_user_timeout": 30_000}
"""In seconds, except the last, which is in milliseconds: a silent network cut is noticed in half a minute."""
_NO_SIGN = "\N{SYMBOL FOR NULL}"


class _Text(sa.types.TypeDecorator[str]):
    """Text ordered by its bytes as in SQLite. PostgreSQL has no null character; its symbol is written instead."""

    impl = sa.Text(collation="C")
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - its base's
        """The text to write or compare."""
        return None if value is None else value.replace("\x00", _NO_SIGN)


class lower_case(sa.sql.functions.FunctionElement[str]):  # noqa: N801 - a function of SQL
    """A text in lower case, in any script; PostgreSQL's own ``lower`` knows only its locale's letters."""

    type = sa.Text()
    inherit_cache = True


@compiles(lower_case)
def _lower(element: lower_case, compiler: Any, **options: Any) -> str:
    return f"lower({compiler.process(element.clauses, **options)})"


@compiles(lower_case, "postgresql")
def _lower_of_any_script(element: lower_case, compiler: Any, **options: Any) -> str:
    return f'lower({compiler.process(element.clauses, **options)} COLLATE "und-x-icu")'


TEXT = sa.Text().with_variant(_Text(), "postgresql")
NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
"""An integer of as many digits as SQLite's."""


class Server:
    """A PostgreSQL database that holds journals; thread-safe. Connections are opened when they are needed.

    Args:
        url: its address, ``postgresql://user:password@host/database``. It is never shown.
        durability: ``full``: a commit waits for the server's disk; ``normal``: a crash of the server may lose the last.

    Raises:
        InvalidParameter: this is not the address of a PostgreSQL database.
        ExtraMissing: the package psycopg is not installed.
    """

    def __init__(self, url: SecretStr, durability: str = "full") -> None:
        address = _address(url)
        self._password = address.password or ""
        self._engine = self._made(address, durability)
        self._locks = self._made(address, durability)  # separate: those waiting for a lock block no writer
        self._polls = self._made(address, durability, pool_pre_ping=False, isolation_level="AUTOCOMMIT")

    def _made(self, address: sa.URL, durability: str, **options: Any) -> sa.Engine:
        try:
            engine = sa.create_engine(
                address,
                pool_size=_CONNECTIONS,
                max_overflow=_MORE,
                pool_timeout=LOCK_SECONDS,
                hide_parameters=True,
                connect_args={
                    "connect_timeout": _CONNECT_SECONDS,
                    "application_name": "memory-system",
                    "client_encoding": "utf8",
                    **_ALIVE,
                },
                # so that a restarted server does not cause an error
                **{"pool_pre_ping": True, **options},
            )
        except ModuleNotFoundError as error:
            raise ExtraMissing("MEMORY_JOURNAL_URL", "postgres") from error

        def prepare(connection: Any, _record: object) -> None:
            before, connection.autocommit = connection.autocommit, True
            connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
            connection.execute(f"SET synchronous_commit = {_COMMITS[durability]}")
            connection.autocommit = before

        sa.event.listen(engine, "do_connect", _connected)
        sa.event.listen(engine, "connect", prepare)
        sa.event.listen(engine, "begin", _begin)
        return engine

    def close(self) -> None:
        """Close all connections."""
        for engine in (self._engine, self._locks, self._polls):
            engine.dispose()

    def of_schema(self, schema: str) -> sa.Engine:
        """An engine for one journal, over connections that all journals share."""
        only = {"schema_translate_map": {None: schema}}
        return self._engine.execution_options(**only, **{_POLLS: self._polls.execution_options(**only)})

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Hold this key exclusively among all machines.

        Raises:
            StoreBusy: another program held it for 30 seconds.
            ServerUnavailable: the server cannot be reached.
        """
        locks = self._locks.execution_options(isolation_level="AUTOCOMMIT")
        with self._as_store_errors("It cannot be written."), locks.connect() as db:
            db.execute(sa.text("SELECT pg_advisory_lock(hashtextextended(:key, 0))"), {"key": key})
            try:
                yield
            finally:
                self._release(db, key)

    @staticmethod
    def _release(db: sa.Connection, key: str) -> None:
        try:
            db.execute(sa.text("SELECT pg_advisory_unlock(hashtextextended(:key, 0))"), {"key": key})
        except DatabaseError:  # the server released it with the connection
            db.invalidate()

    @contextmanager
    def writing(self, key: str | None) -> Iterator[sa.Connection]:
        """A transaction that holds this key, for changes to whole schemas; ``key`` is ``None`` if it is held already.

        Raises:
            StoreError: it could not be carried out. Nothing was changed.
        """
        with self._as_store_errors("Nothing was changed."), self._engine.begin() as db:
            if key is not None:
                db.execute(sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": key})
            yield db

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection to read by.

        Raises:
            StoreError: it cannot be read.
        """
        with self._as_store_errors("It cannot be read."), self._engine.connect() as db:
            yield db

    @contextmanager
    def _as_store_errors(self, meaning: str) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            sentence = f"The journals' PostgreSQL server answers: {_line(error.orig)}. {meaning}"
            raise as_store_error(self._without_password(sentence), error.orig) from None
        except PoolTimeout as error:
            raise StoreBusy(f"All connections to the journals' PostgreSQL server are in use. {meaning}") from error

    def _without_password(self, sentence: str) -> str:
        return sentence.replace(self._password, "•••") if self._password else sentence


def _address(url: SecretStr) -> sa.URL:
    wrong = "MEMORY_JOURNAL_URL must be an address such as postgresql://user:password@host:5432/database."
    try:
        address = sa.make_url(url.get_secret_value())
    except (sa.exc.ArgumentError, ValueError):
        raise InvalidParameter(wrong) from None  # the address appears nowhere
    if address.drivername.split("+")[0] not in ("postgresql", "postgres") or not address.database:
        raise InvalidParameter(wrong)
    if "@" in f"{address.host} {address.database}":  # the rest of a password, which would show as a host's name
        raise InvalidParameter(f"{wrong} In a password @ is written as %40, / as %2F, and : as %3A.")
    return address.set(drivername="postgresql+psycopg", database=unquote(address.database))


@cache
def _patient() -> Any:
    """The class of connections that wait ``ANSWER_SECONDS`` for an answer; psycopg's own wait for ever.

    A server that hangs still looks alive to the network, which acknowledges what it is sent.
    """
    from psycopg import Connection, OperationalError

    class Patient(Connection[Any]):
        """A connection that is closed when the server does not answer in time."""

        answer_seconds: float | None = None
        """Overrides ``ANSWER_SECONDS``."""

        def wait(self, gen: Generator[Any, Any, Any], *args: Any, **named: Any) -> Any:
            """The server's answer; checks the clock as often as psycopg does, every tenth of a second."""
            return super().wait(self._limited(gen), *args, **named)

        def _limited(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
            seconds = self.answer_seconds or ANSWER_SECONDS
            until = time.monotonic() + seconds
            try:
                request = next(gen)
                while True:
                    ready = yield request
                    if not ready and time.monotonic() > until:
                        self.close()
                        raise OperationalError(f"it has not answered for {seconds:g} seconds")
                    request = gen.send(ready)
            except StopIteration as end:
                return end.value

    return Patient


def _connected(_dialect: sa.Dialect, _record: object, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    """A connection to a database that stores every text unchanged; checked before SQLAlchemy reads any text."""
    connection: Any = _patient().connect(*arguments, **named)
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        connection.close()
        raise StoreError(
            f"The journals' PostgreSQL database keeps texts in {encoding}, which has not every letter. Make one with "
            "ENCODING 'UTF8', and name it in MEMORY_JOURNAL_URL."
        )
    return connection


def _begin(db: sa.Connection) -> None:
    """Make a writer wait until no other one is writing, so that it sees their changes."""
    options = db.get_execution_options()
    if options.get(WRITES):
        schema = options["schema_translate_map"][None]
        db.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (schema,))


def look_only_into(db: sa.Connection) -> None:
    """Let a transaction find and create tables in the journal's schema by their bare names."""
    schema = db.get_execution_options()["schema_translate_map"][None]
    db.exec_driver_sql("SELECT set_config('search_path', %s, true)", (schema,))


def count_on(db: sa.Connection, tables: Sequence[sa.Table]) -> None:
    """Continue the numbering after the greatest number that was copied."""
    schema = db.get_execution_options()["schema_translate_map"][None]
    for table in tables:
        column = table.autoincrement_column
        if column is not None and column.autoincrement is True:
            newest = db.scalar(sa.select(sa.func.max(column)))
            if newest:
                name = f'"{schema}".{table.name}'
                db.exec_driver_sql(
                    "SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (name, column.name, int(newest))
                )


def is_ours(error: BaseException | None) -> bool:
    """Whether an error is PostgreSQL's."""
    return hasattr(error, "sqlstate")


def as_store_error(sentence: str, error: BaseException | None) -> StoreError:
    """Our error for one of PostgreSQL's, with this sentence on one line."""
    from psycopg import OperationalError  # an extra, and what raised the error

    state = getattr(error, "sqlstate", None) or ""
    message = " ".join(sentence.split())
    lost = not state and isinstance(error, OperationalError)  # without contact to the server there is no code
    if lost or state.startswith(_UNREACHABLE):
        return ServerUnavailable(f"{message} Is it running, and is MEMORY_JOURNAL_URL right? Then try again.")
    if state == "55P03":
        return StoreBusy(f"Another machine or program has been writing for {LOCK_SECONDS} seconds. Try again.")
    return JournalDamaged(message) if state in _DAMAGED else StoreDamaged(message)


def _line(error: BaseException | None) -> str:
    return " ".join(str(error).split()).rstrip(".")


def erase(engine: sa.Engine, tables: Sequence[sa.Table]) -> str | None:
    """Rewrite the tables of one journal, so that not a byte of deleted data is left in them.

    Returns:
        Why it is not done, in a sentence; ``None`` if it is.
    """
    schema = engine.get_execution_options()["schema_translate_map"][None]
    names = ", ".join(f'"{schema}".{table.name}' for table in tables)
    try:
        with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as db:
            db.connection.driver_connection.answer_seconds = LONG_SECONDS  # type: ignore[union-attr]
            db.exec_driver_sql(f"VACUUM (FULL) {names}")
            db.invalidate()  # its next user must not wait longer than others
    except DatabaseError as error:
        return f"The journal could not be rewritten: {_line(error.orig)}."
    return None


def ways_of_reading(engine: sa.Engine) -> tuple[sa.Engine, sa.Engine]:
    """Engines for consistent reads as of one moment, and for single questions at the least cost.

    SQLite does the first by itself, and the second without a transaction.
    """
    if engine.dialect.name != "postgresql":
        return engine, engine.execution_options(**{ASKS_ONCE: True})
    together = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return together, engine.get_execution_options()[_POLLS]


def commit_soon(db: sa.Connection) -> None:
    """Do not wait for the disk at this transaction's commit; the next commit includes it."""
    db.exec_driver_sql("SET LOCAL synchronous_commit = off")
