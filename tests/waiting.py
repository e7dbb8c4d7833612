"""Waiting for what another thread or process does, as long as a slow machine needs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from memory_system.store import write_lock
from memory_system.store.journal import postgres
from memory_system.world import swap

LAST_RESORT = 600.0
"""Seconds after which anything awaited will never come. No test passes because of it or is about it: on a
machine that has twenty other things to do, what takes a second may take a minute."""
PATIENCE = (
    (write_lock, "LOCK_SECONDS"),
    (postgres, "LOCK_SECONDS"),
    (postgres, "ANSWER_SECONDS"),
    (swap, "_LOCK_SECONDS"),
)
"""For how long the product waits for a lock or an answer, which may take long on a busy machine."""
Result = TypeVar("Result")


def ended(work: Callable[[], Result]) -> Result:
    """The result, or the error, of work that might hang, or take time quadratic in its input.

    Raises:
        AssertionError: it did not end.
    """
    answers: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LAST_RESORT)
    if errors:
        raise errors[0]
    assert answers, "It did not end."
    return answers[0]


def until(true: Callable[[], object], *, every: float = 0.02) -> None:
    """Wait until it is true."""
    waited = threading.Event()
    for _ in range(int(LAST_RESORT / every)):
        if true():
            return
        waited.wait(every)
    raise AssertionError("It did not happen.")


@contextmanager
def counted_calls() -> Iterator[list[None]]:
    """One item per function call of this thread meanwhile: a measure of work that is the same on any machine.

    What a call costs inside, such as a regular expression's search, is not counted.
    """
    calls: list[None] = []

    def count(_frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            calls.append(None)

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)
