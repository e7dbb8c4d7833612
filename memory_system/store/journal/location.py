"""Where the journal of an agent is kept: in a file of its folder, or on a server that the folder refers to.

It also checks whether the journal is whole before it is opened, since opening a missing one would create an empty one.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path

from ...core.change_set import counted
from ...core.files import as_store_errors, on_read_only_disk, sqlite_files
from ...core.times import Clock, real_clock
from ...errors import JournalDamaged, StoreError
from .journal import Journal
from .tables import as_damage, refuse_foreign


def refuse_damaged(path: Path, claimed: int, *, thoroughly: bool) -> None:
    """Do nothing if the journal is whole, or there has never been one.

    Args:
        path: the journal's file; it is only read.
        claimed: the newest revision that the store was written for.
        thoroughly: whether to open it and check its pages, which takes 2 to 10 ms for every 1,000 memories; not needed
            if the file is as we left it.

    Raises:
        JournalDamaged: it is missing, emptied, a folder, not a database, or its pages are inconsistent.
        ForeignStore: it is a database of something else.
        StoreDamaged: it cannot be read for another reason.
    """
    agent = path.parent.name
    if (folder := next(filter(Path.is_dir, sqlite_files(path)), None)) is not None:
        raise JournalDamaged(f"The journal of {agent!r} is damaged: {folder.name} is a folder.")
    if not path.exists() or (path.is_file() and not path.stat().st_size and not _has_log(path)):
        if claimed:
            was = "empty" if path.exists() else "missing"
            raise JournalDamaged(f"The journal of {agent!r} is {was}, and had {counted(claimed, 'change')} before.")
        return
    if not thoroughly:
        return
    refuse_foreign(path)
    if (problem := broken_pages(path)) is not None:
        raise JournalDamaged(f"The journal of {agent!r} is damaged: {problem}.")


def broken_pages(path: Path) -> str | None:
    """The first problem that SQLite's own check finds; ``None`` if all pages are consistent.

    Raises:
        StoreDamaged: the file cannot be read at all.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
            found = [str(row[0]) for row in db.execute("PRAGMA quick_check(1)")]
    except sqlite3.Error as error:
        damage = as_damage(f"The journal at {path} cannot be read: {error}.", error)
        if isinstance(damage, JournalDamaged):
            return str(error)
        raise damage from error
    return None if found == ["ok"] else " ".join(found)[:200].replace("\n", " ")


def refuse_older(agent: str, revision: int, claimed: int) -> None:
    """Do nothing if the journal has everything that the store was written for.

    Raises:
        JournalDamaged: it is older.
    """
    if revision < claimed:
        raise JournalDamaged(
            f"The journal of {agent!r} ends with change {revision}, and the store was written for change {claimed}: "
            "the newest changes are missing from it, as when the file beside it, journal.sqlite3-wal, is lost."
        )


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


JOURNAL = "journal.sqlite3"
"""The file of an agent's journal in SQLite."""
POINTER = "journal.json"
"""A file in the folder of an agent whose journal is on a server; it names the journal there."""


