"""A command that is stopped while its packages are still being loaded ends in one line, too. Loads nothing itself.

The package imports this module before any other, and so before the second that the others take. Until it has imported
them all, Python does not look for garbage, of which there is none yet: that would be a seventh of that second.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import PurePath

SERVERS = ("run", "serve", "mcp")
"""The commands that take their signals themselves once they run; see ``endings``."""
_COMMAND, _MODULE = "memory-system", "memory_system"
_DASHBOARD = "dashboard.serve"


_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 0}


def until_it_runs(*names: str) -> None:
    """Let a signal end this process at once, and say so, until the program takes its signals itself.

    Args:
        names: of the signals; all three if none is named.
    """
    for name in names or _CODES:
        code = _CODES[name]
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_, code=code: _end(code))


def begins() -> None:
    """Called when a command begins, which from now on has something to close after Ctrl+C."""
    if _is_command and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def loaded() -> None:
    """Called once everything is imported: Python collects garbage again, if it did before."""
    if _looked_for_garbage:
        gc.enable()


def is_server(arguments: list[str], program: str | None) -> bool:
    """Whether a process is one of our servers, and no program that imports this package.

    Args:
        arguments: ``sys.argv``, which begins with ``-m`` while Python looks for the module that it is to run: who
            imports this package then is ``python -m memory_system``.
        program: the full name of the module that is run, once Python has found it.
    """
    if program == _DASHBOARD:
        return True
    ours = arguments[:1] == ["-m"] or PurePath(*arguments[:1]).stem == _COMMAND
    return ours and arguments[1:2] in [[name] for name in SERVERS]


def is_command(arguments: list[str], started: list[str]) -> bool:
    """Whether a process is the command line, and no program that imports this package.

    Args:
        arguments: ``sys.argv``, as for ``is_server``.
        started: ``sys.orig_argv``, in which ``-m`` is followed by the name of the module.
    """
    module = started[len(started) - len(arguments) :][:1]
    return PurePath(*arguments[:1]).stem == _COMMAND or (arguments[:1] == ["-m"] and module == [_MODULE])


def _end(code: int) -> None:
    line = b"\nStopped.\n" if code == 130 and os.isatty(2) else b"Stopped.\n"
    try:
        os.write(2, line)
    finally:  # a terminal that is closed hears nothing
        os._exit(code)


_looked_for_garbage = gc.isenabled()
gc.disable()
_is_command = False
if is_server(sys.argv, getattr(getattr(sys.modules.get("__main__"), "__spec__", None), "name", None)):
    until_it_runs()
elif is_command(sys.argv, sys.orig_argv):
    _is_command = True
    until_it_runs("SIGINT")
