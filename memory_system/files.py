"""Files that are not what they should be, said in our own errors."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import MemorySystemError, StoreError


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
        raise OSError(None, "it is no regular file", str(path))
    with open(path, "rb") as file:
        return file.read(most)
