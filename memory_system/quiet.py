"""A start that is stopped while its packages are still being loaded ends in one line, too. Loads nothing itself."""

from __future__ import annotations

import os
import signal


def until_it_runs() -> None:
    """Let a signal end this process at once, and say so, until the program takes its signals itself."""
    for name, code in {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 0}.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_, code=code: _end(code))


def _end(code: int) -> None:
    line = b"\nStopped.\n" if code == 130 and os.isatty(2) else b"Stopped.\n"
    try:
        os.write(2, line)
    finally:  # a terminal that is closed hears nothing
        os._exit(code)
