"""Recalls waiting to be written: queries do not wait for the disk, and a power cut loses little."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, NamedTuple

from ..core.change_set import counted
from ..core.times import Clock
from ..errors import MemorySystemError
from .query_log import Asked
from .soon import Soon

DELAY_SECONDS = 0.5
"""The longest that a note waits, and so the most that a killed process loses."""
MOST_ASKED = 10_000
"""Queries kept waiting while the disk cannot be written; older ones are dropped, accesses are not."""


class Access(NamedTuple):
    """One recall of a memory.

    Args:
        entry_id: which one.
        at: the world's time.
        revision: the newest revision then; ``None`` = unknown.
        noted_at: the real time; ``None`` = unknown.
    """

    entry_id: str
    at: datetime
    revision: int | None = None
    noted_at: datetime | None = None


Noted = Access | Asked
"""A recall of a memory, or a query."""


class AccessLog:
    """Collects accesses and queries and has them written together, soon and in the background.

    Args:
        write: writes what it takes with the function that it is given. It calls that function where nobody else reads
            or writes, so that waiting and written notes always add up; it need not take anything.
        report: called with a sentence when writing fails. The notes are kept, and tried again with the next.
        clock: the real time.
        alone: held while writing. It is the lock under which ``write`` works and others flush, since two locks that
            are acquired in different orders could deadlock.
    """

    def __init__(
        self,
        write: Callable[[Callable[[], Sequence[Noted]]], None],
        report: Callable[[str], None],
        clock: Clock,
        alone: AbstractContextManager[Any],
    ) -> None:
        self._write = write
        self._report = report
        self._clock = clock
        self._lock = threading.Lock()
        self._alone = alone
        self._waiting: list[Noted] = []
        self._accesses = 0
        self._soon = Soon(self._flush_soon)

    def __len__(self) -> int:
        """How many accesses are waiting."""
        return self._accesses

    def note(self, entry_ids: Iterable[str], at: datetime, asked: Asked | None, seen: tuple[int, int]) -> None:
        """Have it written within the delay.

        Args:
            entry_ids: what was recalled and counts as accessed.
            at: the world's time.
            asked: the query, if it is to be logged.
            seen: the newest revision and the newest written access known at the time.
        """
        noted_at, (revision, access) = self._clock(), seen
        notes: list[Noted] = [Access(entry_id, at, revision, noted_at) for entry_id in entry_ids]
        accesses = len(notes)
        if asked is not None:
            notes.insert(0, dataclasses.replace(asked, revision=revision, access=access, asked_at=noted_at))
        with self._lock:
            self._waiting += notes
            self._accesses += accesses
        if notes:
            self._soon.begin(DELAY_SECONDS)

    def flush(self) -> None:
        """Write everything that is waiting, now.

        Raises:
            MemorySystemError: it cannot be written and keeps waiting.
        """
        taken: list[Noted] = []

        def take() -> Sequence[Noted]:
            with self._lock:
                taken[:], self._waiting, self._accesses = self._waiting, [], 0
            return taken

        with self._alone:  # a caller that closes waits for what the timer has just taken
            self._soon.cancel()
            if not self._waiting:
                return
            try:
                self._write(take)
            except BaseException:
                with self._lock:
                    self._waiting = _bounded(taken) + self._waiting
                    self._accesses = sum(isinstance(note, Access) for note in self._waiting)
                raise

    def flush_at_exit(self) -> None:
        """As ``flush``, for a program that ends without closing: a failure is reported in a sentence."""
        try:
            self.flush()
        except MemorySystemError as error:
            sys.stderr.write(f"When {self._counted()} recalled could not be written. {error.sentence}\n")

    def _counted(self) -> str:
        return counted(len(self), "memory was", "memories were")

    def _flush_soon(self) -> None:
        try:
            self.flush()
        except MemorySystemError as error:
            self._report(f"When {self._counted()} recalled could not be written yet. {error.sentence}")


def _bounded(notes: Sequence[Noted]) -> list[Noted]:
    spare = sum(isinstance(note, Asked) for note in notes) - MOST_ASKED
    if spare <= 0:
        return list(notes)
    kept: list[Noted] = []
    for note in notes:
        if isinstance(note, Asked) and spare > 0:
            spare -= 1
        else:
            kept.append(note)
    return kept
