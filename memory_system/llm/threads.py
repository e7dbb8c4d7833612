"""Work in a thread of its own, so that callers wait no longer than they want to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

Answer = TypeVar("Answer")


def within(seconds: float, ask: Callable[[], Answer], name: str) -> Answer:
    """The result of ``ask``; its thread is called ``name``, and goes on alone if it is too late.

    Raises:
        TimeoutError: it did not return within the seconds.
        Exception: whatever it raised.
    """
    return _begun(ask, name).result(timeout=seconds)


def watched(ask: Callable[[], Answer], name: str, look: Callable[[], None], seconds: float) -> Answer:
    """The result of ``ask``; until then, ``look`` is called at this interval, and may raise to abandon the thread.

    Raises:
        Exception: whatever either raised.
    """
    done = _begun(ask, name)
    while not wait((done,), timeout=seconds).done:
        look()
    return done.result()


def _begun(ask: Callable[[], Answer], name: str) -> Future[Answer]:
    done: Future[Answer] = Future()

    def run() -> None:
        try:
            done.set_result(ask())
        except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
            done.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return done
