"""TableLock: what holds an agent's tables still, and can be let go of while something slow is written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TableLock:
    """A lock that its holder may take again, and may let go of for a while, however often it was taken."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder: int | None = None
        self._taken = 0

    @property
    def mine(self) -> bool:
        """Whether the thread that asks holds it."""
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
    def let_go(self) -> Iterator[None]:
        """Others may take it within; then it is held as before. For its holder alone."""
        taken, self._taken, self._holder = self._taken, 0, None
        for _ in range(taken):
            self._lock.release()
        try:
            yield
        finally:
            for _ in range(taken):
                self._lock.acquire()
            self._taken, self._holder = taken, threading.get_ident()
