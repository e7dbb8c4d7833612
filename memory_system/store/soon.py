"""Soon: something that is done in the background, within a delay, however often it is requested meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class Soon:
    """Runs an act in a thread of its own.

    Args:
        act: what to do; it must handle its own errors.
    """

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._acting = False
        self._again: float | None = None

    def begin(self, delay: float) -> None:
        """Have it done within so many seconds; if it is being done, once more within so many seconds after that."""
        with self._lock:
            if self._acting:
                self._again = min(delay, self._again or delay)
            elif self._timer is None:
                self._start(delay)
            elif delay < self._timer.interval:
                self._timer.cancel()
                self._start(delay)

    def cancel(self) -> None:
        """Cancel what was requested so far: it has been done, or is being done, elsewhere."""
        with self._lock:
            self._again = None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _start(self, delay: float) -> None:
        timer = threading.Timer(delay, self._run)
        timer.daemon = True  # an exiting program does the waiting work itself, and need not wait for a thread
        with suppress(RuntimeError):  # no thread is left: it waits to be done in the foreground
            timer.start()
            self._timer = timer

    def _run(self) -> None:
        with self._lock:
            self._timer, self._acting = None, True
        try:
            self._act()
        finally:
            with self._lock:
                self._acting, again, self._again = False, self._again, None
                if again is not None:
                    self._start(again)
