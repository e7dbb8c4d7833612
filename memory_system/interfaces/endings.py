"""How a program that serves ends: Ctrl+C, SIGTERM or a closed terminal, each in one line and with its exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import NoReturn

HANGUP: int | None = getattr(signal, "SIGHUP", None)
"""The signal that a closed terminal sends to its programs; Windows has none."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
STOPPED = "Stopped."
_came: list[int] = []
"""The signal that ends this process, once it has come."""
_PATIENCE = 6.0
"""Seconds within which a program ends after a signal, whatever its threads are still doing."""


class Ended(KeyboardInterrupt):
    """A signal came that ends the program.

    Args:
        number: the signal's.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def exit_code(number: int) -> int:
    """128 plus the signal's number, as in shells; 0 if the terminal was closed, which is not a failure."""
    if number == HANGUP:
        return 0
    return 128 + (signal.SIGINT if number == getattr(signal, "SIGBREAK", None) else number)


def at_once(number: int, _frame: FrameType | None = None) -> None:
    """End immediately: a second signal is meant."""
    os._exit(exit_code(number))


def run(program: Callable[[], int]) -> int:
    """Run a program in the main thread until it ends, and return its exit code, or until a signal ends the process.

    The first signal raises ``Ended`` in the program, which then closes what it has open; then the process ends,
    whatever its threads are still doing. A second signal, or a timeout, ends it at once.

    Args:
        program: returns the exit code if no signal ended it.
    """
    before = {number: signal.signal(number, _first) for number in SIGNALS if _heeded(number)}
    code = 0
    try:
        code = program()
    except Ended as ended:
        _end(ended.number)
    finally:
        if _came:  # whatever other exception the signal's became on its way
            _end(_came[0])
    for number, handler in before.items():
        signal.signal(number, handler)
    return code


def over() -> bool:
    """Whether a signal has come, so that interruptions from now on need not be reported."""
    return bool(_came)


def end_in_time(number: int, seconds: float = _PATIENCE) -> None:
    """End the process this long after a signal, unless it has ended by itself."""
    last = threading.Timer(seconds, _end, [number])
    last.daemon = True
    last.start()


def _heeded(number: int) -> bool:
    """Whether a signal ends the program: under ``nohup`` a closed terminal is ignored."""
    return number != HANGUP or signal.getsignal(number) is not signal.SIG_IGN


def _first(number: int, _frame: FrameType | None) -> None:
    for other in SIGNALS:
        if _heeded(other):
            signal.signal(other, at_once)
    _came.append(number)
    end_in_time(number)
    warnings.simplefilter("ignore")  # about interrupted things, such as a coroutine that nobody awaits
    raise Ended(number)


def _end(number: int) -> NoReturn:
    """Print that it is over, on a line of its own, and end; nothing can be printed to a closed terminal."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        if number != HANGUP:
            begun = number == signal.SIGINT and sys.stderr.isatty()  # the terminal has written ^C
            sys.stderr.write(f"\n{STOPPED}\n" if begun else f"{STOPPED}\n")
            sys.stderr.flush()
    os._exit(exit_code(number))
