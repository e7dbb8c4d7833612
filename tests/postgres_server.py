"""A PostgreSQL server of the tests' own: in a temporary folder, reached by a socket there, removed when they end."""

from __future__ import annotations

import ctypes
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from tests.waiting import LAST_RESORT

MISSING = (
    "PostgreSQL is not installed, so that nothing shows that journals work there: 'sudo apt install postgresql', "
    "and 'pip install -r requirements.txt'."
)
PASSWORD = "p@ss/w0rd of the journals"
_WHEN_THE_PARENT_DIES = 1
_FAST = ("fsync=off", "shared_buffers=32MB", "listen_addresses=", "max_connections=120", "autovacuum=off")


def programs() -> Path | None:
    """The folder of ``initdb`` and ``postgres``; ``None`` if they are not installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return next((path for path in reversed(folders) if (path / "initdb").exists()), None)


def _end_with_the_tests() -> None:
    """Have the kernel stop the server when the tests are killed, so that none is left running."""
    with suppress(AttributeError, OSError):  # only Linux has such a call
        ctypes.CDLL(None).prctl(_WHEN_THE_PARENT_DIES, signal.SIGINT)


class PostgresServer:
    """A running server; ``new_database`` returns the address of an empty database.

    Args:
        options: its settings; by default, a power cut would lose the last writes, which no test is about.
    """

    def __init__(self, options: Sequence[str] = _FAST) -> None:
        self._options = options
        found = programs()
        assert found is not None, MISSING
        self._programs = found
        self.folder = Path(tempfile.mkdtemp(prefix="memory-postgres-"))
        self._user: dict[str, Any] = {}
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            names = {one.pw_name for one in pwd.getpwall()}
            account = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.folder.chmod(0o755)  # for programs of root that permissions hold for; the data are the server's alone
            self._user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._numbers = itertools.count(1)
        self._running: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        password = self.folder / "password"
        password.write_text(PASSWORD + "\n", encoding="utf-8")
        password.chmod(0o644)
        made = subprocess.run(
            [
                *(self._programs / "initdb", "-D", self.folder / "data", "-U", "tester", "--pwfile", password),
                *("-A", "scram-sha-256", "-E", "UTF8", "--locale", "C", "--no-sync"),
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=LAST_RESORT,
            check=False,
            **self._user,
        )
        assert made.returncode == 0, made.stderr
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [part for option in self._options for part in ("-c", option)]
        command: list[str | Path] = [
            self._programs / "postgres",
            "-D",
            self.folder / "data",
            "-k",
            self.folder,
            *options,
        ]
        with (self.folder / "log").open("ab") as log:
            self._running = subprocess.Popen(
                command,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_the_tests,  # noqa: PLW1509 - one system call, which takes no lock
                **self._user,
            )
        until = time.monotonic() + LAST_RESORT
        while True:
            try:
                self.run("postgres", "SELECT 1")
                return
            except sa.exc.OperationalError:
                told = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
                assert self._running.poll() is None, told
                assert time.monotonic() < until, told
                time.sleep(0.05)

    @property
    def process(self) -> int:
        """The id of the server's main process; 0 while it does not run."""
        return 0 if self._running is None else self._running.pid

    def stop(self) -> None:
        """Stop it, even with open connections."""
        if self._running is not None:
            self._running.send_signal(signal.SIGINT)
            self._running.wait(LAST_RESORT)
            self._running = None

    def address(self, database: str) -> str:
        """The address of a database, with its password."""
        url = sa.URL.create("postgresql", "tester", PASSWORD, database=database, query={"host": str(self.folder)})
        return url.render_as_string(hide_password=False)

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"journals_{next(self._numbers)}"
        self.run("postgres", f"CREATE DATABASE {name}")
        return self.address(name)

    def run(self, database: str, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements; returns the rows of the last one."""
        url = sa.make_url(self.address(database)).set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool)
        with engine.connect() as db:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                done = db.exec_driver_sql(statement)
                rows = [tuple(row) for row in done] if done.returns_rows else []
        return rows
