"""Soon: something that is done in the background, within a delay, however often it is asked for meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class Soon:
    """Has an act done by a thread of its own.

    Args:
        act: what is to be done; what it raises is its own affair.
    """

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def begin(self, delay: float) -> None:
        """Have it done within so many seconds, unless that is the case already."""
        with self._lock:
            if self._timer is None:
                timer = threading.Timer(delay, self._run)
                timer.daemon = True  # a program that ends does by itself what waits, and need not wait for a thread
                with suppress(RuntimeError):  # no thread is left: it waits for whoever does it in the foreground
                    timer.start()
                    self._timer = timer

    def cancel(self) -> None:
        """It has been done, or is being done, by somebody else."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _run(self) -> None:
        with self._lock:
            self._timer = None
        self._act()
