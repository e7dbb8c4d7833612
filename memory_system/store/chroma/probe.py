"""A probe of Chroma's store in a process of its own: a damaged index can crash the process that opens it, or hang it.

The probe reads, queries and writes a copy, since some damage shows only at the next write. Importing Chroma takes most
of the time; on Linux one process therefore imports it, and is forked for each store that is probed soon after another.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from ...core.files import size_of
from ...errors import ForeignStore

SECONDS = 20.0
"""Time limit of a probe, plus a second for every 20 MB; it usually takes one or two."""
_BYTES_A_SECOND = 20_000_000
_LOOK_SECONDS = 0.5
_WAITS = "RD"
"""The states of a process that has work to do, and waits for a processor or for a disk."""
_ENDED = "ZX"
_MOST_TIMES = 15
"""The factor by which a probe may exceed its limit where other programs use up the processor."""


def probe(folder: Path, *, seconds: float = SECONDS, copied: bool = False) -> str | None:
    """What is wrong with Chroma's store, in a few words; ``None`` if it can be read, queried and written.

    Args:
        folder: Chroma's folder; it is not changed.
        seconds: the limit, for a small store.
        copied: whether this already is a copy, which may be written to.

    Raises:
        ForeignStore: it was made by something else, and was not changed.
    """
    with tempfile.TemporaryDirectory(prefix="memory-probe-", ignore_cleanup_errors=True) as scratch:
        copy = folder
        if not copied:
            copy = Path(scratch) / folder.name
            try:
                shutil.copytree(folder, copy)
            except (OSError, shutil.Error):
                return None  # no space for a copy: any damage shows when the store is used
        return _ask(copy, seconds + size_of(copy) / _BYTES_A_SECOND)


def _waited_for(child: subprocess.Popen[str] | _Fork, seconds: float) -> tuple[str, str] | None:
    """The output of the child, or ``None`` if it hung and was killed.

    It counts as hanging when it has computed for the limit, or for as long neither computed nor waited for the
    computer. A process that other programs leave no time is not killed: a busy machine is not damage.

    Raises:
        _Gone: the process it was forked from has ended, so that nothing is known of it.
    """
    began = moved = time.monotonic()
    spent = 0.0
    while True:
        try:
            return child.communicate(timeout=_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            now, (used, waits) = time.monotonic(), _computed(child.pid)
            if used > spent or waits:
                spent, moved = used, now
            if spent > seconds or now - moved > seconds or now - began > _MOST_TIMES * seconds:
                child.kill()
                child.communicate()
                return None


def _computed(pid: int) -> tuple[float, bool]:
    """The seconds that a process has computed, and whether it waits for its turn; 0 and ``False`` if unknown."""
    try:
        fields = _told_of(pid)
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] in _WAITS
    except (OSError, ValueError, IndexError):
        return 0.0, False


def _at_work(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        return _told_of(pid)[0] not in _ENDED
    except (OSError, IndexError):
        return False


def _told_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()


def _program(*words: str) -> list[str]:
    return [sys.executable, "-P", str(Path(__file__).with_name("probe_alone.py")), *words]


class _Gone(Exception):
    """The process to fork from has ended, or does not respond."""


class _Fork:
    """The probe of one store by a fork of a process with Chroma loaded; the part of ``subprocess.Popen`` that is used.

    If it is not read to its end, the process is ended too, so that nobody else reads the rest.

    Args:
        source: holds the process, and talks to nobody else until this ends.
        folder: what is probed.

    Raises:
        OSError: the process has ended.
    """

    returncode: int | None = None

    def __init__(self, source: _Source, folder: Path) -> None:
        self._source, self._read = source, b""
        process = source.running()
        assert process.stdin is not None
        assert process.stdout is not None
        self._said, self.pid, self._forked = process.stdout.fileno(), process.pid, False
        process.stdin.write(os.fsencode(folder) + b"\n")

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Its standard output and error, once it has ended.

        Raises:
            subprocess.TimeoutExpired: it has not ended by then.
            _Gone: the result can no longer be known.
        """
        if self.returncode is None:
            if not self._forked:
                self.pid, self._forked = int(self._line(timeout)), True
            report: dict[str, Any] = json.loads(self._line(timeout))
            self.returncode, self._out = report["code"], (report["out"], report["problems"])
        return self._out

    def _line(self, timeout: float | None) -> bytes:
        """The next line that the process writes."""
        poll = select.poll()  # a program may have more files open than ``select`` can wait for
        poll.register(self._said, select.POLLIN)
        while b"\n" not in self._read:
            if not poll.poll(None if timeout is None else 1000 * timeout):
                raise subprocess.TimeoutExpired("probe", timeout or 0.0)
            more = os.read(self._said, 65_536)
            if not more:
                raise _Gone
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line

    def kill(self) -> None:
        """End it, and the process it was forked from.

        Raises:
            _Gone: it was not forked yet, or has ended unreported, so that the store is not to blame.
        """
        at_work = self._forked and _at_work(self.pid)
        if at_work:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._source.end()
        if not at_work:
            raise _Gone
        self.returncode, self._out = -signal.SIGKILL, ("", "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.returncode is None:
                with suppress(_Gone):
                    self.kill()
        finally:
            self._source.busy.release()


class _Source:
    """The process that is forked; started on first use, and ended after a while without use."""

    def __init__(self) -> None:
        self.busy = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def fork(self, folder: Path) -> _Fork | None:
        """A fork that probes this folder; ``None`` if forking is impossible, or another fork is at work."""
        if sys.platform != "linux" or "\n" in str(folder) or not self.busy.acquire(blocking=False):
            return None
        try:
            for _ in range(2):  # it may have ended for lack of use
                try:
                    return _Fork(self, folder)
                except OSError:
                    self.end()
        except BaseException:
            self.end()
            self.busy.release()
            raise
        self.busy.release()
        return None

    def running(self) -> subprocess.Popen[bytes]:
        """The process."""
        if self._owner != os.getpid():  # it belongs to the process that this one was forked from
            self._owner, self._process = os.getpid(), None
            atexit.register(self.end)
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                _program(), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process

    def end(self) -> None:
        """End it."""
        if self._process is not None and self._owner == os.getpid():
            self._process.kill()
            self._process.communicate()
            self._process = None


_source = _Source()


def _started(folder: Path) -> subprocess.Popen[str] | _Fork:
    return _source.fork(folder) or _alone(folder)


def _alone(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own module
        _program(str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def _ask(folder: Path, seconds: float) -> str | None:
    folder = folder.absolute()
    try:
        with _started(folder) as child:
            heard = _waited_for(child, seconds)
    except _Gone:
        with _alone(folder) as child:
            heard = _waited_for(child, seconds)
    if heard is None:
        return f"Chroma hung for {seconds:.0f} seconds"
    out, problems = heard
    if child.returncode is not None and child.returncode < 0:
        return f"Chroma crashed ({signal.Signals(-child.returncode).name})"
    try:
        report = json.loads(out.splitlines()[-1])
    except (ValueError, IndexError):
        last = (problems.strip().splitlines() or ["no word"])[-1]
        return f"Chroma failed ({last[:200]})"
    if report.get("foreign"):
        raise ForeignStore(str(report["foreign"]).replace(str(folder), folder.name))
    return str(report["problem"])[:300] if report.get("problem") else None
