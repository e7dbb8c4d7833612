"""Waiting for what another thread or process does, as long as a slow machine needs."""

from __future__ import annotations

import threading
from collections.abc import Callable

LAST_RESORT = 600.0
"""Seconds after which whatever is waited for will never come. No test passes by this, and none is about it: on a
machine that has twenty other things to do, whatever takes a second takes a minute."""
LONG = LAST_RESORT


def until(true: Callable[[], object], *, every: float = 0.02) -> None:
    """Wait until it is true."""
    waited = threading.Event()
    for _ in range(int(LAST_RESORT / every)):
        if true():
            return
        waited.wait(every)
    raise AssertionError("It did not happen.")
