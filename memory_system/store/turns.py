"""Turns: who reads and who writes one agent, among threads, processes, and machines that share its journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext

from ..core.files import refuse_exhausted
from ..errors import StoreError


class TableLock:
    """A re-entrant lock that its holder can release for a while, however often it was acquired."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder: int | None = None
        self._taken = 0

    @property
    def mine(self) -> bool:
        """Whether the calling thread holds it."""
        return self._holder == threading.get_ident()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._holder = threading.get_ident()
        self._taken += 1

    def __exit__(self, *_: object) -> None:
        self._taken -= 1
        if not self._taken:
            self._holder = None
        self._lock.release()

    @contextmanager
    def at_once(self) -> Iterator[bool]:
        """Hold it within, if no thread does, not even the caller; return whether it is held."""
        if self.mine or not self._lock.acquire(blocking=False):
            yield False
            return
        self._holder, self._taken = threading.get_ident(), 1
        try:
            yield True
        finally:
            self.__exit__()

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Release it within, then hold it as before. For its holder only."""
        taken, self._taken, self._holder = self._taken, 0, None
        for _ in range(taken):
            self._lock.release()
        try:
            yield
        finally:
            for _ in range(taken):
                self._lock.acquire()
            self._taken, self._holder = taken, threading.get_ident()


class _Reading:
    """Holds tables still within; one object serves every reading: a query begins more than a dozen."""

    def __init__(self, begin: Callable[[], None], end: Callable[[BaseException | None], None]) -> None:
        self._begin, self._end = begin, end

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._end(error)


class Turns:
    """Many read while one writes, except while the tables change.

    Args:
        agent: its name, for messages.
        tables: the lock that holds the tables still.
        refuse_closed: raises if the agent is in other hands.
        catch_up: reads what other processes wrote.
        others_out: held while this process alone may write.
    """

    def __init__(
        self,
        agent: str,
        tables: TableLock,
        refuse_closed: Callable[[], None],
        catch_up: Callable[[], None],
        others_out: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._agent = agent
        self._tables = tables
        self._refuse_closed = refuse_closed
        self._catch_up = catch_up
        self._others_out = others_out
        self._writer = 0  # the thread that writes, or wrote last
        self._within = 0  # how many nested writings the thread whose turn it is has begun
        self._still = 0  # how many nested readings hold the tables
        self._reading = _Reading(self._hold_still, self._let_move)
        self._turn = threading.RLock()
        """Held by the thread that writes; never waited for while holding the tables, which avoids a deadlock."""

    @property
    def mine(self) -> bool:
        """Whether the calling thread has the turn to write."""
        return self._within > 0 and self._writer == threading.get_ident()

    def reading(self) -> AbstractContextManager[None]:
        """Hold the tables still, after reading what other processes wrote; nested readings read no more."""
        return self._reading

    @property
    def still(self) -> bool:
        """Whether the calling thread holds the tables still."""
        return self._still > 0 and self._tables.mine

    def _hold_still(self) -> None:
        self._tables.__enter__()
        try:
            if not self._still:
                self._refuse_closed()
                self._catch_up()
        except BaseException as error:
            self._tables.__exit__()
            refuse_exhausted(f"The agent {self._agent!r}", error)
            raise
        self._still += 1

    def _let_move(self, error: BaseException | None) -> None:
        self._still -= 1
        self._tables.__exit__()
        refuse_exhausted(f"The agent {self._agent!r}", error)

    def at_once(self) -> AbstractContextManager[bool]:
        """Hold the tables as they are, if no thread does at this moment; return whether they are held."""
        return self._tables.at_once()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Let no other thread of this process write, whatever has become of the agent."""
        if not self._turn.acquire(blocking=False):
            with self.others_reading():
                self._turn.acquire()
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer.

        Raises:
            AgentGone: the agent is in other hands by now.
            StoreBusy: another process held the lock for 30 seconds.
            ServerUnavailable: the server that has the journal cannot be reached.
        """
        with self.taken(), self._tables, ExitStack() as alone:
            self._refuse_closed()
            try:
                with nullcontext() if self._within else self.others_reading():  # while another program writes
                    alone.enter_context(self._others_out())
            except StoreError:
                self._refuse_closed()  # a vanished agent has no lock any more
                raise
            self._refuse_closed()  # it may have been moved while another held the lock
            self._within += 1
            self._writer = threading.get_ident()
            alone.callback(self._done)
            yield

    def _done(self) -> None:
        self._within -= 1

    @contextmanager
    def others_reading(self) -> Iterator[None]:
        """Release the tables, if this thread holds them, and hold them again afterwards."""
        if not self._tables.mine:
            yield
            return
        still, self._still = self._still, 0
        try:
            with self._tables.let_go():
                yield
        finally:
            self._still = still
