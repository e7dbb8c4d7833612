"""Waiting for what another thread does, as long as a slow machine needs."""

from __future__ import annotations

import threading
from collections.abc import Callable

LONG = 60.0


def until(true: Callable[[], object]) -> None:
    """Wait for it, a minute at most."""
    waited = threading.Event()
    for _ in range(int(LONG / 0.02)):
        if true():
            return
        waited.wait(0.02)
    raise AssertionError("It did not happen.")
