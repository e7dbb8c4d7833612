"""The process that copies an agent's files: ``python -I -S copying_child.py SOURCE TARGET [LEFT OUT ...]``.

It is a separate process since a program that opens and closes SQLite's files itself loses the locks that SQLite
holds on them, and then another program's last change (see ``copying``). It needs only Python's own library, and so
starts in a few hundredths of a second.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

JOURNAL, POINTER = "journal.sqlite3", "journal.json"
_NUMBER = re.compile(r"\[Errno (\d+)\]")


def copy(source: Path, target: Path, left_out: list[str]) -> None:
    """Copy a folder, its journal as SQLite reads it at one moment.

    Raises:
        OSError: something cannot be read or written.
    """
    tree(source, target, ["lock", POINTER, f"{JOURNAL}*", *left_out])
    journal = source / JOURNAL
    if journal.is_file() and not (journal.stat().st_size and _as_read(journal, target / JOURNAL)):
        for name in (JOURNAL, f"{JOURNAL}-wal"):  # damaged: copied as files
            if (source / name).is_file():
                shutil.copyfile(source / name, target / name)
    for name in (JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm"):
        if (source / name).is_dir():
            (target / name).mkdir()  # also damaged: opening the copy shows the same damage as opening the original


def tree(source: Path, target: Path, left_out: list[str]) -> None:
    """Copy a folder like ``shutil.copytree``, whose error is a list of everything that went wrong, not a sentence.

    Raises:
        OSError: something cannot be read or written; it is the first error.
    """
    try:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*left_out))
    except shutil.Error as error:
        name, _, why = error.args[0][0]
        found = _NUMBER.search(str(why))
        if found is None:
            raise OSError(None, str(why), str(name)) from error
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(name)) from error


def _as_read(journal: Path, target: Path) -> bool:
    """Whether SQLite could copy it. Nothing is written next to it: without a log nobody has it open."""
    way = "mode=ro" if journal.with_name(f"{journal.name}-wal").exists() else "immutable=1"
    address = f"{journal.absolute().as_uri()}?{way}"
    try:
        with (
            closing(sqlite3.connect(address, uri=True, timeout=10)) as source,
            closing(sqlite3.connect(target)) as copied,
        ):
            source.backup(copied)
    except sqlite3.Error:
        for name in (target.name, f"{target.name}-journal"):
            target.with_name(name).unlink(missing_ok=True)
        return False
    return True


def main() -> None:
    """Copy according to the arguments; a failure is one line, the error's number and message, and exit code 1."""
    try:
        copy(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    except OSError as error:
        sys.exit(f"{error.errno or 0} {error.strerror or error!s:.300}")


if __name__ == "__main__":
    main()
