"""The lock on an agent's folder: one writer at a time, among threads and processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..core.files import as_exhausted
from ..errors import StoreBusy, StoreDamaged, StoreError

LOCK_SECONDS = 30.0
"""How long a write waits for another process before it gives up with a clear error."""
_AGAIN_SECONDS = 0.005
"""How long it waits before it tries again."""


class WriteLock:
    """The file lock of one agent's folder; re-entrant."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / "lock", timeout=LOCK_SECONDS, thread_local=False)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock.

        Raises:
            StoreBusy: another process held it for 30 seconds.
            StoreDamaged: the folder cannot be written.
            StoreError: this process is a fork of the one that opened it.
            Exhausted: this program may open no more files.
        """
        try:
            with as_exhausted(f"The agent {self._folder.name!r}"):
                self._lock.acquire(poll_interval=_AGAIN_SECONDS)
        except Timeout as error:
            raise StoreBusy(
                f"Another program has been writing to {self._folder.name!r} for {LOCK_SECONDS:.0f} seconds. "
                "Try again, or stop the other program."
            ) from error
        except RuntimeError as error:
            raise StoreError(
                f"{self._folder.name!r} was opened before this process was forked off. Open its world in this process."
            ) from error
        except OSError as error:
            raise StoreDamaged(
                f"{self._folder} cannot be written: {error.strerror or error}. Make it writable, or open a copy of the "
                "world in a folder that is."
            ) from error
        try:
            yield
        finally:
            self._lock.release()
