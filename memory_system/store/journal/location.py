"""Where the journal of an agent is kept: in a file of its folder, or on a server that the folder only names.

Is the journal whole? Asked before it is opened, since opening a missing one would make an empty one.
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
        thoroughly: whether it is looked into, and its pages are checked, which takes 2 to 10 ms for every 1,000
            memories; not where the file is as we left it.

    Raises:
        JournalDamaged: it is missing, emptied, a folder, no database, or its pages do not hang together.
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
    """What SQLite's own check finds first; ``None`` if all pages hang together.

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
    """Do nothing if the journal tells all that the store was written for.

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
"""An agent's journal in SQLite."""
POINTER = "journal.json"
"""What lies in the folder of an agent whose journal is on a server, and names it there."""


class JournalHome(ABC):
    """Where one agent's journal is kept. The caller holds the lock on the agent's folder.

    Args:
        folder: the agent's.
        anchor: the name of the file in it.
    """

    shared = False
    """Whether machines that have another store of their own may write the same journal."""
    put_back = f"Put {JOURNAL} back from a backup"
    """What to do where the journal is damaged, beside beginning a new one."""

    def __init__(self, folder: Path, anchor: str) -> None:
        self.folder = folder
        self.anchor = folder / anchor
        """The file by which the folder tells that this journal is still the agent's."""

    @abstractmethod
    def prepare(self, claimed: int, *, thoroughly: bool) -> None:
        """Find the journal, and see that it is whole or that there has never been one, before it is opened.

        Args:
            claimed: the newest revision that the store was written for.
            thoroughly: whether a file is looked into.

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
        """Take back what ``open`` made anew, if nothing has been written into it."""

    def alone(self) -> AbstractContextManager[None]:
        """Be the only writer among all machines; the lock on the folder keeps away those of this one."""
        return nullcontext()

    def copy_into(self, file: Path) -> None:
        """Copy a journal that is not in the folder, as of one moment, into a new file of SQLite's.

        Raises:
            StoreError: it cannot be read, or the file not be written.
        """
        elsewhere = self._elsewhere()
        if elsewhere is not None:
            with closing(elsewhere), closing(Journal(f"sqlite:///{file}", real_clock)) as copy:
                elsewhere.copy_to(copy)

    def origin(self) -> str:
        """What only the agent and its copies have in common; empty if there is no journal, or it cannot be read."""
        with suppress(StoreError), self.looked_at() as journal:
            if journal is not None:
                return journal.origin
        return ""

    @contextmanager
    def looked_at(self) -> Iterator[Journal | None]:
        """The journal, to be read within; ``None`` if there is none. Nobody needs to be kept away for it.

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
        """Say that the agent is about to have another name, or none; the folder still tells which journal is its own.

        Raises:
            StoreError: it cannot be said.
        """


class FileHome(JournalHome):
    """In a file beside the store.

    Args:
        folder: the agent's.
        durability: what a commit survives, ``full`` or ``normal``.
    """

    def __init__(self, folder: Path, durability: str) -> None:
        super().__init__(folder, JOURNAL)
        self._durability = durability
        self._made = False

    def prepare(self, claimed: int, *, thoroughly: bool) -> None:
        """As ``refuse_damaged``; a folder whose journal is elsewhere is refused, too."""
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
        """The journal; on a read-only disk, where SQLite cannot open it beside its log, a copy of it."""
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
        """Remove a file that was made."""
        if self._made:
            self.anchor.unlink(missing_ok=True)

    def leave_name(self) -> None:
        """Nothing is to be said: the file moves with its folder."""


def holds_journal(folder: Path) -> bool:
    """Whether an agent's folder has a journal, here or on a server; one that is empty counts."""
    return any((folder / name).is_file() for name in (JOURNAL, POINTER))
