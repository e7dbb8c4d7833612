"""The journals of a world: in each agent's folder, or on the PostgreSQL server of ``MEMORY_JOURNAL_URL``.

A journal on a PostgreSQL server is found by the agent's folder or its name; one in an SQLite file can be moved there.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path

import sqlalchemy as sa
from pydantic import SecretStr

from ...core.files import read_at_most, replace_text, sqlite_files
from ...core.known import WORLD_AGENT
from ...core.names import checked_name
from ...core.times import Clock, real_clock
from ...errors import InvalidAgentName, JournalDamaged, StoreDamaged, StoreError
from .journal import Journal
from .location import JOURNAL, POINTER, FileHome, JournalHome, refuse_damaged
from .postgres import Server
from .tables import ALL_TABLES

JOIN_SECONDS = 1.0
"""Seconds before the agents on the server are listed again."""
AWAY_SECONDS = 30.0
"""The same after the server was unreachable, so that listing agents does not wait for it each time."""
_MARK = "memory-system: "
"""How the comment of a schema begins; the agent's world and name follow, by which other machines find it."""
_MOST = 4096


class ServerHome(JournalHome):
    """On a PostgreSQL server, in a schema of its own.

    The folder's ``journal.json`` names the schema, so that an agent is renamed, binned and restored as a folder. A
    folder without one finds the journal by the world's and the agent's name, so that another machine uses the same.

    Args:
        folder: the agent's.
        server: the server.
    """

    shared = True
    put_back = "Restore a backup of the world, or the schema from a dump of the server"

    def __init__(self, folder: Path, server: Server) -> None:
        super().__init__(folder, POINTER)
        self._server = server
        self._place = f"{folder.parent.name}/{folder.name}"
        self._schema = _pointed_at(folder)
        self._made = False
        self._depth = 0

    def prepare(self, claimed: int, *, thoroughly: bool) -> None:
        """Find the schema or create one, import what is in SQLite's file, and check that every table exists.

        Raises:
            JournalDamaged: there is none although the store says there was, or the file or the schema is damaged.
            StoreError: the server cannot be reached, or there are two journals that differ.
        """
        file = self.folder / JOURNAL
        with self._server.reading() as db:
            self._refuse_anothers(db)
        if self._schema is None or file.exists():
            if file.exists():
                refuse_damaged(file, claimed, thoroughly=thoroughly)
            with self._server.writing(self._place) as db:
                self._schema = self._schema or _found(db, self._place)
                if self._schema is None and claimed and not file.exists():
                    raise JournalDamaged(
                        f"The journal of {self.folder.name!r} is not on the PostgreSQL server, and had {claimed} "
                        "changes before."
                    )
                if self._schema is None:
                    self._schema, self._made = _create(db, self._place), True
            if file.exists():
                self._take_in(file)
            if not self.anchor.exists():
                self._point()
        with self._server.writing(self._place) as db:
            if _found(db, self._place) != self._schema and _is_there(db, self._schema):
                _leave(db, self._place)
                _name(db, self._schema, self._place)
        self._refuse_incomplete(claimed)

    def _refuse_anothers(self, db: sa.Connection) -> None:
        """Refuse if another folder names the same schema, as a copy made by hand does: both would write one journal."""
        place = _place_of(db, self._schema) if self._schema is not None else None
        if place in (None, self._place):
            return
        other: str | None = None
        with suppress(StoreDamaged):  # problems of that folder are reported when it is opened
            other = _pointed_at(self.folder.parent.parent / place)
        if other == self._schema:
            raise StoreError(
                f"{self.anchor} names the journal of another agent, {place}. If its folder is a copy that was made by "
                f"hand, remove it, and duplicate the agent instead; otherwise remove {POINTER}, and the server finds "
                "the journal by the agent's name."
            )

    def _take_in(self, file: Path) -> None:
        """Move SQLite's journal; one that was moved already, but whose file still exists, is compared."""
        target = self._opened(real_clock)
        with closing(target), closing(Journal(f"sqlite:///{file}", real_clock)) as source:
            if target.position() == (0, 0):
                source.copy_to(target)
                self._made = False
            newest, _ = source.position()
            if target.position() != source.position() or target.change_set_at(newest) != source.change_set_at(newest):
                raise StoreError(
                    f"There are two journals of {self.folder.name!r}: one on the PostgreSQL server (schema "
                    f"{self._schema}) with {target.revision} changes, and {file} with {newest}. Move one of them away."
                )
        self._point()
        for part in sqlite_files(file):
            part.unlink(missing_ok=True)

    def _point(self) -> None:
        assert self._schema is not None, "it has been found, or made"
        _point_at(self.folder, self._schema)

    def _refuse_incomplete(self, claimed: int) -> None:
        assert self._schema is not None, "it has been found, or made"
        with self._server.reading() as db:
            query = sa.text("SELECT tablename FROM pg_tables WHERE schemaname = :schema")
            table_names, there = set(db.scalars(query, {"schema": self._schema})), _is_there(db, self._schema)
        missing = sorted({table.name for table in ALL_TABLES} - table_names)
        if missing and (table_names or claimed or not there):
            what = f"the table {missing[0]!r} is" if table_names else f"the schema {self._schema} is"
            raise JournalDamaged(
                f"The journal of {self.folder.name!r} is damaged: {what} missing from the PostgreSQL server."
            )

    def open(self, clock: Clock) -> Journal:
        """The journal."""
        try:
            return self._opened(clock)
        except BaseException:
            self.abandon()
            raise

    def _opened(self, clock: Clock) -> Journal:
        assert self._schema is not None, "it has been prepared"
        return Journal(self._server.of_schema(self._schema), clock)

    def abandon(self) -> None:
        """Drop a newly created schema."""
        if self._made and self._schema is not None:
            with suppress(StoreError), self._server.writing(self._place) as db:
                db.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{self._schema}" CASCADE')
            self.anchor.unlink(missing_ok=True)
            self._schema, self._made = None, False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the journal's lock on the server; re-entrant."""
        with self._server.alone(self._schema or self._place) if not self._depth else nullcontext():
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _elsewhere(self) -> Journal | None:
        if self._schema is None:
            return None
        self._refuse_incomplete(1)  # opening it would create what is missing, and this only reads
        return self._opened(real_clock)

    def leave_name(self) -> None:
        """Let the journal be found by the folder only."""
        ours = self._depth and self._schema is None  # then it is this name that is locked
        with self._server.writing(None if ours else self._place) as db:
            _leave(db, self._place)


