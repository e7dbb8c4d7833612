"""Reading, writing and cleaning up files, with problems reported as our own errors."""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, NoReturn
from uuid import uuid4

from ..errors import Exhausted, ForeignStore, MemorySystemError, StoreError
from .times import real_clock

try:
    import fcntl
    import resource

    _POSIX = True
except ImportError:  # where files cannot be locked or counted like this, leftovers are recognised by their age
    _POSIX = False

_IN_USE = ".in-use.lock"
"""A file in a folder of ``making``, locked by the process that makes something there."""
_PART = re.compile(r"\..*-[0-9a-f]{32}\.part")
_HOUR = 3600.0
"""Seconds after which unfinished work counts as abandoned, where no lock shows it."""
_MANY_FILES = 65_536
_FEWER_FILES = 10_240
"""The real limit per process on macOS, though it may report a higher one."""
_FEW_FILES = 24
"""More than a database opens."""
_NO_MORE_FILES = (errno.EMFILE, errno.ENFILE)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
MAKE_ROOM = "Make room on its disk, and do it again."
"""What to do when the disk of a database is full."""


class HeldOpen:
    """Something that holds files, connections and locks; it cannot be copied, here or to another process."""

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        kind = type(self).__name__
        raise TypeError(
            f"{kind} cannot be copied or pickled, nor can what holds one: it has files, connections and locks. "
            "Keep the name of the character or the world instead, and open it by that."
        )


def may_be_open() -> int:
    """How many files this process may have open at once, 65,536 where nothing limits them."""
    if not _POSIX:
        return _MANY_FILES
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MANY_FILES if limit == resource.RLIM_INFINITY else limit


def allow_more_open() -> None:
    """Raise the limit of open files for this process to what the system allows: the default is often 1,024 of 524,288.

    Only our own programs call this; those who import the library decide about their own process.
    """
    if not _POSIX:
        return
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for most in (_FEWER_FILES, _MANY_FILES):  # a system may allow less than it says, as macOS does
        limit = most if hard == resource.RLIM_INFINITY else min(hard, most)
        if may_be_open() < limit:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def exhausted(error: BaseException) -> str | None:
    """What an error says has run out: ``memory``, ``threads`` or ``files``; ``None`` if it says no such thing."""
    if isinstance(error, MemoryError):
        return "memory"
    message = str(error).lower()
    if isinstance(error, OSError):
        return "memory" if error.errno == errno.ENOMEM else "files" if error.errno in _NO_MORE_FILES else None
    if "unable to open database file" in message and not _some_may_be_opened():  # of SQLite, here or within Chroma
        return "files"
    if is_panic(error):
        threads = "thread" in message or "resource temporarily" in message
        return "files" if "too many open files" in message else "threads" if threads else None
    if isinstance(error, RuntimeError) and "start new thread" in message:
        return "threads"
    return None


def is_panic(error: BaseException) -> bool:
    """Whether an error is a panic of Chroma's Rust code, which is not an ``Exception``."""
    return type(error).__name__ == "PanicException"


def is_full(error: OSError) -> bool:
    """Whether an error says that a disk is full, or that nothing more may be written to it."""
    return error.errno in _NO_ROOM


def _some_may_be_opened() -> bool:
    """Whether a few files can be opened now, more than a database needs."""
    opened: list[int] = []
    try:
        opened += (os.open(os.devnull, os.O_RDONLY) for _ in range(_FEW_FILES))
    except OSError as error:
        return error.errno not in _NO_MORE_FILES
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return True


@contextmanager
def as_exhausted(what: str) -> Iterator[None]:
    """Turn an error that says that memory, threads or files have run out into one of ours.

    Args:
        what: was at work, as the beginning of a sentence.

    Raises:
        Exhausted: there was none left within the block.
    """
    try:
        yield
    except (MemoryError, RuntimeError, OSError) as error:
        refuse_exhausted(what, error)
        raise


def refuse_exhausted(what: str, error: BaseException | None) -> None:
    """Raise if an error says that something has run out; do nothing about any other.

    Raises:
        Exhausted: there is no memory, no thread or no file left.
    """
    if isinstance(error, MemoryError | RuntimeError | OSError) and (short := exhausted(error)) is not None:
        raise Exhausted(out_of(what, short)) from error


