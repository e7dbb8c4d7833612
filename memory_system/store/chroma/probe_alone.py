"""Starts ``probe_child`` without the rest of the package, which it does not need and which takes a second to import.

With a folder as its argument it probes that one. Without, it forks itself for each folder given on a line of its
input: it replies with the number of the fork at once, and with its exit status as soon as it has ended.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).resolve()
_TOP = _HERE.parents[3]
_IN = _HERE.parent.relative_to(_TOP).parts
_IDLE_SECONDS = 20.0
"""Seconds without use after which it ends; it uses some 80 MB."""
_LAST_RESORT = 3600
"""Seconds after which a fork ends itself, in case its parent is gone."""


def main() -> None:
    """Run ``probe_child`` in stubs of its packages, from which it can still import what it needs."""
    gc.disable()  # it ends in a moment, and everything it imports stays until then
    sys.path.insert(0, str(_TOP))
    for parts in (*(_IN[:depth] for depth in range(1, len(_IN) + 1)), (_IN[0], "core")):
        bare = ModuleType(".".join(parts))
        bare.__path__ = [str(_TOP.joinpath(*parts))]
        sys.modules[bare.__name__] = bare
    probe: Callable[[str], None] = importlib.import_module(".".join([*_IN, "probe_child"])).main
    if len(sys.argv) > 1:
        probe(sys.argv[1])
    else:
        importlib.import_module("chromadb.api.rust")  # else each fork would import it when it opens a store
        gc.freeze()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl+C is for the caller, which ends this process
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the caller may ignore how its children end
        while select.select([0], [], [], _IDLE_SECONDS)[0] and (line := os.read(0, 65_536)):
            _fork(probe, os.fsdecode(line.removesuffix(b"\n")))


def _fork(probe: Callable[[str], None], folder: str) -> None:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as problems:
        child = os.fork()
        if child == 0:
            signal.alarm(_LAST_RESORT)
            for fd, number in ((os.open(os.devnull, os.O_RDONLY), 0), (out.fileno(), 1), (problems.fileno(), 2)):
                os.dup2(fd, number)
            code = 1
            try:
                probe(folder)
                code = 0
            except BaseException:  # noqa: BLE001 - whatever it is, it is reported as a program reports it when it ends
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _end_with_who_asks(child)
        _, status = os.waitpid(child, 0)
        said = {}
        for name, file in (("out", out), ("problems", problems)):
            file.seek(0)
            said[name] = file.read().decode("utf-8", "replace")
    sys.stdout.write(json.dumps({"code": os.waitstatus_to_exitcode(status), **said}) + "\n")
    sys.stdout.flush()


def _end_with_who_asks(child: int) -> None:
    """Wait until the fork has ended; if the caller ends first, end it, and this process."""
    try:
        ended = os.pidfd_open(child)
    except OSError:  # an old system; the fork ends by itself, sooner or later
        return
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(0, select.POLLHUP)
    gone = all(number != ended for number, _ in poll.poll())
    os.close(ended)
    if gone:
        os.kill(child, signal.SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    main()