class JournalHome(ABC):
    """Where one agent's journal is kept. The caller holds the lock on the agent's folder.

    Args:
        folder: the agent's.
        anchor: the name of the file in it.
    """

    shared = False
    """Whether machines with stores of their own may write the same journal."""
    put_back = f"Put {JOURNAL} back from a backup"
    """What to do if the journal is damaged, other than beginning a new one."""

    def __init__(self, folder: Path, anchor: str) -> None:
        self.folder = folder
        self.anchor = folder / anchor
        """The file by which the folder shows that this journal is still the agent's."""

    @abstractmethod
    def prepare(self, claimed: int, *, thoroughly: bool) -> None:
        """Find the journal, and check that it is whole or has never existed, before it is opened.

        Args:
            claimed: the newest revision that the store was written for.
            thoroughly: whether to check the contents of a file.

        Raises:
            JournalDamaged: it is missing or damaged.
            StoreError: it cannot be reached, or it is not clear which is the agent's.
        """

    @abstractmethod
    def open(self, clock: Clock) -> Journal:
        """The journal, a new one if there is none; ``clock`` is the real time.

        Raises:
            StoreError: it cannot be opened.
        """

    @abstractmethod
    def abandon(self) -> None:
        """Remove what ``open`` created, if nothing has been written into it."""

    def alone(self) -> AbstractContextManager[None]:
        """Be the only writer among all machines; the folder's lock excludes those of this one."""
        return nullcontext()

    def copy_into(self, file: Path) -> None:
        """Copy a journal that is not in the folder, as of one moment, into a new SQLite file.

        Raises:
            StoreError: the journal cannot be read, or the file cannot be written.
        """
        elsewhere = self._elsewhere()
        if elsewhere is not None:
            with closing(elsewhere), closing(Journal(f"sqlite:///{file}", real_clock)) as copy:
                elsewhere.copy_to(copy)

    def origin(self) -> str:
        """An id that only the agent and its copies share; empty if there is no journal, or it cannot be read."""
        with suppress(StoreError), self.looked_at() as journal:
            if journal is not None:
                return journal.origin
        return ""

    @contextmanager
    def looked_at(self) -> Iterator[Journal | None]:
        """The journal, for reading within the block; ``None`` if there is none. Needs no lock.

        Raises:
            StoreError: it cannot be read.
        """
        journal = self._to_look_at()
        try:
            yield journal
        finally:
            if journal is not None:
                journal.close()

    def _to_look_at(self) -> Journal | None:
        return self._elsewhere()

    @abstractmethod
    def _elsewhere(self) -> Journal | None:
        """The journal, if it is not in the folder."""

    @abstractmethod
    def leave_name(self) -> None:
        """Prepare for the agent to get another name, or none; the folder still identifies its journal.

        Raises:
            StoreError: it cannot be written.
        """


class FileHome(JournalHome):
    """In a file next to the store.

    Args:
        folder: the agent's.
        durability: what a commit survives, ``full`` or ``normal``.
    """

    def __init__(self, folder: Path, durability: str) -> None:
        super().__init__(folder, JOURNAL)
        self._durability = durability
        self._made = False

    def prepare(self, claimed: int, *, thoroughly: bool) -> None:
        """As ``refuse_damaged``; also refuses a folder whose journal is elsewhere."""
        self._elsewhere()
        refuse_damaged(self.anchor, claimed, thoroughly=thoroughly)

    def _elsewhere(self) -> None:
        if (self.folder / POINTER).exists():
            raise StoreError(
                f"The journal of {self.folder.name!r} is on a PostgreSQL server. Set MEMORY_JOURNAL_URL to its address."
            )

    def _to_look_at(self) -> Journal | None:
        self._elsewhere()
        if not self.anchor.is_file() or not self.anchor.stat().st_size:
            return None
        refuse_foreign(self.anchor)
        return Journal(f"sqlite:///{self.anchor}", real_clock)

    @contextmanager
    def looked_at(self) -> Iterator[Journal | None]:
        """The journal; on a read-only disk, where SQLite cannot open it with its log, a copy of it."""
        if not on_read_only_disk(self.folder):
            with super().looked_at() as journal:
                yield journal
            return
        self._elsewhere()
        with tempfile.TemporaryDirectory(prefix="memory-looked-at-", ignore_cleanup_errors=True) as scratch:
            with as_store_errors(f"The agent {self.folder.name!r}"):
                for part in filter(Path.is_file, sqlite_files(self.anchor)):
                    shutil.copyfile(part, Path(scratch) / part.name)
            with FileHome(Path(scratch), self._durability).looked_at() as journal:
                yield journal

    def open(self, clock: Clock) -> Journal:
        """The journal."""
        self._made = not self.anchor.exists() or not self.anchor.stat().st_size
        try:
            return Journal(f"sqlite:///{self.anchor}", clock, self._durability)
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Remove a newly created file."""
        if self._made:
            self.anchor.unlink(missing_ok=True)

    def leave_name(self) -> None:
        """Do nothing: the file moves with its folder."""


def holds_journal(folder: Path) -> bool:
    """Whether an agent's folder has a journal, here or on a server; an empty one counts."""
    return any((folder / name).is_file() for name in (JOURNAL, POINTER))
