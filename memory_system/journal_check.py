"""Is the journal whole? Asked before it is opened, since opening a missing one would make an empty one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from .errors import JournalDamaged
from .journal_tables import as_damage, refuse_foreign


def refuse_damaged(path: Path, claimed: int, *, thoroughly: bool) -> None:
    """Do nothing if the journal is whole, or there has never been one.

    Args:
        path: the journal's file; it is only read.
        claimed: the newest revision that the store was written for.
        thoroughly: whether its pages are checked, which takes 2 to 10 ms for every 1,000 memories.

    Raises:
        JournalDamaged: it is missing, emptied, no database, or its pages do not hang together.
        ForeignStore: it is a database of something else.
        StoreDamaged: it cannot be read for another reason.
    """
    agent = path.parent.name
    if not path.exists() or (path.is_file() and not path.stat().st_size and not _has_log(path)):
        if claimed:
            was = "empty" if path.exists() else "missing"
            raise JournalDamaged(f"The journal of {agent!r} is {was}, and has told {claimed} changes before.")
        return
    refuse_foreign(path)
    if thoroughly and (problem := broken_pages(path)) is not None:
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
