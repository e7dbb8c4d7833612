"""Work in a thread of its own, so that whoever waits for it does not wait longer than they want to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Answer = TypeVar("Answer")


def within(seconds: float, ask: Callable[[], Answer], name: str) -> Answer:
    """What ``ask`` answers; its thread is called ``name``, and goes on alone if it is too late.

    Raises:
        TimeoutError: it did not answer within the seconds.
        Exception: whatever it raised.
    """
    done: Future[Answer] = Future()

    def run() -> None:
        try:
            done.set_result(ask())
        except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
            done.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return done.result(timeout=seconds)