def _can_be_one(name: str) -> bool:
    """Whether a name from the server can be an agent's, and thus a folder's."""
    try:
        return name == WORLD_AGENT or checked_name(name) == name
    except InvalidAgentName:
        return False


def _point_at(folder: Path, schema: str) -> None:
    replace_text(folder / POINTER, json.dumps({"schema": schema}), durable=True)


def _pointed_at(folder: Path) -> str | None:
    wrong = (
        f"{folder / POINTER} does not name a journal. Move it away: the server finds the journal by the name of the "
        "agent, and does not begin a new one."
    )
    try:
        name = json.loads(read_at_most(folder / POINTER, _MOST))["schema"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreDamaged(wrong) from error
    if not (isinstance(name, str) and name.startswith("memory_") and name.isidentifier() and name.isascii()):
        raise StoreDamaged(wrong)
    return name


def _found(db: sa.Connection, place: str) -> str | None:
    """The schema whose comment names this agent."""
    query = sa.text("SELECT nspname FROM pg_namespace WHERE obj_description(oid, 'pg_namespace') = :told")
    found: str | None = db.scalar(query, {"told": f"{_MARK}{place}"})
    return found


def _all_of(db: sa.Connection, world: str) -> dict[str, str]:
    """The schemas whose comments name agents of this world, by the agents' names."""
    comment = sa.func.obj_description(sa.column("oid"), "pg_namespace")
    beginning = f"{_MARK}{world}/"
    query = sa.select(comment.label("told"), sa.column("nspname")).select_from(sa.table("pg_namespace"))
    rows = db.execute(query.where(sa.func.starts_with(comment, beginning)))
    return {row.told.removeprefix(beginning): row.nspname for row in rows}


def _place_of(db: sa.Connection, schema: str) -> str | None:
    """The world and the agent in the comment of a schema, separated by a slash."""
    query = sa.text("SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = :name")
    comment: str | None = db.scalar(query, {"name": schema})
    return comment.removeprefix(_MARK) if comment is not None and comment.startswith(_MARK) else None


def _is_there(db: sa.Connection, schema: str) -> bool:
    return db.scalar(sa.text("SELECT 1 FROM pg_namespace WHERE nspname = :name"), {"name": schema}) is not None


def _create(db: sa.Connection, place: str) -> str:
    schema = f"memory_{uuid.uuid4().hex[:16]}"
    db.exec_driver_sql(f'CREATE SCHEMA "{schema}"')
    _name(db, schema, place)
    return schema


def _leave(db: sa.Connection, place: str) -> None:
    schema = _found(db, place)
    if schema is not None:
        _name(db, schema, f"(no longer) {place}")


def _name(db: sa.Connection, schema: str, place: str) -> None:
    comment = f"{_MARK}{place}".replace("'", "''").replace("%", "%%")
    db.exec_driver_sql(f"COMMENT ON SCHEMA \"{schema}\" IS '{comment}'")


class Journals:
    """Finds the journal of an agent. Thread-safe; a server is not contacted before it is needed.

    Args:
        url: the address of a PostgreSQL database; ``None`` = each agent's journal is a file in its folder.
        durability: what a commit survives, ``full`` or ``normal``.
    """

    def __init__(self, url: SecretStr | None = None, durability: str = "full") -> None:
        self._url = url or None  # an empty text means no server, too
        self._durability = durability
        self._server: Server | None = None
        self._lock = threading.Lock()
        self._look_again: dict[Path, float] = {}

    def of(self, folder: Path) -> JournalHome:
        """Where the journal of the agent in this folder is.

        Raises:
            InvalidParameter: the url is invalid.
            StoreError: the folder's reference to its journal cannot be read.
        """
        if self._url is None:
            return FileHome(folder, self._durability)
        return ServerHome(folder, self._reached(self._url))

    def _reached(self, url: SecretStr) -> Server:
        with self._lock:
            if self._server is None:
                self._server = Server(url, self._durability)
            return self._server

    def join(self, world: Path) -> None:
        """Create a folder on this machine for each agent of a world that has a journal on the server.

        Args:
            world: the world's folder; created if an agent of it is on the server.

        Raises:
            InvalidParameter: the url is invalid.
            StoreError: the server cannot be reached.
        """
        if self._url is None or time.monotonic() < self._look_again.get(world, 0.0):
            return
        try:
            with self._reached(self._url).reading() as db:
                there = _all_of(db, world.name)
        except StoreError:
            self._look_again[world] = time.monotonic() + AWAY_SECONDS
            raise
        self._look_again[world] = time.monotonic() + JOIN_SECONDS
        for name, schema in there.items():
            if _can_be_one(name) and not (world / name).exists():
                (world / name).mkdir(parents=True)
                _point_at(world / name, schema)

    def close(self) -> None:
        """Close the connections; they are opened again when needed."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None
