"""Accesses that wait to be written: a query is not kept waiting for the disk, and little is lost if power is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from datetime import datetime

from .errors import MemorySystemError

DELAY_SECONDS = 0.5
"""How long an access waits at most: what a killed process loses."""

Access = tuple[str, datetime]
"""The id of a memory, and the world's time at which it was recalled."""


class AccessLog:
    """Gathers accesses and has them written together, soon and in the background.

    Args:
        write: writes some, at once; called without any lock of this object held.
        report: told in a sentence when they could not be written. They are kept, and tried again with the next.
    """

    def __init__(self, write: Callable[[Sequence[Access]], None], report: Callable[[str], None]) -> None:
        self._write = write
        self._report = report
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._waiting: list[Access] = []
        self._timer: threading.Timer | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, accesses: Sequence[Access]) -> None:
        """Have these written within the delay."""
        with self._lock:
            self._waiting += accesses
            if self._timer is None and accesses:
                self._timer = threading.Timer(DELAY_SECONDS, self._flush_soon)
                self._timer.daemon = True  # a program that ends flushes by itself, and need not wait
                self._timer.start()

    def flush(self) -> None:
        """Write all that wait, now.

        Raises:
            MemorySystemError: they cannot be written; they still wait.
        """
        with self._flushing:  # whoever closes waits for what the timer has just taken
            with self._lock:
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
                taken, self._waiting = self._waiting, []
            if not taken:
                return
            try:
                self._write(taken)
            except BaseException:
                with self._lock:
                    self._waiting = taken + self._waiting
                raise

    def flush_at_exit(self) -> None:
        """As ``flush``, for a program that ends without closing: what cannot be written is told in a sentence."""
        try:
            self.flush()
        except MemorySystemError as error:
            sys.stderr.write(f"When {len(self)} memories were recalled could not be written. {error.sentence}\n")

    def _flush_soon(self) -> None:
        try:
            self.flush()
        except MemorySystemError as error:
            self._report(f"When {len(self)} memories were recalled could not be written yet. {error.sentence}")
