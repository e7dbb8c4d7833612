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
"""What a terminal that is closed sends to what runs in it; Windows has none."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
STOPPED = "Stopped."
_came: list[int] = []
"""The signal that ends this process, once it has come."""
_PATIENCE = 6.0
"""Seconds within which a program that was told to end has ended, whatever its threads are still at."""


class Ended(KeyboardInterrupt):
    """A signal came that ends the program.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def exit_code(number: int) -> int:
    """128 and the signal's number, as shells count; 0 where the terminal was closed, which is no failure."""
    if number == HANGUP:
        return 0
    return 128 + (signal.SIGINT if number == getattr(signal, "SIGBREAK", None) else number)


def at_once(number: int, _frame: FrameType | None = None) -> None:
    """End without any more ado, as who says it a second time means it."""
    os._exit(exit_code(number))


def run(program: Callable[[], int]) -> int:
    """Run a program in the main thread until it ends, and answer its exit code, or until a signal ends the process.

    The first signal raises ``Ended`` in the program, which lets go of what it holds; then the process ends, whatever
    its threads are still at. A second signal ends it at once, and so does time.

    Args:
        program: answers the exit code where no signal ended it.
    """
    before = {number: signal.signal(number, _first) for number in SIGNALS if _heeded(number)}
    code = 0
    try:
        code = program()
    except Ended as ended:
        _end(ended.number)
    finally:
        if _came:  # whatever the signal's exception became on its way
            _end(_came[0])
    for one, handler in before.items():
        signal.signal(one, handler)
    return code


def over() -> bool:
    """Whether a signal has come, so that what is broken off from now on needs no word."""
    return bool(_came)


def end_in_time(number: int, seconds: float = _PATIENCE) -> None:
    """End the process so long after a signal, unless it has ended by itself."""
    last = threading.Timer(seconds, _end, [number])
    last.daemon = True
    last.start()


def _heeded(number: int) -> bool:
    """Whether a signal is to end the program: ``nohup`` has a closed terminal ignored."""
    return number != HANGUP or signal.getsignal(number) is not signal.SIG_IGN


def _first(number: int, _frame: FrameType | None) -> None:
    for one in SIGNALS:
        if _heeded(one):
            signal.signal(one, at_once)
    _came.append(number)
    end_in_time(number)
    warnings.simplefilter("ignore")  # of what is broken off, such as a coroutine that is now awaited by nobody
    raise Ended(number)


def _end(number: int) -> NoReturn:
    """Say that it is over, on a line of its own, and end; a terminal that is closed hears nothing any more."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        if number != HANGUP:
            begun = number == signal.SIGINT and sys.stderr.isatty()  # the terminal has written ^C
            sys.stderr.write(f"\n{STOPPED}\n" if begun else f"{STOPPED}\n")
            sys.stderr.flush()
    os._exit(exit_code(number))
