"""Files that are not what they should be, said in our own errors."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from ..errors import ForeignStore, MemorySystemError, StoreError


@contextmanager
def as_store_errors(what: str) -> Iterator[None]:
    """Turn what the file system refuses into a ``StoreError`` that names the file.

    Raises:
        StoreError: an ``OSError``, or a path that cannot be one, within the block.
    """
    try:
        yield
    except MemorySystemError:
        raise
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise StoreError(f"{what} cannot be used: {error.strerror or error}{where}.") from error
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        raise StoreError(f"{what} cannot be used: its path holds a null byte.") from error


def read_at_most(path: Path, most: int) -> bytes:
    """The first ``most`` bytes of a regular file.

    Raises:
        OSError: there is none, it cannot be read, or it is a folder, a device or a pipe, which could have no end.
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise OSError(None, "it is not a regular file", str(path))
    with open(path, "rb") as file:
        return file.read(most)


def sqlite_files(database: Path) -> tuple[Path, ...]:
    """The files of a database of SQLite, whether they are there or not; its own is the last to move or to remove."""
    return tuple(database.with_name(database.name + ending) for ending in ("-wal", "-shm", ""))


@contextmanager
def beside(path: Path, text: str, *, durable: bool = False) -> Iterator[Path]:
    """A text in a file beside the path, whose folder is there; at the end it is gone, if it is still there.

    Args:
        path: beside what.
        text: written in UTF-8.
        durable: whether it is on the disk before the block begins, and so outlives a power cut.

    Raises:
        OSError: it cannot be written.
    """
    scratch = path.with_name(f".{path.stem[:50]}-{uuid4().hex}.part")  # two may save at once; the last one counts
    try:
        with scratch.open("wb") as file:
            file.write(text.encode("utf-8"))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


def replace_text(path: Path, text: str, *, durable: bool = False) -> None:
    """Save a text so that a reader sees the old file or the new one, never half; see ``beside``.

    Raises:
        OSError: it cannot be written.
    """
    with beside(path, text, durable=durable) as scratch:
        scratch.replace(path)


def refuse_links(place: Path, *names: str) -> None:
    """Do nothing if a folder is one, and nothing in it, however deep, leads anywhere else.

    What is written to or read through a symbolic link in the data could be any file of this machine.

    Args:
        place: the folder; it need not be there.
        names: which of what lies in it is looked at, each alone; all of it if none is named.

    Raises:
        ForeignStore: there is a link; the sentence names it.
        OSError: the folder cannot be read.
    """
    looked = [place / name for name in names] if names else [place]
    while looked:
        path = looked.pop()
        if path.is_symlink():
            raise ForeignStore(
                f"{path} is a symbolic link, which may lead anywhere, so it is not used. Put the real file or folder "
                "there; to keep data elsewhere, name that place in MEMORY_DATABASE."
            )
        if not names and path.is_dir():
            looked += path.iterdir()
