"""What waits to be written of recalls: a query is not kept waiting for the disk, and little is lost if power is."""

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
"""How long a note waits at most: what a killed process loses."""
MOST_ASKED = 10_000
"""Queries that wait where the disk cannot be written; older ones are given up, accesses are not."""


class Access(NamedTuple):
    """That a memory was recalled.

    Args:
        entry_id: which one.
        at: the world's time.
        revision: the newest revision then; ``None`` = not known.
        noted_at: the real time; ``None`` = not known.
    """

    entry_id: str
    at: datetime
    revision: int | None = None
    noted_at: datetime | None = None


Noted = Access | Asked
"""That a memory was recalled, or that something was asked."""


class AccessLog:
    """Gathers accesses and queries and has them written together, soon and in the background.

    Args:
        write: hands over to be written what it takes by the function that it is given, which it calls where nobody
            else writes or reads, so that what waits and what is written always add up; it may leave it.
        report: told in a sentence when it could not be written. It is kept, and tried again with the next.
        clock: the real time.
        alone: held while it is written. It is the lock under which ``write`` works and others flush, since two locks
            that are taken in one order here and in the other there would leave both waiting for ever.
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
        """How many accesses wait."""
        return self._accesses

    def note(self, entry_ids: Iterable[str], at: datetime, asked: Asked | None, seen: tuple[int, int]) -> None:
        """Have it written within the delay.

        Args:
            entry_ids: what was recalled and counts as accessed.
            at: the world's time.
            asked: the query, if it is to be logged.
            seen: the newest revision and the newest written access that were known.
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
        """Write all that waits, now.

        Raises:
            MemorySystemError: it cannot be written; it still waits.
        """
        taken: list[Noted] = []

        def take() -> Sequence[Noted]:
            with self._lock:
                taken[:], self._waiting, self._accesses = self._waiting, [], 0
            return taken

        with self._alone:  # whoever closes waits for what the timer has just taken
            self._soon.cancel()
            if not self._waiting:
                return
            try:
                self._write(take)
            except BaseException:
                with self._lock:
                    self._waiting = _bounded(taken) + self._waiting
                    self._accesses = sum(isinstance(one, Access) for one in self._waiting)
                raise

    def flush_at_exit(self) -> None:
        """As ``flush``, for a program that ends without closing: what cannot be written is told in a sentence."""
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
    spare = sum(isinstance(one, Asked) for one in notes) - MOST_ASKED
    if spare <= 0:
        return list(notes)
    kept: list[Noted] = []
    for note in notes:
        if isinstance(note, Asked) and spare > 0:
            spare -= 1
        else:
            kept.append(note)
    return kept