def out_of(what: str, short: str) -> str:
    """The sentence for an ``Exhausted``."""
    if short == "files":
        return (
            f"{what} could not go on: there are no files left that this program may open ({may_be_open():,} are open). "
            "Allow it more (ulimit -n) or have fewer agents open (MEMORY_AWAKE), and try again."
        )
    return f"{what} could not go on: this computer has no {short} left. Close other programs, and try again."


@contextmanager
def as_store_errors(what: str) -> Iterator[None]:
    """Turn an error of the file system or the computer into a ``StoreError`` that names the file.

    Raises:
        StoreError: an ``OSError``, or a path that cannot be one, within the block.
        Exhausted: there was no memory, no thread or no file left.
    """
    try:
        with as_exhausted(what):
            yield
    except MemorySystemError:
        raise
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        cannot, help_by = "used", ""
        if isinstance(error, PermissionError):
            help_by = " Give the user who runs this program permission for it."
        elif is_full(error):
            cannot, help_by = "written", " Make room there, and do it again."
        raise StoreError(f"{what} cannot be {cannot}: {error.strerror or error}{where}.{help_by}") from error
    except ValueError as error:
        if "embedded null" not in str(error):  # a null byte, or from Python 3.12 on a null character
            raise
        raise StoreError(f"{what} cannot be used: its path contains a null byte.") from error


State = tuple[int, int, int]
"""A file's time of last change in nanoseconds, its size, and its inode number."""


def state_of(file: Path) -> State:
    """What distinguishes one state of a file from the next.

    Raises:
        OSError: there is no such file, or it cannot be inspected.
    """
    about = file.stat()
    return about.st_mtime_ns, about.st_size, about.st_ino


_AT_REST_NS = 2_000_000_000
"""After this time a changed file is sure to have another timestamp, on any file system."""


def at_rest(state: State) -> bool:
    """Whether a file in this state can no longer change without its state changing.

    If the timestamp lies in the future, any later change gives another one.
    """
    return abs(time.time_ns() - state[0]) >= _AT_REST_NS


_A_LITTLE = 65_536
"""Bytes to read of a file that reports a smaller size."""


def read_at_most(path: Path, most: int) -> bytes:
    """The first ``most`` bytes of a regular file.

    Raises:
        OSError: there is none, it cannot be read, or it is a folder, a device or a pipe, which could be endless.
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise OSError(None, "it is not a regular file", str(path))
    with open(path, "rb") as file:  # reading allocates as much as is asked for, which may cost more than the reading
        return file.read(min(most, max(about.st_size + 1, _A_LITTLE)))


def on_read_only_disk(folder: Path) -> bool:
    """Whether a folder is on a read-only disk; ``False`` where the system does not say."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):
        return False


def sqlite_files(database: Path) -> tuple[Path, ...]:
    """The files of an SQLite database, whether they exist or not; the main one is the last to move or to remove."""
    return tuple(database.with_name(database.name + ending) for ending in ("-wal", "-shm", ""))


@contextmanager
def beside(path: Path, text: str, *, durable: bool = False) -> Iterator[Path]:
    """A text in a temporary file next to the path, whose folder must exist; removed afterwards if still there.

    Args:
        path: the file to be next to.
        text: written in UTF-8.
        durable: whether it is on the disk before the block begins, and so survives a power cut.

    Raises:
        OSError: it cannot be written.
    """
    scratch = path.with_name(f".{path.stem[:50]}-{uuid4().hex}.part")  # two may save at once; the last one wins
    with ExitStack() as stack:
        stack.callback(scratch.unlink, missing_ok=True)
        file = stack.enter_context(scratch.open("wb"))
        while not _locked(file):  # the process that removes leftovers was faster
            file = stack.enter_context(scratch.open("wb"))
        file.write(text.encode("utf-8"))
        file.flush()
        if durable:
            os.fsync(file.fileno())
        if not _POSIX:
            file.close()
        yield scratch


