"""Python programs in separate processes, which start in hundredths of a second.

Each is forked from a process that has imported everything and opened nothing (``multiprocessing``'s fork server),
instead of two or three seconds of imports each. For a test it is like a ``subprocess.Popen``.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType, TracebackType
from typing import IO, Self

from tests.waiting import LAST_RESORT

ROOT = Path(__file__).resolve().parents[1]
_forking = multiprocessing.get_context("forkserver")
_PRELOADED = ["tests.preloaded"]
_forking.set_forkserver_preload(_PRELOADED)


def preload(module: str) -> None:
    """Import one more module in the process that programs are forked from; call it before the first fork."""
    _forking.set_forkserver_preload([*_PRELOADED, module])


class Program:
    """A running Python program: what a test uses of ``subprocess.Popen``, with text in its three pipes.

    Args:
        command: as after ``python``: ``"-m", "memory_system", "list"``, or ``"-c", "print(1)"``.
        environment: all of it; this process's if not given.
    """

    def __init__(self, *command: str, environment: Mapping[str, str] | None = None) -> None:
        pipes = [_forking.Pipe(duplex=False) for _ in range(3)]
        (given, self_in), (self_out, out), (self_err, problems) = pipes
        order = _Order(command, dict(os.environ if environment is None else environment), (given, out, problems))
        self.args = command
        self._process = _forking.Process(target=order.carry_out, daemon=True)
        with _no_script():
            self._process.start()
        for end in order.pipes:
            end.close()
        self.stdin: IO[str] = _opened(self_in, "w")
        self.stdout: IO[str] = _opened(self_out, "r")
        self.stderr: IO[str] = _opened(self_err, "r")

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, minus the signal if one ended it; ``None`` as long as it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self.returncode

    def wait(self, timeout: float = LAST_RESORT) -> int:
        """Wait for its end; returns its exit code.

        Raises:
            subprocess.TimeoutExpired: it has not ended in time.
        """
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def communicate(self, given: str | None = None, timeout: float = LAST_RESORT) -> tuple[str, str]:
        """Write to it, read its remaining output, and wait for its end; after a ``TimeoutExpired``, call it again."""
        if not hasattr(self, "_reading"):
            self._said: dict[str, str] = {}
            self._reading = [threading.Thread(target=self._read, args=(name,)) for name in ("stdout", "stderr")]
            for thread in self._reading:
                thread.start()
            with suppress(BrokenPipeError):  # it has ended without reading
                self.stdin.write(given or "")
                self.stdin.flush()
            with suppress(BrokenPipeError):
                self.stdin.close()
        self.wait(timeout)
        for thread in self._reading:
            thread.join()
        return self._said["stdout"], self._said["stderr"]

    def _read(self, name: str) -> None:
        stream: IO[str] = getattr(self, name)
        self._said[name] = "" if stream.closed else stream.read()

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it with SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """End it with SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(BrokenPipeError):
            self.stdin.close()
        if kind is not None:
            self.kill()
        self.wait()
        if not hasattr(self, "_reading"):
            self.stdout.close()
            self.stderr.close()


def run(
    *command: str, environment: Mapping[str, str] | None = None, given: str | None = None, check: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as ``subprocess.run`` does.

    Raises:
        subprocess.CalledProcessError: ``check`` was given, and it failed.
    """
    with Program(*command, environment=environment) as program:
        out, problems = program.communicate(given)
        code = program.wait()
    done = subprocess.CompletedProcess(command, code, out, problems)
    if check:
        assert code == 0, problems
    return done


@dataclass(frozen=True)
class _Order:
    """What a fork has to do."""

    command: tuple[str, ...]
    environment: dict[str, str]
    pipes: tuple[Connection, ...]

    def carry_out(self) -> None:
        """Become this program."""
        for number, pipe in enumerate(self.pipes):
            os.dup2(pipe.fileno(), number)
            pipe.close()
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, way, encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as it runs
            for number, way in enumerate("rww")
        )
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc,assignment]
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(ROOT)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        kind, what, *arguments = self.command
        sys.argv = [what if kind == "-m" else kind, *arguments]
        try:
            if kind == "-m":
                for name in (what, f"{what}.__main__"):
                    if not hasattr(sys.modules.get(name), "__path__"):
                        sys.modules.pop(name, None)  # it is to be run, and was only imported
                runpy.run_module(what, run_name="__main__", alter_sys=True)
            else:
                exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
        finally:
            atexit._run_exitfuncs()  # a fork does not run these


@contextmanager
def _no_script() -> Iterator[None]:
    """Within it, this process has no script, which a fork would run once more: to AppTest a page is ``__main__``."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _opened(pipe: Connection, way: str) -> IO[str]:
    number = os.dup(pipe.fileno())
    pipe.close()
    return open(number, way, encoding="utf-8")
