"""LedgerTurns: who may read an agent and who may write it, among threads, processes and machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .ledger_opening import LedgerOpening
from .write_lock import WriteLock


class LedgerTurns(LedgerOpening):
    """Gives out turns. Many read while one writes, but for the moments in which the tables change."""

    _file_lock: WriteLock

    # -- what Ledger does ------------------------------------------------------------------------------

    def _refuse_closed(self) -> None:
        """Raise ``StoreError`` where the agent was closed, moved or replaced."""
        raise NotImplementedError

    # -- turns -----------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the tables still, after taking in what other processes wrote; who reads within it takes in no more."""
        with self._lock:
            if not self._still:
                self._refuse_closed()
                self._catch_up()
            self._still += 1
            try:
                yield
            finally:
                self._still -= 1

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer of this agent, among threads, processes, and machines that share its journal.

        Raises:
            StoreBusy: another process held the lock for 30 seconds.
            ServerUnavailable: the server that has the journal cannot be reached.
        """
        if not self._turn.acquire(blocking=False):
            with self._others_reading():
                self._turn.acquire()
        try:
            with self._lock:
                self._refuse_closed()
                with self._file_lock.held(), self._home.alone():
                    self._refuse_closed()  # it may have been moved while another held the lock
                    yield
        finally:
            self._turn.release()

    @contextmanager
    def _others_reading(self) -> Iterator[None]:
        """Let go of the tables, if this thread holds them, and hold them again after it."""
        if not self._lock.mine:
            yield
            return
        still, self._still = self._still, 0
        try:
            with self._lock.let_go():
                yield
        finally:
            self._still = still