def _locked(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; return whether it still has a name, or cannot be locked here at all."""
    if _POSIX:
        with suppress(OSError):  # a file system without locks: leftovers there stay for the doctor
            fcntl.flock(file, fcntl.LOCK_EX)
    return os.fstat(file.fileno()).st_nlink > 0


@contextmanager
def making(where: Path, begins: str) -> Iterator[Path]:
    """A new folder to make something in, removed afterwards; ``remove_left`` spares it while the block lasts.

    Args:
        where: the existing folder to create it in.
        begins: how its name begins.

    Raises:
        OSError: it cannot be created.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=begins, dir=where))
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            if _locked(stack.enter_context((folder / _IN_USE).open("xb"))):  # else the remover of leftovers was faster
                yield folder
                return


def within(folder: Path, pattern: str = "*") -> list[Path]:
    """What is directly in a folder and matches a pattern, sorted; nothing if there is no such folder.

    ``Path.glob`` says nothing about a folder that it cannot read: on Python 3.13 and later for any reason, before for
    want of permission. What is backed up, listed or purged must not be less because of that.

    Raises:
        OSError: the folder cannot be read.
    """
    if not folder.is_dir():  # nor is a path with a null byte one
        return []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as found:  # if it has just gone
        return sorted(folder / entry.name for entry in found if fnmatch.fnmatch(entry.name, pattern))
    return []


def below(folder: Path) -> list[Path]:
    """All files of a folder and of those in it, sorted; nothing if there is no such folder.

    Raises:
        OSError: a folder cannot be read.
    """
    if not folder.is_dir():
        return []
    walked = os.walk(folder, onerror=_refuse)
    return sorted(path for where, _, names in walked for name in names if (path := Path(where, name)).is_file())


def _refuse(error: OSError) -> NoReturn:
    raise error


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files below a folder, as far as they can be looked at; 0 if it does not exist."""
    found = 0
    for file in (path, *(Path(where, name) for where, _, names in os.walk(path) for name in names)):
        with suppress(OSError):
            about = file.lstat()
            found += about.st_size if stat.S_ISREG(about.st_mode) else 0
    return found


def remove_parts(folder: Path) -> None:
    """Remove all unfinished files of a folder; the caller holds the lock for writing there."""
    with suppress(OSError):
        for part in within(folder, "*.part"):
            part.unlink()


def left_parts(folder: Path) -> list[Path]:
    """The files of ``beside`` that are still in a folder: being written, or left behind by a killed process."""
    return [path for path in within(folder, ".*.part") if _PART.fullmatch(path.name)]


def is_left(path: Path) -> bool:
    """Whether a folder of ``making`` or a file of ``beside`` exists and is no longer in use."""
    return _taken(path, remove=False)


def remove_left(path: Path) -> bool:
    """Remove such a folder or file if it is no longer in use; return whether it was removed."""
    return _taken(path, remove=True)


def _taken(path: Path, *, remove: bool) -> bool:
    folder = path.is_dir() and not path.is_symlink()
    try:
        if not _POSIX or (folder and not (path / _IN_USE).exists()):  # made this moment, or by an earlier version
            left = _old(path)
            if left and remove:
                _remove(path)
            return left
        with (path / _IN_USE if folder else path).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left = os.fstat(file.fileno()).st_nlink > 0
            if left and remove:
                _remove(path)
            return left
    except OSError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _old(path: Path) -> bool:
    return real_clock().timestamp() - path.lstat().st_mtime > _HOUR


def replace_text(path: Path, text: str, *, durable: bool = False) -> None:
    """Save a text so that a reader sees the old file or the new one, never half; see ``beside``.

    Raises:
        OSError: it cannot be written.
    """
    with beside(path, text, durable=durable) as scratch:
        scratch.replace(path)


def refuse_links(place: Path, *names: str) -> None:
    """Raise if the path is a symbolic link or there is one anywhere in the folder.

    What is written or read through a symbolic link in the data could be any file of this machine.

    Args:
        place: the folder; it need not exist.
        names: which of its contents to check, each on its own; everything if none is named.

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
